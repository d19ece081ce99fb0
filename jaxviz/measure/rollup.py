"""From the time of operations to that of equations, lines of Python and parts of the outline.

What happens inside of one kernel cannot be measured: its time is shared out among the equations that it was made from,
by what they compute, and the part of each figure that comes from such shares is kept beside it. What has no origin in
the program, because the compiler made it, is kept apart: nothing is lost and nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jaxviz.costs.cost import Cost
from jaxviz.costs.kernels import trip_counts
from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.link.links import Links
from jaxviz.outline.tree import Outline

Amounts = NDArray[np.float64]

#: A line of the person's source: the row of its file, and its number.
Line = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Shares:
    """How amounts of HLO nodes are shared out among the equations: rows of node, equation, share."""

    node: Column
    equation: Column
    share: Amounts
    equations: int
    #: Of each HLO node, whether more than one equation has a part of it.
    several: NDArray[np.bool_]
    #: Of each HLO node, whether no equation has a part of it.
    none: NDArray[np.bool_]

    def to_equations(self, amounts: Amounts) -> Amounts:
        return np.bincount(self.equation, amounts[self.node] * self.share, self.equations).astype(np.float64)

    def shared(self, amounts: Amounts) -> Amounts:
        """The part of `to_equations` that comes from nodes which several equations have a part of."""
        return self.to_equations(np.where(self.several, amounts, 0.0))

    def left(self, amounts: Amounts) -> float:
        """What no equation has a part of."""
        return float(amounts[self.none].sum())


def shares_of(cost: Cost, links: Links, equations: int, seen: NDArray[np.bool_] | None = None) -> Shares:
    """Who has which part of each HLO node; `links` lead from the equations to the nodes.

    `seen` are the nodes that a profile saw: what has a body of which nothing was seen ran as a single kernel.
    """
    graph = cost.graph
    count = len(graph)
    # The rows of `links`, by node of the HLO.
    order = np.argsort(links.target, kind="stable")
    target, source = links.target[order], links.source[order]
    sources = np.bincount(target, minlength=count)
    kernel, fused = _kernels(cost, seen)
    operation = graph.nodes.kind == OPERATION
    # What stands for a kernel: the operations inside of it that are linked, or itself where none is.
    inside = fused & operation & (sources > 0)
    has_inside = np.zeros(count, bool)
    has_inside[kernel[inside]] = True
    own = ~fused & (sources > 0) & ~has_inside
    rows = (inside | own)[target]
    target, source = target[rows], source[rows]
    weight = np.where(own, 1.0, cost.weights * trip_counts(graph) + 1e-9)[target] / sources[target]
    node = kernel[target].astype(np.int64)
    total = np.bincount(node, weight, count)
    # One equation may have its part of a kernel through several operations.
    pair, place = np.unique(node * max(equations, 1) + source, return_inverse=True)
    share = np.bincount(place, weight / total[node], len(pair)).astype(np.float64)
    node, equation = pair // max(equations, 1), pair % max(equations, 1)
    parts = np.bincount(node, minlength=count)
    return Shares(node.astype(np.int32), equation.astype(np.int32), share, equations, parts > 1, ~fused & (parts == 0))


def _kernels(cost: Cost, seen: NDArray[np.bool_] | None) -> tuple[Column, NDArray[np.bool_]]:
    """The kernel that each node is inside of, and whether it is inside of one."""
    kernel, fused = cost.kernel_of, cost.fused
    if seen is None:
        return kernel, fused
    kernel, fused = kernel.copy(), fused.copy()
    before = np.concatenate([[0], np.cumsum(seen)])
    start, end = cost.graph.region_intervals
    # From the outermost in.
    for owner, regions in cost.graph.owned_regions.items():
        first, last = int(start[regions[0]]), int(end[regions[-1]])
        if seen[owner] and not fused[owner] and before[last] == before[first]:
            kernel[first:last] = owner
            fused[first:last] = True
    return kernel, fused


@dataclass(frozen=True, eq=False)
class LineTimes:
    """An amount by line: of what stands on the line itself, and with what is called from there."""

    own: dict[Line, float]
    total: dict[Line, float]
    #: Of equations that no line of the person's own stands behind.
    none: float


def by_line(graph: Graph, amounts: Amounts) -> LineTimes:
    """Amounts of equations by the lines of the person's source."""
    tables = graph.tables
    frames, stacks, library = tables.frames, tables.stacks, tables.files.library
    own: dict[Line, float] = {}
    total: dict[Line, float] = {}
    none = 0.0
    stack_of = graph.nodes.stack
    for stack in np.unique(stack_of).tolist():
        amount = float(amounts[stack_of == stack].sum())
        if not amount:
            continue
        lines = []
        while stack >= 0:
            frame = stacks.frame[stack]
            if not library[frames.file[frame]]:
                lines.append((frames.file[frame], frames.line[frame]))
            stack = stacks.parent[stack]
        if not lines:
            none += amount
            continue
        own[lines[0]] = own.get(lines[0], 0.0) + amount
        # A function that calls itself stands several times in one stack.
        for line in set(lines):
            total[line] = total.get(line, 0.0) + amount
    return LineTimes(own, total, none)


def by_row(outline: Outline, amounts: Amounts) -> tuple[Amounts, Amounts]:
    """Amounts of nodes by the rows of an outline: of the nodes that are in no row inside of it, and of all."""
    before = np.concatenate([[0.0], np.cumsum(amounts)])
    total = before[outline.end] - before[outline.first]
    inner = np.bincount(np.maximum(outline.parent, 0)[1:], total[1:], len(total))
    return np.maximum(total - inner, 0.0), total


@dataclass(frozen=True)
class Timed:
    """Something that took time: `seconds` by itself, `total` with what is inside of it or called from it."""

    name: str
    seconds: float
    total: float
    #: How often it was executed in one run; 0 where that cannot be said.
    count: float = 0.0
    #: The part of `seconds` that is a share of a kernel, and so an estimate.
    shared: float = 0.0
    #: The node or row that it is, or the line in its file; -1 for what is none.
    index: int = -1

    def __str__(self) -> str:
        return f"{self.name}: {1e3 * self.seconds:.4g} ms"


@dataclass(frozen=True, eq=False)
class Rolled:
    """The time of one run at every level. All are in the order of the program, the compiler's own last."""

    hlo: Graph
    jaxpr: Graph
    outline: Outline
    cost: Cost
    shares: Shares
    seconds: Amounts
    inclusive: Amounts
    count: Amounts
    elsewhere: float

    @cached_property
    def equation_seconds(self) -> Amounts:
        return self.shares.to_equations(self.seconds)

    @cached_property
    def equation_shared(self) -> Amounts:
        return self.shares.shared(self.seconds)

    @cached_property
    def unlinked(self) -> float:
        """Of operations that no equation stands behind, because the compiler made them."""
        return self.shares.left(self.seconds) + self.elsewhere

    @cached_property
    def line_times(self) -> LineTimes:
        return by_line(self.jaxpr, self.equation_seconds)

    def operations(self) -> tuple[Timed, ...]:
        """The operations of optimized HLO that were executed."""
        strings = self.hlo.tables.strings
        rows = [
            Timed(
                strings[self.hlo.nodes.name[node]],
                float(self.seconds[node]),
                float(self.inclusive[node]),
                float(self.count[node]),
                index=node,
            )
            for node in np.flatnonzero(self.count > 0).tolist()
        ]
        return (*rows, *_rest("not in the graph", self.elsewhere))

    def equations(self) -> tuple[Timed, ...]:
        """The equations of the jaxpr."""
        graph, own = self.jaxpr, self.equation_seconds
        total = _with_regions(graph, own)
        strings = graph.tables.strings
        rows = [
            Timed(
                strings[graph.nodes.op[node]],
                float(own[node]),
                float(total[node]),
                shared=float(self.equation_shared[node]),
                index=node,
            )
            for node in np.flatnonzero(total > 0).tolist()
        ]
        return (*rows, *_rest("made by the compiler", self.unlinked))

    def lines(self) -> tuple[Timed, ...]:
        """The lines of Python, by file and number."""
        tables, times = self.jaxpr.tables, self.line_times
        rows = [
            Timed(
                f"{tables.strings[tables.files.label[file]]}:{line}",
                times.own.get((file, line), 0.0),
                total,
                index=line,
            )
            for (file, line), total in sorted(times.total.items())
        ]
        return (*rows, *_rest("no line of yours", times.none), *_rest("made by the compiler", self.unlinked))

    def parts(self) -> tuple[Timed, ...]:
        """The rows of the outline of the jaxpr: modules, calls, loops, expressions."""
        own, total = by_row(self.outline, self.equation_seconds)
        strings = self.jaxpr.tables.strings
        rows = [
            Timed(strings[self.outline.name[row]], float(own[row]), float(total[row]), index=row)
            for row in np.flatnonzero(total > 0).tolist()
        ]
        return (*rows, *_rest("made by the compiler", self.unlinked))


def _rest(name: str, seconds: float) -> Sequence[Timed]:
    return [Timed(name, seconds, seconds)] if seconds > 0 else []


def _with_regions(graph: Graph, own: Amounts) -> Amounts:
    before = np.concatenate([[0.0], np.cumsum(own)])
    start, end = graph.region_intervals
    total = own.copy()
    for owner, regions in graph.owned_regions.items():
        total[owner] += sum(float(before[end[region]] - before[start[region]]) for region in regions)
    return total
