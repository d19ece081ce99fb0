"""Hears where a person's code asks JAX for types of 64 bits and gets 32, as JAX does unless 64 are enabled.

Of arguments of 64 bits JAX says nothing, so these are looked at. Of what is asked for it warns, and leaves nothing in
the jaxpr. A filter for warnings that never matches hears what JAX says; what happens with the warning is up to the
person's own filters, as before.
"""

from __future__ import annotations

import re
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NamedTuple

import jax
import numpy as np

from jaxviz import compat
from jaxviz.read.frames import OWN_FOLDER, is_library

_WARNING = re.compile(r"Explicitly requested dtype .*truncated to dtype (\w+)", re.DOTALL)
# What was asked for, by what JAX takes in its place: how it spells the former differs between its versions.
_ASKED = {"float32": "float64", "int32": "int64", "uint32": "uint64", "complex64": "complex128"}
# Functions of Python that stand between the warning and JAX.
_WARNS = frozenset({warnings.__file__, "_py_warnings.py"})


class Narrowed(NamedTuple):
    """A type that was asked for and not given, and the line that asked."""

    asked: str
    file: str
    line: int


class Cut(NamedTuple):
    """A whole number of 64 bits in an argument, by its place, and what is left of it in 32."""

    argument: int
    number: int
    taken: int


def cut_in(arguments: Sequence[Any]) -> tuple[Cut, ...]:
    """Of arrays of NumPy with numbers that do not fit 32 bits, one such number each; none where 64 are enabled.

    >>> cut_in([np.array([1, 2**40 + 5])])
    (Cut(argument=0, number=1099511627781, taken=5),)
    """
    if jax.config.jax_enable_x64:
        return ()
    found = []
    for place, one in enumerate(arguments):
        if not isinstance(one, (np.ndarray, np.generic)) or one.dtype.name not in ("int64", "uint64") or not one.size:
            continue
        limits = np.iinfo(one.dtype.name.replace("64", "32"))
        for number in (int(one.min()), int(one.max())):
            if not limits.min <= number <= limits.max:
                found.append(Cut(place, number, (number - limits.min) % 2**32 + limits.min))
                break
    return tuple(found)


@contextmanager
def hearing_narrowed() -> Iterator[dict[Narrowed, None]]:
    """Gathers what the code of this thread asks for and does not get, each line once, in order."""
    heard: dict[Narrowed, None] = {}
    ear: Any = ("ignore", _Ear(heard), UserWarning, None, 0)
    warnings.filters.insert(0, ear)  # type: ignore[attr-defined]
    _forget_warnings()
    try:
        yield heard
    finally:
        # Not by `remove`, which compares, and not at all where the person has put other filters in place meanwhile.
        warnings.filters[:] = [one for one in warnings.filters if one is not ear]  # type: ignore[index]


def _forget_warnings() -> None:
    """A warning that was shown at its line before is not looked at again until filters change, as they do here."""
    with warnings.catch_warnings():
        pass


class _Ear:
    """What a filter asks whether a warning is one that it is for. This one is for none."""

    def __init__(self, heard: dict[Narrowed, None]) -> None:
        self._heard = heard
        self._thread = threading.get_ident()

    def match(self, text: str) -> None:
        said = _WARNING.match(text)
        if said is None or threading.get_ident() != self._thread or said[1] not in _ASKED:
            return
        asking = _asking(sys._getframe(1))
        if asking is not None:
            self._heard[Narrowed(_ASKED[said[1]], asking.f_code.co_filename, asking.f_lineno)] = None


def _asking(frame: FrameType | None) -> FrameType | None:
    """The frame that called JAX, where it is the person's: what a library asks for is not theirs to mend."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((*compat.JAX_FOLDERS, "<frozen ")) and not file.endswith(tuple(_WARNS)):
            return None if is_library(file) or file.startswith(OWN_FOLDER) else frame
        frame = frame.f_back
    return None
