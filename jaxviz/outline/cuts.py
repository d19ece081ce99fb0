"""Where there is no structure left, what is too long is cut in parts, where the fewest values cross.

A row of more than `MOST` things in it gets at most eight parts, and so does a part. Where much of it repeats, what does
is no part of anything more, and what stands between is cut. Later copies stay whole, since only the first is looked
into.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column, Graph
from jaxviz.outline.draft import Draft

#: How many things may stand in a row before it is cut.
MOST = 14

_PARTS = 8

# So few things are no part by themselves.
_LEAST = 4

# So many of the longest stacks in a row are seen in it.
_STACKS = 4


def with_parts(graph: Graph, draft: Draft, drawn: NDArray[np.bool_], kind: int) -> Draft:
    """The draft with parts put into rows that are too long; `drawn` marks nodes that are boxes."""
    bare = np.flatnonzero(drawn)
    around: list[int] = []
    first: list[int] = []
    end: list[int] = []
    for row, starts, ends in long_rows(draft, bare):
        borders = _around_stacks(draft, bare, row, starts)
        _cut(graph, starts, ends, borders, row, around, first, end)
    if not around:
        return draft
    return draft.with_rows(np.array(around), np.array(first, np.int32), np.array(end, np.int32), kind)


def long_rows(draft: Draft, bare: NDArray[np.intp]) -> Iterator[tuple[int, Column, Column]]:
    """The rows that are too long, with where the things in each begin and end; `bare` are the nodes that are boxes."""
    leaf = draft.rows.innermost(bare)
    count = len(draft)
    sizes = np.bincount(draft.rows.parent[1:], minlength=count) + np.bincount(leaf, minlength=count)
    long = sizes > MOST
    # A stack shows one copy, and inside a later copy nothing is looked at.
    long[draft.count > 1] = False
    if long.any():
        later = np.flatnonzero(draft.copy > 0)
        # Rows in a later copy: those that begin where more copies have begun than have ended.
        depth = np.zeros(count + 1, np.int32)
        np.add.at(depth, later, 1)
        np.add.at(depth, draft.rows.after()[later], -1)
        long &= np.cumsum(depth)[:count] == 0
    for row in np.flatnonzero(long).tolist():
        children = np.flatnonzero(draft.rows.parent == row)
        own = bare[leaf == row].astype(np.int32)
        starts = np.concatenate([draft.rows.first[children], own])
        ends = np.concatenate([draft.rows.end[children], own + 1])
        order = np.argsort(starts)
        yield row, starts[order], ends[order]


def _around_stacks(draft: Draft, bare: NDArray[np.intp], row: int, starts: Column) -> list[int]:
    """Where to cut the things of a row so that what makes most of it by repeating stands alone, if anything does."""
    rows = draft.rows
    stacks = np.flatnonzero((rows.parent == row) & (draft.count > 1))
    sizes = np.diff(np.searchsorted(bare, [rows.first[stacks], rows.end[stacks]]), axis=0)[0]
    # By what is in one of the copies: what is short repeats everywhere.
    is_large = sizes > MOST * draft.count[stacks]
    longest = stacks[is_large][np.argsort(-sizes[is_large], kind="stable")[:_STACKS]]
    at = np.searchsorted(starts, rows.first[longest])
    return sorted({0, len(starts), *at.tolist(), *(at + 1).tolist()}) if len(at) else []


def _cut(
    graph: Graph,
    starts: Column,
    ends: Column,
    borders: list[int],
    row: int,
    around: list[int],
    first: list[int],
    end: list[int],
) -> None:
    """Cut a sequence of things at the borders that are known, else where the fewest values cross; add what becomes
    parts, and cut them again."""
    least = _LEAST if borders else 2
    for low, high in itertools.pairwise(borders or _borders(_crossing(graph, starts, int(ends[-1])))):
        if high - low < least:
            continue
        around.append(row)
        first.append(int(starts[low]))
        end.append(int(ends[high - 1]))
        if high - low > MOST:
            _cut(graph, starts[low:high], ends[low:high], [], -1 - len(around), around, first, end)


def _crossing(graph: Graph, starts: Column, end: int) -> Column:
    """Before each thing of a sequence, how many values pass from earlier things to this or later ones."""
    low, high = graph.first_operand[starts[0]], graph.first_operand[end]
    source = graph.operands.source[low:high]
    reader = graph.operand_node[low:high]
    first_value, last_value = graph.first_value[starts[0]], graph.first_value[end]
    inside = (source >= first_value) & (source < last_value)
    value = source[inside] - first_value
    used = np.zeros(int(last_value - first_value), np.int64)
    np.maximum.at(used, value, np.searchsorted(starts, reader[inside], side="right") - 1)
    made = np.searchsorted(starts, graph.value_node[first_value:last_value], side="right") - 1
    crosses = used > made
    steps = np.bincount(made[crosses] + 1, minlength=len(starts) + 1) - np.bincount(
        used[crosses] + 1, minlength=len(starts) + 1
    )
    return np.cumsum(steps)[: len(starts)].astype(np.int32)


def _borders(crossing: Column) -> list[int]:
    """Where to cut: there where the fewest values cross, then where the next fewest do, as far as parts are not too
    short. By what stands there rather than by how long all of it is, so that a line more moves no other border."""
    count, least = len(crossing), _LEAST
    while count > _PARTS * least:
        least += least // 2
    left, none = crossing.copy(), np.iinfo(crossing.dtype).max
    left[:least] = left[count - least + 1 :] = none
    borders = [0, count]
    while (place := int(np.argmin(left))) and left[place] < none:
        borders.append(place)
        left[max(0, place - least + 1) : place + least] = none
    return sorted(borders)
