"""Put the nodes of a later stage into the order of the program that they come from.

HLO stands in the order of its schedule, in which the parts of a program are mixed. Any order in which each value is
made before it is read draws the same picture; the one that follows the jaxpr most closely keeps what belongs together
side by side, so that it can be folded by intervals.
"""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np

from jaxviz.graph import CARRY, OPERATION, RESULT, SLICE, Bindings, Column, Graph, Nodes, Operands, Regions, Values
from jaxviz.read.distinct import in_order


def program_order(graph: Graph, key: Column) -> Column:
    """The nodes in an order that follows `key` as far as values allow; bodies stay right behind their owners."""
    members = _Members(graph, key)
    owned = graph.owned_regions
    holding = set(graph.nodes.region[list(owned)].tolist())
    order: list[int] = []
    # What is left of regions, the innermost last.
    waiting = [iter(members.of(0))]
    while waiting:
        for node in waiting[-1]:
            order.append(node)
            inside = owned.get(node, ())
            if holding.isdisjoint(inside):
                for region in inside:
                    order += members.of(region)
            else:
                waiting += [iter(members.of(region)) for region in reversed(inside)]
                break
        else:
            waiting.pop()
    return np.array(order, np.int32)


# Where a node stands in its region.
_FIRST, _INNER, _LAST = range(3)


class _Members:
    """The nodes of each region: borders stay at its ends, of the rest the smallest key comes first that may come."""

    def __init__(self, graph: Graph, key: Column) -> None:
        nodes, region = graph.nodes, graph.nodes.region
        part = np.where(nodes.kind == OPERATION, _INNER, np.where(nodes.kind == RESULT, _LAST, _FIRST))
        self._part, self._key = part.tolist(), key.tolist()
        order = np.lexsort((np.where(part == _INNER, key, 0), part, region))
        self._sorted = order.tolist()
        self._bounds = np.searchsorted(region[order], np.arange(len(graph.regions.owner) + 1)).tolist()
        # From each operation to those of its region that read it, each once.
        reader, maker = graph.operand_node, graph.operand_maker
        inside = (maker >= 0) & (region[maker] == region[reader]) & (part[maker] == _INNER) & (part[reader] == _INNER)
        pairs = in_order(maker[inside].astype(np.int64) * len(graph) + reader[inside])
        maker, reader = np.divmod(pairs, max(len(graph), 1))
        place = np.empty(len(graph), np.int64)
        place[order] = np.arange(len(graph))
        # Regions that cannot simply be sorted: something would come before what it reads.
        wrong = place[maker] > place[reader]
        self._tangled = set(region[maker[wrong]].tolist())
        self._first_reader = np.searchsorted(maker, np.arange(len(graph) + 1)).tolist()
        self._needs = np.bincount(reader, minlength=len(graph)).tolist()
        self._readers = reader.tolist()

    def of(self, region: int) -> list[int]:
        """The nodes of one region, in order."""
        found = self._sorted[self._bounds[region] : self._bounds[region + 1]]
        if region not in self._tangled:
            return found
        part = self._part
        before = [node for node in found if part[node] == _FIRST]
        after = [node for node in found if part[node] == _LAST]
        return before + self._untangled(found[len(before) : len(found) - len(after)]) + after

    def _untangled(self, nodes: list[int]) -> list[int]:
        keys, left, readers, first = self._key, self._needs, self._readers, self._first_reader
        ready = [(keys[node], node) for node in nodes if not left[node]]
        heapq.heapify(ready)
        ordered = []
        while ready:
            node = heapq.heappop(ready)[1]
            ordered.append(node)
            for reader in readers[first[node] : first[node + 1]]:
                left[reader] -= 1
                if not left[reader]:
                    heapq.heappush(ready, (keys[reader], reader))
        return ordered


def reordered(graph: Graph, order: Column) -> Graph:
    """The same graph with its nodes in this order."""
    count = len(graph)
    place = np.zeros(count, np.int32)
    place[order] = np.arange(count, dtype=np.int32)
    value_order = _spread(graph.first_value, order)
    value_place = np.zeros(len(graph.values.type) + 1, np.int32)
    value_place[value_order] = np.arange(len(value_order), dtype=np.int32)

    def moved_values(values: Column) -> Column:
        return np.where(values >= 0, value_place[np.maximum(values, 0)], values).astype(np.int32)

    regions = [0]
    owned = graph.owned_regions
    for node in order.tolist():
        regions += owned.get(node, ())
    region_order = np.array(regions, np.int32)
    region_place = np.zeros(len(regions), np.int32)
    region_place[region_order] = np.arange(len(regions), dtype=np.int32)
    owner = graph.regions.owner[region_order]

    nodes = {name: column[order] for name, column in vars(graph.nodes).items()}
    nodes["region"] = region_place[nodes["region"]]
    kind, start, end = graph.bindings.kind, graph.bindings.start, graph.bindings.end
    from_node, to_node = kind > SLICE, (kind <= SLICE) | (kind == CARRY)
    attribute_order = np.argsort(place[graph.attributes.node], kind="stable")
    attributes = {name: column[attribute_order] for name, column in vars(graph.attributes).items()}
    attributes["node"] = place[attributes["node"]]
    return Graph(
        nodes=Nodes(**nodes),
        values=Values(graph.values.type[value_order]),
        operands=Operands(moved_values(graph.operands.source[_spread(graph.first_operand, order)])),
        literals=graph.literals,
        regions=Regions(
            # The program itself has no owner, -1, and finds the -1 at the end.
            np.append(place, -1)[owner].astype(np.int32),
            graph.regions.kind[region_order],
            graph.regions.name[region_order],
        ),
        bindings=Bindings(
            kind,
            np.where(from_node, place[np.where(from_node, start, 0)], moved_values(np.where(from_node, -1, start))),
            np.where(to_node, place[np.where(to_node, end, 0)], moved_values(np.where(to_node, -1, end))),
        ),
        attributes=replace(graph.attributes, **attributes),
        tables=graph.tables,
    )


def _spread(first: Column, order: Column) -> Column:
    """The rows of the groups in this order, where group n has the rows `first[n]` to `first[n + 1]`."""
    counts = (first[1:] - first[:-1])[order]
    starts = np.cumsum(counts) - counts
    return (np.repeat(first[:-1][order] - starts, counts) + np.arange(int(counts.sum()))).astype(np.int32)
