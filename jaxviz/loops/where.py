"""From the copies of an unrolled loop in the graph of a jaxpr to the equations that they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from jaxviz.find.finding import Subject
from jaxviz.find.unrolled import Stack, stacks_in
from jaxviz.graph import OPERATION, Graph
from jaxviz.loops.names import variables_of
from jaxviz.loops.run import Path
from jaxviz.loops.steps import Copies


def copies_of(subject: Subject, stacks: Sequence[Stack], lines: range = range(0)) -> dict[Path, list[Copies]]:
    """The copies of stacks, as equations of the bodies that they stand in; `lines` are those of the loop."""
    found: dict[Path, list[Copies]] = {}
    for stack in stacks:
        region = _region_of(subject.graph, stack)
        if region >= 0:
            copies = _copies(subject, stack, region, lines)
            found.setdefault(_path(subject.graph, region), []).append(copies)
    return found


def _copies(subject: Subject, stack: Stack, region: int, lines: range) -> Copies:
    graph = subject.graph
    rows = _rows(graph, region)
    first = np.searchsorted(rows, [_lifted(graph, int(node), region) for node in stack.first])
    end = np.searchsorted(rows, [_lifted(graph, int(node) - 1, region) for node in stack.end], side="right")
    inner = [one for one in stacks_in(subject, stack) if _region_of(graph, one) == region]
    nested = []
    for one in inner:
        copies = _copies(subject, one, region, lines)
        # Places in a turn, not in the body.
        shift = int(first[0])
        nested.append(
            replace(copies, first=tuple(a - shift for a in copies.first), end=tuple(b - shift for b in copies.end))
        )
    names = tuple(variables_of(subject.graph, node, lines) for node in rows[first[0] : end[0]].tolist())
    return Copies(tuple(first.tolist()), tuple(end.tolist()), tuple(nested), names)


def _region_of(graph: Graph, stack: Stack) -> int:
    """The innermost body that holds all copies; each may stand in one of its own inside it, as a checkpoint does.

    -1 where two of them stand in one body, and others in another.
    """
    regions = graph.nodes.region[stack.first].tolist()
    region = regions[0]
    around = graph.region_parent
    while any(not _holds(graph, region, other) for other in regions):
        region = int(around[region])
    lifted = {_lifted(graph, int(node), region) for node in stack.first}
    return region if len(lifted) == len(regions) else -1


def _holds(graph: Graph, region: int, other: int) -> bool:
    """Whether one region is another or is around it."""
    start, end = graph.region_intervals
    return bool(start[region] <= start[other] and end[other] <= end[region])


def _lifted(graph: Graph, node: int, region: int) -> int:
    """The node of a region that a node is, or stands in."""
    while graph.nodes.region[node] != region:
        node = int(graph.regions.owner[graph.nodes.region[node]])
    return node


def _rows(graph: Graph, region: int) -> np.ndarray:
    return np.flatnonzero((graph.nodes.kind == OPERATION) & (graph.nodes.region == region))


def _path(graph: Graph, region: int) -> Path:
    """Which equation's which body, from the whole program on."""
    path: list[tuple[int, int]] = []
    while region:
        owner = int(graph.regions.owner[region])
        around = int(graph.nodes.region[owner])
        place = int(np.searchsorted(_rows(graph, around), owner))
        path.append((place, graph.owned_regions[owner].index(region)))
        region = around
    return tuple(reversed(path))
