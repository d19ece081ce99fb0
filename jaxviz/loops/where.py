"""From the copies of an unrolled loop in the graph of a jaxpr to the equations that they are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jaxviz.find.finding import Subject
from jaxviz.find.unrolled import Stack, stacks_in
from jaxviz.graph import OPERATION, Graph
from jaxviz.loops.run import Path
from jaxviz.loops.steps import Copies


def copies_of(subject: Subject, stacks: Sequence[Stack]) -> dict[Path, list[Copies]]:
    """The copies of stacks, as equations of the bodies that they stand in."""
    found: dict[Path, list[Copies]] = {}
    for stack in stacks:
        region = _region_of(subject.graph, stack)
        if region >= 0:
            copies = _copies(subject, stack, region)
            found.setdefault(_path(subject.graph, region), []).append(copies)
    return found


def _copies(subject: Subject, stack: Stack, region: int) -> Copies:
    graph = subject.graph
    rows = _rows(graph, region)
    first = np.searchsorted(rows, stack.first)
    end = np.searchsorted(rows, stack.end)
    inner = [one for one in stacks_in(subject, stack) if _region_of(graph, one) == region]
    nested = []
    for one in inner:
        copies = _copies(subject, one, region)
        # Places in a turn, not in the body.
        shift = int(first[0])
        nested.append(
            Copies(tuple(a - shift for a in copies.first), tuple(b - shift for b in copies.end), copies.inner)
        )
    return Copies(tuple(first.tolist()), tuple(end.tolist()), tuple(nested))


def _region_of(graph: Graph, stack: Stack) -> int:
    """The body that holds all copies; -1 where they stand in several."""
    region = int(graph.nodes.region[stack.first[0]])
    return region if (graph.nodes.region[stack.first] == region).all() else -1


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
