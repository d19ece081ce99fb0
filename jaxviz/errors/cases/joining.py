"""Arrays that do not fit side by side, and one that does not fall into equal parts."""

from __future__ import annotations

import ast
import re
from typing import Any

from jaxviz.arrays import is_array
from jaxviz.errors.cases.operands import as_operand, shapes_in
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.trial import cannot_work, given_by


def _stack(failure: Failure, call: ast.Call) -> Explanation:
    arrays = failure.text(call.args[0]) if call.args else "arrays"
    reason = (
        f"`stack` lays arrays of equal shape side by side along a new axis, and these differ. {failure.types(call)}"
    )
    listed = call.args[0].elts if call.args and isinstance(call.args[0], (ast.List, ast.Tuple)) else []
    texts = [failure.text(one) for one in listed]
    tries = [("Stretch them to one shape first:", f"jnp.stack(jnp.broadcast_arrays({', '.join(texts)}))")]
    if len(texts) == 2:
        turned = f"jnp.stack([{texts[0]}, {as_operand(listed[1], texts[1])}.T])"
        tries.append(("Transpose one of them, for then they have one shape:", turned))
    tries.append(("To put them one after the other along an axis that is there:", f"jnp.concatenate({arrays}, axis=0)"))
    flat = ", ".join(f"jnp.ravel({text})" for text in texts)
    tries.append(("Join all their entries in a row:", f"jnp.concatenate([{flat}])"))
    codes = [(text, failure.with_(call, code)) for text, code in tries]
    cures = [Cure(text, code) for text, code in codes if not cannot_work(failure, code)] if texts else []
    title = "`stack` wants arrays of one shape"
    return Explanation("stack", title, reason.strip(), tuple(cures[:1]), api_page("jax.numpy.stack"))


def _numbers_joined(failure: Failure, call: ast.Call | None) -> list[ast.expr]:
    """What has no axis, among arrays of one that are to be joined along it."""
    listed = call.args[0] if call is not None and call.args else None
    if not isinstance(listed, (ast.List, ast.Tuple)):
        return []
    held = [failure.value(one) for one in listed.elts]
    axes = [0 if isinstance(one, (int, float)) else one.ndim if is_array(one) else 2 for one in held]
    return [one for one, count in zip(listed.elts, axes, strict=True) if count == 0] if set(axes) == {0, 1} else []


def _joined_flat(failure: Failure, call: ast.Call | None) -> Cure | None:
    """Arrays with other numbers of axes one after the other: along an axis that those with fewer are given, where that
    goes, or else all their entries in a row."""
    listed = call.args[0] if call is not None and call.args else None
    if call is None or not isinstance(listed, (ast.List, ast.Tuple)) or failure.source is None:
        return None
    texts = [failure.text(one) for one in listed.elts]
    held: list[Any] = [given_by(failure, text) for text in texts]
    most = max((one.ndim for one in held if is_array(one)), default=0)
    widened = [
        f"{text}[{'None, ' * (most - one.ndim)}...]" if is_array(one) and one.ndim < most else text
        for text, one in zip(texts, held, strict=True)
    ]
    columns = [
        f"{as_operand(node, text)}[:, None]" if is_array(one) and one.ndim == 1 and most == 2 else text
        for node, text, one in zip(listed.elts, texts, held, strict=True)
    ]
    tries = (
        ("Give those with fewer axes the ones that they lack:", widened, ""),
        ("Take what has one axis for a column:", columns, ", axis=1"),
        ("Join all their entries in a row:", [f"jnp.ravel({text})" for text in texts], ""),
    )
    for text, parts, axis in tries:
        code = failure.with_(call, f"jnp.concatenate([{', '.join(parts)}]{axis})")
        if not cannot_work(failure, code):
            return Cure(text, code)
    return None


def _concatenation(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls(
        "concatenate", "concat", "hstack", "vstack", "append", "stack", "column_stack", "array", "asarray"
    )
    if call is not None and last_name(call.func) == "stack":
        return _stack(failure, call)
    shapes = shapes_in(failure.message)
    axis = re.search(r"along dimension (\d+)", failure.message)
    joined = int(axis[1]) if axis else 0
    first = failure.text(call.args[0]) if call is not None and call.args else "arrays"
    fitting = [
        place
        for place in range(min((len(shape) for shape in shapes), default=0))
        if len({(*shape[:place], *shape[place + 1 :]) for shape in shapes}) == 1
    ]
    of_entries = call is not None and last_name(call.func) in ("array", "asarray")
    numbers = [] if of_entries else _numbers_joined(failure, call)
    if call is not None and numbers and failure.source is not None:
        changes: dict[ast.AST, str] = {one: f"jnp.array([{failure.text(one)}])" for one in numbers}
        cure = Cure(
            "Give what is a single number an axis:", failure.with_(call, failure.source.replaced(call, changes))
        )
    elif fitting:
        cure = Cure(
            f"They fit along axis {fitting[0]}:",
            failure.with_(call, f"jnp.concatenate({first}, axis={fitting[0]})") if call else "",
        )
    elif len({len(shape) for shape in shapes}) > 1:
        cure = _joined_flat(failure, call) or Cure(
            f"Give the one of shape {min(shapes, key=len)} the axis that it lacks:",
            f"array[{'None, ' * (max(map(len, shapes)) - min(map(len, shapes)))}...]",
        )
    else:
        cure = Cure(
            "Bring the other axes to one size first:",
            "jnp.pad(array, ((0, 0), (0, MISSING)))  # with zeros, for example",
        )
    listed = " and ".join(str(shape) for shape in shapes) or "different"
    reason = (
        f"Arrays are joined along one axis, here {joined}, and must be equal along all others. The shapes are {listed}."
    )
    return Explanation(
        "concatenation",
        f"the arrays of `{first}` do not fit side by side",
        reason,
        (cure,),
        api_page("jax.numpy.concatenate"),
    )


def _split(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("split", "array_split", "hsplit", "vsplit")
    code = failure.with_(call.func, "jnp.array_split") if call is not None else "jnp.array_split(x, parts)"
    reason = (
        "`split` makes parts of one size, and there is a rest. Where the parts may differ, there is another function."
    )
    return Explanation(
        "split",
        "the array cannot be split into equal parts",
        reason,
        (Cure("Let the last parts be smaller:", code),),
        api_page("jax.numpy.array_split"),
    )


CASES = (
    Case(
        "concatenation",
        ("TypeError", "ValueError"),
        r"Cannot (?:concatenate|stack) arrays|All input arrays must have the same shape",
        _concatenation,
    ),
    Case("split", ("ValueError",), r"array split does not result in an equal division", _split),
)
