"""A profile of one program: how long each operation, equation, line and part of it took, and what that leaves out."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from jaxviz.costs.cost import Cost, cost_of
from jaxviz.costs.kernels import trip_counts
from jaxviz.graph import Graph
from jaxviz.link.links import Links
from jaxviz.measure.attribution import Attributed, attribute, executed
from jaxviz.measure.completion import followers_of
from jaxviz.measure.naming import names_as_run
from jaxviz.measure.profile import NoProfile, Watched, profiled
from jaxviz.measure.rollup import Rolled, Timed, shares_of
from jaxviz.measure.roofline import Bound, Ceilings, ceilings_of
from jaxviz.outline.tree import Outline
from jaxviz.read.hlo.module import HloModule
from jaxviz.units import bytes_text, flops_text, seconds_text

if TYPE_CHECKING:
    from jaxviz.capture import Capture

#: Runs with the profiler on, after a first one that is left out.
PROFILED = 10
# Seconds that they may take: a longer program is profiled in fewer runs.
_PROFILE_SECONDS = 2.0
# Each execution of an operation is an event; more of them take longer to read than anybody waits.
_MOST_EVENTS = 400_000


@dataclass(frozen=True, eq=False)
class ProfileSubject:
    """What a profile is about: the graphs of a program, their links and the names of instructions."""

    jaxpr: Graph
    outline: Outline
    hlo: Graph
    links: Links
    instructions: Sequence[str]
    module: HloModule

    @classmethod
    def of(cls, capture: Capture) -> ProfileSubject:
        linked = capture.hlo
        return cls(
            capture.jaxpr,
            capture.outline,
            linked.graph,
            linked.links,
            capture.hlo_instructions,
            capture.hlo_module,
        )

    @cached_property
    def cost(self) -> Cost:
        return cost_of(self.hlo)


class Runs(Protocol):
    """What can be run with the profiler on."""

    lowered: Any
    compiled: Any
    devices: list[Any]
    local: Any

    def once(self, compiled: Any = None) -> tuple[float, float]: ...


@dataclass(frozen=True, eq=False)
class Profile:
    """How long each part of a program took: `operations()`, `equations()`, `source_lines()` and `parts()` list them."""

    times: Attributed
    rolled: Rolled
    #: The median wall time of the runs with the profiler on.
    wall: float
    #: What the device can do at most, for matmuls of the type that the program has most of.
    ceilings: Ceilings
    notes: tuple[str, ...] = ()

    def operations(self) -> tuple[Timed, ...]:
        """The operations of optimized HLO that were executed."""
        return self.rolled.operations()

    def equations(self) -> tuple[Timed, ...]:
        """The equations of the jaxpr; the time of a kernel is shared out among those that it was made from."""
        return self.rolled.equations()

    def source_lines(self) -> tuple[Timed, ...]:
        """The lines of Python: by itself, and with what is called from there."""
        return self.rolled.lines()

    def parts(self) -> tuple[Timed, ...]:
        """The rows of the outline: modules, calls, loops, expressions."""
        return self.rolled.parts()

    def kernels(self) -> tuple[Kernel, ...]:
        """What ran as one piece, in the order of the program: what it computes and moves, and what limits it."""
        rolled, cost = self.rolled, self.rolled.cost
        strings = rolled.hlo.tables.strings
        found = []
        for node in np.flatnonzero((rolled.count > 0) & (rolled.seconds > 0)).tolist():
            count = float(rolled.count[node])
            flops, moved = count * float(cost.kernel_work[node]), count * float(cost.kernel_bytes[node])
            seconds = float(rolled.seconds[node])
            bound, reached = self.ceilings.bound(flops / count, moved / count, seconds / count)
            if not cost.limited[node]:
                bound, reached = "neither", 0.0
            name = strings[rolled.hlo.nodes.name[node]]
            found.append(Kernel(name, seconds, flops, moved, bound, reached, node))
        return tuple(found)

    @property
    def least(self) -> float:
        """Seconds that a run needs at least by the ceilings of its device; what was quicker, because its data come from
        caches, counts as it was."""
        return sum(min(kernel.seconds, self.ceilings.least(kernel.flops, kernel.bytes)) for kernel in self.kernels())

    @property
    def coverage(self) -> float:
        """Of the operations of the program's own level that are executed, the share that the profiler saw."""
        return self.times.coverage

    def lines(self) -> list[str]:
        """What was measured, in words."""
        times = self.times
        busy = 100 * times.busy / self.wall if self.wall else 0.0
        together = ", some of them at the same time" if times.total > 1.02 * times.busy else ""
        return [
            f"with the profiler a run takes {seconds_text(self.wall)}, and the device is busy for {busy:.0f} % of it",
            f"operations add up to {seconds_text(times.total)}{together}; "
            f"{100 * times.coverage:.3g} % of those that are executed were seen",
            f"the device was seen to compute {flops_text(self.ceilings.flops)}/s and to move "
            f"{bytes_text(self.ceilings.bytes)}/s at most: by that, the operations need {seconds_text(self.least)}",
            *self._devices(),
            *self.notes,
        ]

    def _devices(self) -> list[str]:
        """Which of several devices had most to do."""
        devices = self.times.devices
        if len(devices) < 2:
            return []
        least, most = min(devices, key=lambda one: one[1]), max(devices, key=lambda one: one[1])
        return [
            f"operations add up to {seconds_text(least[1])} on device {least[0]}, which had least to do, and to "
            f"{seconds_text(most[1])} on device {most[0]}, which had most"
        ]

    def __repr__(self) -> str:
        return f"<Profile: {'; '.join(self.lines())}>"


@dataclass(frozen=True)
class Kernel:
    """What ran as one piece, in one run: seconds, floating-point operations, bytes read and written. `reached` is the
    share of the nearest ceiling, above 1 where its data come from caches; `node` is that of the HLO."""

    name: str
    seconds: float
    flops: float
    bytes: float
    bound: Bound
    reached: float
    node: int

    @property
    def intensity(self) -> float:
        """Floating-point operations for each byte."""
        return self.flops / self.bytes if self.bytes else float("inf") if self.flops else 0.0

    def __str__(self) -> str:
        took = f"{self.name}: {seconds_text(self.seconds)}"
        if self.bound == "cache":
            return f"{took}, faster than memory: its data come from caches"
        return took if self.bound == "neither" else f"{took}, {self.bound}-bound at {100 * self.reached:.0f} %"


def make_profile(subject: ProfileSubject, runs: Runs, usual: float, go_on: Callable[[], None]) -> Profile:
    """Runs a program with the profiler on; `usual` is how long it takes without. `NoProfile` says why there is none."""
    events = float(trip_counts(subject.hlo)[~subject.cost.fused].sum())
    if events > _MOST_EVENTS:
        raise NoProfile(
            f"there is no time for each operation: one run executes {events:,.0f} of them, and each would be an event"
        )
    count = max(1, min(PROFILED, int(_PROFILE_SECONDS / max(usual, 1e-9)), int(_MOST_EVENTS / max(events, 1.0))))
    compiled, notes = _compiled_for_profile(runs)
    walls: list[float] = []

    def run() -> None:
        for _ in range(count + 1):
            go_on()
            walls.append(runs.once(compiled)[1])

    seen = profiled(run, _watched(subject, runs.compiled if compiled is None else compiled), count + 1)
    if not len(seen):
        raise NoProfile(_nothing_seen(runs, executed(subject.module)))
    times = attribute(seen, subject.hlo, subject.instructions, subject.module, count + 1)
    rolled = Rolled(
        hlo=subject.hlo,
        jaxpr=subject.jaxpr,
        outline=subject.outline,
        cost=subject.cost,
        shares=shares_of(subject.cost, subject.links, len(subject.jaxpr), times.count > 0),
        seconds=times.seconds,
        inclusive=times.inclusive,
        count=times.count,
        elsewhere=times.elsewhere,
    )
    go_on()
    once = times.seconds / np.maximum(times.count, 1.0)
    ceilings = ceilings_of(runs.local, subject.cost.matmul_type).with_seen(
        np.where(times.count > 0, subject.cost.kernel_work, 0.0).tolist(), once.tolist()
    )
    return Profile(times, rolled, statistics.median(walls[1:] or walls), ceilings, tuple(notes))


def _watched(subject: ProfileSubject, compiled: Any) -> Watched:
    module, followers = subject.module, followers_of(subject.module)
    names = frozenset(filter(None, subject.instructions))
    try:
        text = compiled.as_text() or ""
    except Exception:
        # Not every compiler gives it; then the names are those that are known.
        text = ""
    renamed = names_as_run(module, text) if text else {}
    return Watched(module.name, names, renamed, followers)


def _compiled_for_profile(runs: Runs) -> tuple[Any, list[str]]:
    """On a GPU, the same program without command buffers: a buffer is one event, and nothing inside of it is seen."""
    if runs.devices[0].platform != "gpu":
        return None, []
    try:
        # The option is a list of what may run in one, which XLA clears before it reads the text.
        compiled = runs.lowered.compile(compiler_options={"xla_gpu_enable_command_buffer": ""})
    except Exception:
        return None, ["command buffers could not be turned off: what runs in one has no time of its own"]
    return compiled, ["profiled without command buffers, which hide the operations inside; the median is with them"]


def _nothing_seen(runs: Runs, operations: Sequence[str]) -> str:
    platform = runs.devices[0].platform
    if not operations:
        return "there is no time for each operation, because there is none: nothing is left to compute"
    if platform == "gpu":
        return (
            "there is no time for each operation: the profiler saw no kernel, because it may not use the device's "
            "counters (CUPTI), or because all of them run inside of command buffers"
        )
    return f"there is no time for each operation: the profiler of this {platform} saw none"
