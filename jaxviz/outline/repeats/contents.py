"""What rows hold, and whether all that one of them holds stands in another: then this can be shown for both."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column
from jaxviz.outline.repeats.hashes import Hashes


@dataclass(frozen=True, eq=False)
class Contents:
    """The items of rows, which are rows and bare equations: those of row n are from `start[n]` to `start[n + 1]`.

    `item_hash` are equal for items that hold the same, `item_place` for those that begin at the same place; `item_row`
    is the row that an item is or -1. `row_hash` are equal for rows that are the same steps of the program, whatever
    they hold, `row_begin` for those that begin with the same step. `folded` marks rows in which repeats were found,
    `closed` those that are one box.
    """

    start: Column
    item_hash: Hashes
    item_place: Hashes
    item_row: Column
    row_hash: Hashes
    row_begin: Column
    folded: NDArray[np.bool_]
    closed: NDArray[np.bool_]

    def lacks(self, row: int, other: int) -> bool:
        """Whether a row holds at least half of the things of another, in the same order, and nothing else."""
        part, whole = self._items(row), self._items(other)
        return 2 * (part.stop - part.start) >= whole.stop - whole.start and self.stands_in(part, whole)

    def stands_in(self, part: slice, whole: slice, is_rest: bool = False) -> bool:
        """Whether all of some items, and what is in them, stand among others in the same order.

        Of what `is_rest`, as the last turn backward, one thing may be left of a statement, and stand for all of it.
        """
        at: int = whole.start
        for item in range(part.start, part.stop):
            while at < whole.stop and not self._is_in(item, at, is_rest):
                at += 1
            if at == whole.stop:
                return False
            at += 1
        return True

    def _is_in(self, item: int, other: int, is_rest: bool) -> bool:
        """Whether an item came from the same place as another, and holds nothing that this has not."""
        if self.item_hash[item] == self.item_hash[other]:
            return True
        row, holder = int(self.item_row[item]), int(self.item_row[other])
        if min(row, holder) < 0:
            return False
        if self.row_hash[row] != self.row_hash[holder]:
            if self.closed[row] and self.closed[holder]:
                # Of a box, as a norm whose input has no gradient, one function may be left, and no row around it.
                return bool(self.row_begin[row] == self.row_begin[holder])
            return is_rest and bool(self.item_place[item] == self.item_place[other])
        # What is told as turns in one of them is not found where it stands plainly in the other.
        alike = bool(self.folded[row] == self.folded[holder])
        return alike and self.stands_in(self._items(row), self._items(holder), is_rest)

    def _items(self, row: int) -> slice:
        return slice(int(self.start[row]), int(self.start[row + 1]))
