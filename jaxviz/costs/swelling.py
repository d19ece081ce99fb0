"""Kernels that make much of little and little of that: between them stands in memory what is many times as large as all
that they read and give, such as the scores of attention or a table of one-hot rows.

Each of them could work on a part at a time, and then no more than a part need be there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jaxviz.costs.between import Between, Readers
from jaxviz.costs.kernels import kernels_of
from jaxviz.costs.traffic import source_kernels, value_bytes
from jaxviz.graph import Graph

# So many times as large as what goes in and comes out.
_TIMES = 3
# A value belongs to a larger one where it has at least this share of its bytes.
_SHARE = 0.2
# The largest values are looked at.
_MOST = 50
# What needs all of a value at once, and what nobody divides.
_UNDIVIDED = frozenset(
    {"sort", "topk", "fft", "cholesky", "triangular-solve", "rng-bit-generator", "reduce-window"}
    | {"while", "conditional", "call", "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"}
)
# Of calls of libraries, these are products.
_PRODUCTS = ("gemm", "matmul", "conv")


@dataclass(frozen=True)
class Swelling:
    """The values between some kernels, the largest first, and the bytes of what the kernels read of others and give."""

    values: tuple[Between, ...]
    outside: float


def swellings_of(graph: Graph, values: tuple[Between, ...]) -> Iterator[Swelling]:
    """Those among values between kernels, the largest first; no value is in two."""
    kernels = _Kernels(graph)
    waiting = sorted(values, key=lambda value: -value.bytes)[:_MOST]
    while waiting:
        group = kernels.around(waiting[0], waiting)
        outside = kernels.outside(group) if group else 0.0
        if group and group[0].bytes >= _TIMES * outside:
            yield Swelling(tuple(group), outside)
            waiting = [value for value in waiting if value not in group]
        else:
            waiting = waiting[1:]


class _Kernels:
    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._kernels = kernels_of(graph)
        self._divided: dict[int, bool] = {}

    @cached_property
    def _readers(self) -> Readers:
        return Readers(self._graph)

    def around(self, largest: Between, values: list[Between]) -> list[Between]:
        """A value and those of its size that its kernels make or read; none where a kernel needs all of one at once."""
        if not self._may_be_divided(largest):
            return []
        group, kernels = [largest], {largest.node, *largest.readers}
        left = [value for value in values if value is not largest and value.bytes >= _SHARE * largest.bytes]
        grown = True
        while grown:
            next_to = [
                value for value in left if kernels & {value.node, *value.readers} and self._may_be_divided(value)
            ]
            grown = bool(next_to)
            group += next_to
            kernels.update(kernel for value in next_to for kernel in (value.node, *value.readers))
            left = [value for value in left if value not in next_to]
        return group

    def _may_be_divided(self, value: Between) -> bool:
        return all(map(self._is_divided, (value.node, *value.readers)))

    def _is_divided(self, kernel: int) -> bool:
        if kernel not in self._divided:
            graph = self._graph
            inside = np.append(np.flatnonzero(self._kernels == kernel), kernel)
            ops = {graph.tables.strings[op] for op in np.unique(graph.nodes.op[inside]).tolist()}
            self._divided[kernel] = not ops & _UNDIVIDED and ("custom-call" not in ops or self._is_product(kernel))
        return self._divided[kernel]

    def _is_product(self, kernel: int) -> bool:
        target = str(self._graph.node(kernel).attributes.get("custom_call_target", ""))
        return any(word in target for word in _PRODUCTS)

    def outside(self, group: list[Between]) -> float:
        """The bytes that the kernels around some values read of others, and of what they give to others."""
        graph = self._graph
        kernels = {kernel for value in group for kernel in (value.node, *value.readers)}
        sizes: dict[int, float] = {}
        for kernel in kernels:
            first = graph.first_operand
            for source in graph.operands.source[first[kernel] : first[kernel + 1]].tolist():
                if source >= 0 and not set(source_kernels(graph, source)) <= kernels:
                    sizes[source] = value_bytes(graph, source)
            for made in range(graph.first_value[kernel], graph.first_value[kernel + 1]):
                if not set(self._readers.of(made)) <= kernels:
                    sizes[made] = value_bytes(graph, made)
        return sum(sizes.values())
