"""Which call of a function an instruction is of, where its name says the first one, whichever it is.

Until JAX 0.6 a function is lowered once for all its calls, with the names of the first. What an instruction is computed
of is known: it is of the call that computes it of that, in the fewest steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jaxviz import compat
from jaxviz.graph import ARGUMENT, ENTER, LEAVE, OPERATION, Graph
from jaxviz.link.links import Found
from jaxviz.link.tags import Places

# So many steps back the compiler may have left out what is between two instructions.
_STEPS = 4
# So many instructions are looked at on the way back to what has a name.
_FAR = 32


def with_calls_told_apart(jaxpr: Graph, graph: Graph, tagged: Sequence[Found], places: Places) -> Sequence[Found]:
    """The tags of a stage, those of the first call of a function in place of which another is meant with that."""
    if not compat.NAMED_BY_FIRST_CALL:
        return tagged
    calls = _Calls(jaxpr, places)
    flow, found = _Flow(graph), list(tagged)
    arguments = _arguments(jaxpr)
    known: dict[int, Found] = {}
    for node, name in enumerate(graph.nodes.name.tolist()):
        if graph.nodes.kind[node] == ARGUMENT and graph.nodes.region[node] == 0 and name in arguments:
            known[node] = (arguments[name],)
    # What an instruction is computed of stands before it.
    for node in np.flatnonzero(graph.nodes.kind == OPERATION).tolist():
        candidates = calls.of(tagged[node][0]) if len(tagged[node]) == 1 else ()
        if len(candidates) > 1:
            read = {one for maker in _named(flow, node, found, known) for one in maker}
            steps = [(calls.steps(one, read), one) for one in candidates]
            found[node] = (min(steps)[1],) if min(steps)[0] <= _STEPS else tagged[node]
    return found


def _named(flow: _Flow, node: int, found: Sequence[Found], known: dict[int, Found]) -> Iterator[Found]:
    """The tags of what an instruction is computed of, back to what has a name."""
    waiting, seen = [*flow.read_by(node)], {node}
    while waiting and len(seen) < _FAR:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        if tags := known.get(at) or found[at]:
            yield tags
        else:
            waiting += flow.read_by(at)


class _Calls:
    def __init__(self, jaxpr: Graph, places: Places) -> None:
        self._jaxpr, self._places = jaxpr, places
        self._flow = _Flow(jaxpr)
        self._known: dict[int, tuple[int, ...]] = {}
        self._back: dict[int, dict[int, int]] = {}

    def of(self, node: int) -> tuple[int, ...]:
        """The same equation in all calls of the function that it is in."""
        if node not in self._known:
            region = int(self._jaxpr.nodes.region[node])
            self._known[node] = tuple(sorted(self._places.instances(node, region))) if region else ()
        return self._known[node]

    def steps(self, node: int, read: set[int]) -> int:
        """In how many steps an equation is computed of one of these."""
        back = self._back.get(node)
        if back is None:
            back, ring = {}, {node}
            for step in range(1, _STEPS + 1):
                ring = {one for at in ring for one in self._flow.read_by(at)} - back.keys()
                back.update(dict.fromkeys(ring, step))
            self._back[node] = back
        return min((back[one] for one in read if one in back), default=_STEPS + 1)


class _Flow:
    """What a node reads, into and out of bodies."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        bindings = graph.bindings
        enters, leaves = bindings.kind == ENTER, bindings.kind == LEAVE
        self._entered = dict(zip(bindings.end[enters].tolist(), bindings.start[enters].tolist(), strict=True))
        self._left = dict(zip(bindings.end[leaves].tolist(), bindings.start[leaves].tolist(), strict=True))

    def read_by(self, node: int) -> Iterator[int]:
        first, end = self._graph.first_operand[node : node + 2].tolist()
        for source in self._graph.operands.source[first:end].tolist():
            maker = self._made_at(source)
            if maker >= 0:
                yield maker

    def _made_at(self, source: int) -> int:
        while source >= 0:
            node = int(self._graph.value_node[source])
            if source in self._left:
                result = self._left[source]
                source = int(self._graph.operands.source[self._graph.first_operand[result]])
            elif node in self._entered:
                source = self._entered[node]
            else:
                return node
        return -1


def _arguments(jaxpr: Graph) -> dict[int, int]:
    nodes = np.flatnonzero((jaxpr.nodes.kind == ARGUMENT) & (jaxpr.nodes.region == 0)).tolist()
    return {int(jaxpr.nodes.name[node]): node for node in nodes}
