"""Work that is done in another thread while this one waits for the compiler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from threading import Event, Thread

# Seconds that a thread may take to begin.
_BEGINNING = 1.0


@contextmanager
def meanwhile(work: Callable[[], None]) -> Iterator[None]:
    """Does `work`, which raises nothing, while the body runs; both are at their ends when this is left.

    An interrupt of the body, or of the wait for the work, comes through once the work is done: half of it would be
    worse than none, and it takes no more than seconds.
    """
    begun, context = Event(), copy_context()

    def go() -> None:
        begun.set()
        context.run(work)

    thread = Thread(target=go, name="jaxviz", daemon=True)
    try:
        # An interrupt may come as soon as it runs, and sooner.
        thread.start()
    except BaseException:
        begun.wait(_BEGINNING)
        _wait_for(thread)
        raise
    try:
        yield
    finally:
        _wait_for(thread)


def _wait_for(thread: Thread) -> None:
    interrupt: KeyboardInterrupt | None = None
    while thread.is_alive():
        try:
            thread.join()
        except KeyboardInterrupt as error:
            interrupt = error
    if interrupt is not None:
        raise interrupt
