"""With which other equations those were merged that hold, or stand in, what was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph


def merge_calls(graph: Graph, merged: NDArray[np.bool_], by: Column) -> None:
    """A call all of whose body was merged with that of another call was merged with that call."""
    owner, op = graph.regions.owner[graph.nodes.region], graph.nodes.op
    # The calls in a call stand after it.
    for node in np.flatnonzero(merged & (by < 0)).tolist()[::-1]:
        inside = by[(owner == node) & merged & (by >= 0)]
        others = set(owner[inside].tolist()) - {-1}
        if len(others) == 1 and node not in others and op[other := others.pop()] == op[node]:
            by[node] = other


def merge_bodies(graph: Graph, merged: NDArray[np.bool_], by: Column) -> None:
    """What is in a loop or call that was merged with another was merged with what stands there in the other."""
    region, ops, owned = graph.nodes.region, graph.nodes.op, graph.owned_regions
    inside: dict[int, list[int]] = {}
    for node in np.flatnonzero(graph.nodes.kind == OPERATION).tolist():
        inside.setdefault(int(region[node]), []).append(node)
    # What is in a call in a call stands after it.
    for node in np.flatnonzero(merged).tolist():
        other = int(by[node])
        for mine, theirs in zip(owned.get(node, ()), owned.get(other, ()), strict=False):
            left, right = inside.get(mine, []), inside.get(theirs, [])
            if ops[left].tolist() == ops[right].tolist():
                for one, twin in zip(left, right, strict=True):
                    if merged[one] and by[one] < 0:
                        by[one] = twin
