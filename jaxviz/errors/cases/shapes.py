"""Shapes and axes that an array does not have."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from contextlib import suppress

from jaxviz import compat
from jaxviz.errors.cases.given import argument
from jaxviz.errors.cases.operands import Shape
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name, type_text
from jaxviz.errors.trial import given_by


def _reshape(failure: Failure, match: re.Match[str]) -> Explanation:
    shapes = [tuple(map(int, re.findall(r"-?\d+", text))) for text in re.findall(r"\(([-\d, ]*)\)", failure.message)]
    shapes = [shape for shape in shapes if shape]
    old, new = ([*shapes, (), ()])[:2]
    call = failure.calls("reshape")
    candidates = []
    for place in range(len(new)):
        rest = math.prod(size for at, size in enumerate(new) if at != place)
        if rest > 0 and math.prod(old) % rest == 0:
            candidates.append((*new[:place], -1, *new[place + 1 :]))
    cures = []
    for shape in candidates[:2]:
        text = ", ".join(map(str, shape))
        code = f"x.reshape({text})"
        if call is not None:
            written = f"{failure.text(call.func)}({text})"
            if not _is_method(call) and call.args:
                single = "," if len(shape) == 1 else ""
                written = f"{failure.text(call.func)}({failure.text(call.args[0])}, ({text}{single}))"
            code = failure.with_(call, written)
        cures.append(
            Cure(
                f"Let one size follow from the others; -1 becomes {_followed(old, shape)}:",
                code,
            )
        )
    cures = cures or _cut_off(failure, call, old, new)
    holds = f"{new} would hold {math.prod(new)}"
    if -1 in new:
        rest = math.prod(size for size in new if size != -1)
        holds = f"{rest} of {new} do not divide that"
    reason = (
        f"Reshaping keeps every element: {old} holds {math.prod(old)}, and {holds}. "
        "Sizes are fixed while JAX traces, so this is seen at once."
    )
    return Explanation("reshape", f"{old} does not fill {new}", reason, tuple(cures), api_page("jax.numpy.reshape"))


def _cut_off(failure: Failure, call: ast.Call | None, old: Shape, new: Shape) -> list[Cure]:
    """An array of which what does not fill the shape is left out, or that is repeated until it does."""
    array = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    if call is not None and not _is_method(call):
        array = call.args[0] if call.args else None
    rest = math.prod(size for size in new if size != -1)
    if call is None or array is None or rest < 1:
        return []
    text, size = failure.text(array), math.prod(old)
    wanted = size // rest * rest if -1 in new else rest
    if 0 < wanted <= size:
        code = failure.with_(call, f"jnp.ravel({text})[:{wanted}].reshape({new})")
        return [Cure(f"Take the first {wanted} entries, and leave out the rest:", code)]
    shape = tuple(1 if one == -1 else one for one in new)
    return [Cure("Repeat its entries until it is full:", failure.with_(call, f"jnp.resize({text}, {shape})"))]


def _is_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and last_name(call.func.value) not in ("jnp", "numpy", "np", "lax")


def _followed(old: Shape, shape: Shape) -> int:
    return math.prod(old) // math.prod(size for size in shape if size != -1)


def _axis(failure: Failure, match: re.Match[str]) -> Explanation:
    axis, rank = int(match[1]), int(match[2])
    call = failure.find(ast.Call)
    keyword = next((item for item in call.keywords if item.arg == "axis"), None) if call is not None else None
    last = rank - 1
    code = failure.with_(keyword.value, str(last) if axis > 0 else str(-rank)) if keyword is not None else ""
    numbers = "axis 0" if rank == 1 else f"axes 0 to {last}"
    reason = (
        f"The array has {rank} {'axis' if rank == 1 else 'axes'}: {numbers}, or -1 for the last. "
        "Under `vmap` the mapped axis is already gone."
    )
    if rank == 0:
        reason = "The value is one number and has no axis. Under `vmap` the mapped axis is already gone."
        code = failure.with_(keyword.value, "None") if keyword is not None else ""
    return Explanation(
        "axis", f"there is no axis {axis}", reason, (Cure("Use one that is there:", code),), api_page("jax.numpy.sum")
    )


def _order(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """An order of axes that does not name each axis of the array once."""
    call = failure.calls("transpose", "permute_dims")
    if call is None:
        return None
    method = _is_method(call)
    array = call.func.value if method and isinstance(call.func, ast.Attribute) else argument(call, 0, "a", "operand")
    placed = call.args if method else call.args[1:]
    named = argument(call, len(call.args), "axes", "permutation")
    given = [named] if named is not None else placed
    written = given[0].elts if len(given) == 1 and isinstance(given[0], (ast.Tuple, ast.List)) else given
    type_ = given_by(failure, failure.text(array)) if array is not None else None
    if array is None or type_ is None or len(written) == type_.ndim:
        return None
    text, rank = failure.text(array), type_.ndim
    asked = [_whole_number(one) for one in written]
    order = _kept_order(asked, rank)
    new = f"{text}.transpose({', '.join(map(str, order))})" if method else ""
    new = new or f"{failure.text(call.func)}({text}, ({', '.join(map(str, order))}{',' * (rank == 1)}))"
    reason = (
        f"An order of axes names each axis of the array once. `{text}` is {type_text(type_)} and has {rank}; the order "
        f"has {len(written)}. Under `vmap` the mapped axis is already gone."
    )
    text = "Name each axis once; the axes from the end are turned as is asked:"
    title = (
        f"`{failure.text(array)}` has {rank} {'axis' if rank == 1 else 'axes'}, and an order of {len(written)} is given"
    )
    cures = (Cure(text, failure.with_(call, new)),) if order else ()
    return Explanation("axis", title, reason, cures, api_page("jax.numpy.transpose"))


def _whole_number(node: ast.expr) -> int | None:
    """A whole number that is written out."""
    with suppress(ValueError):
        number = ast.literal_eval(node)
        return number if type(number) is int else None
    return None


def _kept_order(asked: Sequence[int | None], rank: int) -> list[int]:
    """An order of other length as it would be for an array of this rank, counted from its end: with fewer, those
    before stay; with more, those before are left out. Empty where that gives none."""
    if None in asked:
        return []
    from_end = [one - len(asked) if one >= 0 else one for one in asked if one is not None]
    kept = [one + rank for one in from_end if one >= -rank]
    order = [*range(rank - len(kept)), *kept]
    return order if sorted(order) == list(range(rank)) else []


def _no_axis(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """An axis beyond those of an array, where JAX says so in the words of Python: of a tuple, the shape."""
    node = failure.find(ast.Subscript)
    of_shape = node is not None and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"
    innermost = failure.places[-1].frame.f_code.co_filename if failure.places else ""
    if not of_shape and not innermost.startswith(compat.JAX_FOLDERS):
        return None
    text = " ".join(failure.text(failure.expression).split())
    reason = (
        f"{failure.types(failure.expression)} An array of n axes has the axes 0 to n - 1, or -1 for the last. "
        "Under `vmap` the mapped axis is already gone."
    )
    call = failure.find(ast.Call)
    given = next((one.value for one in call.keywords if one.arg == "axis"), None) if call is not None else None
    given = given or (node.slice if of_shape and node is not None else None)
    cures = [Cure("Take the last one:", failure.with_(given, "-1"))] if isinstance(given, ast.Constant) else []
    title = f"`{text}` asks for an axis that is not there"
    return Explanation("axis", title, reason.strip(), tuple(cures), api_page("jax.numpy.ndarray.shape"))


CASES = (
    Case("reshape", ("TypeError", "ValueError"), r"cannot reshape array of shape", _reshape),
    Case(
        "axis",
        ("ValueError", "TypeError"),
        r"is out of bounds for array of dimension|permutation isn't a permutation|axes don't match",
        _order,
    ),
    Case("axis", ("ValueError",), r"axis (-?\d+) is out of bounds for array of dimension (\d+)", _axis),
    Case(
        "axis",
        ("IndexError",),
        r"^tuple index out of range$|index (-?\d+) is out of bounds for axis 0 with size (\d+)",
        _no_axis,
    ),
)
