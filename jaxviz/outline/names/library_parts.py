"""Parts of a library's function are told by what it assigns to in them, as those of the person's are: `s_k … rho_k`."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.written.expressions import Expressions
from jaxviz.tables import rows_used


def assigned_in_library(
    nodes: NDArray[np.intp], stack: Column, stacks: StackTree, expressions: Expressions
) -> tuple[str, str]:
    """The first and the last variable that the innermost function around some nodes assigns to there; empty where that
    is the person's own, or none. `stack` are the call stacks of all nodes."""
    made = stack[nodes]
    if not len(made) or made.min() < 0:
        return "", ""
    around = functools.reduce(stacks.common, rows_used(made))
    places = [frame for one in made.tolist() for frame in stacks.frames_between(one, around)[:1]]
    if not all(stacks.library[frame] for frame in places):
        return "", ""
    return _target(places, expressions), _target(reversed(places), expressions)


def _target(places: Iterable[int], expressions: Expressions) -> str:
    return next((told for frame in places if (told := expressions.assigned_on_line(frame))), "")
