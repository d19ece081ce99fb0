"""Where values go and come from in a stage, through fusions and calls as if these were not there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from jaxviz.graph import ARGUMENT, CARRY, ENTER, INIT, LEAVE, RESULT, Graph
from jaxviz.link.links import grouped
from jaxviz.read.bodies import PLAIN_CALLS

# What only holds others.
_OPEN = ("fusion", "call", *PLAIN_CALLS)


class Flow:
    """Of a graph; what it needs of that is made when it is asked for."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    @cached_property
    def entered(self) -> dict[int, int]:
        """For each argument of a body, the value that it is."""
        return dict(self._entering)

    @cached_property
    def into(self) -> dict[int, list[int]]:
        """For each value the arguments of bodies that it is."""
        found: dict[int, list[int]] = {}
        for argument, value in self._entering:
            found.setdefault(value, []).append(argument)
        return found

    @cached_property
    def out(self) -> dict[int, list[int]]:
        """For each result of a body the values outside that it is."""
        bindings = self._graph.bindings
        leaves = bindings.kind == LEAVE
        return grouped(bindings.start[leaves], bindings.end[leaves])

    @cached_property
    def left(self) -> dict[int, int]:
        """For each value that leaves a body, the result of that body."""
        bindings = self._graph.bindings
        leaves = bindings.kind == LEAVE
        return dict(zip(bindings.end[leaves].tolist(), bindings.start[leaves].tolist(), strict=True))

    @cached_property
    def open(self) -> frozenset[int]:
        """The fusions and calls."""
        graph = self._graph
        ops = [graph.tables.find_string(name) for name in _OPEN]
        owners = list(graph.owned_regions)
        found = zip(owners, graph.nodes.op[owners].tolist(), strict=True)
        return frozenset(owner for owner, op in found if op in ops)

    def holder(self, node: int) -> int:
        """What else a node stands in, or -1."""
        owner, region = self._graph.regions.owner, self._graph.nodes.region
        node = int(owner[region[node]])
        while node in self.open:
            node = int(owner[region[node]])
        return node

    def source(self, value: int, *, loops: bool = False) -> int:
        """What a value is where it is made; negative where nobody says so. With `loops`, also through those that hand
        it on as it is in every turn: the compiler moved what makes it out of them."""
        graph = self._graph
        while value >= 0:
            node = int(graph.value_node[value])
            if node in self.open:
                result = self.left.get(value, -1)
                value = int(graph.operands.source[graph.first_operand[result]]) if result >= 0 else -1
            elif graph.nodes.kind[node] == ARGUMENT and node in self.entered and self._is_in_open(node):
                value = self.entered[node]
            elif loops and node in self._kept:
                value = self._kept[node]
            else:
                break
        return value

    def readers(self, value: int, *, loops: bool = False) -> Iterator[int]:
        """What reads a value; the results of other bodies and of the program as well. With `loops`, of those that hand
        it on as it is in every turn what reads it there, and behind them."""
        graph = self._graph
        for reader in graph.readers(value):
            if reader in self.open:
                for argument in self.into.get(value, ()):
                    if graph.regions.owner[graph.nodes.region[argument]] == reader:
                        yield from self.readers(int(graph.first_value[argument]), loops=loops)
            elif graph.nodes.kind[reader] == RESULT and reader in self.out and self._is_in_open(reader):
                for outside in self.out[reader]:
                    yield from self.readers(outside, loops=loops)
            elif loops and (reader, value) in self._kept_in:
                for argument in self._kept_in[reader, value]:
                    yield from self.readers(int(graph.first_value[argument]), loops=True)
            elif loops and reader in self._handing_on:
                for outside in self.out.get(reader, ()):
                    yield from self.readers(outside, loops=True)
            else:
                yield reader

    def _is_in_open(self, node: int) -> bool:
        return int(self._graph.regions.owner[self._graph.nodes.region[node]]) in self.open

    @cached_property
    def _handing_on(self) -> frozenset[int]:
        """The results of bodies of loops that are what their argument is at the same place."""
        graph, bindings = self._graph, self._graph.bindings
        carried = bindings.kind == CARRY
        results, arguments = bindings.start[carried], bindings.end[carried]
        sources = graph.operands.source[graph.first_operand[results]]
        same = (sources >= 0) & (graph.value_node[sources] == arguments)
        return frozenset(results[same].tolist())

    @cached_property
    def _kept(self) -> dict[int, int]:
        """For each argument of the bodies of a loop that is the same in every turn, the value that it is."""
        bindings = self._graph.bindings
        handed = (bindings.kind == CARRY) & np.isin(bindings.start, [*self._handing_on])
        begun = (bindings.kind == INIT) & np.isin(bindings.end, bindings.end[handed]) & (bindings.start >= 0)
        return dict(zip(bindings.end[begun].tolist(), bindings.start[begun].tolist(), strict=True))

    @cached_property
    def _kept_in(self) -> dict[tuple[int, int], list[int]]:
        """By loop and value that it is handed, the arguments that are this in every turn; without those that are so at
        first only."""
        graph, bindings = self._graph, self._graph.bindings
        found: dict[tuple[int, int], list[int]] = {}
        begun = bindings.kind == INIT if self._kept else np.zeros(len(bindings.kind), bool)
        changing: set[tuple[int, int]] = set()
        for argument, value in zip(bindings.end[begun].tolist(), bindings.start[begun].tolist(), strict=True):
            place = int(graph.regions.owner[graph.nodes.region[argument]]), value
            if argument in self._kept:
                found.setdefault(place, []).append(argument)
            else:
                changing.add(place)
        return {place: arguments for place, arguments in found.items() if place not in changing}

    @cached_property
    def _entering(self) -> list[tuple[int, int]]:
        bindings = self._graph.bindings
        enters = (bindings.kind == ENTER) & (bindings.start >= 0)
        return list(zip(bindings.end[enters].tolist(), bindings.start[enters].tolist(), strict=True))
