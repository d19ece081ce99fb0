"""Gradients through loops whose number of turns is not known: the same loop with a fixed number, or forward."""

from __future__ import annotations

import ast
import re
from typing import Any

from jaxviz.errors.cases.given import argument, function_given, result_of
from jaxviz.errors.cases.values import static_cures
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.forms import parts_of
from jaxviz.errors.rewriting import called, parameters
from jaxviz.errors.source import names_read

# So many turns are written where the code does not show how many there can be.
_TURNS = 100
# Calls are followed so deep from the function that is differentiated to the loop.
_DEEPEST = 3
_BACKWARD = ("grad", "value_and_grad", "jacrev", "jacobian", "vjp", "hessian", "filter_grad", "filter_value_and_grad")


def _through_while(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls(*_BACKWARD)
    function = _differentiated(failure, call)
    loop = _loop_in(failure, function, _DEEPEST)
    name = last_name(loop.func) if loop is not None else ""
    reason = (
        "The way back goes through all turns once more and needs a value of each, so their number must be known when "
        "the program is compiled. "
    )
    reason += {
        "while_loop": f"`{_short(failure, loop)}` ends when its condition says so.",
        "fori_loop": f"The bounds of `{_short(failure, loop)}` are traced, so that it becomes a `while_loop`.",
    }.get(name, "`while_loop` ends when its condition says so, and so does `fori_loop` with traced bounds.")
    cures: list[Cure] = []
    if loop is not None and name == "while_loop":
        cures += _bounded_while(failure, loop)
    elif loop is not None:
        bounds = [bound for bound in (argument(loop, 0, "lower"), argument(loop, 1, "upper")) if bound is not None]
        asked = [one for bound in bounds for one in names_read(bound) if one in failure.variables]
        cures += [*static_cures(failure, asked)] if asked and failure.static_among(asked) else []
        cures += _bounded_count(failure, loop)
    if call is not None and function is not None:
        cures += _forward(failure, call)
    title = "no gradient goes back through a loop whose length is not known"
    return Explanation("grad of while", title, reason, tuple(cures), api_page("jax.lax.while_loop"))


def _short(failure: Failure, loop: ast.Call | None) -> str:
    text = " ".join(failure.text(loop).split())
    return text if len(text) <= 60 else text[: text.index("(")]


def _differentiated(failure: Failure, call: ast.Call | None) -> Any | None:
    """The definition of the function by which is differentiated, or that in which the error came."""
    found = function_given(failure, call.args[0]) if call is not None and call.args else None
    if found is not None or failure.source is None or call is not None:
        return found
    around = failure.source.around(failure.expression) if failure.expression is not None else []
    return next((one for one in around if isinstance(one, (ast.FunctionDef, ast.Lambda))), None)


def _loop_in(failure: Failure, function: ast.AST | None, deep: int) -> ast.Call | None:
    """The loop without a fixed number of turns, in a function or in those of the same file that it calls."""
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)] if function is not None else []
    for call in calls:
        name = last_name(call.func)
        bounds = [argument(call, 0, "lower"), argument(call, 1, "upper")]
        if name == "while_loop" or (name == "fori_loop" and not all(isinstance(one, ast.Constant) for one in bounds)):
            return call
    for call in calls if deep else ():
        found = _loop_in(failure, function_given(failure, call.func), deep - 1)
        if found is not None:
            return found
    return None


def _in_statement(failure: Failure, loop: ast.Call, text: str) -> str:
    source = failure.source
    statement = next((one for one in source.around(loop) if isinstance(one, ast.stmt)), None) if source else None
    if source is None or statement is None or hasattr(statement, "body"):
        return text
    return source.replaced(statement, {loop: text})


def _bounded_while(failure: Failure, loop: ast.Call) -> list[Cure]:
    condition, body = argument(loop, 0, "cond_fun"), argument(loop, 1, "body_fun")
    start = argument(loop, 2, "init_val")
    if condition is None or body is None or start is None:
        return []
    state = (parameters(function_given(failure, body)) or ["state"])[0]
    state = state if state not in names_read(body) else f"{state}_"
    turns = _most(failure, condition, start)
    scanned = (
        f"jax.lax.scan(lambda {state}, _: (jax.lax.cond({called(failure, condition)}({state}), {failure.text(body)}, "
        f"lambda {state}: {state}, {state}), None), {failure.text(start)}, None, length={turns or _TURNS})[0]"
    )
    text = "Make a fixed number of turns, of which those after the end change nothing:"
    if turns is None:
        text = f"Make as many turns as there can be at most, here {_TURNS}; those after the end change nothing:"
    return [Cure(text, _in_statement(failure, loop, scanned))]


def _most(failure: Failure, condition: ast.expr, start: ast.expr) -> int | None:
    """How many turns there can be, where the condition is that a counter is below a number."""
    function = function_given(failure, condition)
    asked = result_of(function)
    for test in _both(asked):
        if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.ops[0], (ast.Lt, ast.LtE)):
            continue
        place = _place_of(function, test.left)
        first = parts_of(start).get(place) if place else start if place == "" else None
        begin, end = failure.value(first), failure.value(test.comparators[0])
        if type(begin) is int and type(end) is int and isinstance(first, ast.Constant):
            return max(end - begin + isinstance(test.ops[0], ast.LtE), 1)
    return None


def _both(node: ast.AST | None) -> list[ast.AST | None]:
    """The sides of `a & b`, `a and b` and `jnp.logical_and(a, b)`."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        return [part for one in node.values for part in _both(one)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd):
        return [*_both(node.left), *_both(node.right)]
    if isinstance(node, ast.Call) and last_name(node.func) == "logical_and":
        return [part for one in node.args for part in _both(one)]
    return [node]


def _place_of(function: Any, node: ast.expr) -> str | None:
    """Which part of what is carried a condition asks: `[0]`, nothing for all of it."""
    names = parameters(function)
    if len(names) != 1:
        return None
    text = ast.unparse(node)
    if text == names[0]:
        return ""
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == names[0]:
        return f"[{ast.unparse(node.slice)}]"
    for statement in getattr(function, "body", []) if isinstance(function, ast.FunctionDef) else []:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.value) == names[0]:
            parts = [ast.unparse(one) for one in getattr(statement.targets[0], "elts", [])]
            return f"[{parts.index(text)}]" if text in parts else None
    return None


def _bounded_count(failure: Failure, loop: ast.Call) -> list[Cure]:
    given = [argument(loop, place, name) for place, name in enumerate(("lower", "upper", "body_fun", "init_val"))]
    texts = [failure.text(one) for one in given]
    if not all(texts) or given[2] is None:
        return []
    lower, upper, _, start = texts
    own = parameters(function_given(failure, given[2]))
    turn, state = own if len(own) == 2 and own[0] != "_" else ("turn", "state")
    begins_at_zero = isinstance(given[0], ast.Constant) and given[0].value == 0
    asked = f"{turn} < {upper}" if begins_at_zero else f"({turn} >= {lower}) & ({turn} < {upper})"
    counted = (
        f"jax.lax.fori_loop({lower if isinstance(given[0], ast.Constant) else 0}, {_TURNS}, lambda {turn}, {state}: "
        f"jax.lax.cond({asked}, lambda: {called(failure, given[2])}({turn}, {state}), lambda: {state}), {start})"
    )
    text = f"Make as many turns as there can be at most, here {_TURNS}; those after the end change nothing:"
    return [Cure(text, _in_statement(failure, loop, counted))]


def _forward(failure: Failure, call: ast.Call) -> list[Cure]:
    """The derivative forward, which needs nothing of the turns before."""
    text = "Or differentiate forward, which needs nothing of the turns before and costs a run for each entry:"
    name = last_name(call.func)
    if name in ("grad", "jacrev", "jacobian"):
        return [Cure(text, failure.with_(call.func, "jax.jacfwd"))]
    outer = failure.source.parent(call) if failure.source is not None else None
    plain = not call.keywords and len(call.args) == 1 and isinstance(outer, ast.Call) and outer.func is call
    if name != "value_and_grad" or not plain or not isinstance(outer, ast.Call):
        return []
    function, given = called(failure, call.args[0]), ", ".join(map(failure.text, outer.args))
    return [Cure(text, failure.with_(outer, f"({function}({given}), jax.jacfwd({function})({given}))"))]


CASES: tuple[Case, ...] = (
    Case(
        "grad of while",
        ("ValueError",),
        r"Reverse-mode differentiation does not work for lax\.while_loop",
        _through_while,
    ),
)
