"""What makes up most of a row: by that it is called where its own name says nothing."""

from __future__ import annotations

import functools
import re
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column
from jaxviz.outline.draft import Draft
from jaxviz.outline.rows import before_each

_AND_OTHERS = re.compile(r"(.+) \+(\d+)")

# Operations that do the work, by which what has no name is called.
_WORK = (
    *(
        "dot_general",
        "conv_general_dilated",
        "ragged_dot",
        "custom_call",
        "pallas_call",
        "fft",
        "cholesky",
        "eigh",
        "svd",
    ),
    *("qr", "lu", "triangular_solve", "scan", "while", "cond", "sort", "scatter-add", "scatter", "gather"),
    *("reduce_window", "cumsum", "reduce_sum", "reduce_max", "exp", "log", "tanh", "logistic"),
    # In the words of HLO.
    *("dot", "convolution", "custom-call", "all-reduce", "all-gather", "reduce", "exponential"),
)
# One of more operations than this says nothing of them, however much it weighs.
_TELLS = 100


def and_others(name: str, others: int) -> str:
    """What is told by one thing, and how many are beside it; that may be what is told so itself.

    >>> and_others("build_tree", 3), and_others("step +2", 3), and_others("step", 0)
    ('build_tree +3', 'step +5', 'step')
    """
    name, more = without_others(name)
    return f"{name} +{more + others}" if more + others else name


def without_others(name: str) -> tuple[str, int]:
    """What `and_others` tells, taken apart."""
    told = _AND_OTHERS.fullmatch(name)
    return (told[1], int(told[2])) if told else (name, 0)


class Heaviest:
    """Finds in each row of `draft` the one inside that is at least half of its boxes, the nodes `drawn`.

    Parts with the number `part` for a kind are looked through: they are cut where nothing else tells rows apart.
    """

    def __init__(self, draft: Draft, drawn: NDArray[np.intp], part: int) -> None:
        self._draft = draft
        self._part = part
        before = before_each(drawn, int(draft.rows.end[0]))
        self._before, self._after = before[draft.rows.first], before[draft.rows.end]

    def inside(self, row: int) -> tuple[int, int]:
        """The row that is at least half of another one, or -1, and how many things stand beside it."""
        inside = self._things(row)
        if not inside:
            return -1, 0
        sizes = (self._after - self._before)[[row, *inside]].tolist()
        most = max(sizes[1:])
        if 2 * most < sizes[0]:
            return -1, 0
        # What is in none of the rows stands for itself; beside a single row it is what was put around that.
        bare = sizes[0] - sum(sizes[1:]) if len(inside) > 1 else 0
        return inside[sizes.index(most, 1) - 1], len(inside) - 1 + bare

    def _things(self, row: int) -> list[int]:
        found: list[int] = []
        for inside in self._children.get(row, ()):
            found += self._things(inside) if self._draft.kind[inside] == self._part else [inside]
        return found

    @functools.cached_property
    def _children(self) -> dict[int, list[int]]:
        children: dict[int, list[int]] = {}
        parents: Column = self._draft.rows.parent
        for row, parent in enumerate(parents.tolist()):
            children.setdefault(parent, []).append(row)
        return children


def work_of(count: Counter[str]) -> str:
    """The operation that weighs most among some, and how many there are besides it: `dot_general x2 +7`."""
    total = count.total()
    op = next((op for op in _WORK if count[op] * _TELLS > total), count.most_common(1)[0][0])
    times, rest = count[op], total - count[op]
    return op + (f" x{times}" if times > 1 else "") + (f" +{rest}" if rest else "")
