"""Turns of a loop of Python that run into each other, taken apart.

A row is an interval of the program: where the first layer has no addition behind its call, what the second one begins
with follows right on it, and both are one row. They are told apart by the later layers, whose rows hold the same once.
So are calls that follow each other on the way back, where the last of them lacks what stands between the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from jaxviz.graph import Column
from jaxviz.outline.elements import CALL, STATEMENT, Paths, is_kind
from jaxviz.outline.rows import Rows
from jaxviz.outline.written.expressions import Expressions


def turns_apart(rows: Rows, paths: Paths, expressions: Expressions) -> Rows:
    """The rows, each statement or call cut where it holds several times what others of the same place in the same row
    hold."""
    kind = paths.kinds()[rows.path]
    cuttable = np.flatnonzero(is_kind(kind, (STATEMENT, CALL)))
    place = rows.parent[cuttable].astype(np.int64) << 32 | rows.path[cuttable]
    _, first, which = np.unique(place, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    # One that holds several times what another one does has more rows in it.
    inside = rows.after()[cuttable] - cuttable
    differs = np.zeros(len(first), np.bool_)
    differs[which[inside != inside[first[which]]]] = True
    several = differs[which]
    if not several.any():
        return rows
    beside = defaultdict[int, list[int]](list)
    for row, group in zip(cuttable[several].tolist(), which[several].tolist(), strict=True):
        beside[group].append(row)
    turns = _Turns(rows, kind, paths, expressions)
    cuts = [cut for same in beside.values() for cut in turns.cuts(same)]
    return _cut(rows, cuts) if cuts else rows


class _Turns:
    """Finds rows that hold several turns, and where the later ones begin."""

    def __init__(self, rows: Rows, kind: Column, paths: Paths, expressions: Expressions) -> None:
        self._rows, self._kind, self._paths, self._expressions = rows, kind, paths, expressions
        self._order: Column = np.argsort(rows.parent, kind="stable").astype(np.int32)
        self._start = np.searchsorted(rows.parent[self._order], np.arange(len(rows) + 1))

    def cuts(self, same: Sequence[int]) -> list[tuple[int, Column]]:
        """Of statements or calls of one place, the rows in them to cut and the nodes at which the later turns begin."""
        levels: list[tuple[int, ...]] = [(row,) for row in same]
        while True:
            inside = [self._inside(level[-1]) for level in levels]
            told = {tuple(self._rows.path[one].tolist()) for one in inside}
            if len(told) != 1 or len(inside[0]) != 1:
                break
            levels = [(*level, int(one[0])) for level, one in zip(levels, inside, strict=True)]
        once = min(told, key=len)
        if len(told) < 2 or len(once) < 2 or self._may_repeat(levels[0][-1], once):
            return []
        found = []
        for level, one in zip(levels, inside, strict=True):
            turns, rest = divmod(len(one), len(once))
            if turns > 1 and not rest and tuple(self._rows.path[one].tolist()) == once * turns:
                begin = self._rows.first[one[len(once) :: len(once)]]
                found += [(row, begin) for row in level]
        return found

    def _inside(self, row: int) -> Column:
        return self._order[self._start[row] : self._start[row + 1]]

    def _may_repeat(self, row: int, inside: Sequence[int]) -> bool:
        """Whether what is in a row, by its paths, may stand in it several times in one turn: where a library calls it,
        or where it goes round in the function that is called, or in a comprehension of the statement."""
        statement = self._kind[row] == STATEMENT
        begin = self._paths.element(int(self._rows.path[row])).key[1:3] if statement else (0, 0)
        if not statement and self._kind[row] != CALL:
            return True
        for path in inside:
            frame = self._paths.element(path).frame
            if frame < 0 or any(loop[:2] >= begin for loop in self._expressions.at(frame).loop_places):
                return True
        return False


def _cut(rows: Rows, cuts: Sequence[tuple[int, Column]]) -> Rows:
    """The rows with some of them cut before the nodes that are given."""
    count = len(rows)
    cut = np.concatenate([np.full(len(begin), row) for row, begin in cuts])
    path = np.concatenate([rows.path, rows.path[cut]])
    first = np.concatenate([rows.first, *(begin for _, begin in cuts)])
    end = np.concatenate([rows.end, rows.end[cut]])
    for row, begin in cuts:
        pieces = np.array([row, *(count + np.flatnonzero(cut == row))])
        end[pieces[:-1]] = begin
    depth = np.concatenate([rows.depths(), rows.depths()[cut]])
    order = np.lexsort((depth, first))
    depth = depth[order]
    parent = np.full(len(order), -1, np.int32)
    latest: list[int] = []
    for row, level in enumerate(depth.tolist()):
        del latest[level:]
        parent[row] = latest[-1] if latest else -1
        latest.append(row)
    return Rows(parent, path[order], first[order].astype(np.int32), end[order].astype(np.int32))
