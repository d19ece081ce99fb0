"""The annotation that an exchange between devices would not be needed with, where an argument alone is exchanged."""

from __future__ import annotations

import re
from math import prod

import numpy as np

from jaxviz.costs.kernels import kernels_of
from jaxviz.costs.traffic import value_bytes
from jaxviz.find.finding import Subject, bytes_text
from jaxviz.graph import ARGUMENT, OPERATION, RESULT, Graph

# What a kernel that only moves entries consists of.
_MOVING = frozenset(
    {"fusion", "bitcast", "copy", "slice", "transpose", "reshape", "parameter", "concatenate", "convert"}
)
_CUT = re.compile(r"dimension (\d+) in (\d+) parts")
# Nodes that are looked at on the way back to an argument.
_STEPS = 64


def annotation(subject: Subject, node: int) -> str:
    """How an argument should come in for an exchange not to be needed; empty where that is not known."""
    assert subject.compiled is not None  # it was compiled, else there is none
    graph = subject.compiled.graph
    argument = _argument_behind(graph, node)
    if argument < 0:
        return ""
    sharding = graph.node(argument).attributes.get("sharding", "")
    cuts = {int(axis): int(parts) for axis, parts in _CUT.findall(sharding)}
    # Of what is on some devices only, the axes of the mesh are not known.
    if not cuts or ", each on" in sharding:
        return ""
    name = graph.tables.strings[graph.nodes.name[argument]]
    value = int(graph.first_value[argument])
    local = _dims(graph, value)
    if max(cuts) >= len(local):
        return ""
    whole = tuple(size * cuts.get(axis, 1) for axis, size in enumerate(local))
    op = graph.tables.strings[graph.nodes.op[node]]
    if op.startswith("all-gather"):
        size = bytes_text(value_bytes(graph, value) * prod(cuts.values()))
        return (
            f"`{name}` comes in with {_words(cuts)} and is needed whole. As {_spec({}, whole)}, {size} on each device, "
            "it need not be gathered; give that in in_shardings of jax.jit, or to jax.device_put."
        )
    wanted = _wanted(graph, node, whole)
    if not op.startswith("all-to-all") or not wanted or wanted == cuts:
        return ""
    gives = " or take the result as the argument lies, with out_shardings," if _gives_result(graph, node) else ""
    return (
        f"`{name}` comes in with {_words(cuts)} and is needed with {_words(wanted)}. Let it come as "
        f"{_spec(wanted, whole)}, with the axis of the mesh that it is cut along now, in in_shardings of jax.jit or "
        f"with jax.device_put,{gives} and nothing is exchanged."
    )


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


def _words(cuts: dict[int, int]) -> str:
    return " and ".join(f"dimension {axis} in {parts} parts" for axis, parts in sorted(cuts.items()))


def _spec(cuts: dict[int, int], whole: tuple[int, ...]) -> str:
    if not cuts:
        return "jax.sharding.PartitionSpec()"
    parts = ", ".join("axis" if place in cuts else "None" for place in range(len(whole)))
    return f"jax.sharding.PartitionSpec({parts})"
