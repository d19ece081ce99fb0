"""Where a function stores values outside of itself, and the same function giving them back."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from jaxviz.errors.source import Source, definition_of, names_assigned

_STORING = ("append", "add", "extend", "insert", "update", "setdefault", "put")


def stored_outside(fn: Any) -> list[tuple[int, str]]:
    """The lines of a function that store something in what is known outside of it, with what stands there."""
    source, function = definition_with_source(fn)
    if source is None or function is None:
        return []
    return [(one.lineno, source.text(one)) for one, _ in _storing(function)]


def returned_instead(fn: Any) -> str:
    """A function that stores one value outside, written so that it gives the value back beside its result; empty
    where more than that is to be changed."""
    source, function = definition_with_source(fn)
    if source is None or function is None:
        return ""
    lines = _giving_back(source, function)
    given = ", ".join(one.arg for one in function.args.args)
    return "\n".join([*lines, "", f"result, kept = {function.name}({given})"]) if lines else ""


def returned_from_inside(fn: Any, path: str, line: int) -> str:
    """The same for a function that another one calls, and whose definition begins at a line of the same file: with
    the statement that calls it."""
    source, caller = definition_with_source(fn)
    function = source.function_at(line) if source is not None and source.path == path else None
    if source is None or caller is None or not isinstance(function, ast.FunctionDef) or function is caller:
        return ""
    lines = _giving_back(source, function)
    calls = [one for one in ast.walk(caller) if isinstance(one, ast.Call) and _root(one.func) == function.name]
    if not lines or len(calls) != 1 or not isinstance(calls[0].func, ast.Name):
        return ""
    (call,), statement = calls, source.parent(calls[0])
    decorators = [f"@{source.text(one)}" for one in function.decorator_list]
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        result = f"({source.text(target)})" if isinstance(target, ast.Tuple) else source.text(target)
    else:
        result = "_" if isinstance(statement, ast.Expr) else "result"
    return "\n".join([*decorators, *lines, "", f"{result}, kept = {source.text(call)}"])


def _giving_back(source: Source, function: ast.FunctionDef) -> list[str]:
    """The lines of a function that stores one value, in which it returns that too; none where that is not enough."""
    stores, last = list(_storing(function)), function.body[-1]
    if len(stores) != 1 or stores[0][0] not in function.body or stores[0][1] is None:
        return []
    if not isinstance(last, ast.Return) or last.value is None:
        return []
    statement, value = stores[0]
    lines = [f"def {function.name}({ast.unparse(function.args)}):"]
    for one in function.body[:-1]:
        text = f"kept = {source.text(value)}" if one is statement and value is not None else source.text(one)
        lines += [f"    {line}" for line in text.splitlines()]
    result = source.text(last.value)
    grouped = f"({result})" if isinstance(last.value, ast.Tuple) and not result.startswith("(") else result
    return [*lines, f"    return {grouped}, kept"]


def definition_with_source(fn: Any) -> tuple[Source | None, ast.FunctionDef | None]:
    """The definition of a function, in the file in which it stands."""
    code: Any = getattr(getattr(fn, "__wrapped__", fn), "__code__", None)
    found = definition_of(code) if code is not None else None
    source = Source(code, 0, code.co_firstlineno) if code is not None else None
    own = source.own(found) if source is not None else None
    return source, own if isinstance(own, ast.FunctionDef) else None


def _storing(function: ast.FunctionDef) -> Iterator[tuple[ast.stmt, ast.expr | None]]:
    """The statements that store, each with what is stored where that is one value."""
    own = {*names_assigned(function.body)}
    shared = {name for one in ast.walk(function) if isinstance(one, (ast.Global, ast.Nonlocal)) for name in one.names}
    for node in ast.walk(function):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _is_method(node.value):
            if _root(node.value.func) not in own:
                yield node, node.value.args[0] if len(node.value.args) == 1 else None
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Attribute, ast.Subscript)):
            if _root(node.targets[0]) not in own:
                yield node, node.value
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in shared:
            yield node, node.value


def _is_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in _STORING


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
