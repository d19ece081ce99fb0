"""Whether JAX traced anything, or had the trace of an earlier call: only then is what it took what tracing costs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from jaxviz import compat

#: What JAX calls the time that the trace of one function took.
TRACE = "/jax/core/compile/jaxpr_trace_duration"


@contextmanager
def hearing_traces() -> Iterator[list[float]]:
    """Gathers the seconds of each trace that this thread makes; a function that JAX has the trace of makes none."""
    heard: list[float] = []
    thread = threading.get_ident()

    def hear(event: str, seconds: float, **_: Any) -> None:
        if event == TRACE and threading.get_ident() == thread:
            heard.append(seconds)

    stop = compat.listen_to_durations(hear)
    try:
        yield heard
    finally:
        stop()
