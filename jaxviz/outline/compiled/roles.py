"""What the nodes of a stage after the jaxpr are drawn as: what only hands values on as an edge, constants as chips.

So it is told by the words of StableHLO and HLO alone, also in a file that was opened. What of a loop only turns it is
told by the jaxpr (`turns.py`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, CONSTANT, ENTER, OPERATION, RESULT, Column, Graph
from jaxviz.outline.compiled.turns import LOOPS
from jaxviz.outline.noise import (
    BOX,
    CHIP,
    COUNTER,
    EDGE,
    THROUGH,
    beside_results,
    bounds_of_choices,
    empty_constraints,
)

# Operations that hand a value on, in the words of StableHLO and HLO.
_HANDS_ON = frozenset(
    {"reshape", "broadcast_in_dim", "broadcast", "convert", "bitcast", "bitcast_convert", "optimization_barrier"}
)
_CONSTANTS = frozenset({"constant", "iota"})
# What a compiler calls for memory in which nothing is yet, as for the results of a loop.
_ALLOCATES = frozenset({"AllocateBuffer"})
_COPIES = frozenset({"copy"})
# What brings a value into fast memory while other things run.
_FETCHES = frozenset({"copy_start", "copy_done"})
#: What the compiler runs as one piece.
KERNELS = frozenset({"fusion"})
#: Owners whose bodies are seen as part of what is around them.
WRAPPERS = frozenset({"call"})


def roles_of(graph: Graph) -> Column:
    """What each node is drawn as. Inside what runs as one piece everything is drawn, where it is opened."""
    strings = graph.tables.strings
    role = np.full(len(graph), BOX, np.int32)
    operation = graph.nodes.kind == OPERATION
    names = {op: strings[op].replace("-", "_") for op in set(graph.nodes.op.tolist())}
    reads = np.zeros(len(graph), bool)
    reads[graph.operand_node[graph.operands.source >= 0]] = True
    for op, name in names.items():
        here = operation & (graph.nodes.op == op)
        if name in _HANDS_ON:
            role[here & (graph.nodes.operands == 1)] = EDGE
        if name in _COPIES:
            role[_copies_for_loops(graph, here) | here & _only_laid_out(graph)] = EDGE
        if name in _FETCHES:
            role[here & _only_laid_out(graph)] = EDGE
        if name in _CONSTANTS:
            role[here & ~reads] = CHIP
        if name in WRAPPERS:
            role[here] = THROUGH
    role[operation & ~reads & _allocations(graph)] = CHIP
    role[operation & empty_constraints(graph)] = EDGE
    fills = _fillings(graph, role)
    role[fills & ~reads] = CHIP
    edges = np.flatnonzero(operation & (role == EDGE) | fills & reads)
    read = graph.operands.source[graph.first_operand[edges]]
    maker = np.full(len(edges), -1, np.int32)
    maker[read >= 0] = graph.value_node[read[read >= 0]]
    # Of a literal there is no maker; the node that stands last in its place does not count.
    constant = (read < 0) | (graph.nodes.kind[maker] == CONSTANT)
    role[edges[constant]] = CHIP
    # What is made of a constant alone is one too.
    edges, maker = edges[~constant], maker[~constant]
    while len(edges):
        made = role[maker] == CHIP
        if not made.any():
            break
        role[edges[made]] = CHIP
        edges, maker = edges[~made], maker[~made]
    role[operation & bounds_of_choices(graph)] = EDGE
    through = np.zeros(len(graph.regions.owner), bool)
    through[1:] = role[graph.regions.owner[1:]] == THROUGH
    role[through[graph.nodes.region] & ~operation] = THROUGH
    role[beside_results(graph)] = COUNTER
    mark_handing_on(role, graph)
    return role


def mark_handing_on(role: Column, graph: Graph) -> None:
    """Kernels in which nothing is drawn hand values on. Where nothing else is left, all that does is drawn."""
    operation = graph.nodes.kind == OPERATION
    kernel = (role == BOX) & is_owner_of(graph, KERNELS)[:-1]
    regions, inside = graph.regions.owner, graph.nodes.region
    drawn = np.zeros(len(graph) + 1, bool)
    drawn[regions[inside[operation & (role == BOX) & ~kernel]]] = True
    role[kernel & ~drawn[:-1]] = EDGE
    if not (operation & (role == BOX)).any():
        role[operation & (role == EDGE)] = BOX


def _allocations(graph: Graph) -> NDArray[np.bool_]:
    """Calls of what only gives memory."""
    find, attributes = graph.tables.find_string, graph.attributes
    allocates = np.zeros(len(graph), bool)
    key, targets = find("custom_call_target"), [found for name in _ALLOCATES if (found := find(name)) is not None]
    if key is not None and targets:
        allocates[attributes.node[(attributes.key == key) & np.isin(attributes.value, targets)]] = True
    return allocates


def _fillings(graph: Graph, role: Column) -> NDArray[np.bool_]:
    """Kernels in which nothing is computed, and that read one value at most: of a constant they fill memory with it."""
    regions, nodes = graph.regions, graph.nodes
    drawn = nodes.region[(nodes.kind == OPERATION) & (role == BOX)]
    computes = np.bincount(drawn, minlength=len(regions.owner)) > 0
    owner = regions.owner[1:]
    fills = np.zeros(len(graph), bool)
    fills[owner[~computes[1:]]] = True
    fills[owner[computes[1:]]] = False
    is_one = (nodes.operands <= 1) & (nodes.outputs == 1)
    return fills & is_one & is_owner_of(graph, KERNELS)[:-1]


def _only_laid_out(graph: Graph) -> NDArray[np.bool_]:
    """What the compiler adds for the order or the place in memory, and that no operation of the program stands for.

    So it is of a copy that makes an argument, or one value twice, a result.
    """
    only_laid_out: NDArray[np.bool_] = graph.nodes.scope == graph.tables.find_string("")
    return only_laid_out


def fetched_arguments(graph: Graph) -> NDArray[np.bool_]:
    """What brings arguments of the program to where they are read, and no operation of the program stands for."""
    strings, source = graph.tables.strings, graph.operands.source
    fetches = [op for op in set(graph.nodes.op.tolist()) if strings[op].replace("-", "_") in _COPIES | _FETCHES]
    fetched = np.isin(graph.nodes.op, fetches) & (graph.nodes.operands > 0) & _only_laid_out(graph)
    fetched &= (graph.nodes.kind == OPERATION) & (graph.nodes.region == 0)
    # The first operand is what is fetched.
    for node in np.flatnonzero(fetched).tolist():
        read = source[graph.first_operand[node]]
        maker = graph.value_node[read] if read >= 0 else node
        fetched[node] = graph.nodes.kind[maker] == ARGUMENT or (maker < node and fetched[maker])
    return fetched


def _copies_for_loops(graph: Graph, copies: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Of copies those that nothing reads but a loop as it starts or turns: the compiler gives it memory of its own."""
    loops, calls = (is_owner_of(graph, names) for names in (LOOPS, WRAPPERS))
    turns = loops[:-1] | (graph.nodes.kind == RESULT) & loops[graph.regions.owner[graph.nodes.region]]
    read = np.flatnonzero(graph.operands.source >= 0)
    maker, reader = graph.value_node[graph.operands.source[read]], graph.operand_node[read]
    for_loops, for_others = np.zeros((2, len(graph)), bool)
    for_loops[maker[turns[reader]]] = True
    for_others[maker[~turns[reader] & ~calls[reader]]] = True
    # What a call is given is read as it is read in there.
    bindings = graph.bindings
    given = np.flatnonzero((bindings.kind == ENTER) & (bindings.start >= 0))
    given = given[calls[graph.regions.owner[graph.nodes.region[bindings.end[given]]]]]
    for binding in given[np.argsort(-bindings.end[given])].tolist():
        outside, inside = graph.value_node[bindings.start[binding]], bindings.end[binding]
        for_loops[outside] |= for_loops[inside]
        for_others[outside] |= for_others[inside]
    return copies & for_loops & ~for_others


def is_owner_of(graph: Graph, names: frozenset[str]) -> NDArray[np.bool_]:
    """Whether each node is one of these operations; the last is for the owner of the program, which has none, -1."""
    ops = [op for name in names if (op := graph.tables.find_string(name)) is not None]
    return np.append(np.isin(graph.nodes.op, ops), False)
