"""Loops and branches that are called wrongly: arguments in another order, functions with other parameters."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
from contextlib import suppress
from typing import Any

from jaxviz.arrays import is_array
from jaxviz.errors.cases.given import argument, function_given, written_out
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import all_rewritten, called, fresh, parameters
from jaxviz.errors.source import names_read
from jaxviz.errors.trial import given_by

#: Where each takes its functions, what it begins with, and how it calls what it is given.
_FUNCTIONS = {"scan": ((0, "f"),), "while_loop": ((0, "cond_fun"), (1, "body_fun")), "fori_loop": ((2, "body_fun"),)}
_FUNCTIONS |= {"cond": ((1, "true_fun"), (2, "false_fun")), "map": ((0, "f"),), "associative_scan": ((0, "fn"),)}
_STARTS = {"scan": (1, "init"), "while_loop": (2, "init_val"), "fori_loop": (3, "init_val")}
_CALLED = {
    "scan": "with what is carried and one entry of what is scanned",
    "while_loop": "with what is carried, as one value",
    "fori_loop": "with the number of the turn and what is carried, in this order",
    "cond": "with what comes after the branches",
    "switch": "with what comes after the branches",
    "associative_scan": "with two neighbours, which it combines",
    "map": "with one entry",
    "vmap": "with one entry of each argument",
}


def _other_parameters(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """A function that was given to a transformation or a loop, and is called with other arguments than it has."""
    call = failure.find(ast.Call)
    name = last_name(call.func) if call is not None else ""
    if call is None or name not in _CALLED or failure.place is None:
        return None
    own = re.match(r"(?:\w+\.)*(\w+)\(\)", failure.message)
    if own is not None and own[1] == name:
        return _called_in_two(failure, call, name)
    innermost = failure.places[-1].frame.f_code.co_filename
    if innermost == failure.place.frame.f_code.co_filename and failure.places[-1] is failure.place:
        return None
    said = re.search(r"(takes|missing) (.*)", failure.message)
    does = {"takes": "takes", "missing": "is called with too few, missing"}[said[1]] if said else "does not fit"
    reason = (
        f"`{name}` calls the function that it is given {_CALLED[name]}; this one "
        f"{does} {said[2].rstrip('.') if said else 'that'}. "
        "What it reads from around it need not be an argument."
    )
    code = _adapted(failure, call, name)
    cures = (Cure("Hand on to it what it takes:", code),) if code else ()
    title = f"the function given to `{name}` has other arguments than it is called with"
    page = api_page(f"jax.lax.{name}" if name != "vmap" else "jax.vmap")
    return Explanation("call of a body", title, reason, cures, page)


def _called_in_two(failure: Failure, call: ast.Call, name: str) -> Explanation | None:
    """`lax.map(f)(x)`: what is called itself lacks arguments, and what it would give is called with them."""
    outer = failure.source.parent(call) if failure.source is not None else None
    if not isinstance(outer, ast.Call) or outer.func is not call or "missing" not in failure.message:
        return None
    given = [failure.text(one) for one in (*call.args, *outer.args)]
    given += [f"{one.arg}={failure.text(one.value)}" for one in (*call.keywords, *outer.keywords) if one.arg]
    code = failure.with_(outer, f"{failure.text(call.func)}({', '.join(given)})")
    reason = (
        f"`{name}` makes no function of the one that it is given, as `vmap` and `jit` do: it runs it at once, and "
        "takes what that works on in the same call. "
        f"{failure.types(outer)}"
    )
    title = f"`{name}` takes what it works on in the same call"
    cure = Cure("Give it beside the function:", code)
    return Explanation("call of a body", title, reason.strip(), (cure,), api_page(f"jax.lax.{name}"))


def _adapted(failure: Failure, call: ast.Call, name: str) -> str:
    """The statement with functions around those that do not fit, which hand on what these take."""
    if name in ("cond", "switch"):
        return (_operands(failure, call) if name == "cond" else "") or _alike(failure, call, name)
    changes: dict[ast.AST, str] = {}
    for place, keyword in _FUNCTIONS.get(name, ()):
        given = argument(call, place, keyword)
        count = _count(failure, given)
        text = _wrapped(failure, call, name, given, count) if given is not None and count is not None else ""
        if given is not None and text:
            changes[given] = text
    source, statement = failure.source, failure.statement
    if not changes or source is None or statement is None or hasattr(statement, "body"):
        return ""
    return source.replaced(statement, changes)


def _wrapped(failure: Failure, call: ast.Call, name: str, given: ast.expr, count: int) -> str:
    place, keyword = _STARTS.get(name, (1, "init"))
    start = argument(call, place, keyword)
    parts = _length(failure, start)
    own = parameters(function_given(failure, given))
    state = fresh(failure, "carry", "state")
    function = called(failure, given)
    turn = fresh(failure, "i", "turn")
    if name == "fori_loop":
        if count == 1 and isinstance(given, ast.Lambda):
            return f"lambda {turn}, {failure.text(given.args)}: {failure.text(given.body)}"
        if count == 1:
            return f"lambda {turn}, {own[0] if own else state}: {function}({own[0] if own else state})"
        return {
            parts + 1: f"lambda {turn}, {state}: {function}({turn}, *{state})",
            parts: f"lambda {turn}, {state}: {function}(*{state})",
        }.get(count if parts > 1 else -1, "")
    if name == "while_loop":
        return f"lambda {state}: {function}(*{state})" if count == parts > 1 else ""
    if name == "scan":
        if count == 1 and isinstance(start, ast.Constant) and start.value is None:
            return f"lambda _, x: (None, {function}(x))"
        if count == 1 and isinstance(given, ast.Lambda):
            return f"lambda {failure.text(given.args)}, _: {failure.text(given.body)}"
        if count == 1:
            return f"lambda {own[0] if own else state}, _: {function}({own[0] if own else state})"
        return f"lambda {state}, x: {function}(*{state}, x)" if count == parts + 1 > 2 else ""
    if name == "map":
        xs = argument(call, 1, "xs")
        return f"lambda entry: {function}(*entry)" if count == _length(failure, xs) > 1 else ""
    return ""


def _operands(failure: Failure, call: ast.Call) -> str:
    """`cond` with the operands that its branches take."""
    counts = {_count(failure, argument(call, place, name)) for place, name in _FUNCTIONS["cond"]}
    operands = call.args[3:]
    head = [failure.text(one) for one in call.args[:3]]
    if counts == {0} and len(call.args) > 3:
        return failure.with_(call, f"{failure.text(call.func)}({', '.join(head)})")
    if len(operands) == 1 and counts == {_length(failure, operands[0])} and counts != {0}:
        given = operands[0]
        spread = (
            [failure.text(one) for one in given.elts] if isinstance(given, ast.Tuple) else [f"*{failure.text(given)}"]
        )
        return failure.with_(call, f"{failure.text(call.func)}({', '.join([*head, *spread])})")
    return ""


def _alike(failure: Failure, call: ast.Call, name: str) -> str:
    """A choice in which those branches that take nothing are handed what the others take."""
    listed = written_out(failure, argument(call, 1, "branches")) if name == "switch" else []
    branches = listed or [one for place, word in _FUNCTIONS["cond"] if (one := argument(call, place, word)) is not None]
    operands = call.args[2 if name == "switch" else 3 :]
    counts = {branch: _count(failure, branch) for branch in branches}
    if not operands:
        return _with_operands(failure, call, branches)
    if not {*counts.values()} <= {0, len(operands)}:
        return _without_unused(failure, branches, len(operands))
    changes: dict[ast.AST, str] = {}
    for branch in [one for one, count in counts.items() if count == 0]:
        body = failure.text(branch.body) if isinstance(branch, ast.Lambda) else f"{called(failure, branch)}()"
        changes[branch] = f"lambda *_: {body}"
    return all_rewritten(failure, changes) if changes else ""


def _with_operands(failure: Failure, call: ast.Call, branches: list[ast.expr]) -> str:
    """A choice in which branches are handed what they take: what is so named, or the one array that is there."""
    own = [parameters(function_given(failure, branch)) for branch in branches]
    arrays = [name for name, held in failure.variables.items() if is_array(held)]
    if not own or not own[0] or {len(names) for names in own} != {len(own[0])}:
        return ""
    given = own[0] if {*own[0]} <= {*failure.variables} else arrays if len(arrays) == len(own[0]) == 1 else []
    written = [failure.text(one) for one in call.args]
    return failure.with_(call, f"{failure.text(call.func)}({', '.join([*written, *given])})") if given else ""


def _without_unused(failure: Failure, branches: list[ast.expr], count: int) -> str:
    """A choice between lambdas that take as many as they are handed, without the last of their parameters that none of
    them reads."""
    changes: dict[ast.AST, str] = {}
    for branch in branches:
        names = parameters(branch) if isinstance(branch, ast.Lambda) else []
        if not isinstance(branch, ast.Lambda) or len(names) < count or {*names[count:]} & {*names_read(branch.body)}:
            return ""
        if names[count:]:
            changes[branch] = f"lambda {', '.join(names[:count])}: {failure.text(branch.body)}"
    return all_rewritten(failure, changes) if changes else ""


def _length(failure: Failure, node: ast.expr | None) -> int:
    """How many parts a tuple has; 0 of anything else."""
    if isinstance(node, (ast.Tuple, ast.List)):
        return len(node.elts)
    value = failure.value(node)
    return len(value) if isinstance(value, (tuple, list)) else 0


def _count(failure: Failure, given: ast.expr | None) -> int | None:
    """How many arguments a function takes; None where that is not known, or where it takes any number."""
    function = given if isinstance(given, ast.Lambda) else function_given(failure, given)
    if function is not None:
        own = function.args
        return None if own.vararg or own.kwonlyargs or own.defaults else len(own.posonlyargs) + len(own.args)
    with suppress(TypeError, ValueError):
        return len(inspect.signature(failure.value(given)).parameters)
    return None


# In another order.


def _no_function(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """A loop whose function stands where it takes another argument."""
    call = failure.calls(match[1])
    name = match[1]
    if call is None or name not in _STARTS:
        return None
    wanted = {
        "scan": "`scan(body, init, xs)`",
        "while_loop": "`while_loop(condition, body, init)`",
        "fori_loop": "`fori_loop(lower, upper, body, init)`",
    }[name]
    place, parameter = next((one for one in _FUNCTIONS[name] if one[1] == match[2]), _FUNCTIONS[name][0])
    there = argument(call, place, parameter)
    text = failure.text(there)
    reason = (
        f"{wanted} is the order in which it takes its arguments. "
        f"{f'`{text}` stands where a function is wanted.' if text else 'No function stands where one is wanted.'}"
    )
    code = _in_order(failure, call, name)
    cures = (Cure("Give them in this order:", code),) if code else ()
    title = f"`{name}` was given its arguments in another order" if code else f"`{text}` is no function"
    return Explanation("order of arguments", title, reason, cures, api_page(f"jax.lax.{name}"))


def _in_order(failure: Failure, call: ast.Call, name: str) -> str:
    """The statement with the arguments in the one order in which the loop can be traced."""
    if call.keywords or any(isinstance(one, ast.Starred) for one in call.args):
        return ""
    functions = [one for one in call.args if isinstance(one, ast.Lambda) or callable(failure.value(one))]
    others = [one for one in call.args if one not in functions]
    places = [place for place, _ in _FUNCTIONS[name]]
    if len(functions) != len(places):
        return ""
    for order, rest in itertools.product(itertools.permutations(functions), itertools.permutations(others)):
        texts = [failure.text(one) for one in rest]
        for place, function in zip(places, order, strict=True):
            texts.insert(place, failure.text(function))
        text = f"{failure.text(call.func)}({', '.join(texts)})"
        if given_by(failure, text) is not None:
            return failure.with_(call, text)
    return ""


def swapped(failure: Failure, index: str) -> Cure | None:
    """For an index that is what a counted loop carries: its body with the number of the turn as the first parameter."""
    if len(failure.own) < 2:
        return None
    outside = failure.seen_from(failure.own[-2])
    call = outside.calls("fori_loop")
    given = argument(call, 2, "body_fun")
    function: Any = function_given(outside, given)
    names = parameters(function)
    if call is None or outside.source is None or len(names) != 2 or names[1] != index:
        return None
    first, second = function.args.args
    changes: dict[ast.AST, str] = {first: names[1], second: names[0]}
    whole = function if isinstance(function, ast.FunctionDef) else outside.statement
    if whole is None or (not outside._inside(given or whole, whole) and whole is not function):
        return None
    return Cure("Take the number of the turn first:", outside.source.replaced(whole, changes))


CASES = (
    Case(
        "call of a body",
        ("TypeError",),
        r"takes .* positional arguments? but|missing \d+ required positional",
        _other_parameters,
    ),
    Case(
        "order of arguments",
        ("TypeError",),
        r"lax\.(\w+): ([\w ]+?) arguments? should be (?:a )?callable",
        _no_function,
    ),
)
