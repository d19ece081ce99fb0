"""What kernels of optimized HLO read and write, and how much of that fusion saved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.kernels import kernels_of

# Operations that give a value another name or shape, and move nothing.
_RENAMING = frozenset({"bitcast", "get-tuple-element", "tuple", "reshape"})
# What a fusion computes on the fly out of nothing.
_FREE = frozenset({"constant", "broadcast", "iota", "parameter", "bitcast", "tuple", "get-tuple-element"})


@dataclass(frozen=True, eq=False)
class Kernel:
    """One kernel: its node in the HLO, those inside it, and the bytes of what it reads, writes and need not write.

    `saved` is what its operations would read and write more, did each run by itself.
    """

    node: int
    name: str
    inside: Column
    bytes_in: float
    bytes_out: float
    saved: float

    def __repr__(self) -> str:
        return (
            f"<Kernel {self.name}: {self.bytes_in:,.0f} B in, {self.bytes_out:,.0f} B out, {self.saved:,.0f} B saved>"
        )


def traffic_of(graph: Graph) -> tuple[Kernel, ...]:
    """The kernels of optimized HLO, in the order of the graph."""
    kernels = kernels_of(graph)
    order = np.argsort(kernels, kind="stable")
    order = order[kernels[order] >= 0]
    starts = np.flatnonzero(np.diff(kernels[order], prepend=-1))
    strings, nodes = graph.tables.strings, graph.nodes
    found = []
    for inside in np.split(order, starts[1:]) if len(order) else []:
        node = int(kernels[inside[0]])
        bytes_in, bytes_out = _in(graph, node), _out(graph, node)
        inner = [other for other in inside.tolist() if other != node and strings[nodes.op[other]] not in _FREE]
        alone = sum(_in(graph, other) + _out(graph, other) for other in inner)
        saved = max(alone - bytes_in - bytes_out, 0.0) if inner else 0.0
        name = strings[nodes.name[node]] or strings[nodes.op[node]]
        found.append(Kernel(node, name, inside.astype(np.int32), bytes_in, bytes_out, saved))
    return tuple(found)


def source_kernels(graph: Graph, value: int) -> Iterator[int]:
    """The node that makes a value, behind those that only rename it."""
    waiting = [value]
    while waiting:
        node = int(graph.value_node[waiting.pop()])
        if graph.nodes.kind[node] == OPERATION and graph.tables.strings[graph.nodes.op[node]] in _RENAMING:
            first = graph.first_operand
            waiting += [one for one in graph.operands.source[first[node] : first[node + 1]].tolist() if one >= 0]
        else:
            yield node


def _in(graph: Graph, node: int) -> float:
    first = graph.first_operand
    sources = set(graph.operands.source[first[node] : first[node + 1]].tolist())
    return sum(value_bytes(graph, source) for source in sources if source >= 0)


def _out(graph: Graph, node: int) -> float:
    return sum(value_bytes(graph, value) for value in range(graph.first_value[node], graph.first_value[node + 1]))


def value_bytes(graph: Graph, value: int) -> float:
    """The bytes of a value; of what is no array, none."""
    return max(graph.tables.types.bytes[int(graph.values.type[value])], 0.0)
