"""Tracebacks of errors in the person's function, without the frames of how jaxviz got there."""

from __future__ import annotations

import functools
import os
from types import TracebackType

# Where frames lie that are ours, and those of what calls us.
_MACHINERY = (os.path.dirname(os.path.abspath(__file__)) + os.sep, functools.__file__)


def without_our_frames(traceback: TracebackType | None) -> TracebackType | None:
    """The person's frames and JAX's: how jaxviz got there says nothing about the error."""
    kept = []
    at = traceback
    while at is not None:
        if not at.tb_frame.f_code.co_filename.startswith(_MACHINERY):
            kept.append(at)
        at = at.tb_next
    rebuilt: TracebackType | None = None
    for one in reversed(kept):
        rebuilt = TracebackType(rebuilt, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return rebuilt if rebuilt is not None else traceback
