"""What kernels of optimized HLO read and write, and how much of that fusion saved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from jaxviz.costs.kernels import kernels_of
from jaxviz.graph import ENTER, LEAVE, OPERATION, Column, Graph

#: Operations that give a value another name or shape, and move nothing.
RENAMING = frozenset({"bitcast", "get-tuple-element", "tuple", "reshape"})
#: What brings a value nearer to where it is read, while other kernels run: it is the same value, and counts as read
#: once, where it is read.
BRINGING = frozenset({"copy-start", "copy-done", "slice-start", "slice-done"})
# How many new names in a row are looked through.
_RENAMED = 8
# What a fusion computes on the fly out of nothing.
_FREE = frozenset({"constant", "broadcast", "iota", "parameter", "bitcast", "tuple", "get-tuple-element"})


# What gives the entries of its operand, each once or many times.
_SPREADING = frozenset({"broadcast", "bitcast", "reshape"})
# What reads a piece of its first operand, and what writes one; with the place of the operand that has its size.
_TAKING = frozenset({"slice", "dynamic-slice", "gather"})
_WRITING = {"dynamic-update-slice": 1, "scatter": 2}


@dataclass(frozen=True, eq=False)
class Kernel:
    """One kernel: its node in the HLO, those inside it, and the bytes of what it reads, writes and need not write.

    `saved` is what its operations would read and write more, did each run by itself. Of what it takes a piece of, or
    writes one into, the piece counts.
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
    touched = _Touched(graph)
    found = []
    for inside in np.split(order, starts[1:]) if len(order) else []:
        node = int(kernels[inside[0]])
        bytes_in, bytes_out = touched.read(node), touched.written(node)
        inner = [other for other in inside.tolist() if other != node and strings[nodes.op[other]] not in _FREE]
        alone = sum(touched.read_alone(other) + touched.written(other) for other in inner)
        saved = max(alone - bytes_in - bytes_out, 0.0) if inner else 0.0
        name = strings[nodes.name[node]] or strings[nodes.op[node]]
        found.append(Kernel(node, name, inside.astype(np.int32), bytes_in, bytes_out, saved))
    return tuple(found)


def source_kernels(graph: Graph, value: int) -> Iterator[int]:
    """The node that makes a value, behind those that only rename it."""
    waiting = [value]
    while waiting:
        node = int(graph.value_node[waiting.pop()])
        if graph.nodes.kind[node] == OPERATION and graph.tables.strings[graph.nodes.op[node]] in RENAMING:
            first = graph.first_operand
            waiting += [one for one in graph.operands.source[first[node] : first[node + 1]].tolist() if one >= 0]
        else:
            yield node


class _Touched:
    """The bytes of operands and results that operations touch."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._argument: dict[tuple[int, int], list[int]] = {}
        self._result: dict[int, int] = {}
        bindings = graph.bindings
        columns = bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist()
        for kind, start, end in zip(*columns, strict=True):
            if kind == ENTER:
                owner = int(graph.regions.owner[graph.nodes.region[end]])
                self._argument.setdefault((owner, start), []).append(end)
            elif kind == LEAVE:
                self._result[end] = start

    def read(self, node: int) -> float:
        graph = self._graph
        if self._op(node) in BRINGING:
            return 0.0
        operands = self._operands(node)
        total = 0.0
        for source in dict.fromkeys(operands):
            if source < 0:
                continue
            arguments = self._argument.get((node, source), []) if node in graph.owned_regions else []
            if arguments:
                inside = sum(self._taken(int(graph.first_value[argument])) for argument in arguments)
                total += min(inside, value_bytes(graph, source))
            else:
                total += self._by(node, operands, source)
        return total

    def read_alone(self, node: int) -> float:
        """What an operation inside a kernel would read as a kernel of its own. What is spread over an array is read
        once, and a number that is written in the program is not."""
        operands = self._operands(node)
        read = (min(self._by(node, operands, one), self._spread(one)) for one in dict.fromkeys(operands) if one >= 0)
        return sum(read)

    def _spread(self, source: int) -> float:
        """The bytes of what a value is spread out of, which is the value itself for most."""
        graph = self._graph
        for _ in range(_RENAMED):
            node = int(graph.value_node[source])
            op = self._op(node)
            if op == "iota" or (op == "constant" and not graph.tables.types.dims[int(graph.values.type[source])]):
                return 0.0
            if op not in _SPREADING or not self._operands(node) or self._operands(node)[0] < 0:
                break
            source = self._operands(node)[0]
        return value_bytes(graph, source)

    def written(self, node: int) -> float:
        graph = self._graph
        if self._op(node) in BRINGING:
            return 0.0
        return sum(
            self._made(value, int(self._operands(self._result[value])[0]) if value in self._result else value)
            for value in range(graph.first_value[node], graph.first_value[node + 1])
        )

    def _operands(self, node: int) -> list[int]:
        first = self._graph.first_operand
        return self._graph.operands.source[first[node] : first[node + 1]].tolist()

    def _op(self, node: int) -> str:
        return self._graph.tables.strings[self._graph.nodes.op[node]]

    def _by(self, node: int, operands: list[int], source: int) -> float:
        """What one operation reads of one operand."""
        whole, op = value_bytes(self._graph, source), self._op(node)
        if source != operands[0] or source in operands[1:]:
            return whole
        if op in _TAKING:
            return min(whole, value_bytes(self._graph, int(self._graph.first_value[node])))
        if op == "scatter" and len(operands) == 3:
            return min(whole, value_bytes(self._graph, operands[2]))
        return 0.0 if op == "dynamic-update-slice" else whole

    def _taken(self, value: int) -> float:
        """What is read of a value inside a kernel."""
        total = 0.0
        for node in dict.fromkeys(self._graph.readers(value)):
            if self._op(node) == "bitcast":
                total += self._taken(int(self._graph.first_value[node]))
            elif self._graph.nodes.kind[node] == OPERATION:
                total += self._by(node, self._operands(node), value)
        return min(total, value_bytes(self._graph, value))

    def _made(self, value: int, source: int) -> float:
        """What is written of a value, which is `source` where it is made."""
        graph, whole = self._graph, value_bytes(self._graph, value)
        for _ in range(_RENAMED):
            node = int(graph.value_node[source]) if source >= 0 else -1
            if node < 0 or graph.nodes.kind[node] != OPERATION:
                return whole
            operands, op = self._operands(node), self._op(node)
            if op == "bitcast":
                source = operands[0]
                continue
            place = _WRITING.get(op)
            return min(whole, value_bytes(graph, operands[place])) if place and len(operands) > place else whole
        return whole


def value_bytes(graph: Graph, value: int) -> float:
    """The bytes of a value; of what is no array, none."""
    return max(graph.tables.types.bytes[int(graph.values.type[value])], 0.0)
