"""What several processes of one program recorded, as data: what each compiled, and how its devices spent their time.

A process is one that `jax.distributed` counts. In a collective a device waits for all others, so who waits least is
the one that the others wait for.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from jaxviz.measure.profile import Events
from jaxviz.units import seconds_text


@dataclass(frozen=True)
class CompiledThere:
    """A function that a process compiled. `print` is the same for the same jaxpr; seconds are JAX's own."""

    name: str
    call: str
    print: str
    trace: float
    lower: float
    compile: float


@dataclass(frozen=True)
class DeviceRuns:
    """How one device ran one program: medians of its runs in seconds, without the first.

    `computing` is in operations of its own, `waiting` in collectives, and `between` passes from the end of what ran
    before to the beginning of a run.
    """

    program: str
    device: int
    runs: int
    computing: float
    waiting: float
    between: float

    @property
    def cycle(self) -> float:
        """From one run to the next."""
        return self.computing + self.waiting + self.between


@dataclass(frozen=True, eq=False)
class Process:
    """One process. `seconds` is what the recorded block took, `began` a time of the clock.

    Of one that has not finished, or was killed, `seen` is the time of the clock at which it was last there.
    """

    index: int
    count: int
    host: str
    device: str
    devices: int
    began: float
    seconds: float
    versions: Mapping[str, str]
    compiled: tuple[CompiledThere, ...]
    runs: tuple[DeviceRuns, ...]
    notes: tuple[str, ...] = ()
    seen: float = 0.0

    @property
    def finished(self) -> bool:
        return not self.seen

    def of(self, program: str) -> DeviceRuns | None:
        """How a program ran here: the mean of the devices of this process."""
        found = [one for one in self.runs if one.program == program]
        if not found:
            return None
        return DeviceRuns(
            program,
            -1,
            max(one.runs for one in found),
            statistics.fmean(one.computing for one in found),
            statistics.fmean(one.waiting for one in found),
            statistics.fmean(one.between for one in found),
        )

    def __str__(self) -> str:
        where = f"{self.devices} x {self.device}" if self.devices > 1 else self.device
        what = f"{len(self.compiled)} compiled" if self.compiled else "nothing compiled"
        parts = [f"process {self.index} on {self.host}{where and ', '}{where}: {what}"]
        if not self.finished:
            parts.append(f"did not finish, last seen {clock_text(self.seen, self.began)}")
        for program in dict.fromkeys(one.program for one in self.runs):
            ran = self.of(program)
            assert ran is not None
            parts.append(
                f"{program} {ran.runs} times, computes {seconds_text(ran.computing)}, waits for others "
                f"{seconds_text(ran.waiting)}, {seconds_text(ran.between)} between runs"
            )
        return "; ".join(parts)


def clock_text(seen: float, began: float) -> str:
    """When it was, by the clock of this machine, and how long after the beginning."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seen))
    return f"at {when}, {seconds_text(max(seen - began, 0.0))} after it began"


def device_runs(program: str, events: Events, own: Sequence[float], collective: Sequence[bool]) -> list[DeviceRuns]:
    """How each device ran a program, from its events: `own` is the time of each without what is inside of it."""
    found = []
    seconds, waits = np.asarray(own, np.float64), np.asarray(collective, bool)
    for device in np.unique(events.device).tolist():
        here = events.device == device
        runs = np.unique(events.run[here]).tolist()
        computing, waiting, between = [], [], []
        end = None
        for run in sorted(runs, key=lambda run: float(events.start[here & (events.run == run)].min())):
            rows = here & (events.run == run)
            start = float(events.start[rows].min())
            if end is not None:
                between.append(max(0.0, start - end))
            end = float(events.end[rows].max())
            computing.append(float(seconds[rows & ~waits].sum()))
            waiting.append(float(seconds[rows & waits].sum()))
        # The first run meets what is not yet warm, and others that begin later.
        kept = slice(1, None) if len(runs) > 1 else slice(None)
        found.append(
            DeviceRuns(
                program,
                int(device),
                len(runs),
                statistics.median(computing[kept]),
                statistics.median(waiting[kept]),
                statistics.median(between) if between else 0.0,
            )
        )
    return found
