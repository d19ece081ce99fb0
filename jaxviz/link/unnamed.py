"""Instructions that the compiler wrote without a name in place of an equation of which nothing else is left.

A running sum becomes sums of parts, and none of them has its name. They are a result of the program, which says what
they compute, or what reads them has a name: it is what that reads in the jaxpr, if it is nowhere else, and is computed
of the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, RESULT, Column, Graph
from jaxviz.link.equations import Equations
from jaxviz.link.flow import Flow
from jaxviz.link.links import PLUMBING, Found
from jaxviz.link.makers import Makers, size_of
from jaxviz.link.snapshots import ONLY_MOVE
from jaxviz.read.bodies import PLAIN_CALLS

#: What hands values on. Of a fusion, what is in it is looked at.
IDLE = ONLY_MOVE | PLUMBING | {"fusion", "call", "copy-start", "copy-done", "partition-id", "opt-barrier"}
# How the call of what a loop does in each turn is named.
_BODY = "/body/closed_call"
# So many instructions are looked at on the way to what reads one, and so many on the way to what it is computed of.
_STEPS, _FAR = 16, 128


def with_unnamed(
    jaxpr: Graph, graph: Graph, tagged: Sequence[Found], flow: Flow, equations: Equations
) -> tuple[Sequence[Found], frozenset[int]]:
    """The tags of a stage, with the equations that instructions without one stand for; and which these are."""
    strings, known = graph.tables.strings, _without_surroundings(jaxpr, graph, tagged)
    named = np.fromiter(map(bool, known), bool, len(known))
    ops = [op for op in np.unique(graph.nodes.op).tolist() if strings[op] not in IDLE]
    working = (graph.nodes.kind == OPERATION) & np.isin(graph.nodes.op, ops)
    nodes = np.flatnonzero(working & ~named)
    slices = np.flatnonzero((graph.nodes.op == graph.tables.find_string("slice")) & ~named)
    if not len(nodes) and not len(slices):
        return known, frozenset()
    lost = jaxpr.nodes.kind == OPERATION
    # What a reduction applies may have the name of the equation that the reduction is left of.
    found_again = working & ~_is_applied(graph)
    lost[list(set(chain.from_iterable(compress(known, found_again.tolist()))))] = False
    lost &= ~_is_loop(jaxpr)
    reading = _Reading(jaxpr, graph, known, lost, flow, equations.makers)
    # What reads an instruction stands behind it.
    for node in nodes[::-1].tolist():
        for value, meant, is_it in reading.of(node):
            size = size_of(graph, value)
            lost_here = (one for one in meant if lost[one] and _has_size(jaxpr, one, size))
            equation = next((one for one in lost_here if is_it(node, one)), None)
            if equation is not None:
                reading.found[node] = equation
                break
    reading.cut_to_size(slices.tolist())
    found = list(known)
    for node, equation in reading.found.items():
        found[node] = (equation,)
    return found, frozenset(reading.found)


def _without_surroundings(jaxpr: Graph, graph: Graph, tagged: Sequence[Found]) -> Sequence[Found]:
    """The tags without those of instructions in a loop that have just the name of what is around them: the loop, the
    call of its body, or the call that the loop is in. That is what the compiler says where it takes a name away."""
    is_while = graph.nodes.op == graph.tables.find_string("while")
    if not is_while.any():
        return tagged
    only = np.fromiter((found[0] if len(found) == 1 else -1 for found in tagged), np.int32, len(tagged))
    known = list(tagged)
    for node in chain(_named_by_loops(jaxpr, graph, only, is_while), _named_by_calls(jaxpr, graph, only, is_while)):
        known[node] = ()
    return known


def _named_by_loops(jaxpr: Graph, graph: Graph, only: Column, is_while: NDArray[np.bool_]) -> Iterator[int]:
    """What has the name of a loop, or of the call of its body. What the loop does by itself says more."""
    strings, scope = graph.tables.strings, graph.nodes.scope
    of_loop = (only >= 0) & _is_loop(jaxpr)[only] & (graph.nodes.region > 0)
    calls = [name for name in np.unique(scope[of_loop]).tolist() if strings[name].endswith(_BODY)]
    of_body, around = np.isin(scope, calls), of_loop & np.isin(scope, [*calls, *scope[is_while].tolist()])
    for node in np.flatnonzero(around).tolist():
        # What is moved out of a loop keeps the name of its body; else it is in the loop, not beside it.
        inside = (is_while[holder] and only[holder] == only[node] for holder in _holders(graph, node))
        if node not in graph.owned_regions and (of_body[node] or any(inside)):
            yield node


def _named_by_calls(jaxpr: Graph, graph: Graph, only: Column, is_while: NDArray[np.bool_]) -> Iterator[int]:
    """What has the name of a call, in a loop that the compiler puts in place of the call."""
    calls = [op for name in PLAIN_CALLS if (op := jaxpr.tables.find_string(name)) is not None]
    is_call = np.isin(jaxpr.nodes.op, calls)
    idle = [op for name in IDLE if (op := graph.tables.find_string(name)) is not None]
    of_call = (only >= 0) & is_call[only] & (graph.nodes.kind == OPERATION) & ~np.isin(graph.nodes.op, idle)
    for node in np.flatnonzero(of_call).tolist():
        if int(only[node]) in jaxpr.owned_regions and any(is_while[holder] for holder in _holders(graph, node)):
            yield node


def _holders(graph: Graph, node: int) -> Iterator[int]:
    """The owners of the bodies that a node is in, the innermost first."""
    while (node := int(graph.regions.owner[graph.nodes.region[node]])) >= 0:
        yield node


def _is_loop(jaxpr: Graph) -> NDArray[np.bool_]:
    loops = [op for name in ("scan", "while") if (op := jaxpr.tables.find_string(name)) is not None]
    return np.isin(jaxpr.nodes.op, loops)


class _Behind(NamedTuple):
    """What an instruction is computed of: the tags of what has a name, and instructions without one."""

    named: set[Found]
    steps: list[int]


#: Whether an instruction can be what is left of an equation that something reads it as.
_Test = Callable[[int, int], bool]


class _Reading:
    """What reads an instruction, and what its equation reads in the jaxpr."""

    def __init__(
        self,
        jaxpr: Graph,
        graph: Graph,
        tagged: Sequence[Found],
        lost: NDArray[np.bool_],
        flow: Flow,
        makers: Makers,
    ) -> None:
        self._jaxpr, self._graph, self._tagged, self._lost = jaxpr, graph, tagged, lost
        #: Which equations instructions without a name were found to be.
        self.found: dict[int, int] = {}
        self._makers = makers
        self._flow = flow
        fusion = graph.tables.find_string("fusion")
        self._fusions = frozenset(owner for owner in graph.owned_regions if graph.nodes.op[owner] == fusion)
        ours, theirs = _results(jaxpr), _results(graph)
        self._results = dict(zip(theirs, ours, strict=True)) if len(ours) == len(theirs) else {}

    def of(self, node: int) -> Iterator[tuple[int, list[int], _Test]]:
        """Values as which an instruction is read, each with the equations that computed what its reader reads, and how
        to tell whether it is one of them."""
        graph = self._graph
        waiting = list(range(*graph.first_value[node : node + 2].tolist()))
        seen = set(waiting)
        while waiting and len(seen) < _STEPS:
            value = waiting.pop(0)
            on: list[int] = [int(graph.first_value[argument]) for argument in self._flow.into.get(value, ())]
            for reader in graph.readers(value):
                if reader in self._results:
                    yield value, [one for one in (self._makers.of(self._results[reader]),) if one >= 0], _is_result
                elif graph.nodes.kind[reader] == RESULT:
                    on += self._flow.out.get(reader, ())
                elif reader in self._fusions:
                    # Its name is that of one of many, and what reads a value in it has its own.
                    continue
                elif self._tagged[reader]:
                    equation = self._tagged[reader][0]
                    if self._is_idle(reader) and not self._makers.moves[equation]:
                        # What was computed is handed on under the name of what computed it.
                        yield value, [equation], self._is_computed_of
                    yield value, self._makers.of_operands(equation, self._place(reader, value)), self._is_computed_of
                elif reader in self.found:
                    yield value, self._makers.of_operands(self.found[reader]), self._is_before
                elif self._is_idle(reader) and reader not in graph.owned_regions:
                    on += range(*graph.first_value[reader : reader + 2].tolist())
            waiting += [one for one in on if one not in seen]
            seen.update(on)

    def _place(self, reader: int, value: int) -> int:
        """Where an instruction reads a value: mostly where its equation reads what that is."""
        first, end = self._graph.first_operand[reader : reader + 2].tolist()
        return int(self._graph.operands.source[first:end].tolist().index(value))

    def cut_to_size(self, slices: Iterable[int]) -> None:
        """What cuts to the size of an equation's value what is a part of it and larger is its last step."""
        graph, jaxpr = self._graph, self._jaxpr
        for node in slices:
            source = int(graph.operands.source[graph.first_operand[node]])
            equation = self._behind_shapes(source)
            before, after = size_of(graph, source), size_of(graph, int(graph.first_value[node]))
            if equation >= 0 and _has_size(jaxpr, equation, after) and not _has_size(jaxpr, equation, before):
                self.found[node] = equation

    def _behind_shapes(self, value: int) -> int:
        """The one equation of which an instruction is whose value this is, in another shape at most; -1 for none."""
        graph = self._graph
        for _ in range(_STEPS):
            maker = self._made_at(value)
            first, end = graph.first_operand[maker : maker + 2].tolist()
            if maker in self.found or self._tagged[maker] or (first < end and not self._is_idle(maker)):
                tag = self._tagged[maker]
                return self.found.get(maker, tag[0] if len(tag) == 1 else -1)
            value = self._flow.entered.get(maker, int(graph.operands.source[first]) if first < end else -1)
            if value < 0:
                break
        return -1

    def _is_idle(self, node: int) -> bool:
        return self._graph.tables.strings[self._graph.nodes.op[node]] in IDLE

    def _is_computed_of(self, node: int, equation: int) -> bool:
        """Whether all that an instruction is computed of, and has a name, is what an equation reads; or what others
        read that are lost before it, of which there are as many steps without a name."""
        behind = self._behind(node)
        before = self._before(equation, len(behind.steps)) if behind is not None else []
        return behind is not None and self._are_read(behind.named, [equation, *before], [equation])

    def _is_before(self, node: int, equation: int) -> bool:
        """Whether that is so for each of these steps, and none is a part of the equation that has a name: else it may
        be a part of what reads it."""
        behind = self._behind(node)
        before = self._before(equation, len(behind.steps)) if behind is not None else []
        return (
            behind is not None
            and len(before) == len(behind.steps)
            and self._are_read(behind.named, [equation, *before], [])
        )

    def _before(self, equation: int, most: int) -> list[int]:
        """The equations that are lost before one of which nothing else is known, the nearest first."""
        found = [equation]
        for one in found:
            found += [each for each in self._makers.of_operands(one) if self._lost[each] and each not in found]
            if len(found) > most:
                break
        return found[1 : most + 1]

    def _are_read(self, named: Iterable[Found], readers: Iterable[int], parts: Iterable[int]) -> bool:
        """Whether what has these tags is all read by some equations, or a part of one."""
        read = {*parts}
        for one in readers:
            read.update(self._makers.of_operands(one), self._makers.read_by(one))
        return all(any(not read.isdisjoint(self._makers.around(tag)) for tag in tags) for tags in named)

    def _behind(self, node: int) -> _Behind | None:
        """What an instruction is computed of, back to what has a name; None where that is too much."""
        graph = self._graph
        named = set[Found]()
        waiting, seen = [node], {node}
        while waiting and len(seen) < _FAR:
            at = waiting.pop()
            first, end = graph.first_operand[at : at + 2].tolist()
            sources = [*graph.operands.source[first:end].tolist(), self._flow.entered.get(at, -1)]
            for one in (self._made_at(source) for source in sources if source >= 0):
                if self._tagged[one] and graph.tables.strings[graph.nodes.op[one]] != "constant":
                    named.add(self._tagged[one])
                elif one not in seen:
                    waiting.append(one)
                    seen.add(one)
        if waiting:
            return None
        kinds = graph.nodes.kind
        return _Behind(named, [one for one in seen - {node} if kinds[one] == OPERATION and not self._is_idle(one)])

    def _made_at(self, value: int) -> int:
        """What makes a value: of a fusion without a name, what it hands out."""
        node = int(self._graph.value_node[value])
        return node if self._tagged[node] else self._flow.left.get(value, node)


def _is_result(node: int, equation: int) -> bool:
    """What a result of the program is, it is of the equation that makes that result."""
    return True


def _is_applied(graph: Graph) -> NDArray[np.bool_]:
    """The nodes in what reductions over windows apply, at any depth."""
    owner = graph.regions.owner
    inner = owner >= 0
    applied = inner & (graph.nodes.op[owner] == graph.tables.find_string("reduce-window"))
    around = graph.nodes.region[owner]
    while np.any(deeper := inner & applied[around] & ~applied):
        applied |= deeper
    return applied[graph.nodes.region]


def _results(graph: Graph) -> list[int]:
    return np.flatnonzero((graph.nodes.kind == RESULT) & (graph.nodes.region == 0)).tolist()


def _has_size(graph: Graph, node: int, size: int) -> bool:
    """Whether a node makes a value of so many entries."""
    first, end = graph.first_value[node : node + 2].tolist()
    return any(size_of(graph, value) == size for value in range(first, end))
