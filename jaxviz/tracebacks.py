"""Tracebacks of errors in the person's function, without the frames of how jaxviz got there."""

from __future__ import annotations

import functools
import importlib
import os
from contextlib import suppress
from types import TracebackType
from typing import Any

import jax

from jaxviz.read.frames import OWN_FOLDER

# Where frames lie that are ours, and those of what calls us.
_MACHINERY = (OWN_FOLDER, functools.__file__, importlib.__file__, "<frozen importlib")
_JAX = os.path.dirname(os.path.abspath(jax.__file__)) + os.sep


def without_our_frames(
    traceback: TracebackType | None, hidden: bool = False, without_jax: bool = False
) -> TracebackType | None:
    """The person's frames and JAX's: how jaxviz got there says nothing about the error.

    With `hidden`, those are left out too that JAX has marked as its own; `without_jax`, all of its own.
    """
    machinery = (*_MACHINERY, _JAX) if without_jax else _MACHINERY
    kept = []
    at = traceback
    while at is not None:
        ours = at.tb_frame.f_code.co_filename.startswith(machinery)
        if not ours and not (hidden and at.tb_frame.f_locals.get("__tracebackhide__")):
            kept.append(at)
        at = at.tb_next
    rebuilt: TracebackType | None = None
    for one in reversed(kept):
        rebuilt = TracebackType(rebuilt, one.tb_frame, one.tb_lasti, one.tb_lineno)
    return rebuilt


def ending_at(path: str, first: int, line: int, function: str) -> TracebackType | None:
    """A traceback that ends at a line of a function, whose definition begins at another one: for what was noticed after
    it had ended, by code that says nothing about where."""
    # What shows tracebacks looks for the lines of code from its first one on.
    written = "\n" * (first - 1) + "def ended():" + "\n" * (line - first) + " raise _Here"
    names: dict[str, Any] = {"_Here": _Here}
    exec(compile(written, path, "exec"), names)
    ended = names["ended"]
    named = {name: function for name in ("co_name", "co_qualname") if hasattr(ended.__code__, name)}  # from 3.11 on
    ended.__code__ = ended.__code__.replace(**named)
    try:
        ended()
    except _Here as here:
        raised = here.__traceback__
        return raised.tb_next if raised is not None else None
    return None


class _Here(Exception):
    """Raised for its traceback alone."""


def add_words(error: BaseException, told: Any) -> None:
    """Puts what explains an error below it, and what shows it at its attribute `jaxviz`."""
    if hasattr(error, "add_note"):  # from Python 3.11 on
        error.add_note(f"\n{told!r}")
    # Classes of errors may allow no attributes.
    with suppress(AttributeError, TypeError):
        error.jaxviz = told  # type: ignore[attr-defined]
