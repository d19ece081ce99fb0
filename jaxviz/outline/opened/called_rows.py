"""Which function an opened program says that a row of its outline is, by what the nodes in it are in."""

from __future__ import annotations

import functools
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from jaxviz.outline.opened.called import Called, Functions
from jaxviz.outline.rows import Rows


class CalledRows:
    """The functions that what is drawn in each row of an outline is in; `drawn` are nodes in order."""

    def __init__(self, called: Called, rows: Rows, drawn: NDArray[np.intp]) -> None:
        self._functions = called.functions
        self._parent = rows.parent.tolist()
        self._first, self._end = (np.searchsorted(drawn, one).tolist() for one in (rows.first, rows.end))
        self._of_drawn = called.row[drawn].tolist()
        # Many rows stand in one.
        self._known: dict[int, Functions] = {}

    def name(self, row: int) -> str:
        """The function that all of a row is in, and not all of what is around it; empty if there is none.

        Of what the compiler made nothing is said; of where that is most of it, nothing is known.
        """
        inside = self._inside(row)
        if 4 * inside.count(-1) > len(inside):
            return ""
        shared, depth = self._shared(row), self._depth_around(row)
        return shared[depth] if len(shared) > depth else ""

    def mostly(self, row: int) -> tuple[str, int]:
        """The same of at least half of a row, and how many are not in it."""
        inside, depth = self._inside(row), self._depth_around(row)
        found = Counter[str]()
        for number, count in sorted(Counter(inside).items()):
            if number >= 0 and len(self._functions[number]) > depth:
                found[self._functions[number][depth]] += count
        name, most = next(iter(found.most_common(1)), ("", 0))
        return (name, len(inside) - most) if 2 * most >= len(inside) else ("", 0)

    def _inside(self, row: int) -> list[int]:
        return self._of_drawn[self._first[row] : self._end[row]]

    def _depth_around(self, row: int) -> int:
        around = self._parent[row]
        return len(self._shared(around)) if around >= 0 else 0

    def _shared(self, row: int) -> Functions:
        known = self._known.get(row)
        if known is None:
            found = [self._functions[number] for number in set(self._inside(row)) if number >= 0]
            known = self._known[row] = functools.reduce(_common, found) if found else ()
        return known


def _common(one: Functions, other: Functions) -> Functions:
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return one[:count]
