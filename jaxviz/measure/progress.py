"""How far a run is: told to whoever listens, and in words to a person who waits long."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from time import perf_counter
from typing import Literal, NamedTuple

from jaxviz.measure.errors import RunStopped

#: What a run is at: the compiler, reading what it made, the runs, those without `jit`, those with the profiler.
Step = Literal["compile", "read", "run", "eager", "profile"]

# Seconds after which a person wants to know how far it is.
_SILENCE = 2.0


class Progress(NamedTuple):
    """`done` of `total` runs were timed, after so many `seconds`."""

    step: Step
    done: int
    total: int
    seconds: float

    @property
    def words(self) -> str:
        """How far it is, as a person reads it.

        >>> Progress("run", 3, 20, 1.5).words
        '3 of 20 runs'
        """
        if self.step == "run":
            return f"{self.done} of {self.total} runs"
        return {
            "compile": "compiling",
            "read": "reading what was compiled",
            "eager": "all runs, and now without jit",
            "profile": "all runs, and now for each operation",
        }[self.step]


class Telling:
    """Tells how far a run is; `tick` is called several times a second, and raises `RunStopped` once that is wanted."""

    def __init__(
        self,
        call: str,
        total: int,
        tell: Callable[[str], None],
        progress: Callable[[Progress], None] | None,
        stop: Event | None,
    ) -> None:
        self._call = call
        self._total = total
        self._tell, self._progress, self._stop = tell, progress, stop
        self._step: Step = "compile"
        self._started = perf_counter()
        self._told = 0.0
        self.done = 0

    def begin(self, step: Step) -> None:
        """From now on, it is at this."""
        self._step = step

    @property
    def now(self) -> Progress:
        """How far it is."""
        return Progress(self._step, self.done, self._total, perf_counter() - self._started)

    def tick(self) -> None:
        now = self.now
        if self._stop is not None and self._stop.is_set():
            raise RunStopped(f"{self._call} was stopped after {now.seconds:.1f} s: {now.words}")
        if self._progress is not None:
            self._progress(now)
        if now.seconds - self._told > _SILENCE:
            self._told = now.seconds
            self._tell(f"{self._call}: {now.words}, after {now.seconds:.0f} s; interrupt to stop.")
