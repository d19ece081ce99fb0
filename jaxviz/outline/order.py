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


def program_order(graph: Graph, key: Column) -> Column:
    """The nodes in an order that follows `key` as far as values allow; bodies stay right behind their owners."""
    members: list[list[int]] = [[] for _ in range(len(graph.regions.owner))]
    for node, region in enumerate(graph.nodes.region.tolist()):
        members[region].append(node)
    keys, owned = key.tolist(), graph.owned_regions
    order: list[int] = []
    waiting: list[tuple[int, int]] = [(0, 0)]
    sorted_members = {0: _ordered(graph, members[0], keys)}
    while waiting:
        region, position = waiting.pop()
        nodes = sorted_members[region]
        for at in range(position, len(nodes)):
            node = nodes[at]
            order.append(node)
            inside = owned.get(node)
            if inside:
                waiting.append((region, at + 1))
                for inner in reversed(inside):
                    sorted_members[inner] = _ordered(graph, members[inner], keys)
                    waiting.append((inner, 0))
                break
    return np.array(order, np.int32)


def _ordered(graph: Graph, nodes: list[int], keys: list[int]) -> list[int]:
    """The nodes of one region: borders keep their places at its ends, the rest the smallest key first that may come."""
    kinds = graph.nodes.kind
    inner = [node for node in nodes if kinds[node] == OPERATION]
    if len(inner) < 2:
        return nodes
    first = [node for node in nodes if kinds[node] not in (OPERATION, RESULT)]
    last = [node for node in nodes if kinds[node] == RESULT]
    here = set(inner)
    maker, source, start = graph.value_node, graph.operands.source, graph.first_operand
    left: dict[int, int] = {}
    readers: dict[int, list[int]] = {}
    ready: list[tuple[int, int]] = []
    for node in inner:
        needs = {int(maker[value]) for value in source[start[node] : start[node + 1]].tolist() if value >= 0} & here
        left[node] = len(needs)
        for need in needs:
            readers.setdefault(need, []).append(node)
        if not needs:
            heapq.heappush(ready, (keys[node], node))
    ordered = []
    while ready:
        _, node = heapq.heappop(ready)
        ordered.append(node)
        for reader in readers.get(node, ()):
            left[reader] -= 1
            if not left[reader]:
                heapq.heappush(ready, (keys[reader], reader))
    return first + ordered + last


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
