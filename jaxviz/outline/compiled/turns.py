"""How the loops of a compiled stage turn: how often, and what does nothing but count.

Of a loop over a number of turns, the jaxpr says how many, and nothing counts them. The compiler's loops count by
themselves, in operations that say nothing of the program.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, ENTER, OPERATION, Attributes, Column, Graph
from jaxviz.outline.noise import BOX, COUNTER, EDGE, THROUGH
from jaxviz.outline.tree import Outline

_TURNING = frozenset({"scan", "while", "cond"})
LOOPS = frozenset({"while"})
_SLICES = ("dynamic_slice", "dynamic_update_slice", "dynamic-slice", "dynamic-update-slice")
_UPDATES = ("dynamic_update_slice", "dynamic-update-slice")
_HANDING = ("clamp", "transpose", "copy")
_NUMBERS = frozenset({"s32", "s64", "u32", "u64", "pred"} | {"int32", "int64", "uint32", "uint64", "bool"})


def turning_nodes(graph: Graph) -> list[int]:
    """The loops and conditions of a jaxpr."""
    strings = graph.tables.strings
    return [node for node in graph.owned_regions if strings[graph.nodes.op[node]] in _TURNING]


def with_turns(graph: Graph, source: Column, program: Graph) -> Graph:
    """The graph with how often its loops turn, where only the jaxpr, `program`, says so."""
    strings, attributes = graph.tables.strings, graph.attributes
    key = graph.tables.string("known_trip_count")
    known = set(attributes.node[attributes.key == key].tolist())
    rows = []
    for node in graph.owned_regions:
        if strings[graph.nodes.op[node]] in LOOPS and source[node] >= 0 and node not in known:
            length = program.node(int(source[node])).attributes.get("length")
            if length:
                rows.append((node, key, graph.tables.string(length)))
    return with_attributes(graph, rows)


def with_attributes(graph: Graph, rows: list[tuple[int, int, int]]) -> Graph:
    """The graph with more attributes: of each the node, and its name and value as strings of the tables."""
    if not rows:
        return graph
    attributes = graph.attributes
    columns = [
        np.concatenate([column, np.array(added, np.int32)])
        for column, added in zip(
            (attributes.node, attributes.key, attributes.value), zip(*rows, strict=True), strict=True
        )
    ]
    order = np.argsort(columns[0], kind="stable")
    return replace(graph, attributes=Attributes(*(column[order] for column in columns)))


def mark_turns(role: Column, graph: Graph, source: Column, outline: Outline) -> None:
    """What counts turns is not drawn.

    What takes the slice of a turn from what is scanned, and puts that of a result where it belongs, is an edge.
    """
    loops = _loops_of(outline)
    counts = _counters(graph, source, outline, loops)
    role[(role == BOX) & slices_of(graph) & loops[source] & (graph.nodes.region > 0)] = EDGE
    copies = -1 if (found := graph.tables.find_string("copy")) is None else found
    # In a body, what the compiler copies for the loop or condition is handed on; so is what it copies for a call.
    for_calls = (outline.role[np.maximum(source, 0)] == THROUGH) & (source >= 0)
    for_loops = loops[source] & (graph.nodes.region > 0)
    role[(role == BOX) & (graph.nodes.op == copies) & (for_loops | for_calls)] = EDGE
    role[counts] = np.where(graph.nodes.op[counts] == copies, EDGE, COUNTER)
    # What the jaxpr has as an edge and the compiler as an operation of several values, such as the bounds of a choice.
    edges = (outline.role[np.maximum(source, 0)] == EDGE) & (source >= 0)
    edges[list(graph.owned_regions)] = False
    handing = [op for name in _HANDING if (op := graph.tables.find_string(name)) is not None]
    role[(role == BOX) & (graph.nodes.kind == OPERATION) & edges & np.isin(graph.nodes.op, handing)] = EDGE


def hide_counted(role: Column, graph: Graph) -> None:
    """What goes round a loop only to count its turns is not drawn; the program itself may read it.

    An edge hands on one value that it reads: the place of a slice is none that is seen.
    """
    sources, reader = graph.operands.source, graph.operand_node
    updates = [op for name in _UPDATES if (op := graph.tables.find_string(name)) is not None]
    handed = graph.first_operand[reader] + np.isin(graph.nodes.op[reader], updates)
    rows = np.arange(len(sources))
    holding = np.isin(np.arange(len(graph)), list(graph.owned_regions))
    holds = holding[reader]
    # Of a kernel that hands on, the numbers that it reads beside other values are places.
    place = np.where(holds, is_number(graph)[graph.values.type[sources]], rows != handed)
    place &= (role[reader] == EDGE) & (graph.nodes.operands[reader] > 1)
    # What a call or a kernel is given is read as it is read in there.
    kernels = -1 if (found := graph.tables.find_string("fusion")) is None else found
    entered = (role == THROUGH) & holding | (role == BOX) & (graph.nodes.op == kernels)
    seen = (sources >= 0) & ~place & ~entered[reader]
    bindings = graph.bindings
    given = np.flatnonzero((bindings.kind == ENTER) & (bindings.start >= 0))
    given = given[entered[graph.regions.owner[graph.nodes.region[bindings.end[given]]]]]
    maker = np.concatenate([graph.value_node[sources[seen]], graph.value_node[bindings.start[given]]])
    reader = np.concatenate([reader[seen], bindings.end[given]])
    owners = graph.regions.owner[graph.nodes.region]
    hands_on = (role == EDGE) | (graph.nodes.kind == ARGUMENT) & (owners >= 0) & entered[owners]
    needed = (role != COUNTER) & ~hands_on
    read = np.zeros(len(graph), bool)
    while (new := needed[reader] & ~read[maker]).any():
        read[maker[new]] = True
        needed |= read & hands_on
    turning = np.zeros(len(graph.regions.owner), bool)
    turning[graph.nodes.region[(role == COUNTER) & (graph.nodes.kind == OPERATION)]] = True
    role[(graph.nodes.kind == ARGUMENT) & turning[graph.nodes.region] & ~read] = COUNTER


def slices_of(graph: Graph) -> NDArray[np.bool_]:
    """What takes a part of an array, or puts one into its place, where numbers say."""
    slices = [op for name in _SLICES if (op := graph.tables.find_string(name)) is not None]
    return np.isin(graph.nodes.op, slices)


def is_number(graph: Graph) -> NDArray[np.bool_]:
    """Of each type whether it is one whole number or truth value; the last is for what has none."""
    types, strings = graph.tables.types, graph.tables.strings
    number = [rank == 0 and strings[dtype] in _NUMBERS for rank, dtype in zip(types.rank, types.dtype, strict=True)]
    return np.array([*number, False])


def _loops_of(outline: Outline) -> NDArray[np.bool_]:
    """Of each node of the jaxpr whether it is a loop or condition; the last is for what comes from none, -1."""
    loops = np.zeros(len(outline.graph) + 1, bool)
    loops[turning_nodes(outline.graph)] = True
    return loops


def _counters(graph: Graph, source: Column, outline: Outline, loops: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """What counts the turns of a loop that the jaxpr has as a whole: numbers that come from nothing inside of it."""
    others = np.bincount(graph.value_node, ~is_number(graph)[graph.values.type], len(graph))
    told = (source >= 0) & (outline.role[np.maximum(source, 0)] == COUNTER)
    counts = (graph.nodes.kind == OPERATION) & (loops[source] | told) & (others == 0) & (graph.nodes.region > 0)
    # What has bodies counts if all in them does.
    owned = graph.owned_regions
    owner = np.array(list(owned), np.int64)
    first, last = (np.array([regions[at] for regions in owned.values()], np.int64) for at in (0, -1))
    others_before = np.concatenate([[0], np.cumsum((graph.nodes.kind == OPERATION) & ~counts)])
    start, end = graph.region_intervals
    counts[owner] &= others_before[end[last]] == others_before[start[first]]
    return counts
