"""What reads what a node makes: beside it, inside of the fusions and loops that it is handed to, and beyond the fusion
that it leaves. What is without a name belongs with that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import CARRY, ENTER, INIT, LEAVE, RESULT, Column, Graph


class Reading:
    """Which nodes read what others make; what leaves a region is read by its owner."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        order = np.argsort(graph.operands.source, kind="stable")
        self._sources = graph.operands.source[order]
        reader = graph.operand_node[order]
        owner = graph.regions.owner[graph.nodes.region[reader]]
        self._readers: list[int] = np.where(graph.nodes.kind[reader] == RESULT, owner, reader).tolist()

    def of(self, nodes: Sequence[int]) -> Iterator[list[int]]:
        """For each of these nodes those that read what it makes, in order."""
        return self._between(self._graph.first_value[nodes], self._graph.first_value[1:][nodes])

    def of_values(self, values: Sequence[int]) -> Iterator[list[int]]:
        """For each of these values those that read it, in order."""
        first = np.array(values, np.int32)
        return self._between(first, first + 1)

    def _between(self, first: Column, end: Column) -> Iterator[list[int]]:
        low, high = np.searchsorted(self._sources, first).tolist(), np.searchsorted(self._sources, end).tolist()
        for start, stop in zip(low, high, strict=True):
            yield [node for node in self._readers[start:stop] if node >= 0]


class Inside:
    """What reads nodes inside of the fusions that they are handed to, which says more than the whole fusion does."""

    def __init__(self, graph: Graph, reading: Reading, nodes: Sequence[int]) -> None:
        bindings, is_fusion = graph.bindings, _is_fusion(graph)
        wanted = np.zeros(len(graph), bool)
        wanted[list(nodes)] = True
        rows = np.flatnonzero(bindings.kind == ENTER)
        rows = rows[is_fusion[graph.nodes.region[bindings.end[rows]]]]
        rows = rows[wanted[graph.value_node[bindings.start[rows]]]]
        self._readers: dict[int, list[int]] = {}
        makers, arguments = graph.value_node[bindings.start[rows]].tolist(), bindings.end[rows].tolist()
        for maker, readers in zip(makers, reading.of(arguments), strict=True):
            self._readers.setdefault(maker, []).extend(readers)

    def readers(self, node: int) -> list[int]:
        return self._readers.get(node, [])


class Beyond:
    """What reads nodes that are results of fusions beyond these; of those that a loop hands on as they are, what reads
    them in its body: the compiler moved them out of it."""

    def __init__(self, graph: Graph, reading: Reading, nodes: Sequence[int]) -> None:
        self._graph, self._reading = graph, reading
        self._is_fusion = _is_fusion(graph)
        wanted = np.zeros(len(graph), bool)
        wanted[list(nodes)] = True
        # Each value with the node that it is of.
        left = self._leaving(wanted)
        kept = self._kept(wanted, left)
        self._readers: dict[int, list[int]] = {}
        if left or kept:
            self._find({**left, **kept})
            beside = list({*left.values(), *kept.values()})
            for node, readers in zip(beside, reading.of(beside), strict=True):
                holder = int(graph.regions.owner[graph.nodes.region[node]])
                self._readers.setdefault(node, []).extend(
                    one for one in readers if one != holder and one not in graph.owned_regions
                )

    def readers(self, node: int) -> list[int]:
        return self._readers.get(node, [])

    def _leaving(self, wanted: NDArray[np.bool_]) -> dict[int, int]:
        """The values of fusions that nodes are the results of."""
        graph, bindings = self._graph, self._graph.bindings
        rows = np.flatnonzero(bindings.kind == LEAVE)
        rows = rows[self._is_fusion[graph.nodes.region[bindings.start[rows]]]]
        sources = graph.operands.source[graph.first_operand[bindings.start[rows]]]
        makers = np.where(sources >= 0, graph.value_node[sources], 0)
        rows, makers = (column[(sources >= 0) & wanted[makers]] for column in (rows, makers))
        return dict(zip(bindings.end[rows].tolist(), makers.tolist(), strict=True))

    def _kept(self, wanted: NDArray[np.bool_], left: dict[int, int]) -> dict[int, int]:
        """The values in loops that are one of these values in every turn."""
        graph, bindings = self._graph, self._graph.bindings
        carried = np.flatnonzero(bindings.kind == CARRY)
        results = bindings.start[carried]
        sources = graph.operands.source[graph.first_operand[results]]
        same = (sources >= 0) & (graph.value_node[sources] == bindings.end[carried])
        arguments = set(bindings.end[carried[same]].tolist())
        rows = np.flatnonzero(bindings.kind == INIT) if arguments else ()
        found: dict[int, int] = {}
        for row in rows:
            value, argument = int(bindings.start[row]), int(bindings.end[row])
            maker = left.get(value, int(graph.value_node[value]))
            if argument in arguments and wanted[maker]:
                found[int(graph.first_value[argument])] = maker
        return found

    def _find(self, values: dict[int, int]) -> None:
        graph, bindings = self._graph, self._graph.bindings
        for maker, readers in zip(values.values(), self._reading.of_values([*values]), strict=True):
            # What it enters says more.
            self._readers.setdefault(maker, []).extend(one for one in readers if one not in graph.owned_regions)
        rows = np.flatnonzero((bindings.kind == ENTER) & np.isin(bindings.start, [*values]))
        rows = rows[self._is_fusion[graph.nodes.region[bindings.end[rows]]]]
        starts, arguments = bindings.start[rows].tolist(), bindings.end[rows].tolist()
        for start, readers in zip(starts, self._reading.of(arguments), strict=True):
            self._readers.setdefault(values[start], []).extend(readers)


def _is_fusion(graph: Graph) -> NDArray[np.bool_]:
    """Which regions are the bodies of fusions."""
    kind = graph.tables.find_string("fusion")
    return graph.regions.kind == (-1 if kind is None else kind)
