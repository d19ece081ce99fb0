"""How far a run is: told to whoever listens, and in words to a person who waits long."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from time import perf_counter
from typing import Any, Literal, NamedTuple

from jaxviz.compat.threads import unchecked
from jaxviz.measure.errors import RunStopped
from jaxviz.measure.taken import Watch, going_on_text
from jaxviz.measure.told import PassingLine, print_line
from jaxviz.measure.waiting import Result, Work, listening

#: What a run is at: the compiler, filling arguments, reading what was compiled, the runs, those without `jit`, those
#: with the profiler.
Step = Literal["compile", "fill", "read", "run", "eager", "profile"]

# Seconds after which a person wants to know how far it is; each time the silence may last longer, by this factor.
_SILENCE, _LONGER = 4.0, 1.6


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
            "fill": "filling arguments",
            "read": "reading what was compiled",
            "eager": "all runs, and now without jit",
            "profile": "all runs, and now for each operation",
        }[self.step]


def held_up() -> str:
    """A sentence on what may hold up a run that takes long, after a space; nothing where nothing was left behind."""
    going = going_on_text()
    return going and f" {going} all the same, which may hold this up until the kernel is restarted."


class Silence:
    """Tells a person who waits long what for, less and less often, in a line that passes."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._line = PassingLine()
        # Whoever listens himself is told as of everything else.
        self._tell = self._line.show if tell is print_line else tell
        self._started = perf_counter()
        self._until = _SILENCE

    def break_with(self, words: str) -> None:
        seconds = perf_counter() - self._started
        if seconds > self._until:
            self._until = max(seconds + _SILENCE, seconds * _LONGER)
            self._tell(f"{words}, after {seconds:.0f} s; interrupt to stop.{held_up()}")

    def end(self) -> None:
        """Nobody waits now."""
        self._line.end()


class Steps:
    """Tells at which step a work of several is, and for how many seconds.

    Who hears `progress` has each change of the words; otherwise a person who waits long is told by `tell`.
    """

    def __init__(self, call: str, tell: Callable[[str], None], progress: Callable[[str], None] | None = None) -> None:
        self._call, self._progress = call, progress
        self._silence = Silence(tell)
        self._step, self._said = "", ""
        self._since = perf_counter()

    def begin(self, step: str) -> None:
        """From now on, it is at this."""
        self._step, self._since = step, perf_counter()
        self.tick()

    def tick(self) -> None:
        if self._progress is None:
            self._silence.break_with(f"{self._call}: {self._step}")
            return
        seconds = int(perf_counter() - self._since)
        words = f"{self._step}, {seconds} s" if seconds else self._step
        if words != self._said:
            self._said = words
            self._progress(words)

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Tells while something is done."""
        try:
            with listening(self.tick):
                yield
        finally:
            self._silence.end()


def waited_for(
    call: str,
    what: str,
    do: Callable[[Work[Result]], Result],
    tell: Callable[[str], None],
    *,
    runs: bool = True,
) -> Result:
    """Does some work for a program; a person who waits long is told `what` it is, and what an interrupt leaves.

    Where it `runs` something, `RunError` says that nothing gets through to the device any more.

    It is never a run of the person's own: values that are not finite are what is looked for, and end nothing.
    """

    def looked(work: Work[Result]) -> Result:
        with unchecked():
            return do(work)

    silence, watch = Silence(tell), Watch(call)

    def tick() -> None:
        if runs:
            watch.look(what)
        silence.break_with(f"{call}: {what}")

    work = Work(looked, tick)
    try:
        return work.wait()
    except KeyboardInterrupt:
        tell_left(work, call, tell)
        raise
    finally:
        silence.end()


def tell_left(work: Work[Any], call: str, tell: Callable[[str], None]) -> None:
    """What goes on although nobody waits for it any more."""
    if work.abandoned:
        tell(
            f"Stopped waiting for {call}. What a device or the compiler has begun cannot be taken back: it goes on "
            "until it is done, or until the kernel is restarted, and takes time from what is computed meanwhile."
        )


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
        self._progress, self._stop = progress, stop
        self._step: Step = "compile"
        self._started = perf_counter()
        self._tell = tell
        self._silence = Silence(tell)
        self._watch = Watch(call)
        self.done = 0

    def begin(self, step: Step) -> None:
        """From now on, it is at this."""
        self._step = step

    def is_on(self, device: Any) -> None:
        """It runs on this device."""
        self._watch.device = device

    def wait(self, do: Callable[[Work[Result]], Result]) -> Result:
        """Does some work of the run. Where it is stopped, what goes on all the same is told."""
        work = Work(do, self.tick)
        try:
            return work.wait()
        except (KeyboardInterrupt, RunStopped):
            tell_left(work, self._call, self._tell)
            raise
        finally:
            self._silence.end()

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
        self._watch.look((now.step, now.done))
        self._silence.break_with(f"{self._call}: {now.words}")
