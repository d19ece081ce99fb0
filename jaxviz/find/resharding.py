"""The annotation that an exchange between devices would not be needed with, where an argument alone is exchanged."""

from __future__ import annotations

import re
from math import prod

import numpy as np

from jaxviz.costs.kernels import kernels_of
from jaxviz.costs.traffic import value_bytes
from jaxviz.find.finding import Subject
from jaxviz.find.placement import Cut, Placed, placements, spec, words
from jaxviz.graph import ARGUMENT, OPERATION, RESULT, Graph
from jaxviz.units import bytes_text

# What a kernel that only moves entries consists of.
_MOVING = frozenset(
    {"fusion", "bitcast", "copy", "slice", "transpose", "reshape", "parameter", "concatenate", "convert"}
)
# Nodes that are looked at on the way back to an argument.
_STEPS = 64


def annotation(subject: Subject, node: int) -> str:
    """How an argument should come in for an exchange not to be needed; empty where that is not known."""
    assert subject.compiled is not None  # it was compiled, else there is none
    graph = subject.compiled.graph
    argument = _argument_behind(graph, node)
    if argument < 0:
        return ""
    placed = placements(subject.compiled).get(graph.tables.strings[graph.nodes.name[argument]])
    if placed is None or not placed.cuts:
        return ""
    return _needed(graph, node, placed, value_bytes(graph, int(graph.first_value[argument])))


def _needed(graph: Graph, node: int, placed: Placed, local: float) -> str:
    comes = f"`{placed.name}` comes in with {words(placed.cuts)}"
    op = graph.tables.strings[graph.nodes.op[node]]
    if op.startswith("all-gather"):
        gathered = _gathered(graph, node, placed)
        size = bytes_text(local * prod(placed.cuts[axis].parts for axis in gathered))
        left = {axis: cut for axis, cut in placed.cuts.items() if axis not in gathered}
        part = f" along dimension {gathered[0]}" if left else ""
        return (
            f"{comes} and is needed whole{part}. As {spec(left, len(placed.shape))}, {size} on each device, "
            "it need not be gathered; give that in in_shardings of jax.jit, or to jax.device_put."
        )
    wanted = _wanted(graph, node, placed.shape)
    now = {axis: cut.parts for axis, cut in placed.cuts.items()}
    if not op.startswith("all-to-all") or not wanted or wanted == now:
        return ""
    # It goes from one dimension to another along the same axis of the mesh.
    along = {cut.parts: cut for cut in placed.cuts.values()}
    cuts = {axis: along.get(parts, Cut(parts)) for axis, parts in wanted.items()}
    which = "" if all(cut.along for cut in cuts.values()) else ", with the axis of the mesh that it is cut along now,"
    gives = " or take the result as the argument lies, with out_shardings," if _gives_result(graph, node) else ""
    return (
        f"{comes} and is needed with {words(cuts)}. Let it come as {spec(cuts, len(placed.shape))}{which} in "
        f"in_shardings of jax.jit or with jax.device_put,{gives} and nothing is exchanged."
    )


def _gathered(graph: Graph, node: int, placed: Placed) -> list[int]:
    """The dimensions that an exchange makes whole: all that are cut, where the argument has another shape there."""
    found = re.findall(r"\d+", graph.node(node).attributes.get("dimensions", ""))
    named = [int(axis) for axis in found if int(axis) in placed.cuts]
    same = len(_dims(graph, int(graph.first_value[node]))) == len(placed.shape)
    return named if named and same else list(placed.cuts)


def _argument_behind(graph: Graph, node: int) -> int:
    """The argument of the program that is exchanged as it is, or in pieces; -1 where it is another value."""
    kernels = kernels_of(graph)
    known, waiting = {node}, _makers(graph, node)
    found: set[int] = set()
    while waiting and len(known) < _STEPS:
        maker = waiting.pop()
        if maker in known:
            continue
        known.add(maker)
        if graph.nodes.kind[maker] == ARGUMENT and graph.nodes.region[maker] == 0:
            found.add(maker)
            continue
        inside = np.append(np.flatnonzero(kernels == maker), maker)
        inside = inside[graph.nodes.kind[inside] == OPERATION]
        if not {graph.tables.strings[op] for op in np.unique(graph.nodes.op[inside]).tolist()} <= _MOVING:
            return -1
        waiting += _makers(graph, maker)
    return found.pop() if len(found) == 1 and not waiting else -1


def _makers(graph: Graph, node: int) -> list[int]:
    first = graph.first_operand
    sources = graph.operands.source[first[node] : first[node + 1]].tolist()
    return [int(graph.value_node[source]) for source in sources if source >= 0]


def _readers(graph: Graph, node: int) -> list[int]:
    values = range(graph.first_value[node], graph.first_value[node + 1])
    return sorted(set(graph.operand_node[np.isin(graph.operands.source, list(values))].tolist()))


def _wanted(graph: Graph, node: int, whole: tuple[int, ...]) -> dict[int, int]:
    """How what reads an exchange has it cut: axes with their numbers of parts."""
    for reader in _readers(graph, node):
        if graph.nodes.kind[reader] != OPERATION:
            continue
        dims = _dims(graph, int(graph.first_value[reader]))
        if len(dims) == len(whole) and all(size and not all_ % size for all_, size in zip(whole, dims, strict=True)):
            return {
                axis: all_ // size for axis, (all_, size) in enumerate(zip(whole, dims, strict=True)) if all_ > size
            }
    return {}


def _gives_result(graph: Graph, node: int) -> bool:
    """Whether what reads an exchange, and nothing else, is a result of the program."""
    readers = _readers(graph, node)
    if any(maker != node for one in readers for maker in _makers(graph, one)):
        return False
    after = [two for one in readers for two in (one, *_readers(graph, one))]
    return any(graph.nodes.kind[one] == RESULT and graph.nodes.region[one] == 0 for one in after)


def _dims(graph: Graph, value: int) -> tuple[int, ...]:
    return graph.tables.types.dims[int(graph.values.type[value])]
