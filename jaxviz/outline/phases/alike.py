"""Calls that hold another one beside more are told so on the way back too, where nothing of the rest may be left: in
`residual` stands `mlp`, as it does forward beside the sum, and in `solve` its loop.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column
from jaxviz.outline.elements import CALL, LOOP, PHASE, STATEMENT, Paths
from jaxviz.outline.phases.phases import BACKWARD_NAMES
from jaxviz.outline.rows import Rows


def keep_calls_alike(rows: Rows, kind: Column, paths: Paths, link: NDArray[np.bool_]) -> None:
    """Cut chains of rows backward, `link` of each with the row around it, where the call in them stands beside others
    forward."""
    place, is_back = _places(paths)
    back = is_back[rows.path]
    if not back.any():
        return
    place = place[rows.path]
    # Around a call may be the statement that it stands in.
    in_statement = kind[rows.parent] == STATEMENT
    only = link & (link[rows.parent] | ~in_statement)
    around = np.where(in_statement, rows.parent[rows.parent], rows.parent)
    forward, backward, beside = (
        np.bincount(place[which], minlength=len(paths.parent)) for which in (~back, back, ~back & ~only)
    )
    # Turns that follow each other are one row on the way back.
    alike = (beside == forward) & (forward == backward)
    holds_rows = np.zeros(len(rows), np.bool_)
    holds_rows[rows.parent[1:]] = True
    # A loop beside more of its call is told by that.
    holds_rows[rows.parent[(kind == LOOP) & ~link]] = False
    link[back & only & holds_rows & (kind == CALL) & (kind[around] == CALL) & alike[place]] = False


def _places(paths: Paths) -> tuple[Column, NDArray[np.bool_]]:
    """Of each path, the first one that is the same but for its phases, and whether it is in one that runs backward."""
    known: dict[tuple[int, int], int] = {}
    place, back = [0] * len(paths.parent), [False] * len(paths.parent)
    for path in range(1, len(paths.parent)):
        parent, element = paths.parent[path], paths.element(path)
        back[path] = back[parent]
        if element.kind == PHASE:
            place[path] = place[parent]
            back[path] |= element.name in BACKWARD_NAMES
        else:
            place[path] = known.setdefault((place[parent], paths.step[path]), path)
    return np.array(place, np.int32), np.array(back, np.bool_)
