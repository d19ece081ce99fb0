"""Twins: what is computed forward, and what undoes it in the backward phase after it.

Twins came from the same place of the source. Backward runs in the opposite order, so where a place occurs several
times, the first forward belongs to the last backward. Of stacks the first copies are twins, because they are shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np

from jaxviz.graph import Column


class Twins:
    """Ties the rows of phases. `place` is equal for rows of the same place, None for what has none."""

    def __init__(
        self, children: Sequence[Sequence[int]], place: Sequence[Hashable], transparent: Sequence[bool], copy: Column
    ) -> None:
        """`transparent` rows may be there on one side only: statements and calls, which may be part of another row."""
        self._children = children
        self._place = place
        self._transparent = transparent
        self._copy = copy.tolist()
        self.twin = np.full(len(children), -1, np.int32)

    def tie(self, forward: int, backward: int) -> None:
        """Make two rows twins, and all inside them that belongs together."""
        pairs = [(forward, backward)]
        while pairs:
            one, other = pairs.pop()
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
            opened = self._opened(forward), self._opened(left, backward=True)
            if opened == (forward, left):
                return pairs
            forward, backward = opened

    def _key(self, row: int) -> Hashable:
        # Copies correspond by being the first, whatever their number in the program.
        return ("copy",) if self._copy[row] == 0 else self._place[row]

    def _opened(self, rows: list[int], backward: bool = False) -> list[int]:
        """Rows with what is inside the transparent ones in place of them."""
        found: list[int] = []
        for row in rows:
            if self._transparent[row]:
                found += self._shown(row)[:: -1 if backward else 1]
            else:
                found.append(row)
        return found
