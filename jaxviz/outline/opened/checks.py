"""What checks, where a function of open lengths begins, that its arguments have shapes that it was exported for.

`jax.export` writes it before the function, and nobody wrote a line for it: it is told as one thing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jaxviz.graph import OPERATION, Graph

_TARGET, _ASSERTION = "call_target_name", "shape_assertion"
_NAMED = "check shapes"


def with_checks_named(graph: Graph) -> Graph:
    """The graph in which such checks, and what is computed for them, stand in a scope of their own."""
    tables = graph.tables
    key, value = tables.find_string(_TARGET), tables.find_string(_ASSERTION)
    if key is None or value is None:
        return graph
    said = (graph.attributes.key == key) & (graph.attributes.value == value)
    checks = np.zeros(len(graph), bool)
    checks[graph.attributes.node[said]] = True
    # What a check reads is made before it, of nothing but lengths.
    operation = graph.nodes.kind == OPERATION
    source, first, region = graph.operands.source, graph.first_operand, graph.nodes.region
    for node in range(len(graph) - 1, -1, -1):
        if checks[node]:
            read = source[first[node] : first[node + 1]]
            makers = graph.value_node[read[read >= 0]]
            checks[makers[operation[makers] & (region[makers] == region[node])]] = True
    # What is made of the same lengths, to be handed to the function.
    for node in np.flatnonzero(operation & np.isin(region, region[checks]) & ~checks).tolist():
        read = source[first[node] : first[node + 1]]
        checks[node] = len(read) and (read >= 0).all() and checks[graph.value_node[read]].all()
    scope, stack = graph.nodes.scope.copy(), np.where(checks, -1, graph.nodes.stack)
    for node in np.flatnonzero(checks).tolist():
        scope[node] = tables.string(f"{_NAMED}/{tables.strings[graph.nodes.op[node]]}")
    return replace(graph, nodes=replace(graph.nodes, scope=scope, stack=stack))
