"""A turn of a loop as the program makes it: where an `if` in it assigns, each name is chosen one of two values."""

from __future__ import annotations

import ast

from jaxviz.errors.cases.conditions import elementwise
from jaxviz.errors.cases.ifs import chosen, nested
from jaxviz.errors.failure import Failure
from jaxviz.errors.source import names_assigned, names_read


def turn_lines(failure: Failure, statements: list[ast.stmt]) -> list[str]:
    """The lines of a turn, in which what asks a value that changes from turn to turn is written as a choice."""
    changing = {*names_assigned(statements)}
    lines: list[str] = []
    for statement in statements:
        code = ""
        if isinstance(statement, ast.If) and _asks(failure, statement.test, changing):
            code = _choices(failure, statement)
        elif failure.source is not None and not hasattr(statement, "body"):
            nodes = [one for one in ast.walk(statement) if isinstance(one, ast.IfExp)]
            inner = {one for node in nodes for one in ast.walk(node) if one is not node}
            asking = [one for one in nodes if one not in inner and _asks(failure, one.test, changing)]
            code = failure.source.replaced(statement, {one: chosen(failure, nested(one)) for one in asking})
        lines += (code or failure.text(statement)).splitlines()
    return lines


def _asks(failure: Failure, test: ast.expr, changing: set[str]) -> bool:
    return bool({*names_read(test)} & changing or failure.traced(test))


def _choices(failure: Failure, node: ast.If) -> str:
    """One assignment of all that an `if` assigns; empty where its branches do more than that."""
    names = names_assigned([node])
    values = [_value(failure, name, [node]) for name in names]
    if not names or None in values:
        return ""
    return f"{', '.join(names)} = {', '.join(value or name for value, name in zip(values, names, strict=True))}"


def _value(failure: Failure, name: str, statements: list[ast.stmt]) -> str | None:
    """What a name is after statements that assign; None where they do anything else, or one reads another's."""
    if len(statements) == 1 and isinstance(node := statements[0], ast.If):
        yes, no = _value(failure, name, node.body), _value(failure, name, node.orelse)
        if yes is None or no is None:
            return None
        return yes if yes == no else f"jnp.where({elementwise(failure, node.test)}, {yes}, {no})"
    found = name
    for place, one in enumerate(statements):
        target, value = _assignment(failure, one)
        if not target or {*names_read(one)} & {*names_assigned(statements[:place])}:
            return None
        found = value if target == name else found
    return found


def _assignment(failure: Failure, statement: ast.stmt) -> tuple[str, str]:
    """The name that a statement assigns and what it is; empty for any other statement."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        name = statement.target.id
        sign = failure.text(statement)[len(name) :].lstrip().partition("=")[0]
        text = failure.text(statement.value)
        return name, f"{name} {sign} {text if _is_simple(statement.value) else f'({text})'}"
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        (target,) = statement.targets
        return (target.id, failure.text(statement.value)) if isinstance(target, ast.Name) else ("", "")
    return "", ""


def _is_simple(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript))
