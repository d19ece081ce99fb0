"""What goes from turn to turn of a loop of Python: the names, how they begin, and which are used after it."""

from __future__ import annotations

import ast
from typing import Any

from jaxviz.arrays import is_array
from jaxviz.errors.failure import Failure
from jaxviz.errors.source import names_assigned


def may_end(statement: ast.stmt) -> bool:
    """Whether a statement leaves the loop or the function around it; of a loop, by more than its condition."""
    kinds = (ast.Break, ast.Continue, ast.Return, ast.Yield)
    return any(isinstance(item, kinds) for item in ast.walk(statement))


def start_of(failure: Failure, name: str, loop: ast.stmt) -> str:
    """What a name is when a loop begins: a number with which it began has, from the first turn on, the type of an
    array."""
    value: Any = failure.variables.get(name)
    first = _number_before(failure, name, loop)
    if first is None or not is_array(value) or value.dtype.name not in _TYPES:
        return name
    if value.shape:
        return f"jnp.full({tuple(value.shape)}, {name}, jnp.{value.dtype.name})"
    return f"jnp.{value.dtype.name}({name})"


_TYPES = ("float32", "float64", "float16", "bfloat16", "int32", "int64", "complex64", "complex128")


def _number_before(failure: Failure, name: str, loop: ast.stmt) -> float | None:
    """The number that was assigned to a name last before a loop."""
    parent = failure.source.parent(loop) if failure.source is not None else None
    body = getattr(parent, "body", [])
    before = body[: body.index(loop)] if loop in body else []
    for statement in reversed(before):
        if not isinstance(statement, ast.Assign) or name not in names_assigned([statement]):
            continue
        for target in statement.targets:
            pairs = [(target, statement.value)]
            if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
                pairs = list(zip(target.elts, statement.value.elts, strict=False))
            for one, value in pairs:
                if isinstance(one, ast.Name) and one.id == name:
                    number = getattr(value, "value", None) if isinstance(value, ast.Constant) else None
                    return number if type(number) in (int, float) else None
        return None
    return None


def carried_by(failure: Failure, loop: ast.For | ast.While) -> list[str]:
    """The names that a loop assigns and that were there before it: what goes from turn to turn."""
    there = known_before(failure, loop)
    return [name for name in names_assigned(loop.body) if name in there]


def known_before(failure: Failure, loop: ast.stmt) -> set[str]:
    """The names that are there when a loop begins."""
    source = failure.source
    function = next((one for one in source.around(loop) if isinstance(one, ast.FunctionDef)), None) if source else None
    if function is None:
        return set(failure.variables)
    arguments = function.args
    names = {one.arg for one in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]}
    for node in ast.walk(function):
        is_before = (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)) < (loop.lineno, loop.col_offset)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and is_before:
            names.add(node.id)
    return names


def used_later(failure: Failure, loop: ast.stmt) -> set[str]:
    source = failure.source
    function = next((one for one in source.around(loop) if isinstance(one, ast.FunctionDef)), None) if source else None
    if function is None:
        return set()
    end = (loop.end_lineno or 0, loop.end_col_offset or 0)
    return {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)) > end
    }
