"""What must be true of the columns of a graph, and the message for each thing that is not.

Cheap enough to run on every graph while testing: whole columns at a time, no loop over nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from jaxviz.graph import Graph

_OPERATION, _ARGUMENT, _RESULT, _CONSTANT = range(4)
_ENTER, _INIT, _SLICE, _LEAVE, _STACK, _CARRY = range(6)

Column = NDArray[Any]


class GraphError(ValueError):
    """The columns of a graph do not fit together."""


def check_graph(graph: Graph) -> None:
    """Raise `GraphError` at the first thing that does not hold."""
    _check_lengths(graph)
    _check_ranges(graph)
    _check_regions(graph)
    _check_borders(graph)
    _check_operands(graph)
    _check_bindings(graph)


def _check_lengths(graph: Graph) -> None:
    for part_name in (
        "nodes",
        "values",
        "operands",
        "literals",
        "regions",
        "bindings",
        "attributes",
    ):
        columns = vars(getattr(graph, part_name))
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            raise GraphError(f"columns of {part_name} differ in length: {lengths}")
    for made, total in (("outputs", len(graph.values.type)), ("operands", len(graph.operands.source))):
        counts = getattr(graph.nodes, made)
        _require(counts >= 0, counts, f"nodes.{made}", "a count")
        if int(counts.sum(dtype=np.int64)) != total:
            raise GraphError(f"nodes.{made} add up to {int(counts.sum())}, but there are {total}")


def _check_ranges(graph: Graph) -> None:
    tables = graph.tables
    strings, types = len(tables.strings), len(tables.types.text)
    node_count, value_count = len(graph), len(graph.values.type)
    literal_count = len(graph.literals.text)
    for name, column, low, high in (
        ("nodes.kind", graph.nodes.kind, 0, 4),
        ("nodes.op", graph.nodes.op, 0, strings),
        ("nodes.name", graph.nodes.name, 0, strings),
        ("nodes.region", graph.nodes.region, 0, len(graph.regions.owner)),
        ("nodes.stack", graph.nodes.stack, -1, len(tables.stacks.frame)),
        ("nodes.scope", graph.nodes.scope, 0, strings),
        ("values.type", graph.values.type, 0, types),
        ("operands.source", graph.operands.source, -literal_count, value_count),
        ("literals.text", graph.literals.text, 0, strings),
        ("literals.type", graph.literals.type, 0, types),
        ("regions.owner", graph.regions.owner, -1, node_count),
        ("regions.kind", graph.regions.kind, 0, strings),
        ("regions.name", graph.regions.name, 0, strings),
        ("bindings.kind", graph.bindings.kind, 0, 6),
        ("bindings.from", graph.bindings.start, -literal_count, max(value_count, node_count)),
        ("bindings.to", graph.bindings.end, 0, max(value_count, node_count)),
        ("attributes.node", graph.attributes.node, 0, node_count),
        ("attributes.key", graph.attributes.key, 0, strings),
        ("attributes.value", graph.attributes.value, 0, strings),
    ):
        _require((column >= low) & (column < high), column, name, f"at least {low} and below {high}")
    _require(np.diff(graph.attributes.node, prepend=0) >= 0, graph.attributes.node, "attributes.node", "in order")


def _check_regions(graph: Graph) -> None:
    """Region 0 is the program; regions nest, and each holds the nodes right after its owner."""
    owner = graph.regions.owner
    if len(owner) == 0 or owner[0] != -1:
        raise GraphError("region 0 must be the program, without an owner")
    _require(owner[1:] >= 0, owner[1:], "regions.owner", "a node, for all regions but region 0")
    index = np.arange(len(owner))
    parent = graph.region_parent
    _require(parent[1:] < index[1:], parent[1:], "the region around a region", "an earlier region")
    start, end = graph.region_intervals
    # A node stands in its region's interval, and in that of none of the regions inside it.
    node = np.arange(len(graph))
    region = graph.nodes.region
    within = (node >= start[region]) & (node < end[region])
    _require(within, region, "nodes.region", "the region whose nodes stand there")
    depth_first = np.full(len(graph), -1)
    for number in range(len(owner)):
        depth_first[start[number] : end[number]] = number
    _require(depth_first == region, region, "nodes.region", "the innermost region that stands there")


def _check_borders(graph: Graph) -> None:
    """Arguments, results and constants have the operands and outputs that fit them."""
    kind, outputs, operands = graph.nodes.kind, graph.nodes.outputs, graph.nodes.operands
    source = (kind == _ARGUMENT) | (kind == _CONSTANT)
    _require(~source | ((outputs == 1) & (operands == 0)), kind, "argument or constant", "of one output and no operand")
    result = kind == _RESULT
    _require(~result | ((outputs == 0) & (operands == 1)), kind, "result", "of one operand and no output")
    owners = graph.regions.owner[1:]
    _require(kind[owners] == _OPERATION, owners, "regions.owner", "an operation")


def _check_operands(graph: Graph) -> None:
    """An operand was made before, in the region of its reader or in one around it."""
    source = graph.operands.source
    reader = graph.operand_node[source >= 0]
    maker = graph.value_node[source[source >= 0]]
    _require(maker < reader, maker, "operands.source", "made by an earlier node")
    start, end = graph.region_intervals
    around = graph.nodes.region[maker]
    visible = (reader >= start[around]) & (reader < end[around])
    _require(visible, maker, "operands.source", "made in the reader's region or one around it")


def _check_bindings(graph: Graph) -> None:
    """Each binding joins what its kind says, across the border of one region."""
    kind, start, end = graph.bindings.kind, graph.bindings.start, graph.bindings.end
    regions, nodes = graph.regions, graph.nodes
    into = kind <= _SLICE
    carried = kind == _CARRY
    out = (kind == _LEAVE) | (kind == _STACK)
    at_argument = end[into | carried]
    _require(at_argument < len(graph), at_argument, "bindings.to", "a node")
    _require(nodes.kind[at_argument] == _ARGUMENT, at_argument, "bindings.to", "an argument")
    at_result = start[out | carried]
    _require((at_result >= 0) & (at_result < len(graph)), at_result, "bindings.from", "a node")
    _require(nodes.kind[at_result] == _RESULT, at_result, "bindings.from", "a result")

    entering = into & (start >= 0)
    value = start[entering]
    _require(value < len(graph.values.type), value, "bindings.from", "a value")
    owner = regions.owner[nodes.region[end[entering]]]
    _require(owner >= 0, owner, "bindings.to", "an argument of a region that has an owner")
    _require(graph.value_node[value] < owner, value, "bindings.from", "made before the owner")

    value = end[out]
    _require(value < len(graph.values.type), value, "bindings.to", "a value")
    owner = regions.owner[nodes.region[start[out]]]
    _require(graph.value_node[value] == owner, value, "bindings.to", "an output of the region's owner")

    result_owner = regions.owner[nodes.region[start[carried]]]
    argument_owner = regions.owner[nodes.region[end[carried]]]
    _require(result_owner == argument_owner, result_owner, "a carry", "within one owner")


def _require(holds: Column, column: Column, name: str, expected: str) -> None:
    if not holds.all():
        at = int(np.flatnonzero(~holds)[0])
        raise GraphError(f"{name}[{at}] is {int(column[at])}, but must be {expected}")
