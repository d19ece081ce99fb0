"""Twins: what is computed forward, and what undoes it in the backward phase after it.

Twins came from the same place of the source. Backward runs in the opposite order, so where a place occurs several
times, the first forward belongs to the last backward. Of stacks the first copies are twins, because they are shown.
Stacks may be called otherwise backward, where less is known of what is in them: those that are the only ones of so many
copies belong together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from jaxviz.graph import Column
from jaxviz.outline.chains import Label
from jaxviz.outline.draft import Draft
from jaxviz.outline.elements import BODY, CALL, MODULE, PHASE, RECOMPUTED, STATEMENT, is_kind
from jaxviz.outline.phases.phases import BACKWARD_NAMES, FORWARD_NAMES


def twins_of(draft: Draft, labels: Sequence[Label], name: Column, like: Column, common: Iterable[int] = ()) -> Column:
    """The twin of each row, or -1: those of each forward phase and of the backward phase that comes next.

    `like` are the rows of first copies that others correspond to, `common` the modules that bear the name that they
    have in common with those of other copies.
    """
    phases = np.flatnonzero(draft.kind == PHASE).tolist()
    if not phases:
        return np.full(len(draft), -1, np.int32)
    label, parents = draft.label.tolist(), draft.rows.parent.tolist()
    children: list[list[int]] = [[] for _ in range(len(draft))]
    for row, parent in enumerate(parents[1:], 1):
        children[parent].append(row)
    # What a first copy lacks is shown in it, too.
    around = like[draft.rows.parent[1:]]
    for row in (np.flatnonzero((like[1:] < 0) & (around >= 0)) + 1).tolist():
        children[around[row - 1]].append(row)
    places = [_place(one) for one in labels]
    place: list[Hashable] = [places[number] if number >= 0 else None for number in label]
    for row in np.flatnonzero(draft.added).tolist():
        # The first row in a stack is another one where the order is the other way round.
        place[row] = ("stack", int(name[row])) if draft.count[row] > 1 else None
    for row in common:
        place[row] = MODULE, int(name[row])
    opens = np.where(draft.kind == STATEMENT, 1, np.where(is_kind(draft.kind, (CALL, PHASE)), 2, 0))
    # Of a turn that is one call backward, the rest of its statement does nothing there.
    stacks = np.flatnonzero((draft.count > 1) & (draft.added == 0)).tolist()
    turns = {row: (labels[label[row]].token[:1], int(draft.count[row])) for row in stacks if label[row] >= 0}
    twins = Twins(children, place, turns, opens.tolist(), draft.count, draft.copy)
    waiting: dict[Hashable, int] = {}
    for row in phases:
        # What undoes an inner gradient is the twin of that.
        if twins.twin[row] >= 0:
            continue
        phase, taking = labels[label[row]].name, labels[label[row]].frames[:1]
        if phase in FORWARD_NAMES:
            waiting[parents[row]] = waiting[parents[row], taking] = row
        elif phase in BACKWARD_NAMES:
            # That of the same gradient, where others were begun meanwhile.
            latest = waiting.pop(parents[row], -1)
            own = waiting.pop((parents[row], taking), latest)
            if own >= 0:
                twins.tie(own, row)
    return twins.twin


def _place(label: Label) -> Hashable:
    """Equal for a row forward and its part of the backward phase."""
    if label.kind in (MODULE, RECOMPUTED, BODY):
        return label.kind, label.name
    if label.kind == STATEMENT:
        return label.token[0]
    if label.kind == PHASE:
        return label.name, label.frames[:1]
    return label.frames[:1] or label.token


class Twins:
    """Ties the rows of phases. `place` is equal for rows of the same place, None for what has none."""

    def __init__(
        self,
        children: Sequence[Sequence[int]],
        place: Sequence[Hashable],
        turns: Mapping[int, Hashable],
        opens: Sequence[int],
        count: Column,
        copy: Column,
    ) -> None:
        """Rows that may be there on one side only are opened to look inside: statements first (1), then calls (2).

        `turns` are equal for stacks of as many turns of one statement.
        """
        self._children = children
        self._place = place
        self._turns = turns
        self._opens = opens
        self._count = count.tolist()
        self._copy = copy.tolist()
        self.twin = np.full(len(children), -1, np.int32)

    def tie(self, forward: int, backward: int) -> None:
        """Make two rows twins, and all inside them that belongs together."""
        pairs = [(forward, backward)]
        while pairs:
            one, other = pairs.pop()
            # The phases of an inner gradient were tied to each other, and are now to what undoes them.
            for before in (self.twin[one], self.twin[other]):
                self.twin[before if before >= 0 else one] = -1
            self.twin[one], self.twin[other] = other, one
            pairs += self._match(self._shown(one), self._shown(other)[::-1])

    def _shown(self, row: int) -> list[int]:
        """What is inside a row; of a stack, what is inside its first copy."""
        inside = self._children[row]
        if inside and self._copy[inside[0]] == 0:
            first = inside[0]
            return [first] if self._place[first] is not None else list(self._children[first])
        return list(inside)

    def _match(self, forward: list[int], backward: list[int]) -> list[tuple[int, int]]:
        pairs: list[tuple[int, int]] = []
        while True:
            waiting: dict[Hashable, list[int]] = defaultdict(list)
            for row in reversed(forward):
                waiting[self._key(row)].append(row)
            left: list[int] = []
            for row in backward:
                same = waiting.get(self._key(row))
                if same:
                    pairs.append((same.pop(), row))
                else:
                    left.append(row)
            rest = {row for rows in waiting.values() for row in rows}
            forward = [row for row in forward if row in rest]
            same_turns = self._same_turns(forward, left)
            pairs += same_turns
            tied = {row for pair in same_turns for row in pair}
            forward, left = ([row for row in rows if row not in tied] for rows in (forward, left))
            for level in (1, 2):
                opened = self._opened(forward, level), self._opened(left, level, backward=True)
                if opened != (forward, left):
                    break
            else:
                return pairs + self._stacks(forward, left)
            forward, backward = opened

    def _same_turns(self, forward: list[int], backward: list[int]) -> list[tuple[int, int]]:
        """The stacks of as many turns of one statement, though all of a turn is one call on one side."""
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for row in reversed(forward):
            if row in self._turns:
                waiting[self._turns[row]].append(row)
        left = ((waiting.get(self._turns[row]), row) for row in backward if row in self._turns)
        return [(same.pop(), row) for same, row in left if same]

    def _stacks(self, forward: list[int], backward: list[int]) -> list[tuple[int, int]]:
        """Of rows that nothing else ties, the stacks that are the only ones of as many copies on their side."""
        one, other = (
            {self._count[row]: row for row in rows if self._is_only_stack(row, rows)} for rows in (forward, backward)
        )
        return [(row, other[count]) for count, row in one.items() if count in other]

    def _is_only_stack(self, row: int, rows: list[int]) -> bool:
        return self._count[row] > 1 and [self._count[other] for other in rows].count(self._count[row]) == 1

    def _key(self, row: int) -> Hashable:
        # Copies correspond by being the first, whatever their number in the program.
        return ("copy",) if self._copy[row] == 0 else self._place[row]

    def _opened(self, rows: list[int], level: int, backward: bool = False) -> list[int]:
        """Rows with what is inside those that open at a level in place of them."""
        found: list[int] = []
        for row in rows:
            if self._opens[row] == level:
                found += self._shown(row)[:: -1 if backward else 1]
            else:
                found.append(row)
        return found
