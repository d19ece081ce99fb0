"""Products that carry the tag of the transpose that read them alone.

Where XLA writes a product and what turns it as one product, it keeps the name of the second. What only moves values
computes none, so an instruction that computes under such a name does what the equation before it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from jaxviz.graph import OPERATION, Graph
from jaxviz.link.links import PLUMBING, Found
from jaxviz.link.makers import MOVING, Makers
from jaxviz.link.snapshots import ONLY_MOVE

#: Operations that compute none, or are known by what they hold.
_IDLE = ONLY_MOVE | PLUMBING | {*MOVING, "fusion"}


def with_taken_in(jaxpr: Graph, graph: Graph, tagged: Sequence[Found]) -> Sequence[Found]:
    """The tags of a stage, with the equations whose work is done under the tag of what moves their values."""
    strings = graph.tables.strings
    first = np.array([found[0] if len(found) == 1 else -1 for found in tagged], np.int64)
    rows = np.flatnonzero((first >= 0) & (graph.nodes.kind == OPERATION))
    makers = Makers(jaxpr)
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
