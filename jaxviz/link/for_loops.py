"""What the compiler writes for a loop, and leaves without a name: copies of values that the loop writes over while they
are still needed, and the numbers that what goes round begins with."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property

import numpy as np

from jaxviz.graph import ARGUMENT, INIT, OPERATION, RESULT, STACK, Graph
from jaxviz.link.equations import Equations, Kind, kind_of
from jaxviz.link.flow import Flow
from jaxviz.link.links import Found
from jaxviz.link.liveness import LOOPS
from jaxviz.link.standing_in import StandIns


def with_copies(
    graph: Graph, tagged: Sequence[Found], unsure: Collection[int], flow: Flow
) -> tuple[Sequence[Found], frozenset[int]]:
    """The tags of a stage, with those of the loops that copies without a name are for; and which tags are `unsure`."""
    copy, loop = (graph.tables.find_string(name) for name in ("copy", "while"))
    if copy is None or loop is None:
        return tagged, frozenset(unsure)
    found = list(tagged)
    known: set[int] = set()
    for node in np.flatnonzero((graph.nodes.op == copy) & (graph.nodes.kind == OPERATION)).tolist():
        if tagged[node] and node not in unsure:
            continue
        loops = {one for one in _loops_of(graph, flow, node) if graph.nodes.op[one] == loop}
        names = {tagged[one] for one in loops}
        if len(names) == 1 and len(name := names.pop()) == 1:
            found[node] = name
            known.add(node)
    return found, frozenset(unsure) - known


def _loops_of(graph: Graph, flow: Flow, node: int) -> Iterator[int]:
    """What a copy is handed to, or what hands on that which it is of, where that may be a loop."""
    holder = flow.holder(node)
    source = flow.source(int(graph.operands.source[graph.first_operand[node]]))
    if source >= 0 and graph.nodes.kind[graph.value_node[source]] == ARGUMENT and holder >= 0:
        yield holder
    for reader in flow.readers(int(graph.first_value[node])):
        if graph.nodes.kind[reader] == RESULT and holder >= 0:
            yield holder
        elif reader in graph.owned_regions:
            yield reader


class Beginnings:
    """The numbers that fill what goes round the loops of a stage at first."""

    def __init__(self, jaxpr: Graph, graph: Graph, tagged: Sequence[Found], flow: Flow, equations: Equations) -> None:
        self._jaxpr, self._equations = jaxpr, equations
        self._said: dict[int, list[tuple[Kind, float, int]]] = {}
        is_loop = np.isin(jaxpr.nodes.op, [op for name in LOOPS if (op := jaxpr.tables.find_string(name)) is not None])
        #: For each node, what of it loops begin with: the kind of the value, and the equation of the loop.
        self._begun: dict[int, list[tuple[Kind, int]]] = {}
        loops = np.flatnonzero((graph.nodes.op == graph.tables.find_string("while")) & (graph.nodes.kind == OPERATION))
        for node in loops.tolist():
            (equation,) = tagged[node] if len(tagged[node]) == 1 else (-1,)
            if equation < 0 or not is_loop[equation]:
                continue
            first, end = graph.first_operand[node : node + 2].tolist()
            for source in map(flow.source, graph.operands.source[first:end].tolist()):
                if source >= 0:
                    begun = self._begun.setdefault(int(graph.value_node[source]), [])
                    begun.append((kind_of(graph, source), equation))

    @cached_property
    def _stand_ins(self) -> StandIns:
        return StandIns(self._jaxpr)

    def of(self, node: int, number: float) -> list[Found]:
        """For each loop that begins with this number, as a node has it, the equations whose it may be."""
        return [
            tuple(sorted({owner for kind, one, owner in self._said_by(loop) if (kind, one) == (made, number)}))
            for made, loop in self._begun.get(node, ())
        ]

    def _said_by(self, loop: int) -> list[tuple[Kind, float, int]]:
        """What a loop of the jaxpr begins with that is a number: of what kind it is, which, and the equation that makes
        it: the loop itself, where it counts or is to be filled."""
        known = self._said.get(loop)
        if known is None:
            known = self._said[loop] = list(self._given(loop))
        return known

    def _given(self, loop: int) -> Iterator[tuple[Kind, float, int]]:
        jaxpr, bindings = self._jaxpr, self._jaxpr.bindings
        inside = np.isin(jaxpr.nodes.region[bindings.end], jaxpr.owned_regions.get(loop, ()))
        for row in np.flatnonzero((bindings.kind == INIT) & inside).tolist():
            source, kind = int(bindings.start[row]), kind_of(jaxpr, int(jaxpr.first_value[bindings.end[row]]))
            number = self._stand_ins.number(source)
            if number is not None:
                maker = self._equations.made(source) if source >= 0 else -1
                yield kind, number, maker if maker >= 0 and jaxpr.nodes.kind[maker] == OPERATION else loop
        first, end = jaxpr.first_value[loop : loop + 2].tolist()
        stacked = set(bindings.end[bindings.kind == STACK].tolist())
        yield from ((kind_of(jaxpr, value), 0.0, loop) for value in range(first, end) if value in stacked)
