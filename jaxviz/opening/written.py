"""How much of a program somebody wrote: of the programs in a folder, that with most of it is looked for first.

Beside a training step, a folder of dumps holds what JAX compiled for itself: each operation that was not in a `jit`,
and its own functions, which draw random numbers in hundreds of operations. All of one stand on one line.
"""

from __future__ import annotations

import numpy as np

from jaxviz.graph import OPERATION, Graph

_BACKWARD = "transpose("


def places_in(graph: Graph) -> int:
    """At how many places of source code the operations stand, counting those of the way back apart; 0 below two."""
    nodes, tables = graph.nodes, graph.tables
    placed = (nodes.kind == OPERATION) & (nodes.stack >= 0)
    scopes, scope = np.unique(nodes.scope[placed], return_inverse=True)
    backward = np.array([_BACKWARD in tables.strings[one] for one in scopes.tolist()], bool)
    places = len(np.unique(2 * nodes.stack[placed].astype(np.int64) + backward[scope])) if len(scopes) else 0
    return places if places > 1 else 0
