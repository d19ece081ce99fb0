"""The judgement of what became of every equation.

The tags that are left after each compiler pass say in which one an equation disappears, and what its readers read after
that says what took its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from jaxviz import compat
from jaxviz.graph import OPERATION, RESULT, Graph
from jaxviz.link.aftermath import handed_over, left_unread
from jaxviz.link.evidence import Evidence, is_op, names_in_hlo
from jaxviz.link.fates import (
    ALONE,
    BOTH,
    CONSEQUENCE,
    CONTEXT,
    DEAD,
    FOLDED,
    FUSED,
    IMPORTED,
    MERGED,
    MOVED,
    NONE,
    SIMPLIFIED,
    UNLOWERED,
    Fates,
)
from jaxviz.link.history import History
from jaxviz.link.links import Found
from jaxviz.link.living import living, state_of
from jaxviz.link.merged import merge_bodies, merge_calls
from jaxviz.link.repeated import does_the_same, repeated_equations
from jaxviz.link.snapshots import ONLY_MOVE, instruction_names, replacements, working_names
from jaxviz.link.standing_in import StandIns
from jaxviz.link.taken_in import with_taken_in
from jaxviz.read.bodies import PLAIN_CALLS
from jaxviz.read.garbage import without_collections

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


@without_collections
def make_fates(evidence: Evidence) -> Fates:
    """The fate of every equation; without snapshots, those that the compiler removed are simplified, nowhere said."""
    return _Judge(evidence).fates()


class _Judge:
    def __init__(self, evidence: Evidence) -> None:
        self._evidence, self._history = evidence, History(evidence)
        self._jaxpr = graph = evidence.jaxpr
        self._given = evidence.given if self._history.snapshots else frozenset()
        self._kind = np.zeros(len(graph), np.int32)
        self._where = np.zeros(len(graph), np.int32)
        self._by = np.full(len(graph), -1, np.int32)
        #: With a part of which equation others were merged.
        self._parts: dict[int, int] = {}

    def fates(self) -> Fates:
        ends = self._history.ends_of_calls
        alive = {node: state for node, state in living(self._evidence).items() if node not in ends}
        alive.update(self._written_anew(alive))
        self._judge(alive)
        self._replace()
        self._merge_written_anew()
        merged = self._kind == MERGED
        merge_calls(self._jaxpr, merged, self._by)
        merge_bodies(self._jaxpr, merged, self._by)
        if compat.NAMED_BY_FIRST_CALL:
            self._merge_repeated()
        self._credit_work(alive)
        self._keep()
        return Fates(self._kind, self._where, self._by, self._told_as_parts())

    def _judge(self, alive: dict[int, int]) -> None:
        """What became of each, and in which pass, as its own name tells it."""
        known, last, kind, where = self._evidence, self._history.last_seen, self._kind, self._where
        lowered = known.with_owners(set(chain.from_iterable(known.stablehlo)))
        calls = np.logical_or.reduce([is_op(self._jaxpr, op) for op in PLAIN_CALLS])
        context = known.with_owners(node for node, state in alive.items() if state != FOLDED)
        for node in np.flatnonzero(self._jaxpr.nodes.kind == OPERATION).tolist():
            state = alive.get(node, NONE)
            if node in known.reducers:
                # It stands before what it holds.
                owner = known.reducers[node]
                kind[node], where[node] = kind[owner], where[owner]
            elif state not in (NONE, FOLDED):
                # A number in a call may have the name of the call, which does nothing itself.
                kind[node] = CONTEXT if calls[node] and node not in known.linked else state
            elif not known.needed[node]:
                kind[node] = DEAD
            elif node in context:
                kind[node] = CONTEXT
            elif node not in lowered:
                # What only goes round a loop is not lowered either.
                kind[node] = UNLOWERED if known.wanted[node] else DEAD
            elif node not in last and (state == FOLDED or node in self._given):
                kind[node] = FOLDED
            elif self._history.snapshots and node not in last:
                kind[node] = IMPORTED if known.wanted[node] else DEAD
            elif not known.wanted[node]:
                # Some compilers see that what goes round a loop is read by nothing else, but that was so before.
                kind[node] = DEAD
            else:
                kind[node], pass_name = self._removed(last.get(node), node in self._given)
                where[node] = self._jaxpr.tables.string(pass_name)

    def _replace(self) -> None:
        """What took the place of those that a pass removed; of those that only went with others, that they did so."""
        vanished: dict[int, list[int]] = {}
        for node in np.flatnonzero(self._where).tolist():
            number = self._history.last_seen.get(node, -1)
            if node not in self._evidence.reducers and 0 <= number < len(self._history.snapshots) - 1:
                vanished.setdefault(number, []).append(node)
        stand_ins = StandIns(self._jaxpr)
        kind, by, given = self._kind, self._by, self._given
        for number, nodes in vanished.items():
            earlier, later = self._history.around(number)
            merged = kind[nodes[0]] == MERGED
            named = self._evidence.naming(nodes)
            instead, parts = replacements(earlier, later, nodes, named, merged=merged)
            if merged:
                self._parts.update(parts)
            for node, other in instead.items():
                # Of what is merged, both are the same operation of the same, and not one a part of the other.
                equal = (node in given) == (other in given) and stand_ins.are_alike(node, other)
                if equal if merged else stand_ins.may(node, other):
                    by[node] = other
            gone = [node for node in nodes if by[node] < 0]
            if merged:
                # Of numbers that are equal one is left, which may have the name of what reads it.
                kind[[node for node in gone if node in given]] = FOLDED
            elif kind[nodes[0]] == SIMPLIFIED:
                unread = set(left_unread(earlier, later, gone, named))
                kind[[*unread]] = CONSEQUENCE
                # Of what needs no argument, its value is all that can stand in its place.
                kind[[node for node in gone if node in given and node not in unread]] = FOLDED

    def _told_as_parts(self) -> frozenset[int]:
        """Tell of what was merged with no whole equation of which it is a part now; and which these are.

        Where both are one operation, as a square in a cube, they would be taken for equal.
        """
        kind, by, op = self._kind, self._by, self._jaxpr.nodes.op
        gone = {node: other for node, other in self._parts.items() if kind[node] == MERGED and by[node] < 0}
        found = {node: other for node, other in gone.items() if op[node] != op[other]}
        for node, other in found.items():
            by[node] = other
        return frozenset(found)

    def _merge_written_anew(self) -> None:
        """What a pass wrote without a name, and is nowhere, was merged later with what another like it became."""
        kind, graph, strings = self._kind, self._jaxpr, self._jaxpr.tables.strings
        merging = [number for number, one in enumerate(self._history.snapshots) if "cse" in one.after]
        for node in np.flatnonzero((kind == SIMPLIFIED) & (self._by < 0)).tolist():
            seen = self._history.last_seen.get(node, -1)
            later = next((number for number in merging if number > seen + 1), None)
            if later is None or not any(part in strings[self._where[node]] for part in _WRITE_ANEW):
                continue
            alike = np.flatnonzero((graph.nodes.op == graph.nodes.op[node]) & np.isin(kind, (ALONE, FUSED, BOTH)))
            twin = next((other for other in alike.tolist() if does_the_same(graph, node, other)), -1)
            if twin >= 0:
                kind[node], self._by[node] = MERGED, twin
                self._where[node] = graph.tables.string(self._history.snapshots[later].after)

    def _merge_repeated(self) -> None:
        """What repeats an earlier call was merged with that, in the first pass that merges."""
        merging = next((one.after for one in self._history.snapshots if "cse" in one.after), None)
        if merging is None:
            return
        instances = self._evidence.instances_of
        alive = {*np.flatnonzero(np.isin(self._kind, (ALONE, FUSED, BOTH))).tolist()}
        gone = np.flatnonzero(np.isin(self._kind, (SIMPLIFIED, CONSEQUENCE, MERGED))).tolist()
        nodes = alive.union(node for node in gone if not alive.isdisjoint(instances(node)))
        for node, other in repeated_equations(self._jaxpr, nodes, instances).items():
            self._kind[node], self._by[node] = MERGED, other
            self._where[node] = self._jaxpr.tables.string(merging)

    def _credit_work(self, alive: dict[int, int]) -> None:
        """Where a product and the transpose that reads it become one product, XLA keeps the tag of the transpose.

        What is left does the work of the product: it is the one that lives on, and the other was moved into it.
        """
        kind, where, by = self._kind, self._where, self._by
        replaced = np.flatnonzero(by >= 0).tolist()
        lowered, left = self._operations if replaced else ({}, {})
        for node in replaced:
            other = int(by[node])
            mine, theirs, now = lowered.get(node, set()), lowered.get(other, set()), left.get(other, set())
            # Of what only moved values, something may be left as well.
            if other in alive and set() < theirs <= ONLY_MOVE and (mine & now) - ONLY_MOVE:
                kind[node], kind[other] = kind[other], MOVED
                where[other], where[node] = where[node], 0
                by[other], by[node] = node, -1
        # Where no snapshot says what replaced what, the work that is done under the tag of what moves values does.
        tags = self._evidence.hlo_tags
        for told, known in zip(tags, with_taken_in(self._jaxpr, self._evidence.hlo, tags), strict=True):
            node, other = known if known != told else (-1, -1)
            if node >= 0 and kind[node] == SIMPLIFIED and kind[other] in (ALONE, FUSED, BOTH):
                kind[node], kind[other] = kind[other], MOVED
                by[other], by[node] = node, -1

    def _keep(self) -> None:
        """Of what only handed on what it read, and is gone as nobody needs that step, what holds that value; that is
        more certain than what its readers read instead."""
        kind, by = self._kind, self._by
        lives = np.isin(kind, (ALONE, FUSED, BOTH, CONTEXT))
        self._keep_needed(lives)
        gone = np.isin(kind, (SIMPLIFIED, MOVED, IMPORTED, UNLOWERED))
        stand_ins = StandIns(self._jaxpr)
        for node in np.flatnonzero(gone).tolist():
            kept = stand_ins.kept_by(node, lambda maker: maker if lives[maker] else int(by[maker]))
            if kept >= 0:
                by[node] = kept
        self._clear_bodies()

    def _clear_bodies(self) -> None:
        """What was in a loop or branch to the end, and that went with what was simplified, went with it."""
        kind, graph, last = self._kind, self._jaxpr, self._history.last_seen
        owner = graph.regions.owner[graph.nodes.region].tolist()
        end: dict[int, int] = {}
        for node, seen in last.items():
            end[owner[node]] = max(seen, end.get(owner[node], -1))
        self._clear_holders()
        # What holds others stands before them.
        for node in np.flatnonzero((kind == SIMPLIFIED) & (self._by < 0)).tolist():
            holder = owner[node]
            if holder >= 0 and kind[holder] == CONSEQUENCE and last.get(node) == end.get(holder):
                kind[node] = CONSEQUENCE

    def _clear_holders(self) -> None:
        """A loop or call that only what went with others read went with these."""
        kind, graph = self._kind, self._jaxpr
        owner = graph.regions.owner[graph.nodes.region].tolist()
        holders = [node for node in graph.owned_regions if kind[node] == SIMPLIFIED and self._by[node] < 0]

        def readers(node: int) -> Iterator[int]:
            for value in range(*graph.first_value[node : node + 2].tolist()):
                for reader in graph.readers(value):
                    yield owner[reader] if graph.nodes.kind[reader] == RESULT else reader

        # Calls stand before what is in them, and before what reads them.
        for _ in range(2):
            for node in holders:
                read_by = {int(kind[reader]) if reader >= 0 else ALONE for reader in readers(node)}
                if read_by == {CONSEQUENCE}:
                    kind[node] = CONSEQUENCE

    def _keep_needed(self, lives: NDArray[np.bool_]) -> None:
        """What living equations read did not go with what was simplified: it was itself, or is known."""
        for node in np.flatnonzero(self._kind == CONSEQUENCE).tolist():
            if self._is_read_by_one_of(node, lives):
                self._kind[node] = FOLDED if node in self._given else SIMPLIFIED

    def _is_read_by_one_of(self, node: int, nodes: NDArray[np.bool_]) -> bool:
        """Apart from those that hold others: they may need less of what they read than before."""
        first, end = self._jaxpr.first_value[node : node + 2].tolist()
        readers = (reader for value in range(first, end) for reader in self._jaxpr.readers(value))
        return any(nodes[reader] and reader not in self._jaxpr.owned_regions for reader in readers)

    @cached_property
    def _operations(self) -> tuple[dict[int, set[str]], dict[int, set[str]]]:
        """The operations of each equation in StableHLO and in optimized HLO, in the words of HLO."""
        evidence = self._evidence
        lowered = _operations_of(evidence.stablehlo_graph, evidence.stablehlo)
        left = _operations_of(evidence.hlo, evidence.hlo_tags)
        return lowered, left

    def _written_anew(self, alive: dict[int, int]) -> dict[int, int]:
        """The equations whose work other operations do since a pass wrote them so, by where those are now.

        Of what the compiler merged or cleared away later, nothing is linked to the equation.
        """
        linked = self._evidence.linked
        gone: dict[int, list[int]] = {}
        for node, number in self._history.last_seen.items():
            if node in linked and alive.get(node, FOLDED) == FOLDED and number + 1 < len(self._history.snapshots):
                gone.setdefault(number, []).append(node)
        found: dict[int, int] = {}
        for number, nodes in gone.items():
            handed = handed_over(*self._history.around(number), nodes, self._evidence.nodes_named)
            found.update({node: state_of(self._evidence, {op}) for node, op in handed.items()})
            earlier, later = self._history.snapshots[number : number + 2]
            if not any(part in later.after for part in _WRITE_ANEW):
                continue
            # What a fusion takes in is numbered anew; the first part of a name is the operation.
            made = {name.partition(".")[0] for name in instruction_names(later.text) - instruction_names(earlier.text)}
            state = state_of(self._evidence, made - ONLY_MOVE)
            named = {node for name in working_names(earlier.text) for node in self._evidence.nodes_named(name)}
            found.update({node: state for node in nodes if state != NONE and node in named})
        return {node: state for node, state in found.items() if state != NONE}

    def _removed(self, last: int | None, given: bool) -> tuple[int, str]:
        """What a pass did to an equation that the snapshot before it held last; `given`: it needs no argument."""
        if last is None:
            return SIMPLIFIED, ""
        passes = [snapshot.after for snapshot in self._history.snapshots[last + 1 :]]
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


def _operations_of(graph: Graph, tagged: Sequence[Found]) -> dict[int, set[str]]:
    names = names_in_hlo(graph)
    found: dict[int, set[str]] = {}
    for op, equations in zip(graph.nodes.op.tolist(), tagged, strict=True):
        for equation in equations:
            found.setdefault(equation, set()).add(names[op])
    return found
