"""What a call computes that an earlier call of the same function computes of the same values.

Until JAX 0.6, what is in a function that is called several times has the name of its first call alone, and names do not
tell what the compiler merged of the others. But it merges all that is equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import numpy as np

from jaxviz.graph import ARGUMENT, ENTER, LEAVE, OPERATION, Graph
from jaxviz.link.liveness import is_acting
from jaxviz.read.bodies import APPLYING, PLAIN_CALLS


def repeated_equations(
    graph: Graph, nodes: Iterable[int], instances_of: Callable[[int], Iterable[int]]
) -> dict[int, int]:
    """Those of these nodes, in order, that repeat an earlier one, and which; and the calls all of whose body does.

    `instances_of` gives the same equation of the same function in all its calls.
    """
    values = _Values(graph)
    equal, nodes = dict[int, int](), {*nodes}
    first: dict[tuple[object, ...], int] = {}
    # What is no longer there hands on what it had.
    for node in np.flatnonzero(graph.nodes.kind == OPERATION).tolist():
        if _acts(graph, node) or graph.tables.strings[graph.nodes.op[node]] in PLAIN_CALLS:
            continue
        earlier = (one for one in sorted(instances_of(node)) if one < node)
        if node in graph.owned_regions and not _applies(graph, node):
            # Loops are not compared, but calls are before they are put in place.
            earlier = (one for one in earlier if values.are_in_equal_calls(one, node))
        same = next((one for one in earlier if values.read_by(one) == values.read_by(node)), None)
        if same is not None:
            equal[node] = values.repeats[node] = same
        elif node not in graph.owned_regions:
            # What has another name is told by that, but what reads it reads the same.
            key = values.body(node), *values.read_by(node), *_says(graph, node)
            same = first.setdefault(key, node)
            if same != node:
                values.repeats[node] = same
    found = {node: same for node, same in equal.items() if node in nodes}
    for node, same in tuple(found.items()):
        found.update(pair for pair in _inside(graph, node, same) if _applies(graph, node) or pair[0] in nodes)
    left = nodes - found.keys()
    owner = graph.regions.owner[graph.nodes.region]
    # A call in a call stands after it.
    for call in sorted({int(owner[node]) for node in found}, reverse=True):
        inside = np.flatnonzero((owner == call) & (graph.nodes.kind == OPERATION)).tolist()
        others = {int(owner[found[node]]) for node in inside if node in found}
        if call >= 0 and len(others) == 1 and left.isdisjoint(inside):
            found[call] = others.pop()
    return found


def does_the_same(graph: Graph, node: int, other: int) -> bool:
    """Whether two operations of one body that have none of their own are alike in all that they read and say."""

    def says(one: int) -> tuple[object, ...]:
        operands = graph.operands.source[slice(*graph.first_operand[one : one + 2].tolist())].tolist()
        return int(graph.nodes.region[one]), [graph.source_text(source) for source in operands], _says(graph, one)

    holds = node in graph.owned_regions or other in graph.owned_regions
    return not holds and not is_acting(graph, node) and says(node) == says(other)


def _says(graph: Graph, node: int) -> tuple[object, ...]:
    """What an operation does to what it reads."""
    rows = slice(*graph.first_attribute[node : node + 2].tolist())
    types = graph.values.type[slice(*graph.first_value[node : node + 2].tolist())].tolist()
    told = zip(graph.attributes.key[rows].tolist(), graph.attributes.value[rows].tolist(), strict=True)
    return int(graph.nodes.op[node]), tuple(sorted(told)), tuple(types)


def _applies(graph: Graph, node: int) -> bool:
    """Whether what an operation holds is applied to elements: the compiler compares it with the operation."""
    return graph.tables.strings[graph.nodes.op[node]].startswith(APPLYING)


def _acts(graph: Graph, node: int) -> bool:
    """Whether an operation, or something that it holds, does more than to compute."""
    start, end = graph.region_intervals
    inside = (range(start[region], end[region]) for region in graph.owned_regions.get(node, ()))
    return any(graph.nodes.kind[one] == OPERATION and is_acting(graph, one) for one in chain((node,), *inside))


def _inside(graph: Graph, node: int, same: int) -> Iterator[tuple[int, int]]:
    """What one of two equal operations holds, each with what the other does."""
    start, end = graph.region_intervals
    for mine, theirs in zip(graph.owned_regions.get(node, ()), graph.owned_regions.get(same, ()), strict=True):
        pairs = zip(range(start[mine], end[mine]), range(start[theirs], end[theirs]), strict=True)
        yield from (pair for pair in pairs if graph.nodes.kind[pair[0]] == OPERATION)


class _Values:
    """Where values come from, through calls and what is repeated."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.repeats: dict[int, int] = {}
        strings = graph.tables.strings
        calls = {region for region, kind in enumerate(graph.regions.kind.tolist()) if strings[kind] == "jit"}
        region, bindings = graph.nodes.region.tolist(), graph.bindings
        self._calls = calls
        self._entered: dict[int, int] = {}
        self._left: dict[int, int] = {}
        rows = zip(bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist(), strict=True)
        for kind, start, end in rows:
            if kind == ENTER and region[end] in calls:
                self._entered[end] = start
            elif kind == LEAVE and region[start] in calls:
                self._left[end] = start

    def read_by(self, node: int) -> list[int | str]:
        """What a node reads: values, and literals as they are written."""
        return [self._origin(source) for source in self._operands(node)]

    def are_in_equal_calls(self, node: int, other: int) -> bool:
        """Whether two operations are in calls that read the same, the first in one and the second in another."""
        region, owner = self._graph.nodes.region, self._graph.regions.owner
        while region[node] != region[other] and region[node] in self._calls and region[other] in self._calls:
            node, other = int(owner[region[node]]), int(owner[region[other]])
            if self.read_by(node) == self.read_by(other):
                return True
        return False

    def body(self, node: int) -> int:
        """The region that a node is in, through calls."""
        region = int(self._graph.nodes.region[node])
        while region in self._calls:
            region = int(self._graph.nodes.region[self._graph.regions.owner[region]])
        return region

    def _origin(self, source: int) -> int | str:
        graph = self._graph
        while source >= 0:
            node = int(graph.value_node[source])
            if node in self.repeats:
                source += int(graph.first_value[self.repeats[node]] - graph.first_value[node])
            elif source in self._left:
                source = self._operands(self._left[source])[0]
            elif graph.nodes.kind[node] == ARGUMENT and node in self._entered:
                source = self._entered[node]
            else:
                return source
        return graph.source_text(source)

    def _operands(self, node: int) -> list[int]:
        first, end = self._graph.first_operand[node : node + 2].tolist()
        return self._graph.operands.source[first:end].tolist()
