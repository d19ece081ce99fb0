"""Lengths and shapes that depend on values: what functions give as much of, slices, sizes that are traced."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from jaxviz.arrays import is_array
from jaxviz.errors.cases.given import parameter_of
from jaxviz.errors.cases.known_numbers import by_numpy
from jaxviz.errors.cases.outside import asked_before, asked_number, asked_numbers, computed_before
from jaxviz.errors.cases.values import depends, stand_ins, static_cures, told, without_shapes
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page, error_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import fresh, grouped
from jaxviz.errors.trial import given_by

# The parameter that fixes the length of a result, by function.
_SIZES = {
    "nonzero": "size",
    "flatnonzero": "size",
    "argwhere": "size",
    "where": "size",
    "unique": "size",
    "unique_values": "size",
    "union1d": "size",
    "intersect1d": "size",
    "setdiff1d": "size",
    "bincount": "length",
    "repeat": "total_repeat_length",
    "extract": "size",
}


# Of those that find out how long their result is: the parameter that says so, and what of their numbers it is.
_COUNTS = {
    "bincount": ("length", "{}.max() + 1"),
    "repeat": ("total_repeat_length", "{}.sum()"),
    "segment_sum": ("num_segments", "{}.max() + 1"),
    "segment_max": ("num_segments", "{}.max() + 1"),
    "segment_min": ("num_segments", "{}.max() + 1"),
    "segment_prod": ("num_segments", "{}.max() + 1"),
    "one_hot": ("num_classes", "{}.max() + 1"),
}


def _size(failure: Failure, _: re.Match[str]) -> Explanation | None:
    call = failure.calls(*_SIZES)
    if call is None or any(keyword.arg == _SIZES[last_name(call.func)] for keyword in call.keywords):
        return None
    name = last_name(call.func)
    written, parameter = failure.text(call), _SIZES[name]
    array = call.args[0] if call.args else None
    names = [one for one in failure.traced(array) if is_array(failure.variables[one])]
    size = {"bincount": "N", "repeat": "N"}.get(name, f"{names[0]}.size" if names else "N")
    code = failure.with_(call, f"{written[:-1].rstrip().rstrip(',')}, {parameter}={size})")
    before = _counted_before(failure, call)
    cures = list(static_cures(failure) or before) or [
        Cure(f"Give the length that the result shall have; what is left over is filled up ({parameter}=):", code)
    ]
    around = failure.source.parent(call) if failure.source is not None else None
    in_turns = isinstance(around, (ast.For, ast.comprehension)) and parameter == "size"
    if in_turns and not before:
        # What is filled up would be turns that are too many.
        cures = [*static_cures(failure)]
    counts = call.args[1] if name == "repeat" and len(call.args) > 1 else None
    if counts is not None and not failure.traced(counts):
        # What is computed of nothing that is traced can be computed by NumPy, at once.
        known = failure.with_(counts, failure.text(counts).replace("jnp.", "np."))
        cures.insert(0, Cure("Compute the counts with NumPy, which JAX does not trace:", known))
    if name in ("nonzero", "where", "flatnonzero", "argwhere") and array is not None:
        cures.append(
            Cure("Or keep the shape and compute with a mask:", f"jnp.where({failure.text(array)}, values, 0)", False)
        )
    title = f"`{name}` gives an array whose length depends on values"
    reason = (
        f"{stand_ins(failure, call)} The shape of every array must be known then, but how many elements `{written}` "
        f"has {depends(failure)}."
    )
    if in_turns and not cures:
        reason += f" Find what `{written}` gives before the call, and hand it in as a static tuple."
    return Explanation("length", title, reason, tuple(cures), failure.link or error_page("ConcretizationTypeError"))


def length(failure: Failure, _: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    written = failure.text(call) or "the array"
    if call is not None and last_name(call.func) == "delete" and call.args:
        return _deleted(failure, call)
    shape = parameter_of(failure, call, "shape")
    if call is not None and shape is not None and is_array(held := failure.value(shape)) and held.shape:
        return _array_for_shape(failure, call, shape)
    title = f"the shape of `{written}` depends on a value"
    why = "The shape of every array must be known then, but this one"
    before = _counted_before(failure, call)
    cures = _known_before(failure, call) or (*before, *_of_a_shape(failure, call, "Or take" if before else "Take"))
    explained = told(failure, "shape from a value", title, why, cures, error_page("ConcretizationTypeError"))
    how = " Hand it in as a static argument, a number that is computed before the call."
    return explained if cures else replace(explained, reason=explained.reason + how)


def _array_for_shape(failure: Failure, call: ast.Call, shape: ast.expr) -> Explanation:
    """An array where a shape is wanted, which may be that of the array."""
    text = failure.text(shape)
    code = failure.with_(shape, f"{grouped(text, shape)}.shape")
    reason = (
        "A shape is a tuple of whole numbers that are known while JAX traces. "
        f"`{text}` is an array, whose entries are known only when the program runs; its own shape is known."
    )
    title = f"`{failure.text(call)}` was given an array for a shape"
    cure = Cure("Give its shape:", code)
    return Explanation("shape from a value", title, reason, (cure,), error_page("ConcretizationTypeError"))


def _known_before(failure: Failure, call: ast.Call | None) -> tuple[Cure, ...]:
    """A number that a call is given and that is traced, made known: as a static argument, or by NumPy."""
    number = asked_number(failure, call)
    if call is not None and last_name(call.func) == "arange":
        # Each of its bounds decides how many there are.
        return static_cures(failure, failure.traced(call), every=True) or by_numpy(failure, number)
    # Each size of a shape is asked for.
    given = [*call.args, *(one.value for one in call.keywords)] if call is not None else []
    shape = next((one for one in given if isinstance(one, ast.Tuple) and number in one.elts), number)
    every = isinstance(shape, ast.Tuple)
    traced = failure.traced(without_shapes(shape)) if shape is not None else []
    return static_cures(failure, traced, every) or by_numpy(failure, number)


def _counted_before(failure: Failure, call: ast.Call | None) -> tuple[Cure, ...]:
    """Such a number computed before the function is traced; of a call that finds it out itself, given to it too."""
    numbers = asked_numbers(failure, call)
    if call is None or numbers:
        return computed_before(failure, *numbers)
    parameter, asked = _COUNTS.get(last_name(call.func), ("", ""))
    given = [failure.text(one) for one in call.args]
    place = 0 if last_name(call.func) == "bincount" else 1
    if not asked or len(given) <= place or any(one.arg == parameter for one in call.keywords):
        return ()
    array = grouped(given[place], call.args[place])
    name = fresh(failure, "size", "count")
    put = f"{failure.text(call)[:-1].rstrip().rstrip(',')}, {parameter}="
    return asked_before(failure, {name: asked.format(array)}, {call: f"{put}{name})"})


def _number_for_shape(failure: Failure, _: re.Match[str]) -> Explanation | None:
    """One traced number for a shape, which a function of JAX takes apart, as of `jax.random.normal(key, n)`."""
    call = failure.find(ast.Call)
    shape = parameter_of(failure, call, "shape")
    if call is None or shape is None or not failure.traced(shape):
        return None
    given = given_by(failure, failure.text(shape))
    if given is not None and getattr(given, "shape", None) != ():
        return None
    traced = failure.traced(shape)
    arrays = [name for name in traced if getattr(failure.variables[name], "shape", ())]
    text = "Take a shape that is known while tracing, and mask what is too much:"
    of_array = tuple(Cure(text, failure.with_(shape, f"{name}.shape")) for name in arrays[:1])
    title = f"the shape of `{failure.text(call)}` depends on a value"
    why = f"The shape of every array must be known then, but `{failure.text(shape)}`"
    cures = _known_before(failure, call) or computed_before(failure, *asked_numbers(failure, call)) or of_array
    return told(failure, "shape from a value", title, why, cures, error_page("ConcretizationTypeError"))


def _deleted(failure: Failure, call: ast.Call) -> Explanation:
    array = failure.text(call.args[0])
    index = failure.text(call.args[1]) if len(call.args) > 1 else "index"
    cures = (
        Cure(
            "Keep the shape, and put a number where something is left out:",
            f"{array}.at[{index}].set(0)",
        ),
        Cure(
            "Or, of indices that are all different, say so; the length is then known:",
            failure.with_(call, f"{failure.text(call)[:-1].rstrip()}, assume_unique_indices=True)"),
        ),
    )
    title = f"the length of `{failure.text(call)}` depends on a value"
    why = "The shape of every array must be known then, but how many different indices there are"
    return told(failure, "shape from a value", title, why, cures, api_page("jax.numpy.delete"))


def _asked_length(failure: Failure, call: ast.Call | None) -> str:
    """Of the arguments of a call, the length that is not known."""
    arguments = [
        part
        for argument in (call.args if call is not None else [])
        for part in (argument.elts if isinstance(argument, (ast.Tuple, ast.List)) else [argument])
        if failure.traced(part)
    ]
    numbers = [part for part in arguments if getattr(failure.value(part), "shape", None) == ()]
    found = numbers or arguments[-1:]
    return failure.text(found[0]) if found else "n"


def _of_a_shape(failure: Failure, call: ast.Call | None, take: str) -> tuple[Cure, ...]:
    """The length of the array that a length is computed from, in the call that asks for it."""
    if call is None:
        return ()
    asked_for = _asked_length(failure, call)
    arrays = [name for name in failure.causes if getattr(failure.variables.get(name), "shape", ())]
    parts = [part for argument in call.args for part in ast.walk(argument) if isinstance(part, ast.expr)]
    found = next((part for part in parts if failure.text(part) == asked_for), None)
    if found is None or not arrays or asked_for == arrays[0] or _has_steps(failure, call):
        return ()
    text = f"{take} the length from a shape, which is known while tracing, and mask what is too much:"
    return (Cure(text, failure.with_(found, f"{arrays[0]}.shape[0]")),)


def _has_steps(failure: Failure, call: ast.Call) -> bool:
    """Whether as many as a range is long are not as many as it has entries."""
    steps = [*call.args[2:], *(one for one in call.keywords if one.arg == "step")]
    return last_name(call.func) == "arange" and bool(steps)


def _slice(failure: Failure, _: re.Match[str]) -> Explanation | None:
    node = failure.find(ast.Subscript)
    if node is None:
        return None
    slices = [one for one in getattr(node.slice, "elts", [node.slice]) if isinstance(one, ast.Slice)]
    part = next((one for one in slices if failure.traced(one)), slices[0] if slices else None)
    if part is None:
        return None
    title = f"the length of `{failure.text(node)}` depends on a value"
    cures = _slice_cures(failure, node, part)
    listed = ", ".join(f"`{name}`" for name in failure.causes or failure.traced(part)) or "a value"
    reason = (
        f"{stand_ins(failure, node)} The shape of every array must be known then, but how many elements this slice "
        f"has depends on {listed}, known only when the program runs."
    )
    static = static_cures(failure, failure.traced(part)) or _bounds_by_numpy(failure, part)
    return Explanation("slice", title, reason, (*static, *cures), api_page("jax.lax.dynamic_slice_in_dim"))


def _bounds_by_numpy(failure: Failure, part: ast.Slice) -> tuple[Cure, ...]:
    bounds = [one for one in (part.lower, part.upper) if one is not None and failure.traced(one)]
    return by_numpy(failure, bounds[0]) if len(bounds) == 1 else ()


def _slice_cures(failure: Failure, node: ast.Subscript, part: ast.Slice) -> list[Cure]:
    """All of the axis, masked; of a slice whose length does not depend on where it begins, that many elements."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    others = [one for one in parts if one is not part]
    plain = all(isinstance(one, ast.Slice) and not (one.lower or one.upper or one.step) for one in others)
    array, held = failure.text(node.value), failure.value(node.value)
    if not plain or part.step is not None or not isinstance(node.value, (ast.Name, ast.Attribute, ast.Subscript)):
        return []
    axis = parts.index(part)
    after = len(held.shape) - axis - 1 if is_array(held) else 0
    size = f"{array}.shape[{axis}]"
    start, stop = (_from_start(failure, one, size) for one in (part.lower, part.upper))
    places = f"jnp.arange({size})" + (f"[:, {', '.join(['None'] * after)}]" if after else "")
    asked = [f"({places} >= {start})"] * (part.lower is not None) + [f"({places} < {stop})"] * (part.upper is not None)
    mask = " & ".join(asked)
    cures = []
    width = _width(failure, part)
    if width:
        among = f", axis={axis}" if axis else ""
        cures.append(
            Cure(
                "Take that many elements from a place that is computed:",
                failure.with_(node, f"jax.lax.dynamic_slice_in_dim({array}, {start or 0}, {width}{among})"),
            )
        )
    text = "Or keep the shape, and leave out" if cures else "Keep the shape, and leave out"
    masked = failure.with_(node, f"jnp.where({mask}, {array}, 0)")
    return [*cures, Cure(f"{text} by a mask what is not wanted:", masked)]


def _from_start(failure: Failure, bound: ast.expr | None, size: str) -> str:
    """A bound of a slice, counted from the beginning."""
    if isinstance(bound, ast.UnaryOp) and isinstance(bound.op, ast.USub):
        return f"{size} - {failure.text(bound.operand)}"
    return failure.text(bound)


def _width(failure: Failure, part: ast.Slice) -> str:
    """How many elements `x[i:i + 3]` has."""
    start, stop = part.lower, part.upper
    if start is None or not isinstance(stop, ast.BinOp) or not isinstance(stop.op, ast.Add):
        return ""
    for one, other in ((stop.left, stop.right), (stop.right, stop.left)):
        if ast.dump(one) == ast.dump(start) and not failure.traced(other):
            return failure.text(other)
    return ""


def _parameter(failure: Failure, match: re.Match[str]) -> Explanation:
    """A traced value for a parameter of an operation that is a part of the program: a shape, a count, a power."""
    operation, parameter = match[1], match[2]
    call = failure.find(ast.Call)
    written = failure.text(call) or operation
    counted = [name for name in failure.traced(call) if failure.static_among([name])]
    number = failure.text(asked_number(failure, call))
    traced = counted[0] if counted else number or _asked_length(failure, call)
    title = f"`{parameter}` of `{operation}` must be known while JAX traces"
    shown = f" `{traced}` is computed from what is traced." if call is not None and traced in written else ""
    reason = (
        f"{stand_ins(failure, call)} How `{written}` works, and the shape that it gives, is a part of the program, so "
        f"`{parameter}` must be a number of Python.{shown}"
    )
    cures = [*static_cures(failure, counted)] if counted else []
    cures = cures or [*_known_before(failure, call)] or [*_counted_before(failure, call)]
    if operation == "integer_pow" and call is not None and len(call.args) > 1:
        code = failure.with_(call, f"{failure.text(call.args[0])} ** {failure.text(call.args[1])}")
        cures.append(Cure("Use an operator, which takes a traced power too:", code))
    return Explanation("shape from a value", title, reason, tuple(cures), error_page("ConcretizationTypeError"))


_CONCRETE = ("ConcretizationTypeError",)

CASES = (
    Case("length", _CONCRETE, "", _size),
    Case("length by value", _CONCRETE, r"argument|num_classes|static", length),
    Case("number for a shape", ("TypeError",), r"iteration over a 0-d array", _number_for_shape),
    Case("length of a shape", ("TypeError",), r"Shapes must be 1D sequences of (?:concrete|integer)", length),
    Case(
        "slice", ("IndexError", "TypeError"), r"Slice entries must be static|must have static start/stop/step", _slice
    ),
    Case(
        "shape from a value",
        ("TypeError",),
        r"In a call to primitive (\w+), the value of parameter (\w+) was not hashable: .*Tracer",
        _parameter,
    ),
)
