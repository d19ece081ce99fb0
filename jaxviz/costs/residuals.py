"""What the forward pass keeps for the backward pass, and what `jax.checkpoint` would keep and compute again instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jaxviz.costs.flops import PRODUCTS, equation_flops, product_axes, turns_of
from jaxviz.costs.traffic import value_bytes
from jaxviz.find.flow import SAME, Flow
from jaxviz.graph import CONSTANT, OPERATION, Column, Graph
from jaxviz.outline.derivatives import Derivatives, derivatives_of

_CALLS = frozenset({"jit", "pjit", "closed_call", "core_call"})


@dataclass(frozen=True)
class Residual:
    """A value that is kept: the node that makes it, its bytes, and the first way back that reads it.

    `order` is 1 for the backward pass, and 2 for that of a second derivative.
    """

    node: int
    bytes: float
    order: int


@dataclass(frozen=True, eq=False)
class Policy:
    """What `jax.checkpoint` with a policy around all of the forward pass keeps, and what it computes again.

    `saved` and `recomputed` are the nodes; `equations` counts those in bodies too, `flops` are the operations on
    floats that are done twice, and `host` the bytes that are moved to the memory of the host instead of being kept.
    """

    name: str
    bytes: float
    equations: int
    flops: float
    host: float
    saved: Column
    recomputed: Column


@dataclass(frozen=True, eq=False)
class Residuals:
    """The values that the backward pass reads from the forward pass, each with the node that made it."""

    values: tuple[Residual, ...]
    #: The same as sources of values.
    _kept: tuple[int, ...]
    _flow: Flow
    _derivatives: Derivatives

    @property
    def nodes(self) -> Column:
        """The nodes that made them, in order."""
        return np.unique(np.array([value.node for value in self.values], np.int32))

    @property
    def sizes(self) -> tuple[float, ...]:
        return tuple(value.bytes for value in self.values)

    @property
    def bytes(self) -> float:
        return sum(self.sizes)

    @cached_property
    def policies(self) -> tuple[Policy, ...]:
        """What `jax.checkpoint` would keep, with each of the standard policies that says something of this program."""
        walk = _Walk(self._flow, self._derivatives)
        return tuple(walk.policy(name, self._kept) for name in (*_POLICIES, *walk.named_policies()))

    def __repr__(self) -> str:
        rows = [
            f"{policy.name}: {policy.bytes:,.0f} B kept, {policy.equations:,} equations again"
            for policy in self.policies
        ]
        return "\n".join([f"<Residuals: {len(self.sizes)} values, {self.bytes:,.0f} B>", *rows])


def residuals_of(graph: Graph, flow: Flow | None = None, derivatives: Derivatives | None = None) -> Residuals:
    """The residuals of a jaxpr. Numbers that the program says, and arguments, need not be kept."""
    flow = flow or Flow(graph)
    derivatives = derivatives_of(graph) if derivatives is None else derivatives
    order = derivatives.order
    first: dict[int, int] = {}
    known: dict[int, int] = {}
    for source, reader in _crossings(graph, order, flow):
        value = known.get(source)
        if value is None:
            value = known[source] = _kept(flow, source)
        if value >= 0 and order[graph.value_node[value]] < reader:
            first[value] = min(reader, first.get(value, reader))
    values = tuple(
        Residual(int(graph.value_node[value]), value_bytes(graph, value), reader) for value, reader in first.items()
    )
    return Residuals(values, tuple(first), flow, derivatives)


def _crossings(graph: Graph, order: Column, flow: Flow) -> Iterator[tuple[int, int]]:
    """The values that a way back reads from before it, each once with the order of each that reads it."""
    source, reader = graph.operands.source, order[graph.operand_node]
    rows = np.flatnonzero((source >= 0) & (reader > 0))
    makers = graph.value_node[source[rows]]
    # What comes out of a call is looked for inside it.
    calls = np.isin(makers, [node for node in graph.owned_regions if flow.op(node) in _CALLS])
    rows = rows[(order[makers] < reader[rows]) | calls]
    pairs = np.unique(np.stack([source[rows], reader[rows]], axis=1), axis=0)
    yield from map(tuple, pairs.tolist())


def _kept(flow: Flow, source: int) -> int:
    """The value that a source is where it is made, or -1 where it need not be kept."""
    graph, value = flow.graph, flow.back(source)
    if value < 0:
        return -1
    node = int(graph.value_node[value])
    if graph.nodes.kind[node] != OPERATION or flow.op(node) in _CALLS or flow.number(value) is not None:
        return -1
    # An argument in another shape.
    return -1 if flow.is_argument(flow.origin(value, SAME | {"transpose", "rev"})) else value


# What checkpoints would keep.

_EVERYTHING, _NOTHING, _OFFLOAD = "everything_saveable", "nothing_saveable", "offload_dot_with_no_batch_dims"
_UNBATCHED, _NAMES = "dots_with_no_batch_dims_saveable", "save_only_these_names"
_POLICIES = (_EVERYTHING, "dots_saveable", _UNBATCHED, _OFFLOAD, _NOTHING)


class _Walk:
    """Walks back from the residuals to the arguments, for one policy after the other."""

    def __init__(self, flow: Flow, derivatives: Derivatives) -> None:
        self.flow = flow
        self.graph = graph = flow.graph
        # What is made before the function that is differentiated, or on another way back, is an input of it.
        inside = derivatives.derived & (derivatives.order == 0) & (graph.nodes.kind == OPERATION)
        self.inside = inside.tolist()
        self.maker = graph.value_node.tolist()
        self.sources = graph.operands.source.tolist()
        self.first = graph.first_operand.tolist()
        self.is_operation = (graph.nodes.kind == OPERATION).tolist()
        self.is_constant = (graph.nodes.kind == CONSTANT).tolist()
        self.products = frozenset(flow.nodes(*PRODUCTS))
        self.unbatched = frozenset(node for node in flow.nodes("dot_general") if not product_axes(flow, node)[2])
        self.names = frozenset(flow.nodes("name"))
        self._back: dict[int, int] = {}
        self._fixed: dict[int, bool] = {}
        self._flops: dict[int, float] = {}

    def named_policies(self) -> Iterator[str]:
        names = [self.graph.node(node).attributes.get("name", "") for node in sorted(self.names)]
        if names:
            yield f"{_NAMES}({', '.join(repr(name) for name in dict.fromkeys(names))})"

    def policy(self, name: str, kept: tuple[int, ...]) -> Policy:
        """What is kept on the way from the residuals back to the arguments, and what is on the way."""
        saves = self._saves(name)
        saved: dict[int, float] = {}
        again: set[int] = set()
        waiting = list(kept)
        while waiting:
            value = self.back(waiting.pop())
            if value < 0 or value in saved:
                continue
            node = self.maker[value]
            if node in again or not self.is_operation[node]:
                continue
            # What is made of numbers alone is made in the function, wherever JAX computes it.
            fixed = not self.inside[node] and self._is_fixed(node)
            if fixed and name == _EVERYTHING:
                continue
            if name == _EVERYTHING or node in saves or not (self.inside[node] or fixed):
                saved[value] = value_bytes(self.graph, value)
                continue
            again.add(node)
            waiting += self.sources[self.first[node] : self.first[node + 1]]
        equations, flops, within = 0, 0.0, 0.0
        for node in again:
            own = self._cost(saves, node, 1)
            equations, flops, within = equations + own[0], flops + own[1], within + own[2]
        host = within + sum(saved[value] for value in saved if self.maker[value] in saves) if name == _OFFLOAD else 0.0
        return Policy(
            name,
            sum(saved.values()) + within - host,
            equations,
            flops,
            host,
            np.unique(np.array([self.maker[value] for value in saved], np.int32)),
            np.array(sorted(again), np.int32),
        )

    def _is_fixed(self, node: int) -> bool:
        """Whether a node is made of numbers of the program alone."""
        if node not in self._fixed:
            sources = [self.back(source) for source in self.sources[self.first[node] : self.first[node + 1]]]
            makers = [self.maker[source] for source in sources if source >= 0]
            self._fixed[node] = all(
                self.is_constant[maker] or (self.is_operation[maker] and self._is_fixed(maker)) for maker in makers
            )
        return self._fixed[node]

    def back(self, source: int) -> int:
        if source not in self._back:
            self._back[source] = self.flow.back(source)
        return self._back[source]

    def _saves(self, name: str) -> frozenset[int]:
        """The nodes whose values a policy keeps wherever they are."""
        if name.startswith(_NAMES):
            return self.names
        return {"dots_saveable": self.products, _UNBATCHED: self.unbatched, _OFFLOAD: self.unbatched}.get(
            name, frozenset()
        )

    def _cost(self, saves: frozenset[int], node: int, times: int) -> tuple[int, float, float]:
        """Equations and operations on floats of a node with its bodies, and the bytes of what is saved inside."""
        regions = self.graph.owned_regions.get(node, ())
        if not regions:
            if node not in self._flops:
                self._flops[node] = equation_flops(self.flow, node)
            return 1, times * self._flops[node], 0.0
        times *= turns_of(self.flow, node)
        equations, flops, saved = 1, 0.0, 0.0
        for region in regions:
            rows = (self.graph.nodes.region == region) & (self.graph.nodes.kind == OPERATION)
            for inner in np.flatnonzero(rows).tolist():
                if inner in saves:
                    saved += times * value_bytes(self.graph, self.graph.first_value[inner])
                    continue
                more = self._cost(saves, inner, times)
                equations, flops, saved = equations + more[0], flops + more[1], saved + more[2]
        return equations, flops, saved
