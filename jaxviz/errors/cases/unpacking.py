"""One number that is taken apart into several names, such as the result of a function that gives one alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jax

from jaxviz.arrays import is_array
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure
from jaxviz.errors.trial import given_by


def _one_for_several(failure: Failure, _: re.Match[str]) -> Explanation | None:
    statement = failure.statement
    if not isinstance(statement, ast.Assign):
        return None
    is_key = _is_key(given_by(failure, failure.text(statement.value)))
    # An array that has a name is told with how to give it an axis.
    if not isinstance(statement.value, (ast.Call, ast.BinOp)) and not is_key:
        return None
    targets = getattr(statement.targets[0], "elts", [])
    if not targets or not all(isinstance(one, ast.Name) for one in targets):
        return None
    text, names = failure.text(statement.value), [failure.text(one) for one in targets]
    if is_key:
        return _key_for_several(failure, statement.value, len(names))
    reason = (
        f"A single number has no axis to go along, so it does not come apart. `{text}` has the shape (), and there are "
        f"{len(names)} names for it."
    )
    cure = Cure("Where each shall be that number:", f"{' = '.join(names)} = {text}")
    return Explanation("no axis", f"`{text}` is one number", reason, (cure,), api_page("jax.numpy.atleast_1d"))


def _keys_for_pairs(failure: Failure, _: re.Match[str]) -> Explanation | None:
    """A dictionary that is gone along for pairs: it gives its keys, and a text comes apart into letters."""
    # What a comprehension goes along is known in the function around it.
    for place in reversed(failure.own[-2:]):
        there = failure.seen_from(place)
        for loop in _going_along(there):
            if isinstance(loop.target, (ast.Tuple, ast.List)) and isinstance(there.value(loop.iter), Mapping):
                return _told_of_pairs(there, loop)
    return None


def _told_of_pairs(failure: Failure, loop: ast.For | ast.comprehension) -> Explanation:
    text, names = failure.text(loop.iter), failure.text(loop.target)
    reason = (
        f"`{text}` is a dictionary, and a `for` goes along its keys alone. Each of these was to come apart into "
        f"`{names}`."
    )
    code = f"for {names} in {text}.items():"
    if isinstance(loop, ast.comprehension):
        code = failure.with_(loop.iter, f"{text}.items()")
    elif failure.source is not None:
        code = failure.source.replaced(loop, {loop.iter: f"{text}.items()"})
    cure = Cure("Go along the keys with their values:", code)
    return Explanation("pairs", f"`{text}` gives its keys, not pairs", reason, (cure,), "")


def _going_along(failure: Failure) -> Iterator[ast.For | ast.comprehension]:
    """The loop at whose head the error came, or the parts of the comprehension in which it did."""
    if isinstance(failure.statement, ast.For):
        yield failure.statement
    for node in ast.walk(failure.statement) if failure.statement is not None else ():
        if isinstance(node, ast.comprehension):
            yield node


def _is_key(value: Any) -> bool:
    return is_array(value) and jax.dtypes.issubdtype(value.dtype, jax.dtypes.prng_key)


def _key_for_several(failure: Failure, node: ast.expr, count: int) -> Explanation:
    """A random key that is taken apart, which is done by splitting it."""
    text = failure.text(node)
    reason = (
        f"`{text}` is one key, and there are {count} names for it. A key is for one draw: to have several, it is "
        "split, which gives an array of new ones."
    )
    cure = Cure("Split it:", failure.with_(node, f"jax.random.split({text}, {count})"))
    return Explanation("no axis", f"`{text}` is one random key", reason, (cure,), api_page("jax.random.split"))


CASES = (
    Case("no axis", ("TypeError",), r"iteration over a 0-d array", _one_for_several),
    Case("pairs", ("ValueError",), r"(?:not enough|too many) values to unpack", _keys_for_pairs),
)
