"""Which functions and lines of the person's a thread spends its time in, by looking every few milliseconds.

JAX says how long it traced, but not where. To look costs the thread that is looked at next to nothing, so it is done
whenever tracing takes long enough that somebody may ask.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile
from time import perf_counter
from types import FrameType, TracebackType

from jaxviz import compat
from jaxviz.read.frames import OWN_FOLDER, is_library
from jaxviz.stacks import stack_of

# Seconds before the first look, and between the first ones.
_PATIENCE, _STEP = 0.02, 0.004
# Between two looks, as a part of what the thread took until then: more of them say little more.
_PART = 0.01

#: A function by its file, its first line and its name.
FunctionPlace = tuple[str, int, str]
#: A line by its file and its number.
LinePlace = tuple[str, int]


class Sampler:
    """Looks at the thread that enters it until it leaves. Seconds are with all that is called from there."""

    def __init__(self) -> None:
        self.functions: dict[FunctionPlace, float] = {}
        self.lines: dict[LinePlace, float] = {}
        self._left = threading.Event()

    def __enter__(self) -> Sampler:
        self._left.clear()
        watched = threading.get_ident(), sys._getframe(1)
        threading.Thread(target=self._look, args=watched, name="jaxviz sampling", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._left.set()

    def _look(self, thread: int, entered: FrameType) -> None:
        before = start = perf_counter()
        wait = _PATIENCE
        while not self._left.wait(wait):
            now = perf_counter()
            wait = max(_STEP, _PART * (now - start))
            frames = stack_of(thread)
            # It may be somewhere else since, also where an interrupt came before it could leave.
            if self._left.is_set() or not any(frame is entered for frame in frames):
                break
            # What called jaxviz is not being traced.
            self._note(takewhile(lambda frame: frame is not entered, frames), now - before)
            before = now

    def _note(self, frames: Iterable[FrameType], seconds: float) -> None:
        functions: set[FunctionPlace] = set()
        lines: set[LinePlace] = set()
        for frame in frames:
            code = frame.f_code
            file = code.co_filename
            if _is_own(file):
                functions.add((file, code.co_firstlineno, code.co_name))
                lines.add((file, frame.f_lineno))
        for function in functions:
            self.functions[function] = self.functions.get(function, 0.0) + seconds
        for line in lines:
            self.lines[line] = self.lines.get(line, 0.0) + seconds


_MACHINERY = (OWN_FOLDER, *compat.JAX_FOLDERS)


@lru_cache(maxsize=4096)
def _is_own(file: str) -> bool:
    """Whether a file is the person's: asked for every frame at every look."""
    return not file.startswith(_MACHINERY) and not is_library(file)
