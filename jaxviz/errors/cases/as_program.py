"""Statements of Python as a program makes them: what asks a traced value is written as a choice, or as a loop of the
program."""

from __future__ import annotations

import ast
from collections.abc import Set as AbstractSet

import jax.numpy as jnp

from jaxviz.arrays import is_array
from jaxviz.errors.cases.chosen import chosen, nested
from jaxviz.errors.cases.conditions import elementwise
from jaxviz.errors.cases.loop_state import carried_by, may_end, start_of, used_later
from jaxviz.errors.cases.values import without_shapes
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import fresh, grouped, indented
from jaxviz.errors.source import names_assigned, names_read
from jaxviz.errors.trial import given_by


def turn_lines(failure: Failure, statements: list[ast.stmt]) -> list[str]:
    """The lines of a turn of a loop: what it assigns changes from turn to turn."""
    return _program_lines(failure, statements, {*names_assigned(statements)})


def way_lines(failure: Failure, statements: list[ast.stmt]) -> list[str]:
    """The lines of a way that Python has not taken yet: what the function makes of traced values is traced there."""
    around = failure.source.around(statements[0]) if failure.source is not None and statements else []
    function = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
    inside = ast.walk(function) if function is not None else ()
    assignments = [one for one in inside if isinstance(one, (ast.Assign, ast.AugAssign))]
    traced: set[str] = set()
    # In a loop, what stands above may be made of what stands below.
    for one in [*assignments, *assignments]:
        if _asks(failure, one.value, traced):
            traced |= {*names_assigned([one])}
    return _program_lines(failure, statements, traced)


def _program_lines(failure: Failure, statements: list[ast.stmt], changing: AbstractSet[str]) -> list[str]:
    lines: list[str] = []
    for statement in statements:
        code = _as_program(failure, statement, changing) or failure.text(statement)
        lines += [*([""] if lines and code.startswith("def ") else []), *code.splitlines()]
    return lines


def _as_program(failure: Failure, statement: ast.stmt, changing: AbstractSet[str]) -> str:
    """A statement that would ask a value that changes, as the program makes it; empty where it is well as it is."""
    if isinstance(statement, ast.If):
        return _choices(failure, statement) if _asks(failure, statement.test, changing) else ""
    if isinstance(statement, ast.For):
        return counted_loop(failure, statement) if _asks(failure, statement.iter, changing) else ""
    if isinstance(statement, ast.While):
        return asked_loop(failure, statement) if _asks(failure, statement.test, changing) else ""
    if failure.source is None or hasattr(statement, "body"):
        return ""
    nodes = [one for one in ast.walk(statement) if isinstance(one, ast.IfExp)]
    inner = {one for node in nodes for one in ast.walk(node) if one is not node}
    asking = [one for one in nodes if one not in inner and _asks(failure, one.test, changing)]
    return failure.source.replaced(statement, {one: chosen(failure, nested(one)) for one in asking})


def _asks(failure: Failure, test: ast.expr, changing: AbstractSet[str]) -> bool:
    asked = without_shapes(test)
    return bool({*names_read(asked)} & changing or failure.traced(asked))


# Loops.


def counted_loop(failure: Failure, loop: ast.For) -> str:
    """A loop over `range` as one of the program; empty where it ends in other ways too, or gives what it does not
    carry."""
    call, target = loop.iter, loop.target
    if not isinstance(call, ast.Call) or last_name(call.func) != "range" or not isinstance(target, ast.Name):
        return ""
    bounds, turn, begins = [_bound(failure, one) for one in call.args], target.id, []
    if len(bounds) == 3:
        # Turns are counted by one, and what the step makes of their number is made in each.
        start, stop, step = (grouped(text, one) for text, one in zip(bounds, call.args, strict=True))
        turn = fresh(failure, "turn", "place")
        begins, bounds = [f"{target.id} = {start} + {turn} * {step}"], ["0", f"-(({start} - {stop}) // {step})"]
    first, last = ["0", *bounds][-2:]
    carried = _carried(failure, loop, target.id)
    if not carried:
        return ""
    names, start_values = _listed(carried), _listed([start_of(failure, name, loop) for name in carried])
    received = names if len(carried) == 1 else "carry"
    unpacked = [] if len(carried) == 1 else [f"{names} = carry"]
    lines = [*unpacked, *begins, *turn_lines(failure, loop.body), f"return {names}"]
    start_values = start_values if len(carried) == 1 else f"({start_values})"
    code = [f"def body({turn}, {received}):", *indented(lines), ""]
    return "\n".join([*code, f"{names} = jax.lax.fori_loop({first}, {last}, body, {start_values})"])


def asked_loop(failure: Failure, loop: ast.While) -> str:
    """A `while` as a loop of the program; empty where it ends in other ways too, or gives what it does not carry."""
    carried = _carried(failure, loop)
    if not carried:
        return ""
    names, one = _listed(carried), len(carried) == 1
    starts = _listed([start_of(failure, name, loop) for name in carried])
    received, unpacked = (names, "") if one else ("carry", f"    {names} = carry\n")
    test = elementwise(failure, loop.test)
    if isinstance(loop.test, (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp)):
        # JAX takes no number for the answer, as Python does.
        test += " != 0"
    condition = f"lambda {names}: {test}" if one else "keep_going"
    before = "" if one else f"def keep_going(carry):\n    {names} = carry\n    return {test}\n\n"
    body = "\n".join(indented(turn_lines(failure, loop.body)))
    return (
        f"{before}def body({received}):\n{unpacked}{body}\n    return {names}\n\n"
        f"{names} = jax.lax.while_loop({condition}, body, {starts if one else f'({starts})'})"
    )


def _carried(failure: Failure, loop: ast.For | ast.While, turn: str = "") -> list[str]:
    """What a loop carries; nothing where that is not all that it gives. `turn` is the name of what it counts."""
    carried = [name for name in carried_by(failure, loop) if name != turn]
    made = {*names_assigned(loop.body)} - {*carried}
    return [] if made & used_later(failure, loop) or may_end(loop) or loop.orelse else carried


def _bound(failure: Failure, argument: ast.expr) -> str:
    """A bound of a loop that the program makes: what is made a number of Python stays an array."""
    given = given_by(failure, failure.text(argument)) if failure.traced(argument) else None
    if is_array(given) and not jnp.issubdtype(getattr(given, "dtype", None), jnp.integer):
        return f"{grouped(failure.text(argument), argument)}.astype(int)"
    made = isinstance(argument, ast.Call) and last_name(argument.func) == "int" and failure.traced(argument)
    if not made or not isinstance(argument, ast.Call) or len(argument.args) != 1:
        return failure.text(argument)
    inner = argument.args[0]
    text = failure.text(inner)
    return f"{text}.astype(int)" if not isinstance(inner, (ast.BinOp, ast.UnaryOp)) else f"({text}).astype(int)"


def _listed(names: list[str]) -> str:
    return ", ".join(names)


# Choices.


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
        target, value = assignment(failure, one)
        if not target or {*names_read(one)} & {*names_assigned(statements[:place])}:
            return None
        found = value if target == name else found
    return found


def assignment(failure: Failure, statement: ast.stmt) -> tuple[str, str]:
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
