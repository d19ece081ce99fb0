"""What threads are at, seen from another one while they go on.

To look needs care. What a frame that has ended says of its caller need not be there any more, so there must be no line
of Python between two frames, which might let the thread go on. Nor may garbage be collected in between, for that runs
Python too, and code that lets other threads go on: up to Python 3.11, the collector may begin with every frame that is
made to be looked at.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import accumulate, chain, islice, repeat
from operator import itemgetter
from types import FrameType

from jaxviz.read.garbage import Result, without_collections


def threads() -> list[int]:
    """All threads that are in Python, those that Python has not started too."""
    return _with_garbage_left(lambda: list(sys._current_frames()))


def stack_of(thread: int) -> list[FrameType]:
    """The frames of a thread, the innermost first; none where it has ended."""
    frames: deque[FrameType | None] = deque()
    looks = zip(iter(gc.disable, False), iter(sys._current_frames, None), strict=False)
    innermost = islice(map(itemgetter(thread), map(itemgetter(1), looks)), 1)
    # It ends with the outermost, or at once if the thread has ended.
    with suppress(AttributeError, KeyError):
        _with_garbage_left(lambda: frames.extend(accumulate(chain(innermost, repeat("f_back")), getattr)))
    return [frame for frame in frames if frame is not None]


def _with_garbage_left(look: Callable[[], Result]) -> Result:
    # One after the other: what the first one finds is what the last one leaves.
    with _looking:
        return without_collections(look)()


_looking = threading.Lock()
