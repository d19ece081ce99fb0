"""What is in memory at each step of a program: what arguments, results and temporary values take, and when.

Where each value lies is XLA's own buffer assignment; how long it is needed follows from the schedule, the order of the
instructions, with the bodies of loops and branches where they are called. Nothing runs for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from jaxviz import compat
from jaxviz.costs.cost import Cost, cost_of
from jaxviz.graph import ARGUMENT, RESULT, Column, Graph
from jaxviz.measure.assignment import TEMPORARY, Allocation, Assigned, read_assignment
from jaxviz.measure.errors import NoMemory
from jaxviz.measure.waiting import Work
from jaxviz.read.hlo.graph import HloGraph
from jaxviz.units import bytes_text

if TYPE_CHECKING:
    from jaxviz.capture import Capture

Bytes = NDArray[np.float64]

# What XLA lets buffers begin at multiples of: 64 bytes on a CPU, twice that on a GPU.
_ALIGNMENT = 128


@dataclass(frozen=True, eq=False)
class Live:
    """A value in memory: the node that makes it, its size, and the steps from and to which it is needed."""

    node: int
    size: int
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class Memory:
    """The memory of a program over its schedule, in bytes.

    `steps` are nodes of the HLO in the order in which they run, and `live` is what temporary values take at each of
    them, with the tables of tuples and what is left free so that each begins where the device wants it; arguments and
    results are there all the time.
    """

    graph: Graph
    arguments: int
    results: int
    #: Of the results, what lies in arguments that were donated.
    aliased: int
    #: What XLA sets aside for temporary values.
    temporary: int
    #: What XLA calls the peak; what it leaves out of that differs between devices. None where it does not say.
    xla_peak: int | None
    allocations: Sequence[Allocation]
    steps: Column
    live: Bytes
    values: Sequence[Live]
    #: What a document says of it in words; worked out where it is empty.
    words: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """What the program needs at once: everything that XLA sets aside."""
        return self.arguments + self.results - self.aliased + self.temporary

    @cached_property
    def peak_step(self) -> int:
        """The place in `steps` at which most is needed."""
        return int(self.live.argmax()) if len(self.live) else 0

    @property
    def peak(self) -> int:
        """What is needed at the step that needs most: without what lies idle in what is set aside."""
        most = int(self.live.max()) if len(self.live) else 0
        return self.arguments + self.results - self.aliased + most

    @property
    def gaps(self) -> int:
        """Of what XLA sets aside, what no value takes at the step that needs most: it lies between values."""
        return self.total - self.peak

    @cached_property
    def alive(self) -> tuple[Live, ...]:
        """The temporary values at the peak, the largest first."""
        at = self.peak_step
        found = [value for value in self.values if value.first <= at <= value.last]
        return tuple(sorted(found, key=lambda value: -value.size))

    def lines(self) -> tuple[str, ...]:
        """In words."""
        if self.words:
            return self.words
        given = f", {bytes_text(self.aliased)} of them in donated arguments" if self.aliased else ""
        lines = [
            f"needs {bytes_text(self.total)}: arguments {bytes_text(self.arguments)}, results "
            f"{bytes_text(self.results)}{given}, temporary {bytes_text(self.temporary)}"
        ]
        if self.alive:
            step = self.graph.node(int(self.steps[self.peak_step]))
            at = f" (line {step.line})" if step.line else ""
            count = len(self.alive)
            lines.append(
                f"the peak is at {step.name or step.op}{at}: {count} temporary value{'s' * (count != 1)} of "
                f"{bytes_text(float(self.live[self.peak_step]))}{' together' * (count != 1)}"
            )
            if self.gaps:
                lines[-1] += f", and {bytes_text(self.gaps)} in gaps between them that nothing fits into"
        return tuple(lines)

    def __repr__(self) -> str:
        return f"<Memory: {'; '.join(self.lines())}>"


def memory_of(compiled: Any, read: HloGraph, graph: Graph, order: Column) -> Memory:
    """The memory of a compiled program, whose HLO was read as `read` and is shown as `graph`, its nodes in `order`."""
    stats = compat.memory_of(compiled)
    if stats is None:
        raise NoMemory("this device does not say what a program takes")
    data = getattr(stats, "serialized_buffer_assignment_proto", b"")
    allocations, assigned = read_assignment(data, compat.optimized_proto(compiled)) if data else ([], [])
    place = np.zeros(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    schedule = _Schedule(read, [buffer for buffer in assigned if buffer.kind == TEMPORARY])
    steps, values = schedule.steps, schedule.values
    return Memory(
        graph=graph,
        arguments=stats.argument_size_in_bytes,
        results=stats.output_size_in_bytes,
        aliased=stats.alias_size_in_bytes,
        temporary=stats.temp_size_in_bytes,
        xla_peak=getattr(stats, "peak_memory_in_bytes", None),
        allocations=allocations,
        steps=place[steps] if len(steps) else np.zeros(0, np.int32),
        live=np.minimum(schedule.live(), stats.temp_size_in_bytes),
        values=[Live(int(place[value.node]), value.size, value.first, value.last) for value in values],
    )


def program_memory(capture: Capture, compiled: Any = None) -> Memory:
    """The memory of a program; without its executable it is compiled for that, to the end."""
    linked = capture.hlo
    if compiled is None:
        lowered = capture.program.lower(capture.program.jaxpr)
        # The compiler hears of no interrupt.
        compiled = Work(lambda _: lowered.compile()).wait()
    return memory_of(compiled, capture.hlo_as_read, linked.graph, linked.order)


class _Schedule:
    """The steps of the schedule, and what lies at which place of the memory for temporary values at which of them."""

    def __init__(self, read: HloGraph, assigned: Sequence[Assigned]) -> None:
        graph = read.graph
        cost = cost_of(graph)
        self.steps, step_of = _schedule(graph, cost)
        first, last = _needed(graph, cost, step_of, len(self.steps))
        self._unit = _alignment(assigned)
        self._places: dict[tuple[int, int], list[Live]] = {}
        self._tables: dict[tuple[int, int], list[Live]] = {}
        #: Tables of tuples that are no node of the graph, by their place.
        self._unseen: dict[tuple[int, int], int] = {}
        for buffer in assigned:
            place = buffer.allocation, buffer.start
            nodes = read.node_of.get(buffer.instruction, ())
            if not nodes:
                self._unseen[place] = max(buffer.size, self._unseen.get(place, 0))
            for node in nodes:
                if cost.fused[node]:
                    continue
                value = _value(graph, node, buffer.index)
                if value >= 0:
                    live = Live(node, buffer.size, int(first[value]), int(last[value]))
                    self._places.setdefault(place, []).append(live)
                elif (
                    not buffer.index and (made := slice(*graph.first_value[node : node + 2])) and made.stop > made.start
                ):
                    table = Live(node, buffer.size, int(first[made].min()), int(last[made].max()))
                    self._tables.setdefault(place, []).append(table)
        self.values = [value for found in self._places.values() for value in _in_turn(found)]

    def live(self) -> Bytes:
        """The bytes that are taken at each step."""
        change = np.zeros(len(self.steps) + 1)
        for place in {**self._places, **self._tables, **self._unseen}:
            there = _in_turn([*self._places.get(place, ()), *self._tables.get(place, ())])
            for one in there:
                change[one.first] += self._taken(one.size)
                change[one.last + 1] -= self._taken(one.size)
            # Such a table is written before the call that takes it: nobody else has its place meanwhile.
            if place in self._unseen:
                change[0] += self._taken(self._unseen[place])
                change[-1] -= self._taken(self._unseen[place])
                for one in there:
                    change[one.first] -= self._taken(self._unseen[place])
                    change[one.last + 1] += self._taken(self._unseen[place])
        return np.cumsum(change[:-1])

    def _taken(self, size: int) -> int:
        return -(-size // self._unit) * self._unit


def _alignment(assigned: Sequence[Assigned]) -> int:
    """The bytes of which the places of all values are multiples: on no device more than `_ALIGNMENT`."""
    common = math.gcd(*(buffer.start for buffer in assigned))
    return min(common & -common, _ALIGNMENT) if common else 1


def _in_turn(values: list[Live]) -> list[Live]:
    """Values of one place one after the other: what is made in the place of another, or is another by another name, is
    in memory once."""
    found: list[Live] = []
    for value in sorted(values, key=lambda value: (value.first, -value.last)):
        while found and found[-1].last >= value.first:
            before = found.pop()
            if before.last >= value.last and before.size >= value.size:
                value = before
                break
            if before.first < value.first:
                found.append(replace(before, last=value.first - 1))
        found.append(value)
    return found


def _value(graph: Graph, node: int, index: tuple[int, ...]) -> int:
    """The value of a node; of one that makes a tuple, the element. -1 for the table of a tuple itself."""
    first, end = int(graph.first_value[node]), int(graph.first_value[node + 1])
    if not index:
        return first if end - first == 1 else -1
    return first + index[0] if len(index) == 1 and first + index[0] < end else -1


def _schedule(graph: Graph, cost: Cost) -> tuple[Column, NDArray[np.int64]]:
    """The nodes in the order in which they run, each after the bodies that it calls, and the step of each node; what is
    inside of a kernel runs with it."""
    start, end = graph.region_intervals
    steps: list[int] = []
    step_of = np.zeros(len(graph), np.int64)
    waiting: list[tuple[int, int]] = []
    for node in np.flatnonzero(~cost.fused).tolist():
        while waiting and waiting[-1][1] <= node:
            owner = waiting.pop()[0]
            step_of[owner] = len(steps)
            steps.append(owner)
        regions = [] if cost.fused[node] else graph.owned_regions.get(node, ())
        inside = [region for region in regions if end[region] > start[region] and not cost.fused[int(start[region])]]
        if inside:
            waiting.append((node, int(end[inside[-1]])))
        else:
            step_of[node] = len(steps)
            steps.append(node)
    while waiting:
        owner = waiting.pop()[0]
        step_of[owner] = len(steps)
        steps.append(owner)
    return np.array(steps, np.int32), step_of


def _needed(
    graph: Graph, cost: Cost, step_of: NDArray[np.int64], steps: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first and last step at which each value is needed: values that share a place are needed together."""
    count = len(graph.values.type)
    parent = list(range(count))

    def find(value: int) -> int:
        while parent[value] != value:
            parent[value] = parent[parent[value]]
            value = parent[value]
        return value

    for one, other in _shared(graph, cost):
        parent[find(one)] = find(other)
    first = step_of[graph.value_node].copy()
    last = first.copy()
    source, reader = graph.operands.source, graph.operand_node
    known = (source >= 0) & ~cost.fused[reader]
    np.maximum.at(last, source[known], step_of[reader[known]])
    roots = np.array([find(value) for value in range(count)], np.int64)
    least, most = np.full(count, steps, np.int64), np.zeros(count, np.int64)
    np.minimum.at(least, roots, first)
    np.maximum.at(most, roots, last)
    return least[roots], most[roots]


def _shared(graph: Graph, cost: Cost) -> list[tuple[int, int]]:
    """Pairs of values that lie in one place: names of one value, and what crosses the border of a body."""
    pairs = []
    strings = graph.tables.strings
    for node in np.flatnonzero(~cost.fused).tolist():
        if strings[graph.nodes.op[node]] == "bitcast" and graph.nodes.operands[node]:
            source = int(graph.operands.source[graph.first_operand[node]])
            if source >= 0:
                pairs.append((int(graph.first_value[node]), source))
    kind = graph.nodes.kind
    for start, end, enters in _crossings(graph):
        if enters:
            if start >= 0 and kind[end] == ARGUMENT and not cost.fused[end]:
                pairs.append((int(graph.first_value[end]), start))
        elif kind[start] == RESULT and not cost.fused[start]:
            source = int(graph.operands.source[graph.first_operand[start]])
            if source >= 0:
                pairs.append((end, source))
    return pairs


def _crossings(graph: Graph) -> list[tuple[int, int, bool]]:
    """Rows of what crosses a border: a value and an argument on the way in, a result and a value on the way out."""
    bindings = graph.bindings
    rows = zip(bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist(), strict=True)
    # The numbers of `BINDING_KINDS`: enter, init and slice lead in, leave and stack out; carry joins two borders.
    return [(start, end, kind <= 2) for kind, start, end in rows if kind != 5]
