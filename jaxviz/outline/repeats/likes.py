"""Which row of the first copy each row of a later copy corresponds to.

A module that has another number in each copy is called by what the names have in common, since the first copy stands
for all of them.

Rows correspond when the way down from their copies is the same: the same places of the source, each counted among its
like. So copies that differ, because one lacks a gradient, still correspond in all they share. Where one lacks all but a
single thing of what another has in a statement, as the first layer the addition of what came before, its row stands for
both: then the way is the same step by step.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column
from jaxviz.outline.calls.modules import unnumbered
from jaxviz.outline.repeats.hashes import Hashes, mixed
from jaxviz.outline.rows import Rows
from jaxviz.tables import Tables

Steps = NDArray[np.int64]


def rows_alike(rows: Rows, token: Column, steps: Steps, copy: Column) -> Column:
    """For each row the one of the first copies that it corresponds to, -1 where there is none or it is that one.

    `token` is equal for rows that may be copies of each other, `steps` has what each stands for, from the outermost in,
    with 0 for none; `copy` says which copy a row is, or -1.
    """
    count = len(rows)
    like = np.full(count, -1, np.int32)
    if not (copy > 0).any():
        return like
    # How many rows of the same token come before each within the same parent.
    key = (rows.parent.astype(np.int64) + 1) * (int(token.max()) + 2) + token + 1
    order = np.argsort(key, kind="stable")
    first = np.concatenate([[True], key[order[1:]] != key[order[:-1]]])
    place = np.arange(count)
    rank = np.empty(count, np.int64)
    rank[order] = place - np.maximum.accumulate(np.where(first, place, 0))
    rank = np.where(copy >= 0, 0, rank + 1)

    step = mixed(((token.astype(np.int64) + 1) << 32 | rank).view(np.uint64))
    earliest = _earliest(_ways(rows, step[:, None]))
    later = earliest < place
    like[later] = earliest[later]
    return _told_in_steps(rows, steps, copy, rank, like)


def _ways(rows: Rows, steps: Hashes) -> Hashes:
    """Of each row the way down to it, by the steps that it is from the row around it: 0 for none."""
    way = np.zeros(len(rows), np.uint64)
    depth = rows.depths()
    for level in range(int(depth.max()) + 1):
        here = np.flatnonzero(depth == level)
        way[here] = way[rows.parent[here]] if level else 0
        for step in steps[here].T:
            way[here] = np.where(step > 0, mixed(way[here] + step), way[here])
    return way


def _earliest(way: Hashes) -> NDArray[np.intp]:
    """For each row the first one of the same way."""
    _, example, which = np.unique(way, return_index=True, return_inverse=True)
    return example[which.reshape(-1)]


def _told_in_steps(rows: Rows, steps: Steps, copy: Column, rank: NDArray[Any], like: Column) -> Column:
    """The same with what rows of later copies that are like none correspond to step by step."""
    is_later = copy > 0
    while (inside := is_later[rows.parent[1:]] & ~is_later[1:]).any():
        is_later[1:] |= inside
    alone = np.flatnonzero(is_later & (like < 0))
    if not len(alone):
        return like
    # Of each row the innermost copy that it stands in.
    around = np.where(copy >= 0, np.arange(len(rows)), -1).tolist()
    for row, outer in enumerate(rows.parent.tolist()):
        around[row] = around[row] if around[row] >= 0 or row == 0 else around[outer]
    hashed = np.where(steps > 0, mixed(steps.view(np.uint64)), np.uint64(0))
    # One of several of its kind is told by its number, too.
    counted = np.where(rank > 1, mixed((rank + (1 << 40)).view(np.uint64)), np.uint64(0))
    earliest = _earliest(_ways(rows, np.column_stack([hashed, counted])))
    found = like.copy()
    taken = set(zip(around, like.tolist(), strict=True))
    for row in alone.tolist():
        other = int(earliest[row])
        # Of what is in pieces, one alone corresponds.
        if around[other] < around[row] and (around[row], other) not in taken:
            taken.add((around[row], other))
            found[row] = other
    # What was like one of these is like what they correspond to.
    resolved: Column = np.where((found >= 0) & (found[found] >= 0), found[found], found)
    return resolved


def names_in_common(like: Column, name: Column, tables: Tables) -> dict[int, int]:
    """By row of a first copy, what it is called where those of later copies are called otherwise but for a number.

    Both are strings of the tables. `like` is -1 for rows that are not asked for.
    """
    later = np.flatnonzero(like >= 0)
    later = later[name[later] != name[like[later]]]
    told: dict[int, set[str]] = defaultdict(set)
    for first, other in {(int(like[row]), int(name[row])) for row in later.tolist()}:
        told[first] |= {unnumbered(tables.strings[one]) for one in (name[first], other)}
    return {first: tables.string(stems.pop()) for first, stems in told.items() if len(stems) == 1}
