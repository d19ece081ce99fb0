"""Functions that return from inside of a loop of Python, or of an `if` in another one, where a traced value says so."""

from __future__ import annotations

import ast
from typing import Any

from jaxviz.errors.cases.conditions import elementwise
from jaxviz.errors.cases.ways import other_shapes
from jaxviz.errors.explanation import Cure
from jaxviz.errors.failure import Failure
from jaxviz.errors.rewriting import fresh

_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield)


def returned_from_loop(failure: Failure, node: ast.If) -> tuple[Cure, ...]:
    """For a loop that Python makes, and that ends the function where something is so: all turns are made, and the
    result is that of the first in which it was."""
    source = failure.source
    around = source.around(node) if source is not None else []
    function: Any = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
    loops = (
        [one for one in around[: around.index(function)] if isinstance(one, (ast.For, ast.While))] if function else []
    )
    if source is None or not loops or loops[-1] not in function.body or any(one.orelse for one in loops):
        return ()
    loop = loops[-1]
    rest = function.body[function.body.index(loop) + 1 :]
    default = rest[-1].value if rest and isinstance(rest[-1], ast.Return) else None
    ways = _ways_out(loop)
    if default is None or not ways or any(isinstance(item, _LEAVING) for one in rest[:-1] for item in ast.walk(one)):
        return ()
    values = [value for way in ways.values() for _, value in way]
    if any(other_shapes(failure, failure.text(value), failure.text(default)) for value in values):
        return ()
    asked, given = fresh(failure, "conditions", "asked"), fresh(failure, "values", "results")
    changes = {way: _noted(failure, way, steps, asked, given) for way, steps in ways.items()}
    result = failure.text(default)
    picked = f"jnp.select({asked}, {given}, {result})"
    if isinstance(default, ast.Tuple):
        result = result if result.startswith("(") else f"({result})"
        picked = f"jax.tree.map(lambda *ways: jnp.select({asked}, list(ways[:-1]), ways[-1]), *{given}, {result})"
    lines = [f"{asked}, {given} = [], []", source.replaced(loop, changes), *map(failure.text, rest[:-1])]
    text = "Make all turns, in place of the loop and what follows, and return what the first that is meant gives:"
    return (Cure(text, "\n".join([*lines, f"return {picked}"])),)


def _ways_out(loop: ast.For | ast.While) -> dict[ast.AST, list[tuple[ast.expr, ast.expr]]] | None:
    """The statements in a loop that only return a value if something is so: what each asks in turn, and the value;
    None where the loop does what cannot be done in turns that are too many."""
    found: dict[ast.AST, list[tuple[ast.expr, ast.expr]]] = {}
    waiting: list[ast.stmt] = [loop]
    while waiting:
        one = waiting.pop()
        steps = _steps(one) if isinstance(one, ast.If) else None
        if steps is not None:
            found[one] = steps
        elif isinstance(one, ast.For):
            waiting += one.body
        elif any(isinstance(item, (*_LEAVING, ast.While)) for item in ast.walk(one)) or _has_effect(one):
            return None
    return found


def _has_effect(statement: ast.stmt) -> bool:
    return any(isinstance(item, ast.Expr) and isinstance(item.value, ast.Call) for item in ast.walk(statement))


def _steps(node: ast.If) -> list[tuple[ast.expr, ast.expr]] | None:
    """Of an `if` with its `elif`, each of which only returns."""
    (only, *more) = node.body
    if more or not isinstance(only, ast.Return) or only.value is None:
        return None
    if not node.orelse:
        return [(node.test, only.value)]
    others = _steps(node.orelse[0]) if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If) else None
    return [(node.test, only.value), *others] if others is not None else None


def _noted(failure: Failure, way: ast.AST, steps: list[tuple[ast.expr, ast.expr]], asked: str, given: str) -> str:
    """What stands in place of such a statement."""
    lines = []
    for test, value in steps:
        text = failure.text(value)
        text = f"({text})" if isinstance(value, ast.Tuple) and not text.startswith("(") else text
        lines += [f"{asked}.append({elementwise(failure, test)})", f"{given}.append({text})"]
    return ("\n" + " " * getattr(way, "col_offset", 0)).join(lines)
