"""From the path of each node to the rows of the outline: every longest run of nodes that share a path is one row.

A row is an interval of program order, so folding it never makes a cycle. Rows stand in preorder. Nothing here loops
over nodes: runs, depths and ends are found for whole columns.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column
from jaxviz.outline.paths import NodePaths


@dataclass(eq=False)
class Rows:
    """Columns of rows in preorder: the row around each, its path, its first node and the one past its last."""

    parent: Column
    path: Column
    first: Column
    end: Column

    def __len__(self) -> int:
        return len(self.parent)

    def keep(self, kept: NDArray[np.bool_]) -> Rows:
        """Only these rows, row 0 among them; the rows inside a dropped one go to the row around it."""
        around = self.parent.copy()
        # A parent stands before its children, so after as many steps as rows are nested all parents are kept ones.
        while True:
            dropped = ~kept[around] & (around >= 0)
            if not dropped.any():
                break
            around[dropped] = around[around[dropped]]
        number = np.cumsum(kept, dtype=np.int32) - 1
        parent = around[kept]
        parent[1:] = number[parent[1:]]
        return Rows(parent, self.path[kept], self.first[kept], self.end[kept])

    def after(self) -> Column:
        """Of each row, the next one that is not inside it."""
        return self._begun[self.end]

    @functools.cached_property
    def _begun(self) -> Column:
        """Of each node, and past the last one, how many rows begin before it."""
        return before_each(self.first, int(self.end[0]))

    def innermost(self, nodes: NDArray[Any]) -> Column:
        """The innermost row that holds each node."""
        # The last row that begins before a node, or one around it.
        row = self._begun[nodes + 1] - 1
        while True:
            outside = self.end[row] <= nodes
            if not outside.any():
                return row
            row[outside] = self.parent[row[outside]]

    def depths(self) -> Column:
        """How many rows lie around each."""
        depth = np.zeros(len(self), np.int32)
        pending = np.arange(1, len(self))
        around = self.parent[1:]
        while len(pending):
            depth[pending] += 1
            inside = around > 0
            pending, around = pending[inside], self.parent[around[inside]]
        return depth


def before_each(places: NDArray[Any], count: int) -> Column:
    """Of each node of so many, and past the last one, how many of some places come before it.

    >>> before_each(np.array([0, 2, 2]), 3)
    array([0, 1, 1, 3], dtype=int32)
    """
    return np.concatenate([[0], np.cumsum(np.bincount(places, minlength=count))]).astype(np.int32)


def rows_of(found: NodePaths) -> Rows:
    """All rows of a graph's paths, row 0 the program itself."""
    path, starts = found.path, found.starts
    depth_of = np.array(found.paths.depth, np.int32)
    begins = np.concatenate([[True], (path[1:] != path[:-1]) | starts[1:]]) if len(path) else np.ones(0, bool)
    run = np.flatnonzero(begins)
    run_path = path[run]
    ancestors = found.paths.ancestors()
    depth = depth_of[run_path]
    common = _common_depth(ancestors, run_path)
    # A node that begins a region of its own begins it at the depth of its path.
    common = np.minimum(common, np.where(starts[run], depth - 1, depth))

    # The rows that begin with a run are those below the depth it shares with the run before.
    new = depth - common
    row_run = np.repeat(np.arange(len(run)), new)
    first_row = np.cumsum(new) - new
    row_depth = (np.arange(len(row_run)) - first_row[row_run] + common[row_run] + 1).astype(np.int32)
    row_path = ancestors[run_path[row_run], row_depth]
    parent = np.zeros(len(row_run), np.int32)
    end = np.zeros(len(row_run), np.int32)
    run_start = np.append(run, len(path))
    latest: Column | None = None
    for level in range(1, int(row_depth.max(initial=0)) + 1):
        here = np.flatnonzero(row_depth == level).astype(np.int32)
        closing = np.append(np.flatnonzero(common < level), len(run))
        end[here] = run_start[closing[np.searchsorted(closing, row_run[here], side="right")]]
        if latest is not None:
            parent[here] = latest[np.searchsorted(row_run[latest], row_run[here], side="right") - 1] + 1
        latest = here
    return Rows(
        np.concatenate([[-1], parent]).astype(np.int32),
        np.concatenate([[0], row_path]).astype(np.int32),
        np.concatenate([[0], run[row_run]]).astype(np.int32),
        np.concatenate([[len(path)], end]).astype(np.int32),
    )


def _common_depth(ancestors: Column, run_path: Column) -> Column:
    """How many steps each path shares with the one before it; none for the first."""
    common = np.zeros(len(run_path), np.int32)
    pairs = run_path[:-1].astype(np.int64) * len(ancestors) + run_path[1:]
    values, which = np.unique(pairs, return_inverse=True)
    one, other = ancestors[values // len(ancestors)], ancestors[values % len(ancestors)]
    shared = ((one == other) & (one >= 0)).sum(axis=1) - 1
    common[1:] = shared[which.reshape(-1)]
    return common
