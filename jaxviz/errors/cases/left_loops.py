"""Loops of Python that are left, or whose turns are cut short, where a traced value says so: `break` and `continue`."""

from __future__ import annotations

import ast
import textwrap
from typing import Any, TypeGuard

from jaxviz.errors.cases.conditions import elementwise
from jaxviz.errors.cases.inner_ifs import turn_lines
from jaxviz.errors.explanation import Cure
from jaxviz.errors.failure import Failure, is_array, last_name
from jaxviz.errors.rewriting import fresh
from jaxviz.errors.source import names_assigned


def left_loop(failure: Failure, node: ast.If) -> tuple[Cure, ...] | None:
    """The cures of an `if` that holds only `break` or `continue`, maybe after assignments; None for any other."""
    last = node.body[-1]
    loop: Any = failure.source.parent(node) if failure.source is not None else None
    if node.orelse or not isinstance(last, (ast.Break, ast.Continue)):
        return None
    if not isinstance(loop, (ast.For, ast.While)) or node not in loop.body or loop.orelse:
        return ()
    places = _leaving(loop)
    if places is None:
        return ()
    if any(isinstance(item, ast.Expr) and isinstance(item.value, ast.Call) for item in ast.walk(loop)):
        # What fills a list, or writes elsewhere, would do so once, while the turn is traced.
        return ()
    if isinstance(last, ast.Continue) and len(places) == 1:
        return _cut_short(failure, loop, node)
    return _stopped(failure, loop, places)


def _leaving(loop: ast.For | ast.While) -> list[ast.If] | None:
    """The statements of a loop that end it or its turn if something is so; None where it is left in other ways too."""
    places = [one for one in loop.body if _leaves_here(one)]
    others = [one for part in loop.body for one in (part.body[:-1] if _leaves_here(part) else [part])]
    kinds = (ast.Break, ast.Continue, ast.Return, ast.Yield)
    return None if any(isinstance(item, kinds) for one in others for item in ast.walk(one)) else places


def _leaves_here(statement: ast.stmt) -> TypeGuard[ast.If]:
    return (
        isinstance(statement, ast.If)
        and not statement.orelse
        and isinstance(statement.body[-1], (ast.Break, ast.Continue))
    )


def may_end(loop: ast.For | ast.While) -> bool:
    """Whether a loop is left by more than its condition."""
    kinds = (ast.Break, ast.Continue, ast.Return, ast.Yield)
    return any(isinstance(item, kinds) for one in loop.body for item in ast.walk(one))


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
    there = _before(failure, loop)
    return [name for name in names_assigned(loop.body) if name in there]


def _before(failure: Failure, loop: ast.stmt) -> set[str]:
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


def _turns(failure: Failure, loop: ast.For) -> tuple[str, str, list[str], str] | None:
    """Of a loop over numbers or along an array: how its count begins and ends, what a turn begins with, its name."""
    over, target = loop.iter, loop.target
    if isinstance(over, ast.Call) and last_name(over.func) == "range" and isinstance(target, ast.Name):
        bounds = [failure.text(one) for one in over.args]
        if len(bounds) > 2 or not bounds:
            return None
        name = target.id if target.id != "_" else fresh(failure, "turn", "turns")
        return ("0", bounds[0], [], name) if len(bounds) == 1 else (bounds[0], bounds[1], [], name)
    place = fresh(failure, "i", "turn", "place")
    if isinstance(over, ast.Call) and last_name(over.func) == "enumerate" and len(over.args) == 1:
        names = getattr(target, "elts", [])
        if len(names) != 2 or not isinstance(names[0], ast.Name):
            return None
        place, over, target = names[0].id, over.args[0], names[1]
    if not is_array(failure.value(over)):
        return None
    text = failure.text(over)
    return "0", f"{text}.shape[0]", [f"{failure.text(target)} = {text}[{place}]"], place


def _stopped(failure: Failure, loop: ast.For | ast.While, places: list[ast.If]) -> tuple[Cure, ...]:
    """A loop that is left: one whose condition says whether it goes on."""
    carried = carried_by(failure, loop)
    made = set(names_assigned(loop.body)) - set(carried)
    begins: list[str] = []
    count, stop = "", ""
    if isinstance(loop, ast.For):
        turns = _turns(failure, loop)
        if turns is None:
            return ()
        first, stop, begins, count = turns
        made -= {count}
    if made & used_later(failure, loop) or not carried:
        return ()
    done = fresh(failure, "done", "stopped")
    names = [done, *([count] if count else []), *[name for name in carried if name != count]]
    kept = [name for name in names if name not in (done, count)]
    body = [f"{', '.join(names)} = carry", *begins]
    if len(places) == 1:
        body += _turn_left_once(failure, loop, places[0], done, kept)
    else:
        body += ["", f"def turn({', '.join(kept)}):", *indented(_turn_lines(failure, loop.body, kept)), ""]
        body.append(f"{done}, {', '.join(kept)} = turn({', '.join(kept)})")
    results = [done, *([f"{count} + 1"] if count else []), *kept]
    body.append(f"return {', '.join(results)}")
    asked = [f"~{done}"]
    if count:
        asked.append(f"({count} < {stop})")
    elif isinstance(loop, ast.While) and not isinstance(loop.test, ast.Constant):
        asked.append(f"({elementwise(failure, loop.test)})")
    start = ["False", *([first] if count else []), *(start_of(failure, name, loop) for name in kept)]
    lines = [
        "def keep_going(carry):",
        *indented([f"{', '.join(names)} = carry", f"return {' & '.join(asked)}"]),
        "",
        "def body(carry):",
        *indented(body),
        "",
        f"{', '.join(names)} = jax.lax.while_loop(keep_going, body, ({', '.join(start)}))",
    ]
    if count in used_later(failure, loop):
        lines.append(f"{count} = {count} - 1  # as Python leaves it")
    text = "Let the program loop, in place of the whole loop; it goes on until the condition is met:"
    return (Cure(text, "\n".join(lines)),)


def _turn_left_once(failure: Failure, loop: ast.For | ast.While, node: ast.If, done: str, kept: list[str]) -> list[str]:
    at, given = loop.body.index(node), ", ".join(kept)
    lines = [*turn_lines(failure, loop.body[:at]), f"{done} = {elementwise(failure, node.test)}"]
    if node.body[:-1]:
        lines += _function("when_done", given, lines_of(failure, node.body[:-1]), given)
        lines.append(f"{given} = jax.lax.cond({done}, when_done, lambda {given}: {_tuple(kept)}, {given})")
    if loop.body[at + 1 :]:
        lines += _function("go_on", given, turn_lines(failure, loop.body[at + 1 :]), given)
        lines.append(f"{given} = jax.lax.cond({done}, lambda {given}: {_tuple(kept)}, go_on, {given})")
    return lines


def _turn_lines(failure: Failure, statements: list[ast.stmt], kept: list[str]) -> list[str]:
    """A turn that may be left in several places, as a function that gives whether the loop is, and what it carries."""
    given = ", ".join(kept)
    node = next((one for one in statements if _leaves_here(one)), None)
    if node is None:
        return [*lines_of(failure, statements), f"return False, {given}"]
    at = statements.index(node)
    ends = isinstance(node.body[-1], ast.Break)
    before = lines_of(failure, statements[:at])
    return [
        *([*before, ""] if before else []),
        *[f"def leave({given}):", *indented([*lines_of(failure, node.body[:-1]), f"return {ends}, {given}"])],
        *["", f"def go_on({given}):", *indented(_turn_lines(failure, statements[at + 1 :], kept))],
        *["", f"return jax.lax.cond({elementwise(failure, node.test)}, leave, go_on, {given})"],
    ]


def _cut_short(failure: Failure, loop: ast.For | ast.While, node: ast.If) -> tuple[Cure, ...]:
    """What follows `continue`, as a function that the program calls in those turns alone that go on."""
    at = loop.body.index(node)
    rest = loop.body[at + 1 :]
    names = [name for name in names_assigned(rest) if name in _before(failure, loop) or name in failure.variables]
    made = set(names_assigned(rest)) - set(names)
    if not rest or not names or made & used_later(failure, loop) or len(node.body) > 1:
        return ()
    given = ", ".join(names)
    passed = ", ".join(start_of(failure, name, loop) for name in names)
    choose = f"jax.lax.cond({elementwise(failure, node.test)}, lambda {given}: {_tuple(names)}, go_on, {passed})"
    lines = [*_function("go_on", given, lines_of(failure, rest), given), f"{given} = {choose}"]
    text = "Put what follows into a function, in place of the `if` and the rest of the loop; the program chooses:"
    return (Cure(text, "\n".join(lines)),)


def _function(name: str, received: str, lines: list[str], given: str) -> list[str]:
    return [f"def {name}({received}):", *indented([*lines, f"return {given}"]), ""]


def _tuple(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"({', '.join(names)})"


def lines_of(failure: Failure, statements: list[ast.stmt]) -> list[str]:
    return [line for statement in statements for line in failure.text(statement).splitlines()]


def indented(lines: list[str]) -> list[str]:
    return textwrap.indent("\n".join(lines), "    ").splitlines()
