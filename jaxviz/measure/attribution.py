"""From events of a profile to the nodes of the HLO graph: how long each took by itself, and how often it ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Graph
from jaxviz.measure.completion import SILENT
from jaxviz.measure.profile import Events
from jaxviz.read.communication import is_collective
from jaxviz.read.hlo.module import HloModule

Seconds = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Attributed:
    """What was measured of each node of an HLO graph in one run, the median over `runs`: `seconds` without what is
    inside of it, and how often it was executed."""

    graph: Graph
    seconds: Seconds
    count: Seconds
    #: Of instructions that are no nodes.
    elsewhere: float
    runs: int
    #: The wall time that the events of a run span, and how long at least one of them went on.
    span: float
    busy: float
    #: Of the instructions of the entry computation that are executed, the share that was seen.
    coverage: float
    #: By device, what its operations add up to in one run.
    devices: tuple[tuple[int, float], ...]
    #: By device in the same order, what of that is in collectives: the device waits for others there.
    waiting: tuple[float, ...] = ()

    @cached_property
    def inclusive(self) -> Seconds:
        """With all that is inside of a node."""
        before = np.concatenate([[0.0], np.cumsum(self.seconds)])
        start, end = self.graph.region_intervals
        total = self.seconds.copy()
        for owner, regions in self.graph.owned_regions.items():
            total[owner] += sum(float(before[end[region]] - before[start[region]]) for region in regions)
        return total

    @property
    def total(self) -> float:
        """What all operations add up to; more than the wall time where several threads or devices work at once."""
        return float(self.seconds.sum()) + self.elsewhere


def attribute(events: Events, graph: Graph, instructions: Sequence[str], module: HloModule, runs: int) -> Attributed:
    """What events say of the nodes of a graph, whose instructions are `instructions`."""
    own, parent = _nested(events)
    nodes, shares = _Nodes(graph, instructions).of(events, parent)
    again = _again(events, parent)
    told = np.unique(events.run)
    # The first run under the profiler is slower than others.
    kept = told[1:] if len(told) > 1 else told
    # Where runs are not told apart, all of them are one.
    divisor = float(runs) if len(told) <= 1 else 1.0
    numbers = sorted(set(events.device.tolist()))
    many = max(len(numbers), 1)
    seconds, count, elsewhere, spans, busy = [], [], [], [], []
    by_device, in_collectives = np.zeros((len(kept), many)), np.zeros((len(kept), many))
    strings = graph.tables.strings
    together = np.array([is_collective(strings[op]) for op in graph.nodes.op.tolist()], bool)
    waits = np.array([any(together[node] for node in of_event) for of_event in nodes], bool)
    for row, run in enumerate(kept.tolist()):
        here = events.run == run
        found = [number for event in np.flatnonzero(here).tolist() for number in nodes[event]]
        event_of = [event for event in np.flatnonzero(here).tolist() for _ in nodes[event]]
        share = np.array([shares[event] for event in event_of])
        times = own[event_of] * share if event_of else np.zeros(0)
        seconds.append(np.bincount(found, times, len(graph)) / divisor / many)
        counted = share * ~again[event_of] if event_of else np.zeros(0)
        count.append(np.bincount(found, counted, len(graph)) / divisor / many)
        missed = np.array([not nodes[event] for event in np.flatnonzero(here).tolist()], bool)
        elsewhere.append(float(own[here][missed].sum()) / divisor / many)
        for place, number in enumerate(numbers):
            on_device = here & (events.device == number)
            by_device[row, place] = own[on_device].sum() / divisor
            in_collectives[row, place] = own[on_device & waits].sum() / divisor
        end = events.end[here] + events.tail[here]
        spans.append(float(end.max() - events.start[here].min()) / divisor if here.any() else 0.0)
        busy.append(_union(events.start[here], end) / divisor)
    if not seconds:
        seconds, count, elsewhere, spans, busy = [np.zeros(len(graph))], [np.zeros(len(graph))], [0.0], [0.0], [0.0]
    totals = np.median(by_device, axis=0) if len(by_device) else np.zeros(many)
    waited = np.median(in_collectives, axis=0) if len(by_device) else np.zeros(many)
    return Attributed(
        graph=graph,
        seconds=np.median(seconds, axis=0),
        count=_by_region(graph, np.median(count, axis=0)),
        elsewhere=float(np.median(elsewhere)),
        runs=max(len(kept), 1) if divisor == 1.0 else runs,
        span=float(np.median(spans)),
        busy=float(np.median(busy)),
        coverage=_coverage(events, module),
        devices=tuple((number, float(totals[place])) for place, number in enumerate(numbers)),
        waiting=tuple(float(waited[place]) for place in range(len(numbers))),
    )


def own_seconds(events: Events) -> Seconds:
    """What each event takes without those inside of it."""
    return _nested(events)[0]


def _nested(events: Events) -> tuple[Seconds, NDArray[np.int64]]:
    """For each event its time, to where it was done, without those inside of it on its lane, and the event that it is
    inside of, or -1."""
    own = events.end - events.start
    parent = np.full(len(events), -1, np.int64)
    order = np.lexsort((-events.end, events.start, events.lane)).tolist()
    lanes, ends = events.lane.tolist(), events.end.tolist()
    starts = events.start.tolist()
    open_: list[int] = []
    for event in order:
        while open_ and (lanes[open_[-1]] != lanes[event] or ends[open_[-1]] <= starts[event]):
            open_.pop()
        # What begins in one event and ends after it runs beside it.
        if open_ and ends[event] <= ends[open_[-1]]:
            parent[event] = open_[-1]
            own[open_[-1]] -= ends[event] - starts[event]
        open_.append(event)
    return np.maximum(own, 0.0) + events.tail, parent


def _again(events: Events, parent: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which events go on with the one before: an instruction may be carried out in steps, each an event."""
    order = np.lexsort((events.start, parent, events.lane, events.run, events.device))
    same = np.ones(max(len(order) - 1, 0), bool)
    for column in (events.name, parent, events.lane, events.run, events.device):
        same &= column[order][1:] == column[order][:-1]
    again = np.zeros(len(events), bool)
    again[order[1:]] = same
    return again


def _by_region(graph: Graph, count: Seconds) -> Seconds:
    """How often each node was executed: what stands in one body is executed equally often, so the most common holds."""
    counts = count.copy()
    seen = np.flatnonzero(count > 0)
    for region in np.unique(graph.nodes.region[seen]).tolist():
        here = seen[graph.nodes.region[seen] == region]
        values, times = np.unique(np.round(count[here], 6), return_counts=True)
        counts[here] = values[int(times.argmax())]
    return counts


def _union(start: Seconds, end: Seconds) -> float:
    """How long at least one of the intervals goes on."""
    order = np.argsort(start)
    start, end = start[order], np.maximum.accumulate(end[order])
    if not len(start):
        return 0.0
    gaps = np.maximum(start[1:] - end[:-1], 0.0)
    return float(end[-1] - start[0] - gaps.sum())


class _Nodes:
    """The nodes of an event: one, but where a computation is called in several places and none of them is told."""

    def __init__(self, graph: Graph, instructions: Sequence[str]) -> None:
        self._graph = graph
        self._known: dict[str, list[int]] = {}
        for node, name in enumerate(instructions):
            if name:
                self._known.setdefault(name, []).append(node)

    def of(self, events: Events, parent: NDArray[np.int64]) -> tuple[list[tuple[int, ...]], list[float]]:
        """For each event its nodes, and the share of it that each of them has."""
        found: list[tuple[int, ...]] = [()] * len(events)
        candidates = [self._known.get(name, []) for name in events.names]
        names, parents = events.name.tolist(), parent.tolist()
        for event in np.argsort(events.start, kind="stable").tolist():
            nodes = candidates[names[event]]
            if len(nodes) > 1:
                around = parents[event]
                while around >= 0 and not found[around]:
                    around = parents[around]
                if around >= 0:
                    nodes = [node for node in nodes if self._inside(node, found[around])] or nodes
            found[event] = tuple(nodes)
        return found, [1.0 / max(len(nodes), 1) for nodes in found]

    def _inside(self, node: int, owners: tuple[int, ...]) -> bool:
        region = int(self._graph.nodes.region[node])
        while region > 0:
            owner = int(self._graph.regions.owner[region])
            if owner in owners:
                return True
            region = int(self._graph.nodes.region[owner])
        return False


def executed(module: HloModule) -> list[str]:
    """The instructions of the entry computation that are executed."""
    entry = module.computations[module.entry]
    return [name for name, op in zip(entry.names, entry.opcodes, strict=True) if op not in SILENT]


def _coverage(events: Events, module: HloModule) -> float:
    names = executed(module)
    seen = {events.names[number] for number in np.unique(events.name).tolist()}
    return sum(name in seen for name in names) / len(names) if names else 1.0
