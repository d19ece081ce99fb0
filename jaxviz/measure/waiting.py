"""Waiting for a computation in a way that can be stopped.

While a device computes, the thread that asked for it sits in the runtime and hears of no interrupt. So the work is done
in another thread, with what JAX knows in the one that the stop button reaches, and that one only waits.

A thread that comes back from the runtime while the process ends would bring it down. So results that take long are
asked for again and again, and Python that goes on is ended; a compiler that has begun cannot be, and the process leaves
without it.

What one thread asks of a CPU is done in that order, and JAX tells threads apart by numbers that the system gives to the
next one once a thread has ended. So a thread whose results were given up stays until they are made: the next would
wait for them too.
"""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from threading import Event, Thread
from time import perf_counter
from typing import Any, Generic, TypeVar
from weakref import WeakSet

import jax

from jaxviz.compat.threads import outside_the_cache, surroundings
from jaxviz.measure.callbacks import Silence, end_callbacks, in_callbacks, raise_in

Result = TypeVar("Result")

# Seconds: how often a listener hears of progress, and how long a run that was stopped may take to end.
_TICK = 0.1
_GRACE = 0.2
# Seconds that Python code may take to end once it is told to, wherever it is.
_ENDING = 0.1
# Seconds that all that is going on may take to end when the process does.
_LEAVING = 5.0

# Results that took so many seconds are asked for again and again, after this share of what they took until then.
_LONG = 0.25
_SHARE = 2e-3
_SHORTEST, _LONGEST = 2e-5, 5e-3
# Seconds between two looks at whether what was given up is made.
_LOOK = 0.25


class Stopped(Exception):
    """Raised in the work once it was stopped."""

    def __str__(self) -> str:
        return "the run was stopped"


_going: WeakSet[Work[Any]] = WeakSet()
# Whether a device was left alone with something that it may never end, and whether the process ends.
_left_behind, _leaving = Event(), Event()
# One result of each work that was stopped while a device made it.
_unmade: list[Any] = []


def still_going() -> int:
    """How much of what was stopped goes on all the same: on a device, in the compiler, or in Python that waits."""
    _unmade[:] = [result for result in _unmade if not _is_made(result)]
    return len(_unmade) + sum(work.abandoned and work.going for work in list(_going))


def _is_made(result: Any) -> bool:
    try:
        return bool(result.is_ready())
    # It is not there any more.
    except RuntimeError:
        return True


@atexit.register
def _end() -> None:
    """Python that is called from a device while the process ends would bring it down."""
    _leaving.set()
    going = list(_going)
    # Who interrupts the end too waits no longer.
    with suppress(KeyboardInterrupt):
        _end_all(going, perf_counter() + _LEAVING)
    if _left_behind.is_set() or any(work.going for work in going):
        _leave_at_once()


def _end_all(going: list[Work[Any]], until: float) -> None:
    for work in going:
        work.tell_to_stop()
    if _left_behind.is_set() or going:
        end_callbacks(Stopped, until - perf_counter())
    for work in going:
        work.stop(max(until - perf_counter() - _ENDING, 0.0))


def _leave_at_once() -> None:
    """Python ends threads that come back to it after its end, by unwinding them. Code of C++ that is on the way does
    not let that happen, and ends the process as broken. From now on such a thread sleeps, and what the process does
    last is to leave, with the status that it has."""
    # As Linux has it; elsewhere all stays as it is.
    with suppress(AttributeError, OSError):
        c = ctypes.CDLL(None)
        ctypes.CDLL("libstdc++.so.6")._ZSt13set_terminatePFvvE(c.pause)
        c.on_exit(c._exit, None)
    # A client that goes away waits for what its devices compute.
    with suppress(Exception):
        for client in {id(device.client): device.client for device in jax.devices()}.values():
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))


def _size(result: Any) -> int:
    return int(getattr(result, "size", 0))


_listener: ContextVar[Callable[[], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(tick: Callable[[], None]) -> Iterator[None]:
    """All work that is waited for inside calls `tick` several times a second, which may raise to stop it."""
    token = _listener.set(tick)
    try:
        yield
    finally:
        _listener.reset(token)


class Work(Generic[Result]):
    """One piece of work in a thread of its own. It asks `go_on()` between its steps, which ends it once it was stopped.

    >>> Work(lambda work: 6 * 7).wait()
    42
    """

    def __init__(self, do: Callable[[Work[Result]], Result], tick: Callable[[], None] | None = None) -> None:
        self._do = do
        self._tick = _listener.get() if tick is None else tick
        self._stop, self._done = Event(), Event()
        self._thread: Thread | None = None
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._long = True
        # Threads that were in callbacks before it began: those are not its own.
        self._others: set[int] = set()
        # What a device goes on making although nobody waits for it.
        self._left: Any = None
        self._silence: Silence | None = None
        #: Whether something of it was still going on when the waiting was given up.
        self.abandoned = False

    @property
    def going(self) -> bool:
        """Whether it has begun, and not ended."""
        return self._thread is not None and not self._done.is_set()

    def go_on(self) -> None:
        if self._stop.is_set():
            raise Stopped

    def until_ready(self, results: Any) -> Any:
        """Results once they are there. The first ones, and those after ones that took long, are asked for again and
        again: that can be stopped, and the device goes on."""
        start = perf_counter()
        if self._long:
            leaves = [leaf for leaf in jax.tree_util.tree_leaves(results) if hasattr(leaf, "is_ready")]
            for leaf in leaves:
                while not leaf.is_ready():
                    share = _SHARE * (perf_counter() - start)
                    if self._stop.wait(min(max(share, _SHORTEST), _LONGEST)):
                        self.abandoned = True
                        _left_behind.set()
                        # The smallest, because it is kept until it is made.
                        self._left = min((one for one in leaves if not _is_made(one)), key=_size, default=leaf)
                        _unmade.append(self._left)
                        raise Stopped
        results = jax.block_until_ready(results)
        self._long = perf_counter() - start > _LONG
        return results

    def wait(self) -> Result:
        """Does the work. An interrupt stops it at its next step, and is raised at once where that takes too long."""
        context = copy_context()
        self._surroundings = surroundings()
        try:
            # A daemon, because what a device never ends must not hold up the end of the process. An interrupt may come
            # as soon as it runs.
            _going.add(self)
            self._others = in_callbacks()
            self._thread = Thread(target=context.run, args=(self._run,), name="jaxviz run", daemon=True)
            self._thread.start()
            while not self._done.wait(_TICK):
                if self._tick is not None:
                    self._tick()
        except BaseException:
            self.stop(_GRACE)
            raise
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value]  # it is there when there is no error

    def tell_to_stop(self) -> None:
        """Ends the work at its next step, and waits for nothing."""
        self._stop.set()

    def stop(self, patience: float) -> None:
        """Ends the work at its next step, and waits as many seconds for that; then wherever it is in Python."""
        self._stop.set()
        ended = self._done.wait(patience)
        if self.abandoned or not ended:
            end_callbacks(Stopped, _ENDING, self._others)
        if not ended:
            self._raise_stopped()
            self.abandoned |= not self._done.wait(_ENDING)

    def _raise_stopped(self) -> None:
        """Python code of a person may never come to a next step. What is not Python hears of it when it is done."""
        thread = self._thread.ident if self._thread is not None else None
        if thread is None:
            return
        # What a device computes at once calls back in this thread.
        self._silence = Silence(Stopped)
        if not self._done.is_set():
            raise_in(thread, Stopped)
        self._end_silence_if_done()

    def _end_silence_if_done(self) -> None:
        if self._silence is not None and self._done.is_set():
            self._silence.end_after(set())

    def _run(self) -> None:
        # To be stopped a moment before the end is to be at the end.
        with suppress(Stopped):
            try:
                # What is compiled here is nothing of the person's, and says what it costs.
                with self._surroundings(), outside_the_cache():
                    self._result = self._do(self)
            except BaseException as error:
                self._error = error
            finally:
                self._done.set()
                self._end_silence_if_done()
                _going.discard(self)
            left, self._left = self._left, None
            while left is not None and not _is_made(left) and not _leaving.wait(_LOOK):
                pass
