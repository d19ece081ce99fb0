"""The values of a program that its kernels write to memory: to have these too costs little, because they are there.

Found by the tags: the operation that writes a value to memory says which equation it computes, and is of the type of
what that equation makes. What the compiler made by itself, or made of several steps of one equation, is none of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from math import prod
from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.costs.cost import Cost, cost_of
from jaxviz.graph import OPERATION, RESULT, Graph
from jaxviz.link.links import EXACT, MERGED, Links

# The results of these lie in memory, whatever is inside.
_HOLDING = frozenset(["scan", "while", "cond"])
# Operations of HLO with a body for one number or two.
_APPLYING = frozenset(
    ["sort", "reduce", "reduce-window", "scatter", "select-and-scatter", "map", "all-reduce", "reduce-scatter"]
)
# Operations of HLO that make no new numbers, and the equations that do not either.
_MOVING = frozenset(["copy", "broadcast", "transpose", "reshape", "bitcast"])
_MOVES = frozenset(["copy", "copy_p", "broadcast_in_dim", "transpose", "reshape", "squeeze", "expand_dims"])


def written_values(jaxpr: Graph, hlo: Graph, links: Links, devices: int = 1) -> dict[int, tuple[int, ...]]:
    """The values of a jaxpr that a kernel writes to memory, by their numbers, each with the shape that it has there: to
    ask for it in another may take a kernel of its own. Of several `devices`, each writes a part."""
    rows = _written(hlo, cost_of(hlo))
    strings = jaxpr.tables.strings
    found: dict[int, tuple[int, ...]] = {}
    first = jaxpr.first_value
    ends = _ends(hlo, links)
    told = np.isin(links.kind, (EXACT, MERGED)) & np.isin(links.target, list(rows))
    for source, target in zip(links.source[told].tolist(), links.target[told].tolist(), strict=True):
        if jaxpr.nodes.kind[source] != OPERATION or _says_nothing(jaxpr, source):
            continue
        made = hlo.tables.strings[hlo.nodes.op[target]]
        # What moves numbers is tagged by the equation that it is made for.
        if made != ends.get(source) and (made not in _MOVING or strings[jaxpr.nodes.op[source]] not in _MOVES):
            continue
        written = _type(hlo, int(hlo.first_value[target]))
        for value in range(int(first[source]), int(first[source + 1])):
            own = _type(jaxpr, value)
            if _same(own, written, devices):
                there = tuple(hlo.tables.types.dims[rows[target]])
                found[value] = there if prod(there) == own.sizes[-1] else own.shape
    for node in np.flatnonzero(jaxpr.nodes.kind == OPERATION).tolist():
        if strings[jaxpr.nodes.op[node]] in _HOLDING:
            for value in range(int(first[node]), int(first[node + 1])):
                found.setdefault(value, _type(jaxpr, value).shape)
    for node in np.flatnonzero((jaxpr.nodes.kind == RESULT) & (jaxpr.nodes.region == 0)).tolist():
        source = int(jaxpr.operands.source[jaxpr.first_operand[node]])
        if source >= 0:
            found[source] = _type(jaxpr, source).shape
    _hand_out(jaxpr, found)
    return found


def _ends(hlo: Graph, links: Links) -> dict[int, str]:
    """For each equation the operation of HLO that ends it: the compiler may take several steps for one."""
    strings = hlo.tables.strings
    ends: dict[int, tuple[int, str]] = {}
    steps = (hlo.nodes.kind == OPERATION) & ~_applied(hlo)
    told = np.isin(links.kind, (EXACT, MERGED)) & steps[links.target]
    for source, target in zip(links.source[told].tolist(), links.target[told].tolist(), strict=True):
        op = strings[hlo.nodes.op[target]]
        if op != "fusion" and op not in _MOVING and target > ends.get(source, (-1, ""))[0]:
            ends[source] = target, op
    return {source: op for source, (_, op) in ends.items()}


def _applied(hlo: Graph) -> NDArray[np.bool_]:
    """Which nodes say what another operation does with its numbers, such as how a sort compares two."""
    strings = hlo.tables.strings
    bodies = np.zeros(len(hlo.regions.owner), bool)
    for region in range(1, len(bodies)):
        owner = int(hlo.regions.owner[region])
        bodies[region] = strings[hlo.nodes.op[owner]] in _APPLYING or bodies[hlo.nodes.region[owner]]
    return bodies[hlo.nodes.region]


def _says_nothing(graph: Graph, node: int) -> bool:
    """Whether an operation only repeats a number that the program text holds."""
    return graph.tables.strings[graph.nodes.op[node]] == "broadcast_in_dim" and not any(
        int(graph.operands.source[row]) >= 0
        for row in range(int(graph.first_operand[node]), int(graph.first_operand[node + 1]))
    )


def _written(graph: Graph, cost: Cost) -> dict[int, int]:
    """The nodes of HLO whose results are in memory, each with its type there: those outside of kernels, and what a
    kernel ends in."""
    strings = graph.tables.strings
    types = graph.values.type
    written = {
        node: int(types[graph.first_value[node]])
        for node in np.flatnonzero(~cost.fused & (graph.nodes.kind == OPERATION)).tolist()
        if graph.first_value[node + 1] - graph.first_value[node] == 1
    }
    for region in range(1, len(graph.regions.owner)):
        owner = int(graph.regions.owner[region])
        if strings[graph.nodes.op[owner]] != "fusion" or cost.fused[owner]:
            continue
        # It is inside that is tagged by what it computes; a kernel has the tag of one of all.
        written.pop(owner, None)
        start, end = (int(side[region]) for side in graph.region_intervals)
        for result in range(start, end):
            if graph.nodes.kind[result] == RESULT and graph.nodes.region[result] == region:
                source = int(graph.operands.source[graph.first_operand[result]])
                if source >= 0:
                    written[_renamed(graph, int(graph.value_node[source]))] = int(types[source])
    return written


def _renamed(graph: Graph, node: int) -> int:
    """What a node only gives another name, or another shape."""
    strings = graph.tables.strings
    while strings[graph.nodes.op[node]] == "bitcast" and graph.nodes.operands[node]:
        source = int(graph.operands.source[graph.first_operand[node]])
        if source < 0:
            break
        node = int(graph.value_node[source])
    return node


class _Type(NamedTuple):
    dtype: str
    shape: tuple[int, ...]
    #: How many numbers lie in the last axis, in the last two, and so on.
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, dtype: str, shape: Sequence[int]) -> _Type:
        return cls(dtype, tuple(shape), tuple(accumulate((1, *reversed(shape)), mul)))


def _same(one: _Type, other: _Type, devices: int = 1) -> bool:
    """Whether one is the other but for its shape: to take axes apart costs nothing, to change their order a copy. With
    several devices, `other` may be the part of one of them.

    >>> rows, heads = _Type.of("float32", (1024, 64)), _Type.of("float32", (64, 16, 64))
    >>> _same(rows, heads), _same(heads, _Type.of("float32", (1024, 4, 16))), _same(rows, _Type.of("int32", (1024, 64)))
    (True, False, False)
    """
    if devices > 1 and one.sizes != other.sizes:
        parts, rest = divmod(one.sizes[-1], max(other.sizes[-1], 1))
        return one.dtype == other.dtype and len(one.sizes) == len(other.sizes) and not rest and parts <= devices
    apart, together = sorted((set(one.sizes), set(other.sizes)), key=len, reverse=True)
    return one.dtype == other.dtype and one.sizes[-1] == other.sizes[-1] and together <= apart


def _type(graph: Graph, value: int) -> _Type:
    types = graph.tables.types
    row = int(graph.values.type[value])
    return _Type.of(graph.tables.strings[types.dtype[row]], types.dims[row])


def _hand_out(graph: Graph, found: dict[int, tuple[int, ...]]) -> None:
    """What a function that is called gives is what is made inside of it; from the innermost out."""
    strings = graph.tables.strings
    owned = graph.owned_regions
    for node in sorted(owned, reverse=True):
        if strings[graph.nodes.op[node]] in _HOLDING:
            continue
        region = owned[node][-1]
        start, end = (int(side[region]) for side in graph.region_intervals)
        results = [
            row for row in range(start, end) if graph.nodes.kind[row] == RESULT and graph.nodes.region[row] == region
        ]
        first = int(graph.first_value[node])
        if len(results) != int(graph.first_value[node + 1]) - first:
            continue
        for place, result in enumerate(results):
            source = int(graph.operands.source[graph.first_operand[result]])
            value = first + place
            if source in found and value not in found:
                alike = _type(graph, source).shape == _type(graph, value).shape
                found[value] = found[source] if alike else _type(graph, value).shape
