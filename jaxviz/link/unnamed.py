"""Instructions that the compiler wrote without a name in place of an equation of which nothing else is left.

A running sum becomes sums of parts, and none of them has its name. They are a result of the program, which says what
they compute, or what reads them has a name: it is what that reads in the jaxpr, if it is nowhere else, and is computed
of the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, compress
from math import prod

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ENTER, LEAVE, OPERATION, RESULT, Graph
from jaxviz.link.links import PLUMBING, Found, grouped
from jaxviz.link.makers import MOVING, Makers
from jaxviz.link.snapshots import ONLY_MOVE

# What hands values on, in HLO and in the jaxpr. Of a fusion, what is in it is looked at.
_IDLE = ONLY_MOVE | PLUMBING | {"fusion", "call", "copy-start", "copy-done", "partition-id", "opt-barrier"}
_HANDING_ON = (*MOVING, "convert_element_type", "stop_gradient", "optimization_barrier", "reduce_precision", "slice")
# So many instructions are looked at on the way to what reads one, and so many on the way to what it is computed of.
_STEPS, _FAR = 16, 128


def with_unnamed(jaxpr: Graph, graph: Graph, tagged: Sequence[Found]) -> tuple[Sequence[Found], frozenset[int]]:
    """The tags of a stage, with the equations that instructions without one stand for; and which these are."""
    strings, named = graph.tables.strings, np.fromiter(map(bool, tagged), bool, len(tagged))
    ops = [op for op in np.unique(graph.nodes.op).tolist() if strings[op] not in _IDLE]
    working = (graph.nodes.kind == OPERATION) & np.isin(graph.nodes.op, ops)
    nodes = np.flatnonzero(working & ~named)
    if not len(nodes):
        return tagged, frozenset()
    lost = jaxpr.nodes.kind == OPERATION
    # What a reduction applies may have the name of the equation that the reduction is left of.
    found_again = working & ~_is_applied(graph)
    lost[list(set(chain.from_iterable(compress(tagged, found_again.tolist()))))] = False
    reading = _Reading(jaxpr, graph, tagged)
    found = list(tagged)
    changed: set[int] = set()
    for node in nodes[::-1].tolist():
        for value, equations, is_result in reading.of(node):
            size = _size(graph, value)
            lost_here = [one for one in equations if lost[one] and _has_size(jaxpr, one, size)]
            equation = next((one for one in lost_here if is_result or reading.is_computed_of(node, one)), None)
            if equation is not None:
                found[node] = (equation,)
                changed.add(node)
                break
    return found, frozenset(changed)


class _Reading:
    """What reads an instruction, and what its equation reads in the jaxpr."""

    def __init__(self, jaxpr: Graph, graph: Graph, tagged: Sequence[Found]) -> None:
        self._graph, self._tagged = graph, tagged
        self._makers = Makers(jaxpr, _HANDING_ON)
        self._makers.moves |= _is_sum_of_one(jaxpr)
        bindings = graph.bindings
        enters, leaves = (bindings.kind == ENTER) & (bindings.start >= 0), bindings.kind == LEAVE
        into, entered = bindings.start[enters], bindings.end[enters]
        self._entered = dict(zip(entered.tolist(), into.tolist(), strict=True))
        self._into = grouped(into, entered)
        self._out = grouped(bindings.start[leaves], bindings.end[leaves])
        self._left = dict(zip(bindings.end[leaves].tolist(), bindings.start[leaves].tolist(), strict=True))
        ours, theirs = _results(jaxpr), _results(graph)
        self._results = dict(zip(theirs, ours, strict=True)) if len(ours) == len(theirs) else {}

    def of(self, node: int) -> Iterator[tuple[int, list[int], bool]]:
        """Values as which an instruction is read, each with the equations that computed what its reader reads, and
        whether that is a result of the program."""
        graph = self._graph
        waiting = list(range(*graph.first_value[node : node + 2].tolist()))
        seen = set(waiting)
        while waiting and len(seen) < _STEPS:
            value = waiting.pop(0)
            on: list[int] = [int(graph.first_value[argument]) for argument in self._into.get(value, ())]
            for reader in graph.readers(value):
                if reader in self._results:
                    yield value, [one for one in (self._makers.of(self._results[reader]),) if one >= 0], True
                elif graph.nodes.kind[reader] == RESULT:
                    on += self._out.get(reader, ())
                elif self._tagged[reader]:
                    yield value, self._makers.of_operands(self._tagged[reader][0]), False
                elif graph.tables.strings[graph.nodes.op[reader]] in _IDLE and reader not in graph.owned_regions:
                    on += range(*graph.first_value[reader : reader + 2].tolist())
            waiting += [one for one in on if one not in seen]
            seen.update(on)

    def is_computed_of(self, node: int, equation: int) -> bool:
        """Whether all that an instruction is computed of, and has a name, is what an equation reads."""
        graph = self._graph
        operands = {*self._makers.of_operands(equation), equation}
        waiting, seen = [node], {node}
        while waiting and len(seen) < _FAR:
            at = waiting.pop()
            first, end = graph.first_operand[at : at + 2].tolist()
            sources = [*graph.operands.source[first:end].tolist(), self._entered.get(at, -1)]
            for one in (self._made_at(source) for source in sources if source >= 0):
                if self._tagged[one] and graph.tables.strings[graph.nodes.op[one]] != "constant":
                    if operands.isdisjoint(map(self._makers.of, self._tagged[one])):
                        return False
                elif one not in seen:
                    waiting.append(one)
                    seen.add(one)
        return not waiting

    def _made_at(self, value: int) -> int:
        """What makes a value: of a fusion without a name, what it hands out."""
        node = int(self._graph.value_node[value])
        return node if self._tagged[node] else self._left.get(value, node)


def _is_applied(graph: Graph) -> NDArray[np.bool_]:
    """The nodes in what reductions over windows apply, at any depth."""
    owner = graph.regions.owner
    inner = owner >= 0
    applied = inner & (graph.nodes.op[owner] == graph.tables.find_string("reduce-window"))
    around = graph.nodes.region[owner]
    while np.any(deeper := inner & applied[around] & ~applied):
        applied |= deeper
    return applied[graph.nodes.region]


def _is_sum_of_one(jaxpr: Graph) -> NDArray[np.bool_]:
    """The sums, products and so on over axes of one entry: they hand on what they read."""
    found = np.zeros(len(jaxpr), bool)
    strings = jaxpr.tables.strings
    reducing = [op for op in np.unique(jaxpr.nodes.op).tolist() if strings[op].startswith("reduce_")]
    for node in np.flatnonzero(np.isin(jaxpr.nodes.op, reducing)).tolist():
        source = int(jaxpr.operands.source[jaxpr.first_operand[node]])
        found[node] = source >= 0 and _has_size(jaxpr, node, _size(jaxpr, source))
    return found


def _results(graph: Graph) -> list[int]:
    return np.flatnonzero((graph.nodes.kind == RESULT) & (graph.nodes.region == 0)).tolist()


def _size(graph: Graph, value: int) -> int:
    return prod(graph.tables.types.dims[graph.values.type[value]])


def _has_size(graph: Graph, node: int, size: int) -> bool:
    """Whether a node makes a value of so many entries."""
    first, end = graph.first_value[node : node + 2].tolist()
    return any(_size(graph, value) == size for value in range(first, end))
