"""Products that carry the tag of the transpose that read them alone.

Where XLA writes a product and what turns it as one product, it keeps the name of the second. What only moves values
computes none, so an instruction that computes under such a name does what the equation before it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import LEAVE, OPERATION, RESULT, Graph
from jaxviz.link.links import PLUMBING, Found
from jaxviz.link.snapshots import ONLY_MOVE

#: Equations that compute no value.
_MOVING = ("transpose", "reshape", "broadcast_in_dim", "squeeze", "copy", "copy_p")
#: Operations that compute none, or are known by what they hold.
_IDLE = ONLY_MOVE | PLUMBING | {*_MOVING, "fusion"}


def with_taken_in(jaxpr: Graph, graph: Graph, tagged: Sequence[Found]) -> Sequence[Found]:
    """The tags of a stage, with the equations whose work is done under the tag of what moves their values."""
    strings = graph.tables.strings
    first = np.array([found[0] if len(found) == 1 else -1 for found in tagged], np.int64)
    rows = np.flatnonzero((first >= 0) & (graph.nodes.kind == OPERATION))
    makers = _Makers(jaxpr)
    rows = rows[makers.moves[first[rows]]]
    working = [row for row in rows.tolist() if strings[graph.nodes.op[row]] not in _IDLE]
    if not working:
        return tagged
    seen = set(chain.from_iterable(tagged))
    found = list(tagged)
    for row in working:
        node = int(first[row])
        maker = makers.of(node)
        if maker >= 0 and maker not in seen:
            found[row] = (maker, node)
    return found


class _Makers:
    """Which equations only move values, and which one made what these move."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        moving = [number for op in _MOVING if (number := graph.tables.find_string(op)) is not None]
        self.moves: NDArray[np.bool_] = np.isin(graph.nodes.op, moving) & (graph.nodes.kind == OPERATION)

    def of(self, node: int) -> int:
        """The equation that computed what this one moves, also where others move it on the way; -1 for none."""
        graph = self._graph
        while node >= 0 and (self.moves[node] or graph.nodes.kind[node] == RESULT):
            first, end = graph.first_operand[node : node + 2].tolist()
            source = int(graph.operands.source[first]) if first < end else -1
            node = int(graph.value_node[source]) if source >= 0 else -1
            if node in graph.owned_regions:
                node = self._left.get(source, -1)
        return node if node >= 0 and graph.nodes.kind[node] == OPERATION else -1

    @cached_property
    def _left(self) -> dict[int, int]:
        """For each value that leaves a body as it is, the result of that body."""
        bindings = self._graph.bindings
        rows = np.flatnonzero(bindings.kind == LEAVE)
        return dict(zip(bindings.end[rows].tolist(), bindings.start[rows].tolist(), strict=True))
