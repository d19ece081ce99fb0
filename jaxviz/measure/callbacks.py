"""Python that a device calls back into, where nobody waits for it any more.

It is ended wherever it is, and its program ends with it: the one way to stop what a device has begun. And where a
thread of the runtime is in such a callback while the process ends, Python unwinds it through code of C++ that does not
let that happen.
"""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Set
from contextlib import suppress
from threading import get_ident
from time import perf_counter, sleep
from types import FrameType

from jaxviz.stacks import stack_of, threads

# Seconds between two looks, and after which no further callback is expected.
_LOOK, _QUIET = 0.01, 0.1

# The name is private to JAX: under another one, it goes on to log what was stopped.
_LOGGER = logging.getLogger("jax._src.callback")


def end_callbacks(error: type[Exception], patience: float, others: Set[int] = frozenset()) -> bool:
    """Raises an error in every callback that is going on, for as many seconds; whether none is left.

    Those in some other threads are left alone.

    One that sleeps hears of it when it wakes up. JAX logs what a callback raises; that it was stopped is known to the
    person who stopped it.
    """
    silence = Silence(error)
    try:
        return _ended(error, patience, others)
    finally:
        silence.end_after(in_callbacks() - others)


def _ended(error: type[Exception], patience: float, others: Set[int]) -> bool:
    start = perf_counter()
    told: set[int] = set()
    quiet = start
    while perf_counter() - start < patience:
        threads = in_callbacks() - others
        # A thread that came back is told again when it is called the next time.
        told &= threads
        for thread in threads - told:
            raise_in(thread, error)
        told |= threads
        if threads:
            quiet = perf_counter()
        elif perf_counter() - quiet > _QUIET:
            return True
        sleep(_LOOK)
    return not in_callbacks() - others


def raise_in(thread: int, error: type[Exception]) -> None:
    """Raises an error in a thread, as soon as it is in Python."""
    # Pythons other than CPython have no such thing.
    with suppress(AttributeError):
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def in_callbacks() -> set[int]:
    """Threads in which JAX is what was called first: those that Python starts begin in code of its own."""
    return {thread for thread in threads() if _is_of_jax(stack_of(thread)[-1:])}


def _is_of_jax(frames: list[FrameType]) -> bool:
    return any(str(frame.f_globals.get("__name__")).split(".")[0] == "jax" for frame in frames)


class Silence:
    """Keeps an error out of the log of JAX until what may raise it has done so; then its logging is as before."""

    def __init__(self, error: type[Exception]) -> None:
        self._error = error
        self._waiting: set[int] | None = None
        _LOGGER.addFilter(self)

    def end_after(self, threads: Set[int]) -> None:
        """Ends once each of these threads has raised the error; at once where there are none."""
        self._waiting = set(threads)
        self._end_if_done()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is to be logged."""
        if not (record.exc_info and isinstance(record.exc_info[1], self._error)):
            return True
        if self._waiting is not None:
            self._waiting.discard(get_ident())
            self._end_if_done()
        return False

    def _end_if_done(self) -> None:
        if not self._waiting:
            _LOGGER.removeFilter(self)
