"""Waiting for a computation in a way that can be stopped.

While a device computes, the thread that asked for it sits in the runtime and hears of no interrupt. So the work is done
in another thread, with what JAX knows in the one that the stop button reaches, and that one only waits.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from contextvars import copy_context
from threading import Event, Thread
from typing import Any, Generic, TypeVar
from weakref import WeakSet

from jaxviz.compat_threads import surroundings

Result = TypeVar("Result")

# Seconds: how often a listener hears of progress, and how long a run that was stopped may take to end.
_TICK = 0.1
_GRACE = 0.4
# Seconds that a run may take to end when the process does.
_LEAVING = 2.0


class Stopped(Exception):
    """Raised in the work once it was stopped."""


_going: WeakSet[Work[Any]] = WeakSet()


@atexit.register
def _end() -> None:
    """Python that is called from a device while the process ends would bring it down."""
    for work in list(_going):
        work.stop(_LEAVING)


class Work(Generic[Result]):
    """One piece of work in a thread of its own. It asks `go_on()` between its steps, which ends it once it was stopped.

    >>> Work(lambda work: 6 * 7).wait()
    42
    """

    def __init__(self, do: Callable[[Work[Result]], Result], tick: Callable[[], None] | None = None) -> None:
        self._do = do
        self._tick = tick
        self._stop, self._done = Event(), Event()
        self._result: Result | None = None
        self._error: BaseException | None = None
        #: Whether the work was still going on when the waiting was given up.
        self.abandoned = False

    def go_on(self) -> None:
        if self._stop.is_set():
            raise Stopped

    def wait(self) -> Result:
        """Does the work. An interrupt stops it at its next step, and is raised at once where that takes too long."""
        context = copy_context()
        self._surroundings = surroundings()
        try:
            # A daemon, because what a device never ends must not hold up the end of the process. An interrupt may come
            # as soon as it runs.
            _going.add(self)
            Thread(target=context.run, args=(self._run,), name="jaxviz run", daemon=True).start()
            while not self._done.wait(_TICK):
                if self._tick is not None:
                    self._tick()
        except BaseException:
            self.stop(_GRACE)
            raise
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]  # it is there when there is no error

    def stop(self, patience: float) -> None:
        """Ends the work at its next step, and waits as many seconds for that."""
        self._stop.set()
        self.abandoned = not self._done.wait(patience)

    def _run(self) -> None:
        try:
            with self._surroundings():
                self._result = self._do(self)
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()
            _going.discard(self)
