"""Functions of a library around functions of the person's that it calls, as a solver does.

The person finds his own function there. What the library does around it is no frame of its own where it is nearly all
of what it stands in, and one thing in it is nearly all of that: it would say again what is around it. It is none on the
way back where it is none forward.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column
from jaxviz.outline.elements import CALL, FUNCTION, Paths
from jaxviz.outline.rows import Rows

# So much of what it stands in is nearly all of it.
_NEARLY_ALL = 0.8


def nearly_all_around(rows: Rows, kinds: Column, paths: Paths, before: Column) -> NDArray[np.bool_]:
    """The rows of a library's functions that call one of the person's and hold nearly all of what they stand in.

    `kinds` are those of paths; `before` says of each node how many boxes come before it.
    """
    kind, step = kinds[rows.path], np.array(paths.step, np.int32)
    called_back = (kinds == CALL) & np.array([element.frame < 0 for element in paths.elements])[step]
    called = np.flatnonzero(called_back[rows.path])
    if not len(called):
        return np.zeros(len(rows), np.bool_)
    holds = np.zeros(len(rows), np.bool_)
    while len(called := np.unique(rows.parent[called])) and called[-1] > 0:
        called = called[called > 0]
        holds[called] = True
    around = np.flatnonzero(holds & (kind == FUNCTION))
    size = before[rows.end] - before[rows.first]
    # What has nothing beside it in what it stands in is as that: of a chain, what is around it and what is in it count.
    outside = size[np.maximum(rows.parent, 0)]
    inside = np.zeros(len(rows), size.dtype)
    np.maximum.at(inside, rows.parent[1:], size[1:])
    for row in around.tolist():
        parent = int(rows.parent[row])
        outside[row] = outside[parent] if parent and size[parent] == size[row] else size[parent]
    for row in around[::-1].tolist():
        # A loop is named by the function that is nothing else.
        inside[row] = inside[row + 1] if inside[row] == size[row] and kind[row + 1] == FUNCTION else inside[row]
    nearly = (size[around] >= _NEARLY_ALL * outside[around]) & (inside[around] >= _NEARLY_ALL * size[around])
    whole = around[nearly & (inside[around] < size[around])]
    found: NDArray[np.bool_] = (kind == FUNCTION) & np.isin(step[rows.path], step[rows.path[whole]])
    return found
