"""The order in which a turn of a loop runs backward: the opposite of that in which it ran forward.

Where the last turn forward lacks something, as what it makes is not read, the first one backward does, and what repeats
does not say where the others begin: their order does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column
from jaxviz.outline.chains import Label
from jaxviz.outline.elements import PHASE
from jaxviz.outline.phases.phases import BACKWARD_NAMES
from jaxviz.outline.rows import Rows


def order_back(rows: Rows, label: Column, labels: Sequence[Label], place: Column) -> Column:
    """Of rows on the way back, numbers below 0 that rise within a turn; 0 for all others, and where nothing says it.

    `place` is equal for rows of the same place of the source.
    """
    is_back = np.array([one.kind == PHASE and one.name in BACKWARD_NAMES for one in labels], np.bool_)[label]
    order = np.zeros(len(rows), np.int32)
    if not is_back.any():
        return order
    _spread(is_back, rows)
    forward, back = np.flatnonzero(~is_back), np.flatnonzero(is_back)
    # Rows stand in program order, so the first of a place is where it begins.
    known, first = np.unique(place[forward], return_index=True)
    at = np.minimum(np.searchsorted(known, place[back]), len(known) - 1)
    order[back] = np.where(known[at] == place[back], -1 - rows.first[forward[first[at]]], 0)
    return order


def _spread(marked: NDArray[np.bool_], rows: Rows) -> None:
    """Mark all rows inside of marked ones, too."""
    while (inside := marked[rows.parent[1:]] & ~marked[1:]).any():
        marked[1:] |= inside
