"""What only counts the turns of a loop in a stage that was opened: there is no jaxpr that says so.

A loop over a number of turns counts them in a number that each turn makes of itself alone, in operations that have the
call stack of the loop: what the person wrote in the body has that of the body. Where nothing has a call stack, such a
number counts if the loop asks for nothing else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, ENTER, INIT, OPERATION, RESULT, Column, Graph
from jaxviz.outline.compiled.roles import KERNELS, WRAPPERS, is_owner_of, mark_handing_on
from jaxviz.outline.compiled.turns import LOOPS, hide_counted, is_number, slices_of
from jaxviz.outline.noise import BOX, COUNTER, EDGE


def mark_counted(role: Column, graph: Graph) -> None:
    """What counts turns is not drawn; what takes the slice of a turn, or puts a result into its place, is an edge."""
    counts = counting_nodes(graph)
    if not counts.any():
        return
    reads = np.zeros(len(graph), bool)
    made = graph.operand_maker
    reads[graph.operand_node[(made >= 0) & counts[np.maximum(made, 0)]]] = True
    role[(role == BOX) & slices_of(graph) & _of_loops(graph) & reads] = EDGE
    counts &= graph.nodes.kind == OPERATION
    role[counts & (role == BOX)] = COUNTER
    start, end = graph.region_intervals
    for owner in np.flatnonzero(counts & is_owner_of(graph, KERNELS)[:-1]).tolist():
        for region in graph.owned_regions.get(owner, ()):
            inside = role[start[region] : end[region]]
            inside[(graph.nodes.kind[start[region] : end[region]] == OPERATION) & (inside == BOX)] = COUNTER
    mark_handing_on(role, graph)
    hide_counted(role, graph)


def counted_loops(graph: Graph) -> list[int]:
    """The loops whose conditions ask for nothing but how often they turned."""
    counts = counting_nodes(graph)
    is_loop = is_owner_of(graph, LOOPS)
    found = []
    for owner, regions in graph.owned_regions.items() if counts.any() else ():
        asks = _asking(graph, regions[0])
        if is_loop[owner] and len(asks) and counts[asks].all():
            found.append(owner)
    return found


def _asking(graph: Graph, region: int) -> NDArray[np.intp]:
    """The operations of a condition that read anything."""
    inside = _in_region(graph, region, OPERATION)
    return inside[graph.nodes.operands[inside] > 0]


def counting_nodes(graph: Graph) -> NDArray[np.bool_]:
    """The operations that count turns, and the arguments of bodies that are what they count in."""
    nodes = graph.nodes
    counts = np.zeros(len(graph), bool)
    is_loop = is_owner_of(graph, LOOPS)
    told = nodes.stack >= 0
    alone = not told.any()
    loops = [
        owner
        for owner, regions in graph.owned_regions.items()
        if is_loop[owner] and (told[owner] or (alone and len(_asking(graph, regions[0])) == 1))
    ]
    if not loops:
        return counts
    others = np.bincount(graph.value_node, ~is_number(graph)[graph.values.type], len(graph))
    candidates = (
        (_of_loops(graph) | (nodes.stack < 0)) & (nodes.kind == OPERATION) & (nodes.operands > 0) & (others == 0)
    )
    made = graph.operand_maker
    fixed = np.append(fixed_nodes(graph, made, loops), True)
    first = graph.first_operand

    def read_by(node: int) -> set[int]:
        """What a node is made of but for constants."""
        return {one for one in made[first[node] : first[node + 1]].tolist() if not fixed[one]}

    for owner in loops:
        arguments, results = carried(graph, owner)
        for place, result in enumerate(results.tolist()):
            makers, steps = read_by(result), 0
            while len(makers) == 1 and candidates[node := next(iter(makers))]:
                makers, steps = read_by(node), steps + 1
            if steps and makers == {int(arguments[-1][place])}:
                counts[[one[place] for one in arguments]] = True
    given = _given(graph)
    for node in np.flatnonzero(candidates | (given >= 0)).tolist() if counts.any() else ():
        makers = read_by(node) if given[node] < 0 else {int(given[node])}
        counts[node] = bool(makers) and all(counts[one] for one in makers)
    return counts


def carried(graph: Graph, owner: int) -> tuple[list[NDArray[np.intp]], NDArray[np.intp]]:
    """What goes round a loop: arguments of each of its bodies, and the results of the last, in the same places.

    What bodies read from around them are arguments before these.
    """
    regions = graph.owned_regions[owner]
    results = _in_region(graph, regions[-1], RESULT)
    found = [_in_region(graph, region, ARGUMENT) for region in regions]
    if not len(results) or any(len(one) < len(results) for one in found):
        return [], results[:0]
    return [one[-len(results) :] for one in found], results


def fixed_nodes(graph: Graph, made: Column, loops: list[int]) -> NDArray[np.bool_]:
    """Which nodes are constants, or arguments that are one in every turn: read from around the body, or carried
    unchanged."""
    kept = np.zeros(len(graph), bool)
    for owner in loops:
        arguments, results = carried(graph, owner)
        same = made[graph.first_operand[results]] == arguments[-1] if arguments else []
        for one in arguments:
            kept[one[same]] = True
    fixed: NDArray[np.bool_] = (graph.nodes.operands == 0) & (graph.nodes.kind != ARGUMENT)
    bindings = graph.bindings
    rows = np.flatnonzero((bindings.kind == ENTER) | (bindings.kind == INIT))
    rows = rows[(bindings.kind[rows] == ENTER) | kept[bindings.end[rows]]]
    # What is around a body stands before it.
    for row in rows[np.argsort(bindings.end[rows])].tolist():
        start = bindings.start[row]
        fixed[bindings.end[row]] = start < 0 or fixed[graph.value_node[start]]
    return fixed


def _in_region(graph: Graph, region: int, kind: int) -> NDArray[np.intp]:
    """The nodes of a kind right in a region."""
    first, end = graph.region_intervals[0][region], graph.region_intervals[1][region]
    nodes = graph.nodes
    return first + np.flatnonzero((nodes.region[first:end] == region) & (nodes.kind[first:end] == kind))


def _given(graph: Graph) -> Column:
    """Of each argument of a call or a kernel, the node that makes what it is given, else -1."""
    given = np.full(len(graph), -1, np.int32)
    bindings, enters = graph.bindings, is_owner_of(graph, KERNELS | WRAPPERS)
    rows = np.flatnonzero((bindings.kind == ENTER) & (bindings.start >= 0))
    rows = rows[enters[graph.regions.owner[graph.nodes.region[bindings.end[rows]]]]]
    given[bindings.end[rows]] = graph.value_node[bindings.start[rows]]
    return given


def _of_loops(graph: Graph) -> NDArray[np.bool_]:
    """Whether each node has the call stack of the innermost loop that it stands in; where none has any, all do."""
    owners, around, stack = graph.regions.owner.tolist(), graph.nodes.region.tolist(), graph.nodes.stack.tolist()
    is_loop, known = is_owner_of(graph, LOOPS).tolist(), max(stack, default=-1) >= 0
    told = [-1] * len(owners)
    # Bodies stand behind what is around them.
    for region, owner in enumerate(owners):
        if owner >= 0:
            told[region] = (stack[owner] if known else 0) if is_loop[owner] else told[around[owner]]
    inside = np.array(told, np.int32)[graph.nodes.region]
    return (inside >= 0) & ((graph.nodes.stack == inside) if known else True)
