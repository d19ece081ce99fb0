"""Instructions without a name that are of one equation for sure, by what they are computed of and what reads them.

They are told apart from what is only likely by that nothing else can be meant. What stands on the way from one
instruction of an equation to another of it is of it, as nothing else is computed of it and read by it. So is what is in
a body that an instruction of an equation owns, where the equation holds no others. What is computed of values that an
equation reads, once these are whole, and that only this equation reads, is of it. And of an equation of which nothing
works under its name any more, what is computed of all that it reads and is read as its value is left of it, where no
other such equation is about.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, CONSTANT, OPERATION, RESULT, Graph
from jaxviz.link.equations import GIVEN, HANDED, Equations, Kind, kind_of
from jaxviz.link.flow import Flow
from jaxviz.link.links import PLUMBING, Found
from jaxviz.link.makers import size_of
from jaxviz.link.unnamed import IDLE
from jaxviz.read.communication import is_collective

# What brings values elsewhere, or into another type.
_BRINGING = IDLE | {"dynamic-slice", "dynamic-update-slice", "reverse", "convert"}
# What gives a value another shape.
_SHAPING = ("bitcast", "copy", "reshape")
#: What nothing is known of, beside the ends of the ways back. A result of the program is told by the equation e that
#: makes it, as _RESULT - e.
_UNKNOWN, _RESULT = -3, -4
#: What is computed of more equations, or read by more, is not looked at.
_MOST = 6
# So many instructions are looked at on the way back to numbers; so many equations, to what lost ones are computed of.
_DEEP, _FAR = 4, 8
# How often what was found is used to find more.
_ROUNDS = 2

#: Equations, or ends, each with the value of it that is read.
_Behind = set[tuple[int, int]]


def with_between(
    jaxpr: Graph, graph: Graph, tagged: Sequence[Found], unsure: Collection[int], flow: Flow, equations: Equations
) -> tuple[Sequence[Found], frozenset[int]]:
    """The tags of a stage, with those of what is of one equation for sure; and which tags are `unsure` still."""
    nodes = _without_name(graph, tagged, unsure)
    if not nodes:
        return tagged, frozenset(unsure)
    between = _Between(jaxpr, graph, tagged, unsure, flow, equations, nodes)
    between.find_lost()
    between.find()
    found = list(tagged)
    for node in between.known:
        found[node] = between.tags[node]
    return found, frozenset(unsure) - between.known


def _without_name(graph: Graph, tagged: Sequence[Found], unsure: Collection[int]) -> list[int]:
    """The instructions that have no name, or none for sure; numbers in any shape are told by what reads them."""
    missing = graph.nodes.kind == OPERATION
    missing &= ~np.fromiter(map(bool, tagged), bool, len(tagged))
    missing[list(unsure)] = True
    constant, broadcast = (graph.tables.find_string(op) for op in ("constant", "broadcast"))
    skipped = (constant, *(graph.tables.find_string(op) for op in ("fusion", "call")))
    missing &= ~np.isin(graph.nodes.op, [op for op in skipped if op is not None])
    spread = np.flatnonzero(missing & (graph.nodes.op == (-1 if broadcast is None else broadcast)))
    sources = graph.operands.source[graph.first_operand[spread]]
    makers = graph.value_node[sources]
    is_number = (sources >= 0) & ((graph.nodes.op[makers] == constant) | (graph.nodes.kind[makers] == CONSTANT))
    missing[spread[is_number]] = False
    found: list[int] = np.flatnonzero(missing).tolist()
    return found


class _Between:
    """What stands between the instructions that have names."""

    def __init__(
        self,
        jaxpr: Graph,
        graph: Graph,
        tagged: Sequence[Found],
        unsure: Collection[int],
        flow: Flow,
        equations: Equations,
        nodes: Sequence[int],
    ) -> None:
        self._jaxpr, self._graph, self._flow = jaxpr, graph, flow
        self._nodes, self._unsure = nodes, frozenset(unsure)
        #: Whose instructions are known for sure; first without those that are likely.
        self.tags = list(tagged)
        for node in unsure:
            self.tags[node] = ()
        #: What was found.
        self.known: set[int] = set()
        self._equations = equations
        ours, theirs = _results(jaxpr), _results(graph)
        self._results = dict(zip(theirs, ours, strict=True)) if len(ours) == len(theirs) else {}
        self._are_numbers: dict[int, bool] = {}
        self._sources_of: dict[int, list[int]] = {}
        self._readers_of: dict[int, list[tuple[int, list[int]]]] = {}
        self._lost = _lost(jaxpr, graph, self.tags, self._equations.moves)
        # What reads each, and of what kinds values are on the way there; what each is computed of.
        self._ahead: dict[int, set[int]] = {}
        self._on_way: dict[int, set[Kind]] = {}
        self._behind: dict[int, _Behind] = {}

    def find_lost(self) -> None:
        """What is left of equations of which nothing works under their names."""
        likely = [node for node in self._nodes if node in self._unsure]
        if not likely:
            return
        self._look_behind()
        for node in reversed(self._nodes):
            self._look_ahead(node)
        found = {node: self._of_lost(node) for node in likely}
        for node, equation in found.items():
            if equation >= 0:
                self._set(node, equation)

    def find(self) -> None:
        """What is of equations that have other instructions."""
        # What is only likely says nothing of others.
        self._ahead.clear()
        self._behind.clear()
        # What devices exchange is told by what asks for it.
        self._nodes = [node for node in self._nodes if node not in self._unsure or not is_collective(self._op(node))]
        for _ in range(_ROUNDS):
            self._nodes = [node for node in self._nodes if not self.tags[node]]
            self._look_behind()
            # What reads an instruction stands behind it.
            for node in reversed(self._nodes):
                equation = self._of_holder(node)
                if equation < 0:
                    self._look_ahead(node)
                    equation = self._of_neighbours(node)
                if equation >= 0:
                    self._set(node, equation)
            self._nodes = [node for node in self._nodes if not self.tags[node] and self._is_beside_known(node)]

    def _is_beside_known(self, node: int) -> bool:
        """Whether what was found says more of a node."""
        known, maker = self.known, self._graph.value_node
        return (
            self._flow.holder(node) in known
            or any(source >= 0 and int(maker[source]) in known for source in self._sources(node))
            or any(not known.isdisjoint(readers) for _, readers in self._readers(node))
        )

    def _set(self, node: int, equation: int) -> None:
        self.tags[node] = (equation,)
        self.known.add(node)

    def _of_holder(self, node: int) -> int:
        """The equation whose instruction owns the body that a node is in."""
        holder = self._flow.holder(node)
        if holder < 0 or len(self.tags[holder]) != 1 or self._is_number(node):
            # Numbers are moved into loops.
            return -1
        (equation,) = self.tags[holder]
        is_equation = self._jaxpr.nodes.kind[equation] == OPERATION
        return equation if is_equation and self._equations.are_whole(equation) else -1

    def _of_neighbours(self, node: int) -> int:
        equations = self._equations
        ahead, behind = self._ahead[node], self._behind[node]
        if not ahead or _UNKNOWN in ahead:
            return -1
        read_by = {_RESULT - one if one <= _RESULT else one for one in ahead}
        (reader,) = read_by if len(read_by) == 1 else (-1,)
        reader = reader if equations.are_whole(reader) else -1
        read = {equation for equation, _ in behind}
        if self._is_number(node):
            return reader if reader in ahead and self._is_of_found(node, reader) else -1
        if reader >= 0 and reader in read:
            return reader
        if reader in ahead and read and read <= equations.read_by(reader) and self._is_product_of(node, reader):
            return reader
        if not read or not read.isdisjoint((_UNKNOWN, HANDED)):
            return -1
        last = next((one for one in read if equations.are_whole(one) and self._is_last_of(node, one)), -1)
        return last if last >= 0 else reader if reader in ahead and self._is_first_of(node, reader) else -1

    def _is_product_of(self, node: int, equation: int) -> bool:
        """Whether a node makes the products that an equation sums up: a small one is written as a sum by itself."""
        if self._op(node) != "multiply" or self._jaxpr.tables.strings[self._jaxpr.nodes.op[equation]] != "dot_general":
            return False
        readers = [reader for _, readers in self._readers(node) for reader in readers]
        return all(self._op(reader) == "reduce" and self.tags[reader] == (equation,) for reader in readers)

    def _is_of_found(self, node: int, reader: int) -> bool:
        """Whether a number that is no constant is read by what was found to be of an equation that is given none; or
        counts entries for one that is given no such count."""
        equations = self._equations
        read = equations.read_by(reader)
        if self._op(node) == "iota" and not any(equations.counts(one) for one in read):
            done = equations.given
            return not any(one >= 0 and self._lost[one] and not (equations.moves[one] or one in done) for one in read)
        readers = chain.from_iterable(readers for _, readers in self._readers(node))
        return self.known.issuperset(readers) and equations.given.isdisjoint(read)

    def _is_last_of(self, node: int, equation: int) -> bool:
        """Whether a node makes of parts of an equation the value that others read of it."""
        equations, kinds = self._equations, self._equations.kinds(equation)
        behind, ahead = self._behind[node], self._ahead[node]
        return (
            kinds.issuperset(kind_of(self._graph, value) for value, _ in self._readers(node))
            and not any(one == equation and kind_of(self._graph, value) in kinds for one, value in behind)
            and all(one == _RESULT - equation or (one >= 0 and equations.reads(one, equation)) for one in ahead)
            and all(one == equation or one in equations.read_by(equation) for one, _ in behind)
        )

    def _is_first_of(self, node: int, equation: int) -> bool:
        """Whether a node is computed of values that an equation reads, when these are whole."""
        if self._op(node) in PLUMBING:
            return False
        equations, behind = self._equations, self._behind[node]
        read, on_way = equations.read_by(equation), self._on_way[node]
        made_of = {one for one, _ in behind}
        brings = self._op(node) in _BRINGING
        for one in read:
            if one < 0:
                continue
            # It may be what is left of that one instead, or a part of it.
            may_be = self._lost[one] and made_of != {one} and (brings or not equations.moves[one])
            if may_be and self._is_behind(made_of, self._behind_lost(one)):
                return False
            if not on_way.isdisjoint(equations.kinds(one)) and made_of <= {one, *equations.read_by(one)}:
                return False
        if not all(one in read and (one < 0 or self._is_whole(one, value)) for one, value in behind):
            return False
        others = equations.using(made_of) if brings else ()
        if any(self._lost[one] and one != equation for one in others):
            # What brings one value to several is copied to each, under one name.
            return False
        # What reads the value of an equation may be moved before it: the sum of what is turned negative.
        return not any(self._lost[one] and not equations.moves[one] for one in equations.readers(equation))

    def _is_whole(self, equation: int, value: int) -> bool:
        """Whether a value is what an equation makes, and not a part of that, such as what it divides by."""
        works = not self._lost[equation] or int(self._graph.value_node[value]) in self.known
        equations = self._equations
        return works and equations.are_whole(equation) and self._has_kind_of(equation, value)

    def _has_kind_of(self, equation: int, value: int) -> bool:
        """Whether a value is of the kind of what an equation makes, or is that in another shape under its name."""
        kinds, graph = self._equations.kinds(equation), self._graph
        while value >= 0 and kind_of(graph, value) not in kinds:
            maker = int(graph.value_node[value])
            if self._op(maker) not in _SHAPING or self.tags[maker] != (equation,):
                return False
            (value,) = self._sources(maker)
        return value >= 0 and equation in self.tags[int(graph.value_node[value])]

    def _of_lost(self, node: int) -> int:
        """The one equation without instructions that a node can be of, as its readers read that."""
        equations, lost, moves = self._equations, self._lost, self._equations.moves
        ahead, behind = self._ahead[node], self._behind[node]
        if not ahead or not behind or _UNKNOWN in ahead or self._op(node) in _BRINGING:
            return -1
        made_of = {one for one, _ in behind}
        meant: set[frozenset[int]] = set()
        for one in ahead:
            reader = _RESULT - one if one <= _RESULT else one
            near = {reader, *(equations.read_by(reader) if reader == one or moves[reader] else ())}
            fitting = (each for each in near if each >= 0 and lost[each] and not moves[each])
            meant.add(frozenset(each for each in fitting if made_of <= self._behind_lost(each)))
        (candidates,) = meant if len(meant) == 1 else (frozenset[int](),)
        (equation,) = candidates if len(candidates) == 1 else (-1,)
        if not equations.are_whole(equation):
            return -1
        if any(one >= 0 and lost[one] and not moves[one] for one in equations.read_by(equation)):
            return -1
        return equation if all(one < 0 or equations.has_size(one, size_of(self._graph, v)) for one, v in behind) else -1

    def _is_behind(self, made_of: set[int], behind: set[int]) -> bool:
        """Whether some equations are among those behind a lost one, or do what lost ones of these do."""
        alike, lost = self._equations.are_alike, [one for one in behind if one >= 0 and self._lost[one]]
        return all(one in behind or (one >= 0 and any(alike(one, other) for other in lost)) for one in made_of)

    def _behind_lost(self, equation: int) -> set[int]:
        """What an equation reads, and what the lost ones among that do."""
        found: set[int] = set()
        waiting = [equation]
        for one in waiting:
            new = self._equations.read_by(one) - found
            found |= new
            waiting += [each for each in new if each >= 0 and self._lost[each]]
            if len(waiting) > _FAR:
                break
        return found

    def _look_behind(self) -> None:
        """Find the equations of which each node without a name is computed."""
        graph, tags, found = self._graph, self.tags, self._behind
        for node in self._nodes:
            behind: _Behind = set()
            for source in self._sources(node):
                maker = int(graph.value_node[source]) if source >= 0 else -1
                if maker < 0:
                    behind.add((_UNKNOWN, -1))
                elif graph.nodes.kind[maker] == ARGUMENT:
                    behind.add((HANDED if graph.nodes.region[maker] else GIVEN, -1))
                elif (not tags[maker] or self._op(maker) in IDLE) and self._is_number(maker):
                    continue
                elif tags[maker]:
                    behind.update((one, source) for one in tags[maker])
                else:
                    behind |= found.get(maker, {(_UNKNOWN, -1)})
            found[node] = behind if len(behind) <= _MOST else {(_UNKNOWN, -1)}

    def _look_ahead(self, node: int) -> None:
        """Find the equations that read a node, and the kinds of what is computed of it on the way there."""
        ahead: set[int] = set()
        on_way: set[Kind] = set()
        for value, readers in self._readers(node):
            on_way.add(kind_of(self._graph, value))
            for reader in readers:
                if reader in self._results:
                    made_by = self._equations.of_result(self._results[reader])
                    ahead.add(_RESULT - made_by if made_by >= 0 else _UNKNOWN)
                elif self.tags[reader]:
                    ahead.update(self.tags[reader])
                else:
                    ahead |= self._ahead.get(reader, {_UNKNOWN})
                    on_way |= self._on_way.get(reader, set())
        self._ahead[node] = ahead if len(ahead) <= _MOST else {_UNKNOWN}
        self._on_way[node] = on_way

    def _is_number(self, node: int, deep: int = _DEEP) -> bool:
        """Whether a node is computed of numbers alone."""
        known = self._are_numbers.get(node)
        if known is None:
            graph = self._graph
            if graph.nodes.kind[node] == CONSTANT or self._op(node) == "constant":
                known = True
            elif graph.nodes.kind[node] != OPERATION or node in graph.owned_regions or not deep:
                known = False
            else:
                makers = (int(graph.value_node[source]) if source >= 0 else -1 for source in self._sources(node))
                known = all(maker >= 0 and self._is_number(maker, deep - 1) for maker in makers)
            self._are_numbers[node] = known
        return known

    def _op(self, node: int) -> str:
        return self._graph.tables.strings[self._graph.nodes.op[node]]

    def _sources(self, node: int) -> list[int]:
        """What a node reads, where that is made."""
        known = self._sources_of.get(node)
        if known is None:
            first, end = self._graph.first_operand[node : node + 2].tolist()
            read = self._graph.operands.source[first:end].tolist()
            known = self._sources_of[node] = [self._flow.source(source, loops=True) for source in read]
        return known

    def _readers(self, node: int) -> list[tuple[int, list[int]]]:
        """Each value of a node with what reads it."""
        known = self._readers_of.get(node)
        if known is None:
            values = range(*self._graph.first_value[node : node + 2].tolist())
            known = self._readers_of[node] = [(value, list(self._flow.readers(value, loops=True))) for value in values]
        return known


def _lost(jaxpr: Graph, graph: Graph, tagged: Sequence[Found], moves: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The equations of which no instruction works; of those that only hand on values, those that have none."""
    counts = np.fromiter(map(len, tagged), np.int64, len(tagged))
    equations = np.fromiter(chain.from_iterable(tagged), np.int64, int(counts.sum()))
    idle = [op for name in IDLE if (op := graph.tables.find_string(name)) is not None]
    working = (graph.nodes.kind == OPERATION) & ~np.isin(graph.nodes.op, idle)
    named, works = np.zeros((2, len(jaxpr)), bool)
    named[equations] = True
    works[equations[np.repeat(working, counts)]] = True
    found: NDArray[np.bool_] = (jaxpr.nodes.kind == OPERATION) & ~np.where(moves, named, works)
    return found


def _results(graph: Graph) -> list[int]:
    found: list[int] = np.flatnonzero((graph.nodes.kind == RESULT) & (graph.nodes.region == 0)).tolist()
    return found
