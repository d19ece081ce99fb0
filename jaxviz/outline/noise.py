"""What is drawn as what: most equations are boxes; those that only hand a value on are edges, constants are chips.

What JAX adds between the operations of a program, changes of shape and type and copies, says little to its author. It
is classified here, for each node, and hidden by whoever draws.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, LEAVE, OPERATION, RESULT, Column, Graph
from jaxviz.outline.paths import NodePaths
from jaxviz.program.accepted_equinox import MARKER
from jaxviz.read.sharding import WHOLE

#: What a node is drawn as. THROUGH: the equation or the border of a body that is looked through, such as of a jit.
#: DETAIL: inside an equation that is drawn as a whole. COUNTER: the turn of a loop, counted up, and what else nobody
#: asked for.
BOX, EDGE, CHIP, COUNTER, THROUGH, DETAIL = range(6)

_RESHAPES = ("reshape", "broadcast_in_dim", "squeeze", "expand_dims")
# What Equinox says of a value, so that a transformation that should not reach it fails.
_FORBIDS = ("nontraceable", "nonbatchable", "nondifferentiable_backward")
_HANDS_ON = (*_RESHAPES, *_FORBIDS, "convert_element_type", "stop_gradient", "copy", "copy_p", "pvary")
_CONSTANT = ("iota", "broadcast_in_dim", "full", "empty", "empty2", "random_seed", "reshard")
# Conditions, in the words of a jaxpr, of StableHLO and of HLO.
_CONDITIONS = ("cond", "case", "conditional")
_LOOPS = ("scan", "while")
_CONSTRAINTS = ("sdy.sharding_constraint",)


def node_roles(graph: Graph, found: NodePaths, own_frame: Column, calling: Collection[int] = ()) -> Column:
    """What each node is drawn as. Where nothing else would be left, what hands values on is drawn after all.

    `own_frame` is the innermost of the person's frames that each node came from, -1 where there is none; `calling` are
    those of them that called others.
    """
    nodes = graph.nodes
    operation = (nodes.kind == OPERATION) & ~found.opaque
    role = np.zeros(len(graph), np.int32)
    role[operation & _is_one_of(graph, _HANDS_ON) & (nodes.operands == 1)] = EDGE
    role[operation & (bounds_of_choices(graph) | _stays(graph))] = EDGE
    role[operation & _moved_axes(graph, own_frame, calling)] = EDGE
    constant = operation & _is_one_of(graph, _CONSTANT) & ~_reads_values(graph)
    role[constant] = CHIP
    role[_counters(graph, operation)] = COUNTER
    role[found.wrapper] = THROUGH
    role[_borders_of_wrappers(graph, found.wrapper)] = THROUGH
    role[found.opaque] = DETAIL
    role[beside_results(graph)] = COUNTER
    if not (operation & (role == BOX)).any():
        role[role == EDGE] = BOX
    return role


def beside_results(graph: Graph) -> NDArray[np.bool_]:
    """The result that a library's jit gives beside what the person's function gives."""
    marker = graph.tables.find_string(MARKER)
    if marker is None:
        return np.zeros(len(graph), np.bool_)
    return (graph.nodes.kind == RESULT) & (graph.nodes.name == marker)


def bounds_of_choices(graph: Graph) -> NDArray[np.bool_]:
    """What keeps the number of a branch within those that there are: JAX adds it to every `switch`.

    A body may hand the number on, so that the way back takes the same branch.
    """
    bounds = _is_one_of(graph, ("clamp",))
    if not bounds.any():
        return bounds
    read = np.flatnonzero(graph.operands.source >= 0)
    maker, reader = graph.value_node[graph.operands.source[read]], graph.operand_node[read]
    chooses = _is_one_of(graph, _CONDITIONS)[reader] & (read == graph.first_operand[reader])
    for_choices, for_others = np.zeros((2, len(graph)), bool)
    for_choices[maker[chooses]] = True
    for_others[maker[~chooses & ((graph.nodes.kind[reader] != RESULT) | (graph.nodes.region[reader] == 0))]] = True
    return bounds & for_choices & ~for_others


def _stays(graph: Graph) -> NDArray[np.bool_]:
    """What is put on no device but that where it is: of each value that goes in, the one in its place comes out."""
    puts = _is_one_of(graph, ("device_put",))
    if puts.any() and (key := graph.tables.find_string("devices")) is not None:
        puts[graph.attributes.node[graph.attributes.key == key]] = False
    return puts


def empty_constraints(graph: Graph) -> NDArray[np.bool_]:
    """Constraints on one device or on none, which split nothing: JAX adds them to random keys that a loop carries."""
    constraints = _is_one_of(graph, _CONSTRAINTS)
    attributes, found = graph.attributes, graph.tables.find_string
    whole = (attributes.key == found("sharding")) & (attributes.value == found(WHOLE))
    says_nothing = np.zeros(len(graph), bool)
    says_nothing[attributes.node[whole]] = True
    return constraints & says_nothing & (graph.nodes.operands == 1)


def _moved_axes(graph: Graph, own_frame: Column, calling: Collection[int]) -> NDArray[np.bool_]:
    """Where `vmap` moves the axis that it maps over: to where a loop wants it, and to where it is asked for.

    Nobody wrote that: such a transposition has no place in the source, or that of the loop that it stands beside, or
    that of a call of the person's function, which `vmap` makes.
    """
    moves = _is_one_of(graph, ("transpose",))
    if not moves.any():
        return moves
    read = np.flatnonzero(graph.operands.source >= 0)
    maker, reader = graph.value_node[graph.operands.source[read]], graph.operand_node[read]
    loops = _is_one_of(graph, _LOOPS)
    with_loop = (loops[maker] | loops[reader]) & (own_frame[maker] == own_frame[reader])
    beside = np.zeros(len(graph), bool)
    beside[maker[with_loop]] = True
    beside[reader[with_loop]] = True
    placeless = (own_frame < 0) & (own_frame >= 0).any()
    beside |= np.isin(own_frame, list(calling))
    return moves & (beside | placeless) & (graph.nodes.operands == 1)


def _is_one_of(graph: Graph, ops: tuple[str, ...]) -> NDArray[np.bool_]:
    numbers = [number for op in ops if (number := graph.tables.find_string(op)) is not None]
    table = np.zeros(len(graph.tables.strings), bool)
    table[numbers] = True
    return table[graph.nodes.op]


def _reads_values(graph: Graph) -> NDArray[np.bool_]:
    """Whether a node reads any value, not literals alone."""
    reads = np.zeros(len(graph), bool)
    reads[graph.operand_node[graph.operands.source >= 0]] = True
    return reads


def _borders_of_wrappers(graph: Graph, wrapper: NDArray[np.bool_]) -> NDArray[np.bool_]:
    looked_through = np.zeros(len(graph.regions.owner), bool)
    looked_through[1:] = wrapper[graph.regions.owner[1:]]
    return looked_through[graph.nodes.region] & (graph.nodes.kind != OPERATION)


def _counters(graph: Graph, operation: NDArray[np.bool_]) -> NDArray[np.int64]:
    """`i + 1` of an integer that goes round a loop, given straight to the next turn, and read by nothing after it."""
    first = graph.first_operand
    candidates = np.flatnonzero(operation & _is_one_of(graph, ("add",)) & (graph.nodes.region > 0)).astype(np.int64)
    if not len(candidates):
        return candidates
    source = graph.operands.source
    left, right = source[first[candidates]], source[first[candidates] + 1]
    value = np.maximum(left, right)
    literal = np.minimum(left, right)
    possible = (literal < 0) & (value >= 0)
    candidates, value, literal = candidates[possible], value[possible], literal[possible]
    types, strings = graph.tables.types, graph.tables.strings
    whole = [rank == 0 and "int" in strings[dtype] for rank, dtype in zip(types.rank, types.dtype, strict=True)]
    made = graph.first_value[candidates]
    results = np.flatnonzero((graph.nodes.kind == RESULT) & (graph.nodes.operands > 0))
    given = source[first[results]]
    handed_on, asked_for = np.zeros((2, len(graph.values.type) + 1), bool)
    handed_on[given[given >= 0]] = True
    asked_for[given[np.isin(results, _read_outside(graph))]] = True
    one = graph.tables.find_string("1")
    counts = np.array(whole, bool)[graph.values.type[made]] & handed_on[made] & ~asked_for[made]
    counts &= graph.literals.text[-1 - literal] == (-1 if one is None else one)
    counts &= graph.nodes.kind[graph.value_node[value]] == ARGUMENT
    return candidates[counts]


def _read_outside(graph: Graph) -> Column:
    """The results of bodies that something reads where the body has ended."""
    read = np.zeros(len(graph.values.type) + 1, bool)
    read[graph.operands.source[graph.operands.source >= 0]] = True
    bindings = graph.bindings
    leaves = np.flatnonzero(bindings.kind == LEAVE)
    return bindings.start[leaves[read[bindings.end[leaves]]]]
