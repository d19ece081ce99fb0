"""Axes that have a name, of which there is none around: of collectives, and of layers that use these."""

from __future__ import annotations

import ast
import re

from jaxviz import compat
from jaxviz.errors.cases.given import argument
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name, parameters_of
from jaxviz.errors.rewriting import with_keyword


def _axis_name(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.find(ast.Call)
    of_arrays = call is not None and last_name(call.func) not in _COLLECTIVES
    given = (argument(call, 1, "axis"), argument(call, 0)) if of_arrays else ()
    axis = next((one for one in given if one is not None and isinstance(failure.value(one), str)), None)
    if axis is not None:
        function = failure.text(call.func) if call is not None else ""
        reason = (
            f"Axes of arrays of JAX have no names. `{function}` takes the number of an axis, 0 for the first and -1 "
            f"for the last; it goes through {failure.text(axis)} letter by letter, and looks for an axis of that name."
        )
        cure = Cure("Say which axis by its number, such as the first:", failure.with_(axis, "0"))
        title = f"{failure.text(axis)} is no axis of an array"
        return Explanation("axis name", title, reason, (cure,), "https://docs.jax.dev/en/latest/jax.numpy.html")
    return _of_axis(failure, match[1].strip("'\""))


def _of_axis(failure: Failure, name: str) -> Explanation:
    reason = (
        "Collectives such as `psum` work over an axis that has a name: of `vmap`, or of the devices under `shard_map`. "
        f"None of those around this line is called `{name}`."
    )
    cures = _mapped_over(failure, name)
    return Explanation("axis name", f"there is no axis named `{name}`", reason, cures, api_page("jax.shard_map"))


def _mapped_over(failure: Failure, name: str) -> tuple[Cure, ...]:
    """What is mapped already, by an axis of this name; otherwise the layer or the function that is not."""
    outside, call = failure.calling("vmap")
    if call is not None and not any(one.arg == "axis_name" for one in call.keywords):
        named = with_keyword(outside, call, "axis_name", f'"{name}"')
        return (Cure("Give the axis that is mapped this name:", outside.with_(call, named), inside=False),)
    layer = failure.find(ast.Call)
    if "/equinox/" in failure.library_path:
        # A layer with a state, which is one for the whole batch.
        if layer is None or len(layer.args) != 2:
            return ()
        axes = f'axis_name="{name}", in_axes=(0, None), out_axes=(0, None)'
        code = failure.with_(layer.func, f"jax.vmap({failure.text(layer.func)}, {axes})")
        return (Cure("Map it over the batch, by an axis of that name; the state is one for all of it:", code),)
    given = ", ".join(parameters_of(failure.fn))
    code = f'jax.vmap({failure.name}, axis_name="{name}")({given})'
    return (Cure("Map it over an axis of that name:", code, inside=False),) if failure.name.isidentifier() else ()


_COLLECTIVES = ("psum", "pmean", "pmax", "pmin", "all_gather", "ppermute", "axis_index", "psum_scatter", "all_to_all")


def _axis_unknown(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """A collective over an axis that the mesh around it has not: JAX says nothing at all."""
    call = failure.calls(*_COLLECTIVES)
    innermost = failure.places[-1].frame.f_code.co_filename if failure.places else ""
    named = [*(call.args[1:] if call is not None else []), *(one.value for one in (call.keywords if call else []))]
    name = next((value for one in named if isinstance(value := failure.value(one), str)), "")
    if call is None or not name or not innermost.startswith(compat.JAX_FOLDERS):
        return None
    return _of_axis(failure, name)


CASES = (
    Case("axis name", ("AssertionError",), r"^$", _axis_unknown),
    Case("axis name", ("NameError", "KeyError", "ValueError"), r"unbound axis name:? ([\w'\"]+)", _axis_name),
)
