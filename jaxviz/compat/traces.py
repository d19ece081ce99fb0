"""The part of `compat` for traces that an error ended. All of it is private to JAX, and there from 0.6 to 0.12."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jax

from jaxviz import compat


def tracing(value: Any) -> Any | None:
    """The trace that records the equations of a traced value, or that the value itself is; None for any other value."""
    if not type(value).__module__.startswith("jax."):
        return None
    try:
        trace = value._trace if isinstance(value, jax.core.Tracer) else value
        # Derivatives and batches are traced by others, which hand on what they make of it.
        while not _records(trace) and hasattr(trace, "parent_trace"):
            trace = trace.parent_trace
        return trace if _records(trace) else None
    except Exception:
        return None


def _records(trace: Any) -> bool:
    frame = getattr(trace, "frame", None)
    return hasattr(frame, "get_eqns") or hasattr(frame, "eqns")  # the second until 0.6


def variable_of(value: Any, trace: Any) -> Any:
    """The variable by which a trace knows a traced value, its own or one from around it; None where it does not."""
    frame = trace.frame
    around = {id(taken): variable for variable, taken in _taken(trace).items() if isinstance(taken, jax.core.Tracer)}
    for _ in range(8):
        if not isinstance(value, jax.core.Tracer):
            return None
        if getattr(value, "_trace", None) is trace:
            known: Any = getattr(frame, "tracer_to_var", None)  # until 0.6
            found = getattr(value, "val", None) if known is None else known.get(id(value))
            return found if isinstance(found, compat.Var) else None
        if id(value) in around:
            return around[id(value)]
        value = getattr(value, "primal", getattr(value, "val", None))
    return None


def listed(value: Any) -> list[Any]:
    """The values in a list, as JAX holds the operands of a function; none of any other value."""
    if any(one.__name__ == "FlatTree" for one in type(value).__mro__):  # of loops, from 0.8 on
        value = list(value.vals)
    return list(value) if type(value) in (list, tuple) else []


def tangents_of(value: Any) -> Any | None:
    """The trace that records derivatives beside the values of a trace; None where there is none."""
    try:
        trace = value._trace if isinstance(value, jax.core.Tracer) else value
    except RecursionError:
        # A traced value whose making was cut off by a recursion without an end asks itself for what it lacks.
        return None
    return getattr(trace, "tangent_trace", None) if type(trace).__module__.startswith("jax.") else None


def traced_values_of(traced: Any) -> list[bool]:
    """Of the first arguments of a traced program, which are closed over: whether each is a traced value itself."""
    values = getattr(traced, "_consts", None)  # from 0.7 on
    if values is None:
        values = (getattr(traced, "_args_flat", None) or [])[: getattr(traced, "_num_consts", 0)]
    return [isinstance(value, jax.core.Tracer) for value in values]


def raise_leaked(traced: Any) -> None:
    """Raises JAX's own error where a function uses a value that was traced inside another one, which has ended.

    JAX says so only when the program is run.
    """
    # Of what `pmap` traces, older versions say None.
    values: Any = getattr(traced, "_consts", None) or getattr(traced, "_args_flat", None)
    for value in values or ():
        if isinstance(value, jax.core.Tracer):
            jax.numpy.positive(value)


def equations_so_far(trace: Any) -> list[Any]:
    try:
        return list(trace.frame.get_eqns() if hasattr(trace.frame, "get_eqns") else trace.frame.eqns)
    except Exception:
        return []


def arguments_so_far(trace: Any) -> tuple[Any, ...]:
    found = (getattr(argument, "val", argument) for argument in getattr(trace.frame, "invars", ()))
    return tuple(argument for argument in found if isinstance(argument, compat.Var))


def constants_so_far(trace: Any) -> Mapping[Any, Any]:
    """What a trace takes from around it, by its variables; None for what is itself a value of another trace."""
    values = _taken(trace)
    return {variable: None if isinstance(value, jax.core.Tracer) else value for variable, value in values.items()}


def _taken(trace: Any) -> dict[Any, Any]:
    found = getattr(trace.frame, "constvar_to_val", None)
    if not isinstance(found, dict):
        return {}
    return {variable: getattr(value, "canonical", value) for variable, value in list(found.items())}


@contextmanager
def whole_tracebacks() -> Iterator[None]:
    """Lets an error keep the frames of JAX while it is looked at; `hides_frames` says whether they are shown."""
    mode = jax.config.jax_traceback_filtering
    if mode in ("off", "tracebackhide"):
        yield
        return
    jax.config.update("jax_traceback_filtering", "tracebackhide")
    try:
        yield
    finally:
        jax.config.update("jax_traceback_filtering", mode)


def hides_frames() -> bool:
    """Whether JAX takes its own frames out of tracebacks; in IPython it leaves that to the shell."""
    mode = jax.config.jax_traceback_filtering
    if mode in (None, "auto"):
        return not hasattr(builtins, "__IPYTHON__")
    return mode in ("remove_frames", "quiet_remove_frames")
