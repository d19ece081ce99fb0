"""The order in which a turn of a loop runs backward: the opposite of that in which it ran forward.

Where the last turn forward lacks something, as what it makes is not read, the first one backward does, and what repeats
does not say where the others begin: their order does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxviz.graph import Column
from jaxviz.outline.chains import Label
from jaxviz.outline.elements import PHASE
from jaxviz.outline.phases.phases import BACKWARD_NAMES
from jaxviz.outline.rows import Rows


def order_back(rows: Rows, label: Column, labels: Sequence[Label], place: Column) -> Column:
    """Of rows on the way back, numbers below 0 that rise within a turn; 0 for all others, and where nothing says it.

    `place` is equal for rows of the same place of the source.
    """
    begins_back = np.array([one.kind == PHASE and one.name in BACKWARD_NAMES for one in labels], np.bool_)[label]
    order = np.zeros(len(rows), np.int32)
    if not begins_back.any():
        return order
    around = np.zeros(len(rows) + 1, np.int32)
    around[:-1] += begins_back
    np.subtract.at(around, rows.after()[begins_back], 1)
    # What undoes a way back runs forward.
    is_back = np.cumsum(around[:-1]) % 2 == 1
    forward, back = np.flatnonzero(~is_back), np.flatnonzero(is_back)
    # Rows stand in program order, so the first of a place is where it begins.
    known, first = np.unique(place[forward], return_index=True)
    at = np.minimum(np.searchsorted(known, place[back]), len(known) - 1)
    order[back] = np.where(known[at] == place[back], -1 - rows.first[forward[first[at]]], 0)
    return order
