"""Elements that are taken by a mask of booleans: how many there are depends on values."""

from __future__ import annotations

import ast
import re
from typing import Any, TypeGuard

import jax.numpy as jnp

from jaxviz.arrays import is_array
from jaxviz.errors.cases.in_place import written_into
from jaxviz.errors.cases.values import stand_ins
from jaxviz.errors.explanation import Case, Cure, Explanation, error_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.trial import given_by

#: Reductions that can leave out elements, with what those that have no value of nothing begin with.
_REDUCTIONS = {"sum": "", "mean": "", "std": "", "var": "", "prod": "", "any": "", "all": ""}
_REDUCTIONS |= {"max": ", initial=-jnp.inf", "min": ", initial=jnp.inf"}


def _reduced(failure: Failure, node: ast.Subscript, mask: str) -> str:
    """What reduces the elements that a mask takes, with the mask as its own argument; empty where nothing does."""
    source, array = failure.source, failure.value(node.value)
    parent = source.parent(node) if source is not None else None
    call = source.parent(parent) if source is not None and isinstance(parent, ast.Attribute) else parent
    if source is None or not isinstance(call, ast.Call) or not is_array(array) or array.ndim != 1:
        return ""
    name = last_name(call.func)
    as_method = call.func is parent
    if name not in _REDUCTIONS or len(call.args) != (0 if as_method else 1):
        return ""
    if not as_method and "jax" not in str(getattr(failure.value(call.func), "__module__", "")):
        return ""
    start = _REDUCTIONS[name] if jnp.issubdtype(array.dtype, jnp.floating) else ""
    if _REDUCTIONS[name] and not start:
        return ""
    others = "".join(f", {one.arg}={failure.text(one.value)}" for one in call.keywords)
    return failure.with_(call, f"jnp.{name}({failure.text(node.value)}, where={mask}{start}{others})")


def _reduced_later(failure: Failure) -> bool:
    """Whether something other than a sum is made of what a mask takes, by the name that this has."""
    target = next(iter(getattr(failure.statement, "targets", [])), None)
    source = failure.source
    if not isinstance(target, ast.Name) or source is None or failure.statement is None:
        return False
    function = next((one for one in source.around(failure.statement) if isinstance(one, ast.FunctionDef)), None)
    for call in ast.walk(function) if function is not None else ():
        if isinstance(call, ast.Call) and last_name(call.func) in {*_REDUCTIONS, "median"} - {"sum", "any"}:
            about = call.func.value if isinstance(call.func, ast.Attribute) and not call.args else None
            about = call.args[0] if call.args else about
            if isinstance(about, ast.Name) and about.id == target.id:
                return True
    return False


def _along(failure: Failure, node: ast.Subscript | None, mask: str) -> str:
    """A mask of rows, with an axis for each that a row has."""
    array: Any = failure.value(node.value) if node is not None else None
    # JAX says the type of the mask: what it was made of may be gone, such as the variable of a comprehension.
    said = re.search(r"bool\[([\d,]*)\]", failure.message)
    asked: Any = given_by(failure, mask) if node is not None and said is None else None
    axes = len(said[1].split(",")) if said and said[1] else getattr(asked, "ndim", 0)
    lacking = array.ndim - axes if is_array(array) and axes else 0
    return f"({mask})[..., {', '.join(['None'] * lacking)}]" if lacking > 0 else mask


def _written_back(failure: Failure, node: ast.Subscript) -> str:
    """What is taken by a mask, computed with and written where the same mask is true: chosen for each element."""
    source, statement = failure.source, failure.statement
    for around in source.around(node) if source is not None else []:
        if isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute) and around.func.attr == "set":
            # `x.at[mask].set(...)`
            place = around.func.value
            at = place.value if isinstance(place, ast.Subscript) else None
            if isinstance(at, ast.Attribute) and at.attr == "at" and len(around.args) == 1:
                chosen = _chosen(failure, node, place, at.value, around.args[0])
                return failure.with_(around, chosen) if chosen else ""
    if isinstance(statement, ast.Assign) and isinstance(place := statement.targets[0], ast.Subscript):
        chosen = _chosen(failure, node, place, place.value, statement.value)
        return f"{failure.text(place.value)} = {chosen}" if chosen else ""
    return ""


def _chosen(failure: Failure, node: ast.Subscript, place: ast.expr, array: ast.expr, value: ast.expr) -> str:
    """A value of all elements where the mask is true; empty where another mask says what is written."""

    def is_taken(one: ast.AST) -> TypeGuard[ast.Subscript]:
        return isinstance(one, ast.Subscript) and ast.dump(one.slice) == ast.dump(node.slice)

    if not is_taken(place) or failure.source is None:
        return ""
    taken: dict[ast.AST, str] = {one: failure.text(one.value) for one in ast.walk(value) if is_taken(one)}
    mask = _along(failure, node, failure.text(node.slice))
    return f"jnp.where({mask}, {failure.source.replaced(value, taken)}, {failure.text(array)})"


def _boolean_mask(failure: Failure, match: re.Match[str]) -> Explanation:
    statement = failure.statement
    target = getattr(statement, "target", None)
    if isinstance(statement, ast.AugAssign) and isinstance(target, ast.Subscript) and target is failure.expression:
        # What is read there is written there too.
        return written_into(failure, match)
    node = failure.find(ast.Subscript)
    array = failure.text(node.value) if node is not None else "x"
    mask = failure.text(node.slice) if node is not None else "mask"
    where = f"jnp.where({_along(failure, node, mask)}, {array}, 0)"
    code = failure.with_(node, where) if node is not None else where
    keep = "Keep the shape, and put a number where the mask is false:"
    back = _written_back(failure, node) if node is not None else ""
    reduced = _reduced(failure, node, mask) if node is not None else ""
    if back:
        keep, code = "Compute it for all, and choose where the mask is true:", back
    elif reduced:
        keep, code = "Keep the shape, and have left out what the mask leaves out:", reduced
    elif node is not None and _reduced_later(failure):
        keep = (
            f"Keep the shape, and put a number where the mask is false; `where={mask}` has it left out of a mean, a "
            "product, a minimum or a maximum:"
        )
    first = f"jnp.nonzero({mask}, size=N, fill_value=0)"
    picked = failure.with_(node, f"{array}[{first}]") if node is not None else f"{array}[{first}]"
    cures = (
        Cure(keep, code),
        Cure("Or take a fixed number of elements:", picked),
    )
    shown = failure.text(node) or f"{array}[{mask}]"
    reason = (
        f"{stand_ins(failure, node)} The shape of every array must be known then, but how many elements `{shown}` has "
        "depends on how often the mask is true."
    )
    return Explanation(
        "boolean mask",
        f"the length of `{shown}` depends on values",
        reason,
        cures,
        failure.link or error_page("NonConcreteBooleanIndexError"),
    )


CASES = (Case("boolean mask", ("NonConcreteBooleanIndexError",), "", _boolean_mask),)
