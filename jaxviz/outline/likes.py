"""Which row of the first copy each row of a later copy corresponds to.

A module that has another number in each copy is called by what the names have in common, since the first copy stands
for all of them.

Rows correspond when the way down from their copies is the same: the same places of the source, each counted among its
like. So copies that differ, because one lacks a gradient, still correspond in all they share.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from jaxviz.graph import Column
from jaxviz.outline.hashes import mixed
from jaxviz.outline.modules import unnumbered
from jaxviz.outline.rows import Rows
from jaxviz.tables import Tables


def rows_alike(rows: Rows, token: Column, copy: Column) -> Column:
    """For each row the one of the first copies that it corresponds to, -1 where there is none or it is that one.

    `token` is equal for rows that may be copies of each other, `copy` says which copy a row is, or -1.
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
    step = mixed(((token.astype(np.int64) + 1) << 32 | np.where(copy >= 0, 0, rank + 1)).view(np.uint64))

    way = np.zeros(count, np.uint64)
    depth = rows.depths()
    for level in range(int(depth.max()) + 1):
        here = np.flatnonzero(depth == level)
        around = way[rows.parent[here]] if level else np.zeros(1, np.uint64)
        way[here] = mixed(around + step[here])
    _, example, which = np.unique(way, return_index=True, return_inverse=True)
    earliest = example[which.reshape(-1)]
    later = earliest < place
    like[later] = earliest[later]
    return like


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
