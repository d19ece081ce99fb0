"""What the compiler moved out of loops: it is of a body but stands before the loop, since it is the same in every turn.

It runs once, beside the loop. Several such things are one row that is named by the loop: `before scan(step)`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.noise import BOX
from jaxviz.outline.roles import WRAPPERS, is_owner_of
from jaxviz.outline.tree import ROW_KINDS, Outline
from jaxviz.outline.turns import LOOPS

_LOOP, _CALL = ROW_KINDS.index("loop"), ROW_KINDS.index("call")

#: The rows around each row and itself, outermost first.
Paths = tuple[tuple[int, ...], ...]


def leave_loops(
    graph: Graph, role: Column, kernels: NDArray[np.bool_], leaf: Column, outline: Outline
) -> tuple[Outline, Paths, dict[int, int]]:
    """Changes of `leaf`, the row of `outline` that each node comes from, those of what was moved out of loops.

    Gives the outline with rows for that behind its own, the paths of all rows, and by each new row its loop.
    """
    paths, loop_after = list(outline.paths), dict[int, int]()
    turning, depth = is_owner_of(graph, LOOPS), outline.depth
    region = _called_from(graph)[graph.nodes.region]
    beside_kernels = (graph.nodes.kind == OPERATION) & ~kernels[graph.regions.owner][graph.nodes.region]
    seen = set()
    for owner in sorted(graph.owned_regions) if kernels.any() else ():
        loop = int(leaf[owner])
        if not turning[owner] or loop in seen or loop < 0 or outline.kind[loop] != _LOOP:
            continue
        seen.add(loop)
        # Rows stand in preorder: what is in the loop follows it.
        after = loop + 1 + int(np.argmax(np.append(depth[loop + 1 :] <= depth[loop], True)))
        before = np.flatnonzero(beside_kernels[:owner] & (region[:owner] == region[owner]))
        before = before[(leaf[before] >= loop) & (leaf[before] < after)]
        moved = [
            node
            for node in before[role[before] == BOX].tolist()
            if any(loop < row < after for row in _rows_of(graph, kernels, leaf, node))
        ]
        if not moved:
            continue
        around = int(outline.parent[loop])
        if len(moved) > 1:
            outline = _with_row(outline, loop)
            paths.append((*paths[around], len(paths)))
            around = len(paths) - 1
            loop_after[around] = loop
        # What stands between them is what they read.
        leaf[before[before <= moved[-1]]] = around
    return outline, tuple(paths), loop_after


def _rows_of(graph: Graph, kernels: NDArray[np.bool_], leaf: Column, node: int) -> set[int]:
    """The rows that a node comes from, and what is in it where it is a kernel."""
    start, end = graph.region_intervals
    regions = graph.owned_regions[node] if kernels[node] else ()
    return {int(leaf[node]), *(row for one in regions for row in leaf[start[one] : end[one]].tolist())}


def _called_from(graph: Graph) -> Column:
    """Of each region itself, of the body of a call the region of that."""
    found = np.arange(len(graph.regions.owner), dtype=np.int32)
    wrappers = is_owner_of(graph, WRAPPERS)
    # A body stands behind its owner, and so do their regions.
    for region, owner in enumerate(graph.regions.owner.tolist()):
        if owner >= 0 and wrappers[owner]:
            found[region] = found[graph.nodes.region[owner]]
    return found


def _is_of_body(graph: Graph, kernels: NDArray[np.bool_], leaf: Column, inside: NDArray[np.bool_], node: int) -> bool:
    """Whether a node, or any of a kernel, is of what a loop repeats: of a row in it. The first of `inside` is its."""
    loop = int(np.argmax(inside))
    start, end = graph.region_intervals
    regions = graph.owned_regions[node] if kernels[node] else ()
    told = np.concatenate([leaf[node : node + 1], *(leaf[start[one] : end[one]] for one in regions)])
    return bool((inside[told] & (told >= 0) & (told != loop)).any())


def _with_row(outline: Outline, loop: int) -> Outline:
    """The outline with one row more, for what runs once before a loop."""

    def column(values: Column, last: int) -> Column:
        return np.append(values, last).astype(np.int32)

    strings = outline.graph.tables
    place = int(outline.first[loop])
    return replace(
        outline,
        parent=column(outline.parent, int(outline.parent[loop])),
        kind=column(outline.kind, _CALL),
        name=column(outline.name, strings.string(f"before {strings.strings[outline.name[loop]]}")),
        detail=column(outline.detail, 0),
        variable=column(outline.variable, 0),
        first=column(outline.first, place),
        end=column(outline.end, place),
        closed=column(outline.closed, 1),
        count=column(outline.count, 1),
        copy=column(outline.copy, -1),
        like=column(outline.like, -1),
        twin=column(outline.twin, -1),
        region=column(outline.region, -1),
    )
