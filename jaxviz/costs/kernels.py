"""Kernels of optimized HLO: what runs as one piece."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph

# Regions whose operations run one by one; those of others (fusions, reducers) run as part of their owner.
_RUNS = ("while cond", "while body", "branch", "call")
# Operations that hold others or only name a value: nothing runs for them.
_IDLE = ("bitcast", "tuple", "get-tuple-element", "parameter", "while", "conditional", "call", "constant")


def kernels_of(graph: Graph) -> Column:
    """Of each instruction of a graph of optimized HLO, the one that it runs as: a fusion or itself; -1 for none."""
    strings = graph.tables.strings
    regions, nodes = graph.regions, graph.nodes
    within = [-1] * len(regions.owner)
    for region in range(1, len(within)):
        owner = int(regions.owner[region])
        around = within[int(nodes.region[owner])]
        runs_itself = strings[int(regions.kind[region])] in _RUNS
        within[region] = around if around >= 0 or runs_itself else owner
    part = np.array(within, np.int32)[nodes.region]
    idle = np.isin(nodes.op, [op for name in _IDLE if (op := graph.tables.find_string(name)) is not None])
    numbers = np.arange(len(graph), dtype=np.int32)
    kernels = np.where(part >= 0, part, np.where(idle, -1, numbers))
    return np.where(nodes.kind == OPERATION, kernels, -1)


def kernel_count(graph: Graph) -> int:
    """How many kernels a graph of optimized HLO has."""
    return int(np.count_nonzero(kernels_of(graph) == np.arange(len(graph))))


def trip_counts(graph: Graph) -> NDArray[np.float64]:
    """How often each node is executed in one run, where loops say how often they turn; as if once where they do not."""
    times = np.ones(len(graph.regions.owner))
    for region in range(1, len(times)):
        owner = int(graph.regions.owner[region])
        kind = graph.tables.strings[graph.regions.kind[region]]
        turns = 1.0
        if kind.startswith("while"):
            known = graph.node(owner).attributes.get("known_trip_count", "")
            turns = float(known) + (kind == "while cond") if known.isdecimal() else 1.0
        times[region] = times[graph.nodes.region[owner]] * turns
    return times[graph.nodes.region]
