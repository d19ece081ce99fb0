"""Loops of Python that are left, or whose turns are cut short, where a traced value says so: `break`, `continue` and
`return`."""

from __future__ import annotations

import ast
from typing import Any, TypeGuard

from jaxviz.arrays import is_array
from jaxviz.errors.cases.as_program import turn_lines, way_lines
from jaxviz.errors.cases.conditions import elementwise
from jaxviz.errors.cases.filled_lists import filled_list
from jaxviz.errors.cases.loop_state import carried_by, known_before, start_of, used_later
from jaxviz.errors.explanation import Cure
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import fresh, indented, lines_of
from jaxviz.errors.source import names_assigned, names_read


def left_loop(failure: Failure, node: ast.If) -> tuple[Cure, ...] | None:
    """The cures of an `if` that holds only `break` or `continue`, maybe after assignments; None for any other."""
    last = node.body[-1]
    loop: Any = failure.source.parent(node) if failure.source is not None else None
    if node.orelse or not isinstance(last, (ast.Break, ast.Continue)):
        return None
    if not isinstance(loop, (ast.For, ast.While)) or node not in loop.body:
        return ()
    places = _leaving(loop)
    if isinstance(last, ast.Continue) and places is not None and len(places) == 1:
        return _cut_short(failure, loop, node)
    return stopped_loop(failure, loop) or filled_list(failure, loop)


def left_by_return(failure: Failure, node: ast.If) -> tuple[Cure, ...]:
    """The cures of an `if` in a loop that ends the function."""
    loop = failure.source.parent(node) if failure.source is not None else None
    return stopped_loop(failure, loop) if isinstance(loop, (ast.For, ast.While)) and _leaves_here(node) else ()


def _leaving(loop: ast.For | ast.While) -> list[ast.If] | None:
    """The statements of a loop that end it or its turn if something is so; None where it is left in other ways too."""
    places = [one for one in loop.body if _leaves_here(one)]
    others = [one for part in loop.body for one in (part.body[:-1] if _leaves_here(part) else [part])]
    kinds = (ast.Break, ast.Continue, ast.Return, ast.Yield)
    if loop.orelse or any(isinstance(item, kinds) for one in others for item in ast.walk(one)):
        return None
    # What fills a list, or writes elsewhere, would do so once, while the turn is traced.
    calls = any(isinstance(item, ast.Expr) and isinstance(item.value, ast.Call) for item in ast.walk(loop))
    return None if calls else places


def _leaves_here(statement: ast.stmt) -> TypeGuard[ast.If]:
    return (
        isinstance(statement, ast.If)
        and not statement.orelse
        and isinstance(last := statement.body[-1], (ast.Break, ast.Continue, ast.Return))
        and getattr(last, "value", last) is not None
    )


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


def stopped_loop(failure: Failure, loop: ast.For | ast.While) -> tuple[Cure, ...]:
    """A loop that is left: one whose condition says whether it goes on."""
    places = _leaving(loop)
    if not places:
        return ()
    done = fresh(failure, "done", "stopped")
    returned = _returned(failure, loop, places, done)
    if returned is None:
        return ()
    carried = carried_by(failure, loop)
    begins: list[str] = []
    count, stop = "", ""
    if isinstance(loop, ast.For):
        turns = _turns(failure, loop)
        if turns is None:
            return ()
        first, stop, begins, count = turns
    later = used_later(failure, loop) | {name for one in places for name in names_read(one.body[-1])}
    made = [name for name in names_assigned(loop.body) if name in later and name not in (*carried, count)]
    starts = {name: start_of(failure, name, loop) for name in carried}
    starts |= {name: _zeros(failure.variables.get(name)) for name in made}
    if not starts or not all(starts.values()):
        return ()
    kept = [name for name in starts if name != count]
    names = [done, *([count] if count else []), *kept]
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
    start = ["False", *([first] if count else []), *(starts[name] for name in kept)]
    lines = [
        "def keep_going(carry):",
        *indented([f"{', '.join(names)} = carry", f"return {' & '.join(asked)}"]),
        "",
        "def body(carry):",
        *indented(body),
        "",
        f"{', '.join(names)} = jax.lax.while_loop(keep_going, body, ({', '.join(start)}))",
    ]
    if count in later:
        lines.append(f"{count} = {count} - 1  # as Python leaves it")
    what = "the whole loop and what follows" if returned else "the whole loop"
    text = f"Let the program loop, in place of {what}; it goes on until the condition is met:"
    return (Cure(text, "\n".join([*lines, *returned])),)


def _returned(failure: Failure, loop: ast.For | ast.While, places: list[ast.If], done: str) -> list[str] | None:
    """What follows a loop in which some places return: that result if it was left there, else what came after the loop;
    nothing where no place returns; None where what is returned depends on the place."""
    source = failure.source
    ends = [one.body[-1] for one in places if not isinstance(one.body[-1], ast.Continue)]
    values = [one.value for one in ends if isinstance(one, ast.Return) and one.value is not None]
    if not values:
        return []
    function = source.parent(loop) if source is not None else None
    texts = {failure.text(one) for one in values}
    if len(values) < len(ends) or len(texts) > 1 or not isinstance(function, ast.FunctionDef):
        return None
    (text,) = texts
    rest = function.body[function.body.index(loop) + 1 :]
    if not rest:
        always = isinstance(loop, ast.While) and isinstance(loop.test, ast.Constant)
        return [f"return {text}"] if always else None
    last = rest[-1]
    if not isinstance(last, ast.Return) or last.value is None:
        return None
    if len(rest) == 1 and failure.text(last.value) == text:
        return [f"return {text}"]
    value = f"({text})" if isinstance(values[0], ast.Tuple) and not text.startswith("(") else text
    changed = [name for name in names_assigned(rest) if name in failure.variables]
    otherwise = [f"def otherwise({', '.join(changed)}):", *indented(way_lines(failure, rest)), ""]
    returning = f"lambda {', '.join(changed)}: {value}" if changed else f"lambda: {value}"
    return ["", *otherwise, f"return jax.lax.cond({', '.join([done, returning, 'otherwise', *changed])})"]


def _zeros(value: Any) -> str:
    """What a name is before it has a value, of the type that it then has; empty where that is not known."""
    if not is_array(value):
        return ""
    return f"jnp.zeros({tuple(value.shape)}, jnp.{value.dtype.name})"


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
    ends = not isinstance(node.body[-1], ast.Continue)
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
    names = [name for name in names_assigned(rest) if name in known_before(failure, loop) or name in failure.variables]
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
