"""One number that is taken apart into several names, such as the result of a function that gives one alone."""

from __future__ import annotations

import ast
import re
from typing import Any

import jax

from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, is_array
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


CASES = (Case("no axis", ("TypeError",), r"iteration over a 0-d array", _one_for_several),)
