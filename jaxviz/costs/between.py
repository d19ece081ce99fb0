"""Values that one kernel writes to memory for others to read, and the fact that kept the kernels apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from jaxviz.costs.kernels import kernels_of
from jaxviz.costs.traffic import BRINGING, RENAMING, value_bytes
from jaxviz.graph import ENTER, LEAVE, OPERATION, Graph

# Operations that need what they read, or give what they make, in memory, and what people call them.
_WHOLE = {
    "dot": "a product",
    "convolution": "a convolution",
    "custom-call": "a library call",
    "reduce": "a reduction",
    "reduce-window": "a reduction",
    "sort": "a sort",
    "topk": "a sort",
    "fft": "a Fourier transform",
    "scatter": "a scatter",
    "select-and-scatter": "a scatter",
    "dynamic-update-slice": "an update in place",
    "cholesky": "a factorization",
    "triangular-solve": "a solve",
    "rng-bit-generator": "random bits",
    "while": "a loop",
    "conditional": "a condition",
}
_WHOLE |= dict.fromkeys(
    ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"), "an exchange between devices"
)
# Of these, what others do: a library's kernel, an exchange or a body, with which nothing is fused.
_CALLED = frozenset(
    {"dot", "convolution", "custom-call", "cholesky", "triangular-solve", "rng-bit-generator", "while", "conditional"}
    | {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"}
)
LAYOUT, CARRY, UNKNOWN = "a copy for layout", "a copy of what a loop hands on", "XLA does not say"
PLAIN = "a copy that XLA put in"
# What a kernel that only copies consists of.
_COPIES = frozenset({"copy", "transpose", "bitcast", "parameter"})
# In which order axes lie after a copy and before it: `{0,1} from {1,0:S(1)}`.
_TURNED = re.compile(r"\{([\d,]*)[^{}]*\} from \{([\d,]*)")


@dataclass(frozen=True)
class Between:
    """A value between kernels: the node that writes it, its name and bytes, the kernels that read it, and the fact.

    `whole` says that the fact is what a kernel computes: it needs the value in memory. `fusible` says that XLA itself
    made all the kernels that it lies between, or several that read it: with products, calls of libraries and loops
    nothing is fused.
    """

    node: int
    name: str
    bytes: float
    readers: tuple[int, ...]
    fact: str
    whole: bool
    fusible: bool

    def __repr__(self) -> str:
        return f"<{self.name}: {self.bytes:,.0f} B for {len(self.readers)} of the kernels, {self.fact}>"


def between_kernels(graph: Graph, least: float = 1_000_000) -> tuple[Between, ...]:
    """The values of at least so many bytes that kernels of optimized HLO write for other kernels, in order.

    Results of the program are not among them: they have to be in memory.
    """
    return _Kernels(graph).between(least)


class Readers:
    """What reads a value, under its own name or another that it is only given, and where it is called with it.

    A call computes nothing: what is in it does, such as a loop that XLA set apart.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._in_calls = _values_in_calls(graph)
        self._leaving = _values_of_calls(graph)

    def of(self, value: int) -> Iterator[int]:
        """The nodes, those that only rename it left out."""
        graph = self._graph
        for node in graph.readers(value):
            same = self._in_calls.get((node, value), [])
            if (
                graph.nodes.kind[node] == OPERATION
                and graph.tables.strings[graph.nodes.op[node]] in RENAMING | BRINGING
            ):
                same = [int(graph.first_value[node])]
            if node in self._leaving:
                same = [self._leaving[node]]
            for other in same:
                yield from self.of(other)
            if not same:
                yield node


def _values_in_calls(graph: Graph) -> dict[tuple[int, int], list[int]]:
    """Of a call and a value that it is given, what that value is inside of it."""
    bindings, call = graph.bindings, graph.tables.find_string("call")
    entering = np.flatnonzero(bindings.kind == ENTER)
    owner = graph.regions.owner[graph.nodes.region[bindings.end[entering]]]
    found: dict[tuple[int, int], list[int]] = {}
    for node, row in zip(owner.tolist(), entering.tolist(), strict=True):
        if graph.nodes.op[node] == call:
            inside = int(graph.first_value[bindings.end[row]])
            found.setdefault((node, int(bindings.start[row])), []).append(inside)
    return found


def _values_of_calls(graph: Graph) -> dict[int, int]:
    """Of what calls give back, by the result inside: the value that it is outside."""
    bindings, call = graph.bindings, graph.tables.find_string("call")
    leaving = np.flatnonzero(bindings.kind == LEAVE)
    columns = bindings.start[leaving].tolist(), bindings.end[leaving].tolist()
    return {
        result: value for result, value in zip(*columns, strict=True) if graph.nodes.op[graph.value_node[value]] == call
    }


class _Kernels:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.kernels = kernels_of(graph)
        self._readers = Readers(graph)
        self._ops: dict[int, tuple[str, ...]] = {}

    def between(self, least: float) -> tuple[Between, ...]:
        graph = self.graph
        found = []
        # Only what runs by itself writes to memory.
        for node in np.flatnonzero(self.kernels == np.arange(len(graph))).tolist():
            if graph.tables.strings[graph.nodes.op[node]] in BRINGING:
                continue
            for value in range(graph.first_value[node], graph.first_value[node + 1]):
                if value_bytes(graph, value) < least:
                    continue
                readers = tuple(sorted(set(self._readers.of(value))))
                if not readers or any(not self._runs(reader) for reader in readers):
                    continue
                fact, whole = self._fact(node, readers)
                name = graph.tables.strings[graph.nodes.name[node]] or graph.tables.strings[graph.nodes.op[node]]
                fusible = self._is_fusible(node, readers)
                found.append(Between(node, name, value_bytes(graph, value), readers, fact, whole, fusible))
        return tuple(found)

    def _runs(self, node: int) -> bool:
        """Whether it is a kernel; a loop that reads the value is not, but needs it in memory all the same."""
        op = self.graph.tables.strings[self.graph.nodes.op[node]]
        return bool(self.graph.nodes.kind[node] == OPERATION and (self.kernels[node] == node or op in _WHOLE))

    def ops(self, node: int) -> tuple[str, ...]:
        """The names of the operations of a kernel, each once."""
        if node not in self._ops:
            inside = np.append(np.flatnonzero(self.kernels == node), node)
            names = self.graph.tables.strings
            self._ops[node] = tuple(names[op] for op in np.unique(self.graph.nodes.op[inside]).tolist())
        return self._ops[node]

    def _fact(self, node: int, readers: tuple[int, ...]) -> tuple[str, bool]:
        sides = (("made by", node), *(("read by", reader) for reader in readers))
        needs = [f"{whose} {_WHOLE[op]}" for whose, kernel in sides for op in self.ops(kernel) if op in _WHOLE]
        if needs:
            more = f" ({len(readers)} kernels read it)" if len(readers) > 1 else ""
            return ", ".join(dict.fromkeys(needs)) + more, True
        copies = [kernel for kernel in (node, *readers) if set(self.ops(kernel)) - {"fusion"} <= _COPIES]
        if copies:
            # Alone in the body of a loop, it is there so that a turn does not write over what it still reads.
            in_loop = all(self.ops(kernel) == ("copy",) and self._is_in_loop(kernel) for kernel in copies)
            if in_loop:
                return CARRY, True
            return (LAYOUT if any(map(self._changes_layout, copies)) else PLAIN), False
        return (f"{len(readers)} kernels read it", False) if len(readers) > 1 else (UNKNOWN, False)

    def _is_fusible(self, node: int, readers: tuple[int, ...]) -> bool:
        reading = sum(not _CALLED.intersection(self.ops(reader)) for reader in readers)
        return reading > 1 or (reading == len(readers) and not _CALLED.intersection(self.ops(node)))

    def _changes_layout(self, node: int) -> bool:
        """Whether a kernel gives the axes of an array another order in memory."""
        graph = self.graph
        inside = np.append(np.flatnonzero(self.kernels == node), node)
        if "transpose" in self.ops(node):
            return True
        turned = (_TURNED.match(graph.attribute(one, "layout")) for one in inside.tolist())
        return any(found is not None and found[1] != found[2] for found in turned)

    def _is_in_loop(self, node: int) -> bool:
        graph = self.graph
        return graph.tables.strings[graph.regions.kind[graph.nodes.region[node]]].startswith("while")
