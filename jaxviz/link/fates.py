"""Fates: what became of every equation of the jaxpr, and, of those that are gone, where and why.

The tags that are left after each compiler pass say in which one an equation disappears, and what its readers read after
that says what took its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, compress

import numpy as np
from numpy.typing import NDArray

from jaxviz import compat
from jaxviz.graph import ARGUMENT, CONSTANT, OPERATION, Column, Graph
from jaxviz.link.aftermath import handed_over, left_unread
from jaxviz.link.given import given_nodes
from jaxviz.link.links import PLUMBING, Found
from jaxviz.link.liveness import LOOPS, needed_nodes
from jaxviz.link.merged import merge_bodies, merge_calls
from jaxviz.link.snapshots import (
    ONLY_MOVE,
    SHAPES,
    Lines,
    called_text,
    different,
    instruction_names,
    replacements,
    told_names,
    working_names,
)
from jaxviz.link.standing_in import StandIns
from jaxviz.link.tags import Places
from jaxviz.optimize import Snapshot

FATE_KINDS = (
    "none",  # not an equation
    "alone",
    "fused",
    "both",
    "context",
    "dead",
    "unlowered",
    "imported",
    "simplified",
    "folded",
    "merged",
    "consequence",
    "moved",
)
NONE, ALONE, FUSED, BOTH, CONTEXT, DEAD, UNLOWERED, IMPORTED, SIMPLIFIED, FOLDED, MERGED, CONSEQUENCE, MOVED = range(13)

#: What the passes do that make operations disappear, by a part of their name; all others simplify.
_FOLDING = "constant_folding"
_PASSES = (
    # Only what keeps others apart goes with it.
    ("barrier", SIMPLIFIED),
    (_FOLDING, FOLDED),
    ("cse", MERGED),
    ("dce", CONSEQUENCE),
    ("_mover", MOVED),
    ("motion", MOVED),
    ("sinking", MOVED),
    ("hoist", MOVED),
)

#: Those that write an operation as several others, which carry no name of it: a running sum becomes sums of parts.
_WRITE_ANEW = ("rewriter", "expander")

_ALIVE = (ALONE, FUSED, BOTH, CONTEXT)


@dataclass(frozen=True)
class Fate:
    """What became of one equation, a node of the graph of the jaxpr."""

    node: int
    kind: str
    #: The compiler pass that removed it; empty where none did.
    where: str
    #: The equation or the argument that took its place, or -1.
    by: int

    @property
    def alive(self) -> bool:
        """Whether optimized HLO holds some of it."""
        return FATE_KINDS.index(self.kind) in _ALIVE


@dataclass(frozen=True, eq=False)
class Fates:
    """One row for each node of the graph of the jaxpr; `where` are strings of the tables, `by` nodes or -1."""

    kind: Column
    where: Column
    by: Column


def fates_of(graph: Graph, fates: Fates) -> tuple[Fate, ...]:
    """The fates of the equations of a graph, in words."""
    strings = graph.tables.strings
    rows = zip(fates.kind.tolist(), fates.where.tolist(), fates.by.tolist(), strict=True)
    return tuple(
        Fate(node, FATE_KINDS[kind], strings[where], by) for node, (kind, where, by) in enumerate(rows) if kind != NONE
    )


@dataclass(frozen=True)
class Evidence:
    """What fates are read from: the tags in StableHLO, in optimized HLO, and in the snapshots between them."""

    jaxpr: Graph
    places: Places
    stablehlo_graph: Graph
    stablehlo: Sequence[Found]
    hlo: Graph
    hlo_tags: Sequence[Found]
    snapshots: Sequence[Snapshot]
    #: By the name that JAX gives an argument, the one that it has in the jaxpr, where that is another.
    renamed: Mapping[str, str] = field(default_factory=dict)


def make_fates(evidence: Evidence) -> Fates:
    """The fate of every equation; without snapshots, those that the compiler removed are simplified, nowhere said."""
    return _Judge(evidence).fates()


class _Judge:
    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence
        self.jaxpr = evidence.jaxpr
        self.tables = self.jaxpr.tables
        self.snapshots = different(evidence.snapshots)
        self._nodes_of: dict[str, Found] = {}
        self._texts: dict[int, str] = {}
        self._read: dict[int, Lines] = {}
        self._instances: dict[int, set[int]] = {}

    def fates(self) -> Fates:
        graph = self.jaxpr
        kind = np.zeros(len(graph), np.int32)
        where = np.zeros(len(graph), np.int32)
        by = np.full(len(graph), -1, np.int32)
        alive, last = self._alive(), self._last_seen()
        alive.update(self._written_anew(alive, last))
        lowered = self._with_owners(set(chain.from_iterable(self.evidence.stablehlo)))
        context = self._with_owners(node for node, state in alive.items() if state != FOLDED)
        given = self._given if self.snapshots else set()
        vanished: dict[int, list[int]] = {}
        for node in np.flatnonzero(graph.nodes.kind == OPERATION).tolist():
            state = alive.get(node, NONE)
            if node in self._reducers:
                # It stands before what it holds.
                owner = self._reducers[node]
                kind[node], where[node] = kind[owner], where[owner]
            elif state not in (NONE, FOLDED):
                kind[node] = state
            elif not self._needed[node]:
                kind[node] = DEAD
            elif node in context:
                kind[node] = CONTEXT
            elif node not in lowered:
                # What only goes round a loop is not lowered either.
                kind[node] = UNLOWERED if self._wanted[node] else DEAD
            elif node not in last and (state == FOLDED or node in given):
                kind[node] = FOLDED
            elif self.snapshots and node not in last:
                kind[node] = IMPORTED if self._wanted[node] else DEAD
            elif not self._wanted[node]:
                # Some compilers see that what goes round a loop is read by nothing else, but that was so before.
                kind[node] = DEAD
            else:
                kind[node], pass_name = self._removed(last.get(node), node in given)
                where[node] = self.tables.string(pass_name)
                if pass_name:
                    vanished.setdefault(last[node], []).append(node)
        stand_ins = StandIns(graph)
        for number, nodes in vanished.items():
            if number + 1 < len(self.snapshots):
                earlier, later = self._lines(number), self._lines(number + 1)
                merged = kind[nodes[0]] == MERGED
                for node, other in replacements(earlier, later, nodes, self._nodes_named, merged=merged).items():
                    # Of what is merged, both are the same operation of the same.
                    if (node in given) == (other in given) if merged else stand_ins.may(node, other):
                        by[node] = other
                if merged:
                    # Of numbers that are equal one is left, which may have the name of what reads it.
                    kind[[node for node in nodes if node in given and by[node] < 0]] = FOLDED
                elif kind[nodes[0]] == SIMPLIFIED:
                    gone = [node for node in nodes if by[node] < 0]
                    unread = set(left_unread(earlier, later, gone, self._nodes_named))
                    kind[[*unread]] = CONSEQUENCE
                    # Of what needs no argument, its value is all that can stand in its place.
                    kind[[node for node in gone if node in given and node not in unread]] = FOLDED
        merge_calls(graph, kind == MERGED, by)
        merge_bodies(graph, kind == MERGED, by)
        self._credit_work(kind, where, by, alive)
        return Fates(kind, where, by)

    def _credit_work(self, kind: Column, where: Column, by: Column, alive: dict[int, int]) -> None:
        """Where a product and the transpose that reads it become one product, XLA keeps the tag of the transpose.

        What is left does the work of the product: it is the one that lives on, and the other was moved into it.
        """
        replaced = np.flatnonzero(by >= 0).tolist()
        if not replaced:
            return
        lowered, left = self._operations
        for node in replaced:
            other = int(by[node])
            mine, theirs, now = lowered.get(node, set()), lowered.get(other, set()), left.get(other, set())
            # Of what only moved values, something may be left as well.
            if other in alive and set() < theirs <= ONLY_MOVE and (mine & now) - ONLY_MOVE:
                kind[node], kind[other] = kind[other], MOVED
                where[other], where[node] = where[node], 0
                by[other], by[node] = node, -1

    @cached_property
    def _operations(self) -> tuple[dict[int, set[str]], dict[int, set[str]]]:
        """The operations of each equation in StableHLO and in optimized HLO, in the words of HLO."""
        evidence = self.evidence
        lowered = _operations_of(evidence.stablehlo_graph, evidence.stablehlo)
        left = _operations_of(evidence.hlo, evidence.hlo_tags)
        return lowered, left

    @cached_property
    def _needed(self) -> Column:
        return needed_nodes(self.jaxpr)

    @cached_property
    def _wanted(self) -> Column:
        """What is needed where of what goes round a loop only that is which something reads."""
        loops = any(_is_op(self.jaxpr, op).any() for op in LOOPS)
        return needed_nodes(self.jaxpr, carries=True) if loops else self._needed

    @cached_property
    def _reducers(self) -> dict[int, int]:
        """The equations that are all there is in the body of an operation and are only a word of it when it is lowered.

        Each with the equation that holds it, whose fate it shares.
        """
        lowered, graph = self.evidence.stablehlo_graph, self.jaxpr
        key = lowered.tables.find_string("reducer")
        rows = lowered.attributes.node[lowered.attributes.key == (-1 if key is None else key)]
        owners = {equation for row in rows.tolist() for equation in self.evidence.stablehlo[row]}
        inside: dict[int, list[int]] = {}
        for node in np.flatnonzero(graph.nodes.kind == OPERATION).tolist():
            owner = int(graph.regions.owner[graph.nodes.region[node]])
            if owner in owners:
                inside.setdefault(owner, []).append(node)
        return {nodes[0]: owner for owner, nodes in inside.items() if len(nodes) == 1}

    def _alive(self) -> dict[int, int]:
        """The equations that optimized HLO holds, by their fate."""
        hlo = self.evidence.hlo
        constant = (hlo.nodes.kind == CONSTANT) | _is_op(hlo, "constant")
        # What a fusion is made of is told by what is in it.
        working, inside = ~constant & ~_is_op(hlo, "fusion"), np.array(_inside_fusions(hlo), bool)
        shaped = np.logical_or.reduce([_is_op(hlo, op) for op in SHAPES])
        # A constant in the shape of what it meets.
        filled = _is_op(hlo, "broadcast") & _reads_one_of(hlo, constant)
        folded = self._told_by(constant | filled)
        fused, alone = (
            self._told_by(rows & ~shaped)
            | (self._told_by(rows & shaped & ~filled) - self._computing)
            | (self._told_by(rows & filled) & self._filling)
            for rows in (working & inside, working & ~inside)
        )
        states = (folded, FOLDED), (fused, FUSED), (alone, ALONE), (fused & alone, BOTH)
        # What is more than folded is in a later one too.
        return {equation: state for equations, state in states for equation in equations}

    @cached_property
    def _computing(self) -> set[int]:
        """The equations that do more than to give a value another shape: a reshape that is left of one is not it."""
        lowered = self.evidence.stablehlo_graph
        working = [op for op, name in _names_in_hlo(lowered).items() if name not in ONLY_MOVE | PLUMBING]
        return set(chain.from_iterable(compress(self.evidence.stablehlo, np.isin(lowered.nodes.op, working).tolist())))

    @cached_property
    def _filling(self) -> set[int]:
        """The equations of which a constant in a shape is all there is."""
        return {node for node in self._given if self.tables.strings[self.jaxpr.nodes.op[node]] == "broadcast_in_dim"}

    def _told_by(self, rows: NDArray[np.bool_]) -> set[int]:
        """The equations that these rows of HLO hold; a reducer is a word of the equation that holds it."""
        found = set(chain.from_iterable(compress(self.evidence.hlo_tags, rows.tolist())))
        return self._with_instances({self._reducers.get(equation, equation) for equation in found})

    def _with_instances(self, nodes: set[int]) -> set[int]:
        """With the equations that may be meant as well, where calls of one function cannot be told apart by names."""
        if not compat.NAMED_BY_FIRST_CALL:
            return nodes
        return nodes.union(*(self._instances_of(node) for node in nodes))

    def _instances_of(self, node: int) -> set[int]:
        known = self._instances.get(node)
        if known is None:
            graph, strings = self.jaxpr, self.tables.strings
            region = around = int(graph.nodes.region[node])
            while around and strings[graph.regions.kind[around]] != "jit":
                around = int(graph.nodes.region[graph.regions.owner[around]])
            places = self.evidence.places
            found = places.instances(node, region) if around else ()
            known = self._instances[node] = {one for one in found if self._needed[one]}
        return known

    def _written_anew(self, alive: dict[int, int], last: dict[int, int]) -> dict[int, int]:
        """The equations whose work other operations do since a pass wrote them so, by where those are now."""
        gone: dict[int, list[int]] = {}
        for node, number in last.items():
            if alive.get(node, FOLDED) == FOLDED and number + 1 < len(self.snapshots):
                gone.setdefault(number, []).append(node)
        found: dict[int, int] = {}
        for number, nodes in gone.items():
            earlier, later = self.snapshots[number : number + 2]
            handed = handed_over(self._lines(number), self._lines(number + 1), nodes, self._nodes_named)
            found.update({node: self._state_of({op}) for node, op in handed.items()})
            if not any(part in later.after for part in _WRITE_ANEW):
                continue
            # What a fusion takes in is numbered anew; the first part of a name is the operation.
            made = {name.partition(".")[0] for name in instruction_names(later.text) - instruction_names(earlier.text)}
            state = self._state_of(made - ONLY_MOVE)
            named = {node for name in working_names(earlier.text) for node in self._nodes_named(name)}
            found.update({node: state for node in nodes if state != NONE and node in named})
        return {node: state for node, state in found.items() if state != NONE}

    def _state_of(self, ops: set[str]) -> int:
        """Where operations of these kinds that have no tag are in optimized HLO."""
        hlo = self.evidence.hlo
        strings, in_fusion = hlo.tables.strings, _inside_fusions(hlo)
        # What is called may have the name of its call, which does nothing itself.
        calls = self.jaxpr.owned_regions.keys()
        rows = zip(hlo.nodes.op.tolist(), self.evidence.hlo_tags, strict=True)
        states = {
            FUSED if in_fusion[node] else ALONE
            for node, (op, found) in enumerate(rows)
            if strings[op] in ops and calls >= {*found}
        }
        return NONE if not states else BOTH if len(states) > 1 else states.pop()

    @cached_property
    def _given(self) -> set[int]:
        return given_nodes(self.jaxpr)

    def _with_owners(self, nodes: Iterable[int]) -> set[int]:
        """The nodes, and those whose bodies hold them."""
        owner, region = self.jaxpr.regions.owner.tolist(), self.jaxpr.nodes.region.tolist()
        found: set[int] = set()
        for node in nodes:
            while node >= 0 and node not in found:
                found.add(node)
                node = owner[region[node]]
        return found

    # Between StableHLO and HLO.

    def _nodes_named(self, name: str) -> Found:
        known = self._nodes_of.get(name)
        if known is None:
            known = self._nodes_of[name] = self._arguments.get(name) or self.evidence.places.named(name)
        return known

    @cached_property
    def _arguments(self) -> dict[str, Found]:
        """The arguments of the program by the names that they have in the text of snapshots."""
        graph, strings = self.jaxpr, self.tables.strings
        given = {own: name for name, own in self.evidence.renamed.items()}
        found: dict[str, Found] = {}
        for node in np.flatnonzero((graph.nodes.kind == ARGUMENT) & (graph.nodes.region == 0)).tolist():
            name = strings[graph.nodes.name[node]]
            found[given.get(name, name).replace("'", r"\'")] = (node,)
        return found

    def _last_seen(self) -> dict[int, int]:
        """The last snapshot that holds each equation, or something inside it."""
        last: dict[int, int] = {}
        before: tuple[set[str], ...] = ()
        nodes: set[int] = set()
        for number in range(len(self.snapshots)):
            told = told_names(self._text(number))
            if told != before:
                before = told
                working, shaping, filled = (
                    {node for name in names for node in self._nodes_named(name)} for names in told
                )
                named = self._with_instances(working | (shaping - self._computing) | (filled & self._filling))
                nodes = self._with_owners(node for node in named if node not in self._reducers)
            last.update(dict.fromkeys(nodes, number))
        return last

    def _lines(self, number: int) -> Lines:
        lines = self._read.get(number)
        if lines is None:
            lines = self._read[number] = Lines(self._text(number))
        return lines

    def _text(self, number: int) -> str:
        """The text of a snapshot without the bodies that are called no more, which some later pass clears away: what is
        in them went with the last call, as the sum of two elements did with the second of two sums that were merged."""
        text = self._texts.get(number)
        if text is None:
            text = self._texts[number] = called_text(self.snapshots[number].text)
        return text

    def _removed(self, last: int | None, given: bool) -> tuple[int, str]:
        """What a pass did to an equation that the snapshot before it held last; `given`: it needs no argument."""
        if last is None:
            return SIMPLIFIED, ""
        passes = [snapshot.after for snapshot in self.snapshots[last + 1 :]]
        if not passes:
            return SIMPLIFIED, "after the last snapshot"
        name = passes[0]
        if given and any(part in name for part in _WRITE_ANEW):
            # Of what it was written as, nothing is left but its value.
            folding = next((later for later in passes if _FOLDING in later.replace("-", "_")), None)
            if folding is not None:
                return FOLDED, folding
        for part, kind in _PASSES:
            if part in name.replace("-", "_"):
                return kind, name
        return SIMPLIFIED, name


# Operations of StableHLO that have another name in HLO.
_HLO_NAMES = {"dot-general": "dot", "broadcast-in-dim": "broadcast"}


def _names_in_hlo(graph: Graph) -> dict[int, str]:
    """The operations of a graph in the words of HLO."""
    strings = graph.tables.strings
    names = {op: strings[op].replace("_", "-") for op in set(graph.nodes.op.tolist())}
    return {op: _HLO_NAMES.get(name, name) for op, name in names.items()}


def _operations_of(graph: Graph, tagged: Sequence[Found]) -> dict[int, set[str]]:
    names = _names_in_hlo(graph)
    found: dict[int, set[str]] = {}
    for op, equations in zip(graph.nodes.op.tolist(), tagged, strict=True):
        for equation in equations:
            found.setdefault(equation, set()).add(names[op])
    return found


def _is_op(graph: Graph, name: str) -> NDArray[np.bool_]:
    op = graph.tables.find_string(name)
    return graph.nodes.op == (-1 if op is None else op)


def _reads_one_of(graph: Graph, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The nodes that read a value of one of these."""
    source, reader = graph.operands.source, graph.operand_node
    found = np.zeros(len(graph), bool)
    found[reader[(source >= 0) & rows[graph.value_node[source]]]] = True
    return found


def _inside_fusions(graph: Graph) -> list[bool]:
    strings = graph.tables.strings
    inside = np.zeros(len(graph), bool)
    start, end = graph.region_intervals
    for region, kind in enumerate(graph.regions.kind.tolist()):
        if strings[kind] == "fusion":
            inside[start[region] : end[region]] = True
    return inside.tolist()
