"""What the forward pass keeps for the backward pass, and what `jax.checkpoint` would keep and compute again instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from jaxviz.find.flow import SAME, Flow
from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.traffic import value_bytes

#: The name stack of the way back.
BACKWARD = "transpose("
_PRODUCTS = frozenset({"dot_general", "conv_general_dilated"})
_DIMENSIONS = re.compile(r"\(\(\(([\d, ]*)\), \(([\d, ]*)\)\), \(\(([\d, ]*)\)")


@dataclass(frozen=True)
class Policy:
    """What `jax.checkpoint` with a policy around all of the forward pass keeps, and what it computes again."""

    name: str
    bytes: float
    equations: int
    #: Floating point operations that are done twice.
    flops: float


@dataclass(frozen=True, eq=False)
class Residuals:
    """The values that the backward pass reads from the forward pass: nodes that made them, and bytes of each."""

    nodes: Column
    sizes: tuple[float, ...]
    _values: tuple[int, ...]
    _flow: Flow
    _backward: NDArray[np.bool_]

    @cached_property
    def policies(self) -> tuple[Policy, ...]:
        """What `jax.checkpoint` would keep, with each of the standard policies."""
        return tuple(_policy(self._flow, name, self._values, self._backward) for name in _POLICIES)

    @property
    def bytes(self) -> float:
        return sum(self.sizes)

    def __repr__(self) -> str:
        rows = [
            f"{policy.name}: {policy.bytes:,.0f} B kept, {policy.equations:,} equations again"
            for policy in self.policies
        ]
        return "\n".join([f"<Residuals: {len(self.sizes)} values, {self.bytes:,.0f} B>", *rows])


def residuals_of(graph: Graph, flow: Flow | None = None) -> Residuals:
    """The residuals of a jaxpr. Numbers that the program says, and arguments, need not be kept."""
    flow = flow or Flow(graph)
    backward = _backward(graph)
    sources = np.unique(graph.operands.source[backward[graph.operand_node]])
    sources = sources[sources >= 0]
    # What the way back makes itself is no residual; what comes out of a call is looked for inside it.
    makers = graph.value_node[sources]
    calls = np.isin(makers, [node for node in graph.owned_regions if _is_call(flow, node)])
    sources = sources[~backward[makers] | calls]
    values: dict[int, None] = {}
    for source in sources.tolist():
        value = flow.back(source)
        if value < 0 or value in values:
            continue
        node = int(graph.value_node[value])
        if graph.nodes.kind[node] != OPERATION or backward[node] or _is_call(flow, node):
            continue
        if flow.number(value) is None and not _is_of_argument(flow, value):
            values[value] = None
    kept = tuple(values)
    nodes = np.array(sorted({int(graph.value_node[value]) for value in kept}), np.int32)
    return Residuals(nodes, tuple(value_bytes(graph, value) for value in kept), kept, flow, backward)


def _backward(graph: Graph) -> NDArray[np.bool_]:
    strings = graph.tables.strings
    scopes, scope = np.unique(graph.nodes.scope, return_inverse=True)
    marked = np.array([BACKWARD in strings[text] for text in scopes.tolist()], bool)
    return marked[scope] & (graph.nodes.kind == OPERATION)


def _is_call(flow: Flow, node: int) -> bool:
    return flow.op(node) in ("jit", "pjit", "closed_call", "core_call")


def _is_of_argument(flow: Flow, source: int) -> bool:
    """Whether it is an argument in another shape."""
    return flow.is_argument(flow.origin(source, SAME | {"transpose", "rev"}))


_POLICIES = ("nothing_saveable", "dots_with_no_batch_dims_saveable", "dots_saveable")


def _policy(flow: Flow, name: str, kept: Sequence[int], backward: NDArray[np.bool_]) -> Policy:
    """What is kept on the way from the residuals back to the arguments, and what is on the way."""
    graph = flow.graph
    saved: set[int] = set()
    again: set[int] = set()
    waiting = list(kept)
    while waiting:
        value = flow.back(waiting.pop())
        if value < 0:
            continue
        node = int(graph.value_node[value])
        if graph.nodes.kind[node] != OPERATION or backward[node] or node in again:
            continue
        if _is_saved(graph, flow, name, node):
            saved.add(value)
            continue
        again.add(node)
        waiting += [source for source in flow.operands(node) if source >= 0]
    flops = sum(_flops(graph, flow, node) for node in again)
    return Policy(name, sum(value_bytes(graph, value) for value in saved), len(again), flops)


def _is_saved(graph: Graph, flow: Flow, name: str, node: int) -> bool:
    if flow.op(node) != "dot_general" or name == "nothing_saveable":
        return False
    return name == "dots_saveable" or not _dimensions(graph, node)[2]


def _dimensions(graph: Graph, node: int) -> tuple[list[int], list[int], list[int]]:
    """Axes of a product: those that are summed over, of both sides, and those that it is done for one by one."""
    found = _DIMENSIONS.match(graph.node(node).attributes.get("dimension_numbers", ""))
    if not found:
        return [], [], []
    left, right, batch = ([int(part) for part in group.split(",") if part.strip()] for group in found.groups())
    return left, right, batch


def _flops(graph: Graph, flow: Flow, node: int) -> float:
    made = sum(prod(flow.dims(value)) for value in range(graph.first_value[node], graph.first_value[node + 1]))
    if flow.op(node) not in _PRODUCTS:
        return float(made)
    left = flow.dims(flow.operands(node)[0])
    summed = prod(left[axis] for axis in _dimensions(graph, node)[0] if axis < len(left))
    return 2.0 * made * summed
