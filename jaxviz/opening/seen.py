"""What a profile saw of the programs in it: how often each ran, and how long each of its operations took."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np

from jaxviz import compat
from jaxviz.costs.cost import cost_of
from jaxviz.graph import Column, Graph
from jaxviz.measure.attribution import attribute, own_seconds
from jaxviz.measure.measures import Measures, NodeFigures
from jaxviz.measure.profile import Events, Row, events_of
from jaxviz.read.hlo.module import HloModule
from jaxviz.read.hlo.wrapping import number_in
from jaxviz.units import seconds_text

#: The name of a module, and the number that its process gave it; -1 where events do not say it.
ModuleKey = tuple[str, int]

# To take more of them out of a profile takes longer than anybody waits.
_MOST_EVENTS = 500_000
# On a TPU an operation does not say its module: another line of the same device does, by time.
_MODULES = "XLA Modules"


@dataclass(frozen=True, eq=False)
class Seen:
    """The events of one module in a profile, on which devices."""

    module: HloModule
    rows: Sequence[Row]
    device: str

    @property
    def seconds(self) -> float:
        """What all its operations took together, in all runs."""
        return float(own_seconds(self._events).sum())

    @cached_property
    def _events(self) -> Events:
        names = {name for computation in self.module.computations for name in computation.names}
        return events_of([row for row in self.rows if row.name in names], self.runs)

    @property
    def runs(self) -> int:
        """How often it ran."""
        return max(len({row.run for row in self.rows}), 1)

    @property
    def often(self) -> str:
        return "once" if self.runs == 1 else f"{self.runs} times"

    def measures(self, graph: Graph, instructions: Sequence[str], order: Column) -> Measures:
        """How long each node took in a run; of `graph`, in which that of `instructions[order[n]]` is node n."""
        named = [instructions[place] for place in order.tolist()]
        events = self._events
        times = attribute(events, graph, named, self.module, self.runs)
        cost = cost_of(graph)
        figures = NodeFigures.of(
            seconds=times.seconds,
            count=times.count,
            flops=cost.kernel_work * times.count,
            bytes=cost.kernel_bytes * times.count,
        )
        spans = [np.ptp(np.r_[events.start[here], events.end[here]]) for here in _by_run(events.run)]
        wall = float(np.median(spans or [0.0]))
        many = len({row.device for row in self.rows})
        where = f"{many} x {self.device}" if many > 1 else self.device
        return Measures(
            device=self.device,
            devices=max(many, 1),
            runs=self.runs,
            words=(
                f"ran {self.often} in this profile on {where}, {seconds_text(wall)} from first to last operation",
                f"operations add up to {seconds_text(times.total)} in a run; "
                f"{100 * times.coverage:.3g} % of those that are executed were seen",
            ),
            seconds={"median": wall, "wall": wall, "operations": times.total, "busy": times.busy},
            coverage=times.coverage,
            figures={"hlo": figures},
        )


def _by_run(run: Any) -> list[Any]:
    return [run == one for one in np.unique(run).tolist()]


class Profile:
    """The events of operations in a profile, by the module that they are of."""

    def __init__(self, data: bytes, modules: Mapping[ModuleKey, HloModule]) -> None:
        self._modules = modules
        self._rows: dict[ModuleKey, list[Row]] = {}
        self._devices: dict[ModuleKey, str] = {}
        #: Why there are no times, or not all of them; empty where nothing is missing.
        self.note = ""
        reader = compat.serialized_profile_reader()
        if reader is None:
            self.note = f"JAX {jax.__version__} cannot read the times in a profile: pip install -U jax"
            return
        # As in `measure.profile`: one of jaxlib 0.12 on Python 3.13.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                self._read(reader(data))
            except Exception as error:
                # The programs are worth more than their times.
                self._rows.clear()
                self.note = f"the times in the profile cannot be read: {(str(error) or type(error).__name__)[:200]}"

    def of(self, key: ModuleKey) -> Seen | None:
        """What was seen of a module; None where it did not run meanwhile."""
        rows = self._rows.get(key)
        return None if not rows else Seen(self._modules[key], rows, self._devices[key])

    def _read(self, data: Any) -> None:
        names = {name for module in self._modules.values() for each in module.computations for name in each.names}
        lane = count = 0
        for plane in data.planes:
            on_device = plane.name.startswith("/device:")
            if not on_device and not plane.name.startswith("/host:CPU"):
                continue
            lines = list(plane.lines)
            spans = _Spans(lines) if on_device else None
            device = _device(plane)
            for line in lines:
                lane += 1
                for event in () if line.name == _MODULES else line.events:
                    # To ask for what an event carries takes long, and most on a host are of Python or of the runtime.
                    if not on_device and event.name not in names:
                        continue
                    carried = dict(event.stats)
                    name = carried.get("hlo_module")
                    said = (str(name), int(carried.get("program_id", -1))) if name else spans and spans.of(event)
                    key = self._known(said) if said else None
                    if key is None or event.duration_ns <= 0:
                        continue
                    if count == _MOST_EVENTS:
                        self.note = f"only the first {_MOST_EVENTS:,} events of operations were read"
                        return
                    count += 1
                    self._devices.setdefault(key, device)
                    self._rows.setdefault(key, []).append(Row.of(event, carried, plane.name, lane))

    def _known(self, key: ModuleKey) -> ModuleKey | None:
        """The module of which an event says this; of several with its name that which has its number."""
        if key in self._modules:
            return key
        alike = [one for one in self._modules if one[0] == key[0]]
        return alike[0] if len(alike) == 1 else None


class _Spans:
    """When a device ran which module."""

    def __init__(self, lines: Sequence[Any]) -> None:
        found = sorted(
            (float(event.start_ns), float(event.start_ns + event.duration_ns), *_key(event.name))
            for line in lines
            if line.name == _MODULES
            for event in line.events
        )
        self._starts = [row[0] for row in found]
        self._found = found

    def of(self, event: Any) -> ModuleKey | None:
        place = bisect_right(self._starts, float(event.start_ns)) - 1
        if place < 0 or event.start_ns >= self._found[place][1]:
            return None
        return self._found[place][2:]


def _key(text: str) -> ModuleKey:
    """`jit_step(12)` as a name and a number."""
    number = number_in(text)
    return (text.rpartition("(")[0] if number >= 0 else text, number)


def _device(plane: Any) -> str:
    said = dict(plane.stats).get("device_type_string")
    if said:
        return str(said)
    return plane.name.removeprefix("/device:").removeprefix("/host:").partition(":")[0].strip() or "device"
