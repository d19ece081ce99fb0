"""Arrays that are written into: by an assignment, and by NumPy's functions with `out=`, `where=` and `ufunc.at`."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxviz.arrays import is_array
from jaxviz.errors.cases.fields import with_field
from jaxviz.errors.cases.places import METHODS
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import grouped
from jaxviz.errors.trial import given_by

_LINK = "https://docs.jax.dev/en/latest/notebooks/Common_Gotchas_in_JAX.html#in-place-updates"
_AT = "https://docs.jax.dev/en/latest/_autosummary/jax.numpy.ndarray.at.html"
_WHY = (
    "An array of JAX never changes, so there is nothing to write into. A function gives a new array, and XLA uses the "
    "memory again where it can."
)


def written_into(failure: Failure, match: re.Match[str]) -> Explanation:
    """`x[0] = 1`, written as a new array with the change in it."""
    statement = failure.statement
    code, array = "x = x.at[index].set(value)", "x"
    target = getattr(statement, "target", None) or next(iter(getattr(statement, "targets", [])), None)
    if isinstance(target, ast.Subscript) and isinstance(statement, (ast.Assign, ast.AugAssign)):
        array, index = failure.text(target.value), failure.text(target.slice)
        value = failure.text(statement.value)
        if isinstance(statement, ast.AugAssign):
            method = METHODS.get(type(statement.op))
            place = f"{array}.at[{index}]"
            code = f"{array} = {place}.{method}({value})" if method else f"{array} = {place}.set(...)"
        else:
            code = f"{array} = {array}.at[{index}].set({value})"
        code = _by_mask(failure, statement, target, value) or code
        changed = code.removeprefix(f"{array} = ")
        if isinstance(target.value, ast.Attribute) and (whole := with_field(failure, target.value, changed)):
            # What holds the array cannot be assigned to either.
            code = f"{array.partition('.')[0]} = {whole}"
    reason = (
        f"Arrays of JAX never change, so that a function always gives the same for the same arguments; `{array}` "
        "cannot be written into. XLA writes in place all the same where nothing else reads the old array."
    )
    cure = Cure("Make a new array with the change in it:", code)
    return Explanation(
        "in place", f"`{array}` cannot be written into", reason, (cure,), api_page("jax.numpy.ndarray.at")
    )


def _by_mask(failure: Failure, statement: ast.Assign | ast.AugAssign, target: ast.Subscript, value: str) -> str:
    """What is written where a mask is true: chosen for each element, for a place has as many as it is true for."""
    # Several indices are a tuple.
    mask: Any = given_by(failure, failure.text(target.slice))
    array: Any = failure.value(target.value)
    if not is_array(mask) or mask.dtype != bool or not is_array(array) or mask.ndim > array.ndim:
        return ""
    text = failure.text(target.slice)
    if mask.ndim < array.ndim:
        text = f"({text})[{', '.join([':'] * mask.ndim + ['None'] * (array.ndim - mask.ndim))}]"
    name = failure.text(target.value)
    changed = value
    if isinstance(statement, ast.AugAssign):
        sign = failure.text(statement)[len(failure.text(target)) :].lstrip().partition("=")[0]
        changed = f"{name} {sign} {grouped(value, statement.value)}"
    return f"{name} = jnp.where({text}, {changed}, {name})"


def without(failure: Failure, call: ast.Call, names: Sequence[str], more: str = "") -> str:
    """A call without some of its keywords."""
    kept = [*map(failure.text, call.args)]
    kept += [
        f"{keyword.arg}={failure.text(keyword.value)}" if keyword.arg else f"**{failure.text(keyword.value)}"
        for keyword in call.keywords
        if keyword.arg not in names
    ]
    return f"{failure.text(call.func)}({', '.join([*kept, *([more] if more else [])])})"


def assigned(failure: Failure, call: ast.Call, target: ast.expr | None, text: str) -> str:
    """The statement with a call that reads otherwise; what stood alone is assigned to what it was written into."""
    if not isinstance(failure.statement, ast.Expr) or failure.statement.value is not call:
        return failure.with_(call, text)
    name = failure.text(target)
    if isinstance(target, ast.Subscript):
        array = failure.text(target.value)
        return f"{array} = {array}.at[{failure.text(target.slice)}].set({text})"
    return f"{name} = {text}" if name else text


def _with_keyword(failure: Failure, name: str) -> ast.Call | None:
    """The call of the failing statement that is given a keyword."""
    if failure.statement is None:
        return None
    calls = [node for node in ast.walk(failure.statement) if isinstance(node, ast.Call)]
    return next((call for call in calls if any(keyword.arg == name for keyword in call.keywords)), None)


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _out(failure: Failure, _: re.Match[str]) -> Explanation | None:
    call = _with_keyword(failure, "out")
    if call is None:
        return None
    target = _keyword(call, "out")
    function, text = failure.text(call.func), without(failure, call, ["out"])
    cure = Cure("Use what it gives:", assigned(failure, call, target, text))
    title = f"`{function}` cannot write into `{failure.text(target)}`"
    return Explanation("out", title, _WHY, (cure,), _LINK)


def _where(failure: Failure, _: re.Match[str]) -> Explanation | None:
    call = _with_keyword(failure, "where")
    mask = _keyword(call, "where") if call is not None else None
    if call is None or mask is None:
        return None
    otherwise = failure.text(_keyword(call, "out")) or (failure.text(call.args[0]) if call.args else "0")
    text = f"jnp.where({failure.text(mask)}, {without(failure, call, ['where', 'out'])}, {otherwise})"
    reason = (
        "With `where`, NumPy leaves the other entries of `out` as they were. There is no such array here, so what they "
        "should be has to be said. " + _WHY
    )
    cure = Cure("Choose entry by entry:", assigned(failure, call, _keyword(call, "out"), text))
    return Explanation("out", f"`{failure.text(call.func)}` takes no `where`", reason, (cure,), _LINK)


# What is done at places by a function of two arrays, and how JAX writes it.
_BY_UFUNCS = {method: method for method in METHODS.values()}
_BY_UFUNCS |= {"true_divide": "divide", "float_power": "power", "minimum": "min", "maximum": "max"}


def done_at(failure: Failure) -> Cure | None:
    """`np.add.at(array, index, value)`, which changes an array where it is, as JAX writes it."""
    call = failure.calls("at")
    kind = last_name(call.func.value) if call is not None and isinstance(call.func, ast.Attribute) else ""
    if call is None or kind not in _BY_UFUNCS or len(call.args) != 3:
        return None
    array, index, value = map(failure.text, call.args)
    whole = array if isinstance(failure.value(call.args[0]), jax.Array) else f"jnp.asarray({array})"
    written = f"{whole}.at[{index}].{_BY_UFUNCS[kind]}({value})"
    return Cure("Or as JAX writes it:", assigned(failure, call, call.args[0], written))


def _at(failure: Failure, _: re.Match[str]) -> Explanation | None:
    call = failure.calls("at")
    if call is None or not call.args:
        return None
    text = without(failure, call, ["inplace"], "inplace=False")
    of_numpy = isinstance(failure.value(getattr(call.func, "value", None)), np.ufunc)
    cures = [] if of_numpy else [Cure("Use what it gives:", assigned(failure, call, call.args[0], text))]
    if written := done_at(failure):
        cures.append(written)
    title = f"`{failure.text(call.func)}` cannot change `{failure.text(call.args[0])}` where it is"
    return Explanation("out", title, _WHY, tuple(cures), _LINK)


# How one writes into a new version of an array.
_WRITES = ("set", "add", "subtract", "multiply", "mul", "divide", "power", "min", "max")


def _too_much(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """`x.at[0].set(y)`, where a place for one entry is given several, or one in more axes than there are."""
    call = failure.calls(*_WRITES)
    place = call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None
    if call is None or not call.args or not isinstance(place, ast.Subscript):
        return None
    given, room = (tuple(map(int, re.findall(r"\d+", shape))) for shape in match.groups())
    value, index, at = failure.text(call.args[0]), failure.text(place.slice), failure.text(place.value)
    cures: tuple[Cure, ...] = ()
    if math.prod(given) == math.prod(room):
        sizes = f"({', '.join(map(str, room))}{',' * (len(room) == 1)})"
        code = failure.with_(call.args[0], f"jnp.reshape({value}, {sizes})")
        cures = (Cure("Give it the shape of the place:", code),)
    elif len(given) == 1 and not room and not isinstance(place.slice, (ast.Tuple, ast.Slice)):
        number = place.slice.value if isinstance(place.slice, ast.Constant) else None
        end = number + given[0] if isinstance(number, int) else 0
        several = f"{index}:{end}" if end > 0 else f"{index} + jnp.arange({given[0]})"
        cures = (Cure("Write into as many places, from there on:", failure.with_(place, f"{at}[{several}]")),)
    reason = (
        "What is written is stretched to the shape of the place, by repeating it, but is never made smaller. "
        f"`{value}` has the shape {match[1]}, and `[{index}]` is a place of the shape {match[2]}."
    )
    title = f"`{value}` does not fit into `[{index}]`"
    return Explanation("written too much", title, reason, cures, _AT)


CASES: tuple[Case, ...] = (
    Case(
        "written too much",
        ("ValueError",),
        r"Cannot broadcast to shape with fewer dimensions: arr_shape=(\([\d, ]*\)) shape=(\([\d, ]*\))",
        _too_much,
    ),
    Case(
        "in place",
        ("TypeError",),
        r"immutable and do not support in-place|does not support item assignment",
        written_into,
    ),
    Case("out", ("NotImplementedError",), r"\bout'? argument (?:of <jnp\.ufunc|to )", _out),
    Case("out", ("TypeError",), r"unexpected keyword argument 'out'", _out),
    Case("out", ("ValueError", "TypeError"), r"Non-hashable static arguments", _out),
    Case("out", ("NotImplementedError",), r"where argument of <jnp\.ufunc", _where),
    Case("out", ("NotImplementedError",), r"jnp\.ufunc\.at\(\) cannot operate inplace", _at),
    Case("out", ("TypeError",), r"^first operand must be array", _at),
)
