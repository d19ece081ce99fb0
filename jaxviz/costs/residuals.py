"""What the forward pass keeps for the backward pass, and what `jax.checkpoint` would keep and compute again instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np

from jaxviz.costs.flops import PRODUCTS, equation_flops, product_axes, turns_of
from jaxviz.costs.traffic import value_bytes
from jaxviz.find.flow import SAME, Flow
from jaxviz.graph import CARRY, CONSTANT, INIT, LEAVE, OPERATION, STACK, Column, Graph
from jaxviz.outline.phases.derivatives import Derivatives, derivatives_of
from jaxviz.read.bodies import CHECKPOINTS, PLAIN_CALLS
from jaxviz.read.distinct import in_order


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

    `saved` and `recomputed` are the nodes, those in bodies too; `equations` counts them, `flops` are the operations on
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
    #: Bytes that JAX counts too: arrays of one number, and arguments in another shape, which are made where read.
    free: float
    #: The values as sources.
    _kept: tuple[int, ...]
    _flow: Flow
    _derivatives: Derivatives

    @property
    def has_way_back(self) -> bool:
        return bool((self._derivatives.order > 0).any())

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
        walk = _Walk(self._flow, self._derivatives, self.checkpoints)
        return tuple(walk.policy(name, self._kept) for name in walk.known_policies())

    @cached_property
    def checkpoints(self) -> tuple[int, ...]:
        """The checkpoints that the program has already, where they compute again for the way back."""
        return tuple(node for node in self._flow.nodes(*CHECKPOINTS) if self._derivatives.order[node] > 0)

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
    free: set[int] = set()
    known: dict[int, tuple[int, bool]] = {}
    for source, reader in _crossings(graph, order, flow):
        if source not in known:
            known[source] = _kept(flow, source)
        value, is_free = known[source]
        if value >= 0 and order[graph.value_node[value]] < reader:
            if is_free:
                free.add(value)
            else:
                first[value] = min(reader, first.get(value, reader))
    values = tuple(
        Residual(int(graph.value_node[value]), value_bytes(graph, value), reader) for value, reader in first.items()
    )
    return Residuals(values, sum(value_bytes(graph, value) for value in free), tuple(first), flow, derivatives)


def _crossings(graph: Graph, order: Column, flow: Flow) -> Iterator[tuple[int, int]]:
    """The values that a way back reads from before it, each once with the order of each that reads it."""
    source, reader = graph.operands.source, order[graph.operand_node]
    rows = np.flatnonzero((source >= 0) & (reader > 0))
    makers = graph.value_node[source[rows]]
    # What comes out of a call is looked for inside it.
    calls = np.isin(makers, [node for node in graph.owned_regions if flow.op(node) in PLAIN_CALLS])
    rows = rows[(order[makers] < reader[rows]) | calls]
    size = 1 + int(order.max(initial=0))
    pairs = np.divmod(in_order(source[rows].astype(np.int64) * size + reader[rows]), size)
    yield from zip(*(column.tolist() for column in pairs), strict=True)


def _kept(flow: Flow, source: int) -> tuple[int, bool]:
    """The value that a source is where it is made, or -1 where JAX keeps none; and whether it takes no memory."""
    graph, value = flow.graph, flow.back(source)
    if value < 0:
        return -1, False
    node = int(graph.value_node[value])
    if graph.nodes.kind[node] != OPERATION or flow.op(node) in PLAIN_CALLS:
        return -1, False
    return value, flow.number(value) is not None or _is_shaped_argument(flow, value)


def _is_shaped_argument(flow: Flow, value: int) -> bool:
    """Whether a value is an argument, if in another shape."""
    return flow.is_argument(flow.origin(value, SAME | {"transpose", "rev"}))


# What checkpoints would keep.

_EVERYTHING, _NOTHING, _OFFLOAD = "everything_saveable", "nothing_saveable", "offload_dot_with_no_batch_dims"
_UNBATCHED, _NAMES = "dots_with_no_batch_dims_saveable", "save_only_these_names"
_POLICIES = (_EVERYTHING, "dots_saveable", _UNBATCHED, _OFFLOAD, _NOTHING)


class _Walk:
    """Walks back from the residuals to the arguments, for one policy after the other."""

    def __init__(self, flow: Flow, derivatives: Derivatives, checkpoints: tuple[int, ...] = ()) -> None:
        self.checkpoints = checkpoints
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

    def known_policies(self) -> Iterator[str]:
        """The policies of which it is known what they would keep: one around a checkpoint goes for what that computes
        again too, of which the forward pass says nothing, but for loops, whose bodies stand there whole."""
        if not self.checkpoints:
            yield from (*_POLICIES, *self.named_policies())
        elif all(self.graph.nodes.region[node] for node in self.checkpoints):
            yield from (*_POLICIES[1:], *self.named_policies())
        else:
            yield _NOTHING

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
            # JAX takes out of loops what is the same in each turn, and what it makes of arguments there too.
            if not self.inside[node] and _is_shaped_argument(self.flow, value):
                continue
            if name == _EVERYTHING and self.flow.op(node) == "cond":
                waiting += [source for source in self._in_branches(value) if source >= 0]
            if name == _EVERYTHING and value in self._stacked:
                # Beside what each turn hands to the next, what the first is given.
                first = self._initial.get(self._inside(value), -1)
                waiting += [first] if first >= 0 and self.flow.number(first) is None else []
            if name == _EVERYTHING or node in saves or not (self.inside[node] or fixed):
                saved[value] = value_bytes(self.graph, value)
                continue
            again.add(node)
            waiting += self.sources[self.first[node] : self.first[node + 1]]
        if name == _EVERYTHING:
            saved = self._without_handed_on(self._without_carried(saved))
        cost = self._cost(saves, again, 1)
        within = cost.saved_bytes
        host = within + sum(saved[value] for value in saved if self.maker[value] in saves) if name == _OFFLOAD else 0.0
        kept_inside, again_inside = self._in_bodies(again, saves)
        stacked = [self._inside(value) for value in saved if value in self._stacked]
        return Policy(
            name,
            sum(saved.values()) + within - host,
            cost.equations,
            cost.flops,
            host,
            np.unique(np.array([*(self.maker[value] for value in (*saved, *stacked)), *kept_inside], np.int32)),
            np.array(sorted(again | again_inside), np.int32),
        )

    def _in_branches(self, value: int) -> list[int]:
        """Of what a choice gives, the value outside of it that each branch hands on; -1 of one that makes something,
        and -2 of one that has only numbers, or nothing, for it."""
        found = []
        for result in self._results.get(value, ()):
            source = self.flow.origin(self.sources[self.first[result]])
            if source < 0 or self.flow.number(source) is not None or self._is_empty(source):
                found.append(-2)
            else:
                inside = self.graph.nodes.region[self.maker[source]] == self.graph.nodes.region[result]
                found.append(-1 if inside else source)
        return found

    def _is_empty(self, value: int) -> bool:
        """Whether nobody has written anything into an array."""
        return self.flow.op(self.maker[value]).startswith("empty")

    def _without_handed_on(self, saved: dict[int, float]) -> dict[int, float]:
        """Of what each choice gives, as many arrays of a type as the branch that makes most of them needs."""
        places: dict[tuple[int, int], list[int]] = {}
        for value in sorted(saved):
            if self.flow.op(self.maker[value]) == "cond":
                places.setdefault((self.maker[value], int(self.graph.values.type[value])), []).append(value)
        left: set[int] = set()
        for values in places.values():
            made = zip(*map(self._in_branches, values), strict=True)
            left.update(values[max((branch.count(-1) for branch in made), default=len(values)) :])
        return {value: size for value, size in saved.items() if value not in left}

    def _without_carried(self, saved: dict[int, float]) -> dict[int, float]:
        """Without what a loop carries into its turns, where what it carries out of them is saved, for that is the same
        one turn later."""
        inside = {value: self._inside(value) for value in saved if value in self._stacked}
        made = {source: self.sources[self.first[result]] for source, result in self._carried.items()}
        given = {(self.maker[value], source) for value, source in inside.items()}
        return {
            value: size
            for value, size in saved.items()
            if value not in inside or (self.maker[value], made.get(inside[value])) not in given
        }

    def _inside(self, value: int) -> int:
        """Of an array of what a loop gives in its turns, what that is in each."""
        return self.sources[self.first[self._stacked[value]]]

    @cached_property
    def _initial(self) -> dict[int, int]:
        """Of each value that a loop carries into its turns, what it is in the first."""
        return {int(self.graph.first_value[end]): start for kind, start, end in self._bindings if kind == INIT}

    @cached_property
    def _stacked(self) -> dict[int, int]:
        """Of each array of what a loop gives in its turns, the result that it is made of."""
        return {end: start for kind, start, end in self._bindings if kind == STACK}

    @cached_property
    def _results(self) -> dict[int, list[int]]:
        """Of each value that a call or a choice gives, the results of bodies that it is."""
        found: dict[int, list[int]] = {}
        for kind, start, end in self._bindings:
            if kind == LEAVE:
                found.setdefault(end, []).append(start)
        return found

    @cached_property
    def _carried(self) -> dict[int, int]:
        """Of each value that a loop carries into its turns, the result that it is of the turn before."""
        return {int(self.graph.first_value[end]): start for kind, start, end in self._bindings if kind == CARRY}

    @property
    def _bindings(self) -> Iterator[tuple[int, int, int]]:
        bindings = self.graph.bindings
        return zip(bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist(), strict=True)

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

    def _in_bodies(self, nodes: Iterable[int], saves: frozenset[int]) -> tuple[set[int], set[int]]:
        """Of the bodies of nodes that are computed again, what is saved there, and what is computed again too."""
        saved: set[int] = set()
        again: set[int] = set()
        waiting = list(nodes)
        while waiting:
            for inner in self._body(waiting.pop()):
                if inner in saves:
                    saved.add(inner)
                elif inner not in again:
                    again.add(inner)
                    waiting.append(inner)
        return saved, again

    def _body(self, node: int) -> list[int]:
        """The operations of the bodies of a node."""
        return [inner for region in self.graph.owned_regions.get(node, ()) for inner in self._inner(region)]

    def _inner(self, region: int) -> list[int]:
        """The operations that stand in a body."""
        nodes, (start, end) = self.graph.nodes, self.graph.region_intervals
        inside = slice(start[region], end[region])
        found = np.flatnonzero((nodes.region[inside] == region) & (nodes.kind[inside] == OPERATION))
        return (found + start[region]).tolist()

    def _cost(self, saves: frozenset[int], nodes: Iterable[int], times: int) -> _Cost:
        """What nodes cost with their bodies."""
        owned = self.graph.owned_regions
        equations, flops, with_bodies = 0, 0.0, list[int]()
        # Most have none: they are counted before there is a cost of anything.
        for node in nodes:
            equations += 1
            if node in owned:
                with_bodies.append(node)
            else:
                flops += self._own_flops(node)
        bodies = (self._cost_of_bodies(saves, node, times) for node in with_bodies)
        return sum(bodies, _Cost(equations, times * flops))

    def _own_flops(self, node: int) -> float:
        if node not in self._flops:
            self._flops[node] = equation_flops(self.flow, node)
        return self._flops[node]

    def _cost_of_bodies(self, saves: frozenset[int], node: int, times: int) -> _Cost:
        times *= turns_of(self.flow, node)
        bodies = [self._cost_of_body(saves, region, times) for region in self.graph.owned_regions[node]]
        return reduce(_Cost.either if self.flow.op(node) == "cond" else _Cost.__add__, bodies)

    def _cost_of_body(self, saves: frozenset[int], region: int, times: int) -> _Cost:
        saved: Counter[tuple[int, int, float]] = Counter()
        again = []
        for inner in self._inner(region):
            if inner in saves:
                value = int(self.graph.first_value[inner])
                saved[times, int(self.graph.values.type[value]), value_bytes(self.graph, value)] += 1
            else:
                again.append(inner)
        return self._cost(saves, again, times) + _Cost(saved=saved)


@dataclass(frozen=True)
class _Cost:
    """What it takes to compute something again: equations, operations on floats; and how many arrays of each kind are
    saved inside, which is how often it is made there, its type and its bytes."""

    equations: int = 0
    flops: float = 0.0
    saved: Counter[tuple[int, int, float]] = field(default_factory=Counter)

    def __add__(self, other: _Cost) -> _Cost:
        return _Cost(self.equations + other.equations, self.flops + other.flops, self.saved + other.saved)

    def either(self, other: _Cost) -> _Cost:
        """Of two branches: one of them runs, and arrays of one kind share their place."""
        return _Cost(self.equations + other.equations, max(self.flops, other.flops), self.saved | other.saved)

    @property
    def saved_bytes(self) -> float:
        return sum(count * times * size for (times, _, size), count in self.saved.items())
