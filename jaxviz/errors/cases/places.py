"""`x.at[...]`, a place of an array, used as if it were the array or could be written into."""

from __future__ import annotations

import ast
import re

from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure

#: What is done at a place, for `+=` and its like.
METHODS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
}
_LINK = api_page("jax.numpy.ndarray.at")
_WHY = (
    "`at[...]` names a place of an array, and what is done there comes after it as a method. Arrays of JAX never "
    "change: the method gives a new array, which must be kept."
)


def _written(failure: Failure, _: re.Match[str]) -> Explanation | None:
    """`x.at[i] = value` and `x.at[i] += value`."""
    statement = failure.statement
    target = getattr(statement, "target", None) or next(iter(getattr(statement, "targets", [])), None)
    at = target.value if isinstance(target, ast.Subscript) else None
    if not isinstance(target, ast.Subscript) or not isinstance(at, ast.Attribute) or at.attr != "at":
        return None
    method = "set"
    if isinstance(statement, ast.AugAssign):
        if type(statement.op) not in METHODS:
            return None
        method = METHODS[type(statement.op)]
    elif not isinstance(statement, ast.Assign):
        return None
    array, place = failure.text(at.value), failure.text(target)
    code = f"{array} = {place}.{method}({failure.text(statement.value)})"
    title = f"`{place}` is a place of `{array}`, and no array"
    return Explanation("place", title, _WHY, (Cure("Make a new array with the change in it:", code),), _LINK)


def _computed(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """What stands at the place is meant."""
    told = _written(failure, match)
    if told is not None:
        return told
    call = failure.find(ast.Call)
    if call is not None and isinstance(call.func, ast.Subscript) and len(call.args) == 1 and "callable" in match.string:
        place = failure.text(call.func)
        cure = Cure("Say what is done there, such as to set it:", failure.with_(call.func, f"{place}.set"))
        return Explanation("place", f"`{place}` is a place of an array, and no function", _WHY, (cure,), _LINK)
    node = failure.find((ast.BinOp, ast.Compare, ast.UnaryOp, ast.Call))
    parts = [part for part in ast.walk(node) if isinstance(part, ast.expr)] if node is not None else []
    for part in parts:
        is_at = isinstance(part, ast.Subscript) and isinstance(part.value, ast.Attribute) and part.value.attr == "at"
        if is_at or type(failure.value(part)).__name__ == "_IndexUpdateRef":
            text = failure.text(part)
            title = f"`{text}` is a place of an array, and no array"
            cure = Cure("To take what stands there:", failure.with_(part, f"{text}.get()"))
            return Explanation("place", title, _WHY, (cure,), _LINK)
    return None


CASES: tuple[Case, ...] = (
    Case("place", ("TypeError",), r"'_IndexUpdateHelper' object does not support item assignment", _written),
    Case("place", ("TypeError", "ValueError"), r"_IndexUpdateRef", _computed),
)
