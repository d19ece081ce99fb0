"""One number that is taken apart into several names, such as the result of a function that gives one alone."""

from __future__ import annotations

import ast
import re

from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure


def _one_for_several(failure: Failure, _: re.Match[str]) -> Explanation | None:
    statement = failure.statement
    # An array that has a name is told with how to give it an axis.
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, (ast.Call, ast.BinOp)):
        return None
    targets = getattr(statement.targets[0], "elts", [])
    if not targets or not all(isinstance(one, ast.Name) for one in targets):
        return None
    text, names = failure.text(statement.value), [failure.text(one) for one in targets]
    reason = (
        f"A single number has no axis to go along, so it does not come apart. `{text}` has the shape (), and there are "
        f"{len(names)} names for it."
    )
    cure = Cure("Where each shall be that number:", f"{' = '.join(names)} = {text}")
    return Explanation("no axis", f"`{text}` is one number", reason, (cure,), api_page("jax.numpy.atleast_1d"))


CASES = (Case("no axis", ("TypeError",), r"iteration over a 0-d array", _one_for_several),)
