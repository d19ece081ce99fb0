"""An outline while it is being made: columns of rows in preorder, to which rows are added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column
from jaxviz.outline.rows import Rows


@dataclass(frozen=True, eq=False)
class Draft:
    """`label` is a number among the labels of the outline, or -1; the other columns are those of `tree.py`.

    Of a stack or copy that was put in, the label is that of the first row in it.
    """

    rows: Rows
    kind: Column
    label: Column
    closed: Column
    count: Column
    copy: Column
    # Whether a row was put in, not found in the paths.
    added: Column

    def __len__(self) -> int:
        return len(self.rows)

    def keep(self, kept: NDArray[np.bool_]) -> Draft:
        """Only these rows, row 0 among them; what is in a dropped one stands in the row around it."""
        columns = (self.kind, self.label, self.closed, self.count, self.copy, self.added)
        return Draft(self.rows.keep(kept), *(column[kept] for column in columns))

    def with_rows(self, around: Column, first: Column, end: Column, kind: int, label: Column | None = None) -> Draft:
        """With rows put in, each around the children of `around` that lie within it; -2 - i is new row i.

        New rows stand in such an order that one that is around another comes first. They are as good as found in the
        paths where they have a `label`.
        """
        size, new = len(self), len(first)
        rows = self.rows
        firsts, ends = np.concatenate([rows.first, first]), np.concatenate([rows.end, end])
        # Of what holds the same nodes, the new row is around its one child and inside its parent.
        rank = np.concatenate([2 * np.arange(size), 2 * np.where(around < 0, size, around) + 1])
        order = np.lexsort((rank, -ends, firsts))
        place = np.empty(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        parents = np.concatenate([rows.parent, np.where(around < -1, size - 2 - around, around)])
        for number in range(new):
            inside = np.flatnonzero(
                (parents == parents[size + number]) & (firsts >= first[number]) & (ends <= end[number])
            )
            parents[inside[inside != size + number]] = size + number
        parent = parents[order]
        parent[1:] = place[parent[1:]]

        def column(old: Column, value: int | Column) -> Column:
            return np.concatenate([old, np.broadcast_to(np.int32(value), new)])[order]

        return Draft(
            Rows(parent.astype(np.int32), column(rows.path, -1), firsts[order], ends[order]),
            column(self.kind, kind),
            column(self.label, -1 if label is None else label),
            column(self.closed, 0),
            column(self.count, 1),
            column(self.copy, -1),
            column(self.added, int(label is None)),
        )
