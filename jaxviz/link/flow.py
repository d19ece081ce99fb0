"""Where values go and come from in a stage, through fusions and calls as if these were not there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from jaxviz.graph import ARGUMENT, ENTER, LEAVE, RESULT, Graph
from jaxviz.link.links import grouped

# What only holds others.
_OPEN = ("fusion", "call")


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

    def source(self, value: int) -> int:
        """What a value is where it is made; negative where nobody says so."""
        graph = self._graph
        while value >= 0:
            node = int(graph.value_node[value])
            if node in self.open:
                result = self.left.get(value, -1)
                value = int(graph.operands.source[graph.first_operand[result]]) if result >= 0 else -1
            elif graph.nodes.kind[node] == ARGUMENT and node in self.entered and self._is_in_open(node):
                value = self.entered[node]
            else:
                break
        return value

    def readers(self, value: int) -> Iterator[int]:
        """What reads a value; the results of other bodies and of the program as well."""
        graph = self._graph
        for reader in graph.readers(value):
            if reader in self.open:
                for argument in self.into.get(value, ()):
                    if graph.regions.owner[graph.nodes.region[argument]] == reader:
                        yield from self.readers(int(graph.first_value[argument]))
            elif graph.nodes.kind[reader] == RESULT and reader in self.out and self._is_in_open(reader):
                for outside in self.out[reader]:
                    yield from self.readers(outside)
            else:
                yield reader

    def _is_in_open(self, node: int) -> bool:
        return int(self._graph.regions.owner[self._graph.nodes.region[node]]) in self.open

    @cached_property
    def _entering(self) -> list[tuple[int, int]]:
        bindings = self._graph.bindings
        enters = (bindings.kind == ENTER) & (bindings.start >= 0)
        return list(zip(bindings.end[enters].tolist(), bindings.start[enters].tolist(), strict=True))
