"""Which equation computed a value that others only move, convert or hand into and out of bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, ENTER, LEAVE, OPERATION, RESULT, Graph

#: Equations that compute no value.
MOVING = ("transpose", "reshape", "broadcast_in_dim", "squeeze", "split", "copy", "copy_p")
#: Those, and what hands on what it reads as another type, under a condition, or in part.
HANDING_ON = (
    *MOVING,
    "convert_element_type",
    "stop_gradient",
    "optimization_barrier",
    "reduce_precision",
    "slice",
    "random_wrap",
    "random_unwrap",
)


class Makers:
    """Of a jaxpr; operations of the kinds `moving` compute nothing."""

    def __init__(self, graph: Graph, moving: Iterable[str] = MOVING) -> None:
        self._graph = graph
        numbers = [number for op in moving if (number := graph.tables.find_string(op)) is not None]
        self.moves: NDArray[np.bool_] = np.isin(graph.nodes.op, numbers) & (graph.nodes.kind == OPERATION)
        #: Where what a moving operation hands on stands among its operands, if that is not the first.
        self.places: dict[int, int] = {}

    def of(self, node: int) -> int:
        """The equation that computed what a node reads first, or that node itself if it computes; -1 for none."""
        graph = self._graph
        while node >= 0:
            if graph.nodes.kind[node] == ARGUMENT:
                source = self._entered.get(node, -1)
            elif self.moves[node] or graph.nodes.kind[node] == RESULT:
                source = self._handed_on(node)
            else:
                return node if graph.nodes.kind[node] == OPERATION else -1
            # What leaves a body was made there.
            node = self._left.get(source, int(graph.value_node[source])) if source >= 0 else -1
        return -1

    def made(self, source: int) -> int:
        """The equation that computed a value; else the argument or constant that it is."""
        graph = self._graph
        while True:
            node = self._left.get(source, int(graph.value_node[source]))
            if graph.nodes.kind[node] == ARGUMENT:
                source = self._entered.get(node, -1)
            elif self.moves[node] or graph.nodes.kind[node] == RESULT:
                source = self._handed_on(node)
            else:
                return node
            if source < 0:
                return node

    def of_operands(self, node: int, place: int = 0) -> list[int]:
        """The equations that computed what a node reads, that at this place first; those of no operand are left out."""
        first, end = self._graph.first_operand[node : node + 2].tolist()
        found = [self._made(source) for source in self._graph.operands.source[first:end].tolist()]
        return [one for one in found[place:] + found[:place] if one >= 0]

    def read_by(self, node: int) -> list[int]:
        """The equations whose values a node reads; of what a body is handed, that which holds the body."""
        graph = self._graph
        first, end = graph.first_operand[node : node + 2].tolist()
        sources = graph.operands.source[first:end]
        made_by = graph.value_node[sources[sources >= 0]]
        is_handed = graph.nodes.kind[made_by] == ARGUMENT
        return np.where(is_handed, graph.regions.owner[graph.nodes.region[made_by]], made_by).tolist()

    def around(self, node: int) -> Iterator[int]:
        """The equation that computed what a node reads first, as `of` has it, and those in whose bodies that is."""
        node = self.of(node)
        while node >= 0:
            yield node
            node = int(self._graph.regions.owner[self._graph.nodes.region[node]])

    def _handed_on(self, node: int) -> int:
        first, end = self._graph.first_operand[node : node + 2].tolist()
        place = first + self.places.get(node, 0)
        return int(self._graph.operands.source[place]) if place < end else -1

    def _made(self, source: int) -> int:
        return self.of(self._left.get(source, int(self._graph.value_node[source]))) if source >= 0 else -1

    @cached_property
    def _left(self) -> dict[int, int]:
        """For each value that leaves a body as it is, the result of that body."""
        return self._bound(LEAVE)

    @cached_property
    def _entered(self) -> dict[int, int]:
        """For each argument of a body, the value that it is."""
        return self._bound(ENTER)

    def _bound(self, kind: int) -> dict[int, int]:
        bindings = self._graph.bindings
        rows = np.flatnonzero(bindings.kind == kind)
        return dict(zip(bindings.end[rows].tolist(), bindings.start[rows].tolist(), strict=True))


def is_sum_of_one(graph: Graph) -> NDArray[np.bool_]:
    """The sums, products and so on over axes of one entry: they hand on what they read."""
    found = np.zeros(len(graph), bool)
    strings, dims, type_ = graph.tables.strings, graph.tables.types.dims, graph.values.type
    reducing = [op for op in np.unique(graph.nodes.op).tolist() if strings[op].startswith("reduce_")]
    for node in np.flatnonzero(np.isin(graph.nodes.op, reducing)).tolist():
        source = int(graph.operands.source[graph.first_operand[node]])
        if source >= 0:
            read, made = dims[type_[source]], dims[type_[graph.first_value[node]]]
            # What reduces windows makes as many axes as it reads.
            found[node] = len(made) < len(read) and prod(made) == prod(read)
    return found


def size_of(graph: Graph, value: int) -> int:
    """How many entries a value has."""
    return prod(graph.tables.types.dims[graph.values.type[value]])
