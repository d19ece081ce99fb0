"""The real computation, run and timed: what `ex.run()` gives."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import jax

from jaxviz import compat
from jaxviz.measure.arguments import Fill, Inputs, check_closed, check_fill, made_up_bytes, make_inputs
from jaxviz.measure.effects import effects_of
from jaxviz.measure.errors import RunError, RunStopped, check_memory, failed
from jaxviz.measure.memory import Memory, program_memory
from jaxviz.measure.nan import nan_in, nan_text
from jaxviz.measure.profile import NoProfile
from jaxviz.measure.profiled import PROFILED, Profile, ProfileSubject, make_profile
from jaxviz.measure.progress import Progress, Telling
from jaxviz.measure.told import print_line
from jaxviz.measure.waiting import Result, Work, listening
from jaxviz.program.program import Program
from jaxviz.units import seconds_text

if TYPE_CHECKING:
    from jaxviz.capture import Capture


@dataclass(frozen=True, eq=False)
class Run:
    """A program that was run: all times in seconds. The first run, which warms caches up, is apart from the others.

    Each run was waited for to its end. `dispatch` is the part of it after which Python could have gone on.
    """

    #: The device, in words.
    device: str
    #: How many devices took part.
    devices: int
    compile: float
    first: float
    seconds: tuple[float, ...]
    dispatches: tuple[float, ...]
    #: Without `jit`, each operation by itself; empty where it was not asked for.
    eager: tuple[float, ...] = ()
    notes: tuple[str, ...] = ()
    #: What the profiler saw of some further runs; None where there is no profile, and a note says why.
    profile: Profile | None = None
    #: What it needs of memory; None where nothing says it.
    memory: Memory | None = None
    #: Which results hold a NaN, in words; empty where none does, or where it may come of arguments that are made up.
    nan: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def spread(self) -> tuple[float, float]:
        """The fastest quarter of the runs took less than the first, the slowest quarter more than the second."""
        if len(self.seconds) < 2:
            return self.seconds[0], self.seconds[0]
        low, _, high = statistics.quantiles(self.seconds, n=4, method="inclusive")
        return low, high

    @property
    def dispatch(self) -> float:
        return statistics.median(self.dispatches)

    def __repr__(self) -> str:
        return f"<Run: {'; '.join(self.lines())}>"

    def lines(self) -> tuple[str, ...]:
        """What was measured, in words."""
        low, high = self.spread
        count = len(self.seconds)
        runs = f"{count} runs, half of them {seconds_text(low)} to {seconds_text(high)}" if count > 1 else "1 run"
        where = f"{self.devices} x {self.device}" if self.devices > 1 else self.device
        lines = [
            f"median {seconds_text(self.median)} on {where} ({runs})",
            f"first run {seconds_text(self.first)}, compiled in {seconds_text(self.compile)}",
            f"Python goes on after {seconds_text(self.dispatch)}",
        ]
        if self.eager:
            without = statistics.median(self.eager)
            lines.append(f"without jit {seconds_text(without)}, {without / max(self.median, 1e-12):.3g} times that")
        if self.profile is not None:
            lines += self.profile.lines()
        return (*lines, *filter(None, [self.nan]), *self.notes)


class Executable:
    """The person's own program, compiled to run, and its arguments on the device."""

    def __init__(self, program: Program, fill: Fill = "normal", telling: Telling | None = None) -> None:
        if program.target is not None and program.target.limits:
            raise RunError(f"{program.call} is compiled for {program.target.label}, which is not here: nothing runs")
        check_fill(fill)
        self.program = program
        check_closed(program.traced, program.jaxpr)
        #: Waits for the results of a run.
        self.until_ready: Callable[[Any], Any] = jax.block_until_ready
        start = perf_counter()
        try:
            program.check_lengths()
            lowered = program.lower(program.jaxpr)
            # The compiler hears of no interrupt either.
            self.compiled: Any = _waited(lambda _: lowered.compile(), telling)
            self.lowered = lowered
        except RunError:
            raise
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise RunError(f"{program.call} cannot be compiled to run: {reason}") from error
        self.compile_seconds = perf_counter() - start
        shardings = compat.input_shardings(self.compiled)
        self.devices = _devices_of(shardings)
        #: One that this process computes on: of several processes, each has its own.
        self.local = next((one for one in self.devices if one.process_index == jax.process_index()), self.devices[0])
        args, kwargs = program.dynamic_arguments
        self._check_memory(made_up_bytes(args, kwargs))
        if telling is not None:
            telling.is_on(self.local)
            telling.begin("fill")
        about = program.traced.args_info
        try:
            self.inputs: Inputs = _waited(
                lambda work: make_inputs(args, kwargs, about, shardings, fill, work.go_on, work.until_ready), telling
            )
        except RunError:
            raise
        except Exception as error:
            raise failed(program.call, error) from error

    def _check_memory(self, made_up: int) -> None:
        stats = compat.memory_of(self.compiled)
        if stats is not None:
            made = stats.output_size_in_bytes - stats.alias_size_in_bytes + stats.temp_size_in_bytes
            # What is donated is copied for each run.
            check_memory(self.program.call, made + stats.alias_size_in_bytes + made_up, self.local)

    def once(self, compiled: Any = None, look: Callable[[Any], None] | None = None) -> tuple[float, float]:
        """Runs it once: seconds until Python could go on, and until the results were there, which `look` is given."""
        call = self.compiled if compiled is None else compiled
        args, kwargs = self.inputs.fresh()
        start = perf_counter()
        results = call(*args, **kwargs)
        dispatched = perf_counter()
        self.until_ready(results)
        done = perf_counter()
        # What prints has printed before the next run begins.
        jax.effects_barrier()
        if look is not None:
            look(results)
        return dispatched - start, done - start

    def save_memory_profile(self, path: str | Path) -> None:
        """What is on the device while the arguments and results of one run are, in the format of pprof, to a file."""
        args, kwargs = self.inputs.fresh()
        results = self.until_ready(self.compiled(*args, **kwargs))
        jax.profiler.save_device_memory_profile(str(path))
        del results


def _waited(do: Callable[[Work[Result]], Result], telling: Telling | None) -> Result:
    return Work(do).wait() if telling is None else telling.wait(do)


def run_program(
    capture: Capture,
    *,
    repeat: int = 20,
    seconds: float = 60.0,
    fill: Fill = "normal",
    eager: bool = False,
    profile: bool = True,
    memory_profile: str | Path | None = None,
    tell: Callable[[str], None] | None = None,
    progress: Callable[[Progress], None] | None = None,
    stop: Event | None = None,
) -> Run:
    """Runs a program `repeat` times after a first one, for at most about `seconds`, then a few times with a profile.

    `tell` hears, in words, what will be repeated, and how far it is where it takes long; `progress` hears how far it is
    several times a second. Once `stop` is set, it ends within a second with `RunStopped`.
    """
    if isinstance(repeat, bool) or not isinstance(repeat, int) or repeat < 1:
        raise ValueError(f"repeat must be a whole number above 0, not {repeat!r}")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise ValueError(f"seconds must be a number above 0, not {seconds!r}")
    if memory_profile is not None:
        memory_profile = _writable(memory_profile)
    tell = print_line if tell is None else tell
    program = capture.program
    if eager and program.is_recorded:
        raise RunError(
            f"{program.call} was heard when JAX compiled it, and what its function was called with is not known: "
            "explore the call to time it without jit."
        )
    telling = Telling(program.call, repeat, tell, progress, stop)
    executable = Executable(program, fill, telling)
    effects = effects_of(capture.jaxpr)
    if effects:
        tell(f"{program.call} {effects}, in each of {repeat + 1 + (PROFILED + 1 if profile else 0)} runs.")
    if eager:
        tell(
            f"without jit, the Python of {program.call} runs {repeat + 1} times: what it prints or changes besides its "
            "results, it does each time."
        )
    # Made here, where an error of the compiler is not one of the run.
    telling.begin("read")
    with listening(telling.tick):
        subject = _subject(capture) if profile else None
    timed: list[tuple[float, float]] = []
    with_nan: list[int] = []
    started = perf_counter()

    def measure(work: Work[_Measured]) -> _Measured:
        telling.begin("run")
        executable.until_ready = work.until_ready
        timed.append(executable.once(look=lambda results: with_nan.extend(nan_in(results))))
        while len(timed) <= repeat and (len(timed) < 2 or perf_counter() - started < seconds):
            work.go_on()
            timed.append(executable.once())
            telling.done = len(timed) - 1
        if memory_profile is not None:
            executable.save_memory_profile(memory_profile)
        if eager:
            telling.begin("eager")
        without = _without_jit(program, executable, len(timed) - 1, seconds, work) if eager else []
        telling.begin("profile")
        if not isinstance(subject, ProfileSubject):
            return _Measured(without, None, subject or "")
        usual = statistics.median(wall for _, wall in timed[1:])
        try:
            return _Measured(without, make_profile(subject, executable, usual, work.go_on), "")
        except NoProfile as reason:
            return _Measured(without, None, str(reason))

    try:
        measured = telling.wait(measure)
    except RunError:
        raise
    except Exception as error:
        raise failed(program.call, error) from error
    (_, first), *rest = timed
    nan = nan_text(program, with_nan) if with_nan else ""
    notes = [*_notes(executable, effects, len(rest), repeat, fill), *filter(None, [measured.no_profile])]
    if nan and executable.inputs.made_up:
        # As the squares that an optimizer keeps are none then.
        notes.append(f"{nan}, which may come of the numbers that are made up")
        nan = ""
    return Run(
        device=device_text(executable.local),
        devices=len(executable.devices),
        compile=executable.compile_seconds,
        first=first,
        seconds=tuple(wall for _, wall in rest),
        dispatches=tuple(dispatch for dispatch, _ in rest),
        eager=tuple(measured.eager),
        notes=tuple(notes),
        profile=measured.profile,
        memory=_memory(capture, executable),
        nan=nan,
    )


def _writable(path: str | Path) -> Path:
    """A file that can be written, as far as that is known before; it would be a pity to learn it after all runs."""
    place = Path(path).expanduser()
    if place.is_dir():
        raise ValueError(f"memory_profile {str(path)!r} is a folder: the name of a file is wanted")
    if not place.parent.is_dir():
        raise ValueError(f"memory_profile {str(path)!r}: there is no folder {str(place.parent)!r}")
    return place


def _memory(capture: Capture, executable: Executable) -> Memory | None:
    try:
        return program_memory(capture, executable.compiled)
    except Exception:
        # The run is worth more than what its compiler says of memory.
        return None


class _Measured(NamedTuple):
    eager: list[float]
    profile: Profile | None
    #: Why there is no profile, in words.
    no_profile: str


def _subject(capture: Capture) -> ProfileSubject | str:
    """What a profile needs of the program, or why it cannot be had."""
    try:
        return ProfileSubject.of(capture)
    except RunStopped:
        raise
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        return f"there is no time for each operation, because there is no optimized HLO: {reason}"


def _notes(executable: Executable, effects: str, runs: int, repeat: int, fill: Fill) -> list[str]:
    notes = []
    if runs < repeat:
        notes.append(f"{runs} of the {repeat} runs that were asked for, because they take long")
    inputs = executable.inputs
    if inputs.made_up:
        words = {"zeros": "zeros", "ones": "ones"}
        made = "by the function that was given" if callable(fill) else f"with {words.get(fill, f'{fill} numbers')}"
        notes.append(f"{inputs.made_up} of {len(inputs.leaves)} arguments were shapes alone, and are filled {made}")
    if any(inputs.donated):
        notes.append("donated arguments are copied before each run, outside of what is timed")
    if effects:
        notes.append(f"it {effects}, which takes part of the time")
    return notes


def _without_jit(
    program: Program, executable: Executable, repeat: int, seconds: float, work: Work[_Measured]
) -> list[float]:
    """Times the function as Python runs it, each operation by itself; not the first time, which compiles them."""
    function: Any = program.accepted.whole or program.fn
    function = getattr(function, "__wrapped__", function) if compat.is_jitted(function) else function
    started = perf_counter()
    times: list[float] = []
    while len(times) <= repeat and (len(times) < 2 or perf_counter() - started < seconds):
        work.go_on()
        dynamic, named = executable.inputs.fresh()
        args, kwargs = program.with_static(dynamic, named)
        start = perf_counter()
        work.until_ready(function(*args, **kwargs))
        times.append(perf_counter() - start)
        jax.effects_barrier()
    return times[1:]


def _devices_of(shardings: Any) -> list[Any]:
    found = {
        device for sharding in jax.tree_util.tree_leaves(shardings) for device in getattr(sharding, "device_set", ())
    }
    return sorted(found, key=lambda device: device.id) or jax.devices()[:1]


def device_text(device: Any) -> str:
    """A device as a person would call it."""
    return "CPU" if device.platform == "cpu" else str(device.device_kind)
