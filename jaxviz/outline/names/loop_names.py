"""A loop that stands apart from the call that makes it, as on the way back, is told by that call: `scan(step)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from jaxviz.graph import Column
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.draft import Draft
from jaxviz.outline.elements import LOOP
from jaxviz.outline.written.expressions import Expressions, is_loop


def told_by_calls(
    draft: Draft, names: Sequence[str], stack: Column, stacks: StackTree, expressions: Expressions
) -> Iterator[tuple[int, str]]:
    """The loops whose `names` are only those of their operations, and the person's calls that make them.

    Where the call is the row around a loop, it says so itself. `stack` are the call stacks of the nodes.
    """
    bare = (draft.kind == LOOP) & (draft.added == 0)
    for row in np.flatnonzero(bare).tolist():
        own = int(stack[draft.rows.first[row]])
        if own < 0 or names[row] not in ("scan", "while"):
            continue
        frame = stacks.own_frame(own)
        call = expressions.at(frame).name if frame >= 0 else ""
        if is_loop(call) and names[draft.rows.parent[row]] != call:
            yield row, call
