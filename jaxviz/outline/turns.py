"""How the loops of a compiled stage turn: how often, and what does nothing but count.

Of a loop over a number of turns, the jaxpr says how many, and nothing counts them. The compiler's loops count by
themselves, in operations that say nothing of the program.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, OPERATION, Attributes, Column, Graph
from jaxviz.outline.noise import BOX, COUNTER, EDGE
from jaxviz.outline.tree import Outline

_TURNING = frozenset({"scan", "while", "cond"})
LOOPS = frozenset({"while"})
_SLICES = ("dynamic_slice", "dynamic_update_slice", "dynamic-slice", "dynamic-update-slice")
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
    if not rows:
        return graph
    columns = [
        np.concatenate([column, np.array(added, np.int32)])
        for column, added in zip(
            (attributes.node, attributes.key, attributes.value), zip(*rows, strict=True), strict=True
        )
    ]
    order = np.argsort(columns[0], kind="stable")
    return replace(graph, attributes=Attributes(*(column[order] for column in columns)))


def mark_turns(role: Column, graph: Graph, source: Column, outline: Outline) -> None:
    """What counts turns is not drawn, nor is what goes round for that alone; the program itself may read it.

    What takes the slice of a turn from what is scanned, and puts that of a result where it belongs, is an edge.
    """
    loops = _loops_of(outline)
    counts = _counters(graph, source, outline, loops)
    slices = [op for name in _SLICES if (op := graph.tables.find_string(name)) is not None]
    role[(role == BOX) & np.isin(graph.nodes.op, slices) & loops[source] & (graph.nodes.region > 0)] = EDGE
    copies = graph.tables.find_string("copy")
    role[counts] = np.where(graph.nodes.op[counts] == (-1 if copies is None else copies), EDGE, COUNTER)
    source = graph.operands.source
    reads = np.flatnonzero((source >= 0) & (role[graph.operand_node] != COUNTER))
    read = np.zeros(len(graph), bool)
    read[graph.value_node[source[reads]]] = True
    turning = np.zeros(len(graph.regions.owner), bool)
    turning[graph.nodes.region[counts]] = True
    role[(graph.nodes.kind == ARGUMENT) & turning[graph.nodes.region] & ~read] = COUNTER


def _loops_of(outline: Outline) -> NDArray[np.bool_]:
    """Of each node of the jaxpr whether it is a loop or condition; the last is for what comes from none, -1."""
    loops = np.zeros(len(outline.graph) + 1, bool)
    loops[turning_nodes(outline.graph)] = True
    return loops


def _counters(graph: Graph, source: Column, outline: Outline, loops: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """What counts the turns of a loop that the jaxpr has as a whole: numbers that come from nothing inside of it."""
    types, strings = graph.tables.types, graph.tables.strings
    number = [rank == 0 and strings[dtype] in _NUMBERS for rank, dtype in zip(types.rank, types.dtype, strict=True)]
    others = np.bincount(graph.value_node, ~np.array([*number, False])[graph.values.type], len(graph))
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
