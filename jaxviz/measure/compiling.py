"""What compiling a program costs: tracing, lowering and the compiler, whose passes its own profile tells.

The program is compiled once more for that, to the end, as a copy that no cache knows.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import jax

from jaxviz import compat
from jaxviz.measure.functions import FunctionCost, function_costs
from jaxviz.measure.profile import NoProfile, tracing
from jaxviz.measure.progress import waited_for
from jaxviz.units import seconds_text

if TYPE_CHECKING:
    from jaxviz.capture import Capture
    from jaxviz.loops.curve import Curve

#: What a step is: one of JAX's three, the two halves of the compiler, and what these are made of.
StepKind = Literal["trace", "lower", "compile", "optimize", "generate", "part"]

# What the compiler's own names for its parts mean; others are shown as they are.
_WORDS = {
    "ThunkEmitter::EmitEntryComputation": "write the kernels",
    "ThunkEmitter::ConsumeKernels": "wait for the kernels",
    "JitCompiler::Compile": "machine code",
    "Codegen": "machine code",
    "GpuCompiler::CompileToBackendResult": "write the kernels",
    "NVPTXCompiler::CompileTargetBinary": "machine code",
}
# What only wraps other parts.
_WRAPPERS = ("::Compile", "::RunBackend", "::CompileCpuExecutable", "backend_compile", "::RunHloPasses")
# A part that takes a smaller share of the compiler is left out of the timeline.
_TELLING = 0.005


class Step(NamedTuple):
    """A part of the way from Python to code: when it began and how long it took; `parent` is a row, or -1."""

    name: str
    kind: StepKind
    start: float
    seconds: float
    parent: int


class PassCost(NamedTuple):
    """A pass of the compiler: what all its `runs` took."""

    name: str
    seconds: float
    runs: int


class LineCost(NamedTuple):
    """What tracing spent in a line of the person's, with all that is called from there."""

    file: str
    line: int
    seconds: float


@dataclass(frozen=True, eq=False)
class CompileCost:
    """What it cost to get from the function to code that runs, step by step; all times in seconds."""

    steps: tuple[Step, ...]
    #: The most costly first.
    passes: tuple[PassCost, ...]
    #: The functions that are jitted inside of this one, each compiled by itself; the most costly first.
    functions: tuple[FunctionCost, ...]
    #: Where tracing spent its time, as far as it took long enough to be seen; the most costly first.
    traced: tuple[LineCost, ...]
    notes: tuple[str, ...] = ()
    #: What a loop of the program costs as a loop and unrolled, over its number of turns.
    curve: Curve | None = None
    #: In words, where they come from a document.
    words: tuple[str, ...] = field(default=(), repr=False)

    def seconds(self, kind: StepKind) -> float:
        """Of all steps of a kind."""
        return sum(step.seconds for step in self.steps if step.kind == kind)

    @property
    def total(self) -> float:
        return sum(step.seconds for step in self.steps if step.parent < 0)

    def lines(self) -> tuple[str, ...]:
        """What was measured, in words."""
        if self.words:
            return self.words
        parts = [
            f"{word} {seconds_text(self.seconds(kind))}"
            for kind, word in _VERBS
            if any(step.kind == kind for step in self.steps)
        ]
        lines = [f"{seconds_text(self.total)} before it can run: {', '.join(parts)}"]
        if self.passes:
            slowest = ", ".join(f"{one.name} {seconds_text(one.seconds)}" for one in self.passes[:3])
            runs = sum(one.runs for one in self.passes)
            lines.append(f"{runs} passes of the compiler; those that took most: {slowest}")
        if self.functions:
            named = ", ".join(f"{one.name} {seconds_text(one.seconds)}" for one in self.functions[:3])
            lines.append(f"functions jitted inside, each by itself: {named}")
        if self.curve is not None:
            lines += self.curve.lines()
        return (*lines, *self.notes)

    def __repr__(self) -> str:
        return f"<CompileCost: {'; '.join(self.lines())}>"


_VERBS: tuple[tuple[StepKind, str], ...] = (
    ("trace", "traced in"),
    ("lower", "lowered in"),
    ("compile", "compiled in"),
    ("optimize", "of that optimized in"),
    ("generate", "code written in"),
)


def compile_cost(
    capture: Capture, *, curve: Callable[[], Curve] | None = None, tell: Callable[[str], None]
) -> CompileCost:
    """Compiles a program once more, with the profiler on, and says what each step took."""
    program = capture.program
    trace = _trace_seconds(capture)
    notes = [] if program.target is None or not program.target.limits else ["compiled for a device that is not here"]
    if program.traced_before:
        notes.append("JAX had the trace of an earlier call: what tracing costs is not known")
    started = perf_counter()
    # As another object: of its own, JAX would remember what it was lowered to.
    lowered = program.lower(program.jaxpr.replace())
    lower = program.seconds["lower"]
    took, events, note = waited_for(program.call, "compiling again", lambda _: _compiled(lowered), tell, runs=False)
    steps = [
        Step("trace", "trace", 0.0, trace, -1),
        Step("lower", "lower", trace, lower, -1),
        Step("compile", "compile", trace + lower, took, -1),
    ]
    found = _parts(events, trace + lower, took)
    steps += found.steps
    if note:
        notes.append(note)
    if perf_counter() - started > _LONG:
        tell(f"{program.call}: compiled again; now the functions inside of it, each by itself.")
    functions = function_costs(program, budget=max(_LONG, 2 * took))
    lines = sorted(
        (LineCost(file, line, seconds) for (file, line), seconds in program.traced_where.lines.items()),
        key=lambda one: -one.seconds,
    )
    over_turns = None
    if curve is not None:
        tell(f"{program.call}: now its loop, for several numbers of turns.")
        try:
            over_turns = curve()
        except ValueError as reason:
            notes.append(str(reason))
    return CompileCost(tuple(steps), found.passes, functions, tuple(lines), tuple(notes), over_turns)


_LONG = 2.0


def _trace_seconds(capture: Capture) -> float:
    capture.program.traced  # noqa: B018
    return capture.program.seconds["trace"]


class _Event(NamedTuple):
    name: str
    start: float
    end: float
    #: The module that a pipeline of passes works on; empty for all that is none.
    pipeline: bool


def _compiled(lowered: Any) -> tuple[float, list[list[_Event]], str]:
    """Seconds, the events of each thread, and why there are none."""
    reader = compat.profile_reader()
    if reader is None:
        start = perf_counter()
        lowered.compile()
        return perf_counter() - start, [], f"JAX {jax.__version__} cannot read a profile: its passes have no times"
    with tempfile.TemporaryDirectory(prefix="jaxviz-") as folder:
        took = 0.0
        try:
            with tracing(folder):
                start = perf_counter()
                lowered.compile()
                took = perf_counter() - start
        except NoProfile as reason:
            start = perf_counter()
            lowered.compile()
            return perf_counter() - start, [], str(reason).replace("time for each operation", "time for each pass")
        files = sorted(Path(folder).rglob("*.xplane.pb"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return took, _threads(reader(files[-1])) if files else [], ""


def _threads(data: Any) -> list[list[_Event]]:
    threads = []
    for plane in data.planes:
        for line in plane.lines:
            events = [
                _Event(
                    event.name,
                    1e-9 * event.start_ns,
                    1e-9 * (event.start_ns + event.duration_ns),
                    event.name.endswith(")") and " (" in event.name and "module" in dict(event.stats),
                )
                for event in line.events
                if event.duration_ns > 0
            ]
            if events:
                threads.append(sorted(events, key=lambda event: (event.start, -event.end)))
    return threads


class _Parts(NamedTuple):
    steps: list[Step]
    passes: tuple[PassCost, ...]


def _parts(threads: Sequence[list[_Event]], start: float, took: float) -> _Parts:
    """What the compiler did, from the thread that ran its pipelines of passes; nothing where no thread did."""
    thread = max(threads, key=lambda events: sum(event.pipeline for event in events), default=[])
    pipelines = [event for event in thread if event.pipeline]
    if not pipelines:
        return _Parts([], ())
    # The clock of the profile is its own; what compiles is the longest event of that thread.
    whole = max(thread, key=lambda event: event.end - event.start)
    zero = start - whole.start + max(0.0, took - (whole.end - whole.start)) / 2
    compile_row = 2
    first, last = pipelines[0].start, max(event.end for event in pipelines)
    steps = [Step("optimize", "optimize", first + zero, last - first, compile_row)]
    rest = [event for event in thread if event.start >= last and not event.name.endswith(_WRAPPERS)]
    end = start + took
    steps.append(Step("write code", "generate", last + zero, max(0.0, end - (last + zero)), compile_row))
    smallest = _TELLING * took
    for event, depth in _nested(pipelines):
        if depth == 0 and event.end - event.start >= smallest:
            name = event.name.rpartition(" (")[0]
            steps.append(Step(name, "part", event.start + zero, event.end - event.start, 3))
    for event, depth in _nested(rest):
        if depth == 0 and event.end - event.start >= smallest:
            name = _WORDS.get(event.name, event.name)
            steps.append(Step(name, "part", event.start + zero, event.end - event.start, 4))
    return _Parts(steps, _passes(thread, pipelines))


def _nested(events: Sequence[_Event]) -> Iterator[tuple[_Event, int]]:
    """Events of one thread in the order of time, with how many of the others each is inside of."""
    open_: list[_Event] = []
    for event in events:
        while open_ and open_[-1].end <= event.start:
            open_.pop()
        yield event, len(open_)
        open_.append(event)


def _passes(thread: Sequence[_Event], pipelines: Sequence[_Event]) -> tuple[PassCost, ...]:
    """What stands directly in a pipeline and is none, by name; what only wraps a pipeline is none of them."""
    wrappers = {event.name.rpartition(" (")[0] for event in pipelines} | {"RunInvariantCheckers"}
    found: dict[str, tuple[float, int]] = {}
    open_: list[_Event] = []
    for event in thread:
        while open_ and open_[-1].end <= event.start:
            open_.pop()
        if open_ and open_[-1].pipeline and not event.pipeline and event.name not in wrappers:
            seconds, runs = found.get(event.name, (0.0, 0))
            found[event.name] = seconds + event.end - event.start, runs + 1
        open_.append(event)
    costs = [PassCost(name, seconds, runs) for name, (seconds, runs) in found.items()]
    return tuple(sorted(costs, key=lambda one: -one.seconds))
