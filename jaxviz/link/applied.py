"""Operations of which the compiler kept the name of what they apply to two elements alone.

A pass that writes a reduction anew may leave out its name, and takes over its reducer as it is. What applies an
equation of the body of another one is that other one. Of a reducer that is no body in the jaxpr, as that of a running
sum, nothing is known: the compiler has one for all that apply the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxviz.graph import OPERATION, Graph
from jaxviz.link.links import Found
from jaxviz.read.bodies import APPLYING


def with_applying(jaxpr: Graph, graph: Graph, tagged: Sequence[Found]) -> Sequence[Found]:
    """The tags of a stage, with the equations that hold what operations apply."""
    strings, mine = jaxpr.tables.strings, graph.tables.strings
    ops = [op for op in np.unique(graph.nodes.op).tolist() if mine[op].replace("-", "_").startswith(APPLYING)]
    changed: dict[int, Found] = {}
    for node in np.flatnonzero(np.isin(graph.nodes.op, ops) & (graph.nodes.kind == OPERATION)).tolist():
        if len(tagged[node]) != 1:
            continue
        applied = tagged[node][0]
        owner = int(jaxpr.regions.owner[jaxpr.nodes.region[applied]])
        ops_of = (strings[jaxpr.nodes.op[one]] for one in (owner, applied))
        if owner >= 0 and [op.startswith(APPLYING) for op in ops_of] == [True, False]:
            changed[node] = (owner, applied)
        elif not graph.tables.strings[graph.nodes.scope[node]]:
            changed[node] = ()
    return [changed.get(node, known) for node, known in enumerate(tagged)] if changed else tagged
