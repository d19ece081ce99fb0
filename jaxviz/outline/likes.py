"""Which row of the first copy each row of a later copy corresponds to.

Rows correspond when the way down from their copies is the same: the same places of the source, each counted among its
like. So copies that differ, because one lacks a gradient, still correspond in all they share.
"""

from __future__ import annotations

import numpy as np

from jaxviz.graph import Column
from jaxviz.outline.hashes import mixed
from jaxviz.outline.rows import Rows


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
