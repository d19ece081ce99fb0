"""What the compiler moved out of loops: it is of a body but stands before the loop, since it is the same in every turn.

It runs once, beside the loop. Several such things are one row that is named by the loop: `before scan(step)`.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.compiled.roles import WRAPPERS, is_owner_of
from jaxviz.outline.compiled.turns import LOOPS
from jaxviz.outline.noise import BOX
from jaxviz.outline.tree import ROW_KINDS, Outline

_LOOP, _CALL = ROW_KINDS.index("loop"), ROW_KINDS.index("call")

#: The rows around each row and itself, outermost first.
Paths = tuple[tuple[int, ...], ...]


def leave_loops(
    graph: Graph, role: Column, kernels: NDArray[np.bool_], linked: Column, leaf: Column, outline: Outline
) -> tuple[Outline, Paths, dict[int, int]]:
    """Changes of `leaf`, the row of `outline` that each node comes from, those of what was moved out of loops.

    `linked` are the nodes of the graph of `outline` that nodes are linked to, or -1.

    Gives the outline with rows for that behind its own, the paths of all rows, and by each new row its loop.
    """
    paths, loop_after = list(outline.paths), dict[int, int]()
    turning, depth, row_of = is_owner_of(graph, LOOPS), outline.depth, outline.leaf
    region = _called_from(graph)[graph.nodes.region]
    beside_kernels = (graph.nodes.kind == OPERATION) & ~kernels[graph.regions.owner][graph.nodes.region]
    bodies = outline.graph.region_depth[outline.graph.nodes.region]
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
        first, end = int(outline.first[loop]), int(outline.end[loop])
        moved = [
            node
            for node in before[role[before] == BOX].tolist()
            if any(first < one < end and bodies[one] > bodies[first] for one in _made_of(graph, kernels, linked, node))
        ]
        if not moved:
            continue
        around = int(outline.parent[loop])
        if len(moved) > 1:
            tables = outline.graph.tables
            name = tables.string(f"before {tables.strings[outline.name[loop]]}")
            outline = _with_row(outline, loop, kind=_CALL, name=name, closed=1, detail=0, variable=0, twin=-1, like=-1)
            paths.append((*paths[around], len(paths)))
            around = len(paths) - 1
            loop_after[around] = loop
        # What stands between them is what they read.
        leaf[before[before <= moved[-1]]] = around
        for node in moved:
            row = int(row_of[max(linked[node], 0)])
            if not kernels[node] and loop < row < after and outline.closed[row]:
                # An expression has its name there too.
                outline = _with_row(outline, row)
                paths.append((*paths[around], row))
                leaf[node] = len(paths) - 1
    return outline, tuple(paths), loop_after


def _made_of(graph: Graph, kernels: NDArray[np.bool_], linked: Column, node: int) -> set[int]:
    """What a node is linked to, and what is in it where it is a kernel."""
    start, end = graph.region_intervals
    regions = graph.owned_regions[node] if kernels[node] else ()
    return {int(linked[node]), *(made for one in regions for made in linked[start[one] : end[one]].tolist())}


def _called_from(graph: Graph) -> Column:
    """Of each region itself, of the body of a call the region of that."""
    found = np.arange(len(graph.regions.owner), dtype=np.int32)
    wrappers = is_owner_of(graph, WRAPPERS)
    # A body stands behind its owner, and so do their regions.
    for region, owner in enumerate(graph.regions.owner.tolist()):
        if owner >= 0 and wrappers[owner]:
            found[region] = found[graph.nodes.region[owner]]
    return found


def _with_row(outline: Outline, row: int, **told: int) -> Outline:
    """The outline with one row more behind its own, that is alike to `row` but for what is told of it."""
    names = ("parent", "kind", "name", "detail", "variable", "first", "end", "closed", "count", "copy", "like", "twin")
    columns = {name: getattr(outline, name) for name in (*names, "region")}
    more = {name: np.append(one, told.get(name, one[row])).astype(np.int32) for name, one in columns.items()}
    return dataclasses.replace(outline, **more)  # type: ignore[arg-type]
