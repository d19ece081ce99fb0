"""What fates are read from, and what is known of equations before it is seen where they went."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress

import numpy as np
from numpy.typing import NDArray

from jaxviz import compat
from jaxviz.graph import ARGUMENT, OPERATION, Column, Graph
from jaxviz.link.given import given_nodes
from jaxviz.link.links import EXACT, INFERRED, PLUMBING, Found, Links
from jaxviz.link.liveness import LOOPS, needed_nodes
from jaxviz.link.snapshots import ONLY_MOVE
from jaxviz.link.tags import Places
from jaxviz.program.optimize import Snapshot

# Operations of StableHLO that have another name in HLO.
_HLO_NAMES = {"dot-general": "dot", "broadcast-in-dim": "broadcast"}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What fates are read from: the tags in StableHLO, in optimized HLO, and in the snapshots between them."""

    jaxpr: Graph
    places: Places
    stablehlo_graph: Graph
    stablehlo: Sequence[Found]
    hlo: Graph
    hlo_tags: Sequence[Found]
    snapshots: Sequence[Snapshot]
    #: The links to optimized HLO.
    links: Links
    #: By the name that JAX gives an argument, the one that it has in the jaxpr, where that is another.
    renamed: Mapping[str, str] = field(default_factory=dict)
    _nodes_of: dict[str, Found] = field(default_factory=dict, init=False)
    _instances: dict[int, set[int]] = field(default_factory=dict, init=False)

    @cached_property
    def linked(self) -> frozenset[int]:
        """The equations that something of optimized HLO is linked to, be it by what is around it."""
        return frozenset(self.links.source.tolist())

    @cached_property
    def needed(self) -> Column:
        """What is needed, as JAX and XLA take it at first."""
        return needed_nodes(self.jaxpr)

    @cached_property
    def wanted(self) -> Column:
        """What is needed where of what goes round a loop only that is which something reads."""
        loops = any(is_op(self.jaxpr, op).any() for op in LOOPS)
        return needed_nodes(self.jaxpr, carries=True) if loops else self.needed

    @cached_property
    def reducers(self) -> dict[int, int]:
        """The equations that are all there is in the body of an operation and are only a word of it when it is lowered.

        Each with the equation that holds it, whose fate it shares.
        """
        lowered, graph = self.stablehlo_graph, self.jaxpr
        key = lowered.tables.find_string("reducer")
        rows = lowered.attributes.node[lowered.attributes.key == (-1 if key is None else key)]
        owners = {equation for row in rows.tolist() for equation in self.stablehlo[row]}
        inside: dict[int, list[int]] = {}
        for node in np.flatnonzero(graph.nodes.kind == OPERATION).tolist():
            owner = int(graph.regions.owner[graph.nodes.region[node]])
            if owner in owners:
                inside.setdefault(owner, []).append(node)
        return {nodes[0]: owner for owner, nodes in inside.items() if len(nodes) == 1}

    @cached_property
    def computing(self) -> set[int]:
        """The equations that do more than to give a value another shape: a reshape that is left of one is not it."""
        lowered = self.stablehlo_graph
        working = [op for op, name in names_in_hlo(lowered).items() if name not in ONLY_MOVE | PLUMBING]
        return set(chain.from_iterable(compress(self.stablehlo, np.isin(lowered.nodes.op, working).tolist())))

    @cached_property
    def filling(self) -> set[int]:
        """The equations of which a constant in a shape is all there is."""
        fills = is_op(self.jaxpr, "broadcast_in_dim")
        return {node for node in self.given if fills[node]}

    @cached_property
    def given(self) -> frozenset[int]:
        """What is computed of numbers alone."""
        return given_nodes(self.jaxpr)

    def filled_by(self, rows: NDArray[np.bool_]) -> set[int]:
        """The equations of which a constant in a shape is all there is, and of which alone one of these rows is."""
        known = (self.links.kind == EXACT) & rows[self.links.target]
        return self.filling.intersection(self.links.source[known].tolist())

    def with_owners(self, nodes: Iterable[int]) -> set[int]:
        """The nodes, and those whose bodies hold them."""
        owner, region = self.jaxpr.regions.owner.tolist(), self.jaxpr.nodes.region.tolist()
        found: set[int] = set()
        for node in nodes:
            while node >= 0 and node not in found:
                found.add(node)
                node = owner[region[node]]
        return found

    def nodes_named(self, name: str) -> Found:
        """The equations of a tagged name in a snapshot, or the argument of that name."""
        known = self._nodes_of.get(name)
        if known is None:
            known = self._nodes_of[name] = self._arguments.get(name) or self.places.named(name)
        return known

    @cached_property
    def _arguments(self) -> dict[str, Found]:
        """The arguments of the program by the names that they have in the text of snapshots."""
        graph, strings = self.jaxpr, self.jaxpr.tables.strings
        given = {own: name for name, own in self.renamed.items()}
        found: dict[str, Found] = {}
        for node in np.flatnonzero((graph.nodes.kind == ARGUMENT) & (graph.nodes.region == 0)).tolist():
            name = strings[graph.nodes.name[node]]
            found[given.get(name, name).replace("'", r"\'")] = (node,)
        return found

    def naming(self, nodes: Collection[int]) -> Callable[[str], Found]:
        """What tells the equations of a name; also those of these nodes that have it as another call was the first."""
        if not compat.NAMED_BY_FIRST_CALL:
            return self.nodes_named

        def named(name: str) -> Found:
            told = self.nodes_named(name)
            others = sorted(self.with_instances(set(told)).intersection(nodes) - {*told})
            return (*told, *others)

        return named

    def told_by(self, rows: NDArray[np.bool_]) -> set[int]:
        """The equations that these rows of HLO are tagged with, or may be meant where calls cannot be told apart."""
        found = set(chain.from_iterable(compress(self.hlo_tags, rows.tolist())))
        if not compat.NAMED_BY_FIRST_CALL:
            return found
        unsure = np.zeros(len(self.hlo), bool)
        unsure[self.links.target[self.links.kind == INFERRED]] = True
        return found | self.with_instances(set(chain.from_iterable(compress(self.hlo_tags, (rows & unsure).tolist()))))

    def with_instances(self, nodes: set[int]) -> set[int]:
        """With the equations that may be meant as well, where calls of one function cannot be told apart by names."""
        if not compat.NAMED_BY_FIRST_CALL:
            return nodes
        return nodes.union(*(self.instances_of(node) for node in nodes))

    def instances_of(self, node: int) -> set[int]:
        """The same equation in all calls of its function, of which it cannot be told apart by names."""
        known = self._instances.get(node)
        if known is None:
            graph, strings = self.jaxpr, self.jaxpr.tables.strings
            region = around = int(graph.nodes.region[node])
            while around and strings[graph.regions.kind[around]] != "jit":
                around = int(graph.nodes.region[graph.regions.owner[around]])
            found = self.places.instances(node, region) if around else ()
            known = self._instances[node] = {one for one in found if self.needed[one]}
        return known


def names_in_hlo(graph: Graph) -> dict[int, str]:
    """The operations of a graph in the words of HLO."""
    strings = graph.tables.strings
    names = {op: strings[op].replace("_", "-") for op in set(graph.nodes.op.tolist())}
    return {op: _HLO_NAMES.get(name, name) for op, name in names.items()}


def is_op(graph: Graph, name: str) -> NDArray[np.bool_]:
    """Which nodes are operations of this name."""
    op = graph.tables.find_string(name)
    return graph.nodes.op == (-1 if op is None else op)
