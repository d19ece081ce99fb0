"""The values of a program that its kernels write to memory: to have these too costs little, because they are there.

Found by the tags: the operation that writes a value to memory says which equation it computes, and is of the type of
what that equation makes. What the compiler made by itself, or made of several steps of one equation, is none of them.
"""

from __future__ import annotations

from itertools import accumulate
from operator import mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, RESULT, Graph
from jaxviz.link.links import EXACT, MERGED, Links
from jaxviz.measure.cost import Cost, cost_of

# The results of these lie in memory, whatever is inside.
_HOLDING = frozenset(["scan", "while", "cond"])


def written_values(jaxpr: Graph, hlo: Graph, links: Links, devices: int = 1) -> NDArray[np.bool_]:
    """Of each value of a jaxpr, whether a kernel writes it to memory; of several `devices`, each writes a part."""
    nodes = _written(hlo, cost_of(hlo))
    strings = jaxpr.tables.strings
    types = [_type(hlo, node) for node in range(len(hlo))]
    found = np.zeros(len(jaxpr.values.type), bool)
    first = jaxpr.first_value
    told = np.isin(links.kind, (EXACT, MERGED)) & nodes[links.target]
    for source, target in zip(links.source[told].tolist(), links.target[told].tolist(), strict=True):
        written = types[target]
        if written is not None and jaxpr.nodes.kind[source] == OPERATION:
            for value in range(int(first[source]), int(first[source + 1])):
                found[value] |= _same(_value_type(jaxpr, value), written, devices)
    for node in np.flatnonzero(jaxpr.nodes.kind == OPERATION).tolist():
        if strings[jaxpr.nodes.op[node]] in _HOLDING:
            found[int(first[node]) : int(first[node + 1])] = True
    for node in np.flatnonzero((jaxpr.nodes.kind == RESULT) & (jaxpr.nodes.region == 0)).tolist():
        source = int(jaxpr.operands.source[jaxpr.first_operand[node]])
        if source >= 0:
            found[source] = True
    return _handed_out(jaxpr, found)


def _written(graph: Graph, cost: Cost) -> NDArray[np.bool_]:
    """The nodes of HLO whose results are in memory: those outside of kernels, and what a kernel ends in."""
    written = ~cost.fused & (graph.nodes.kind == OPERATION)
    strings = graph.tables.strings
    for region in range(1, len(graph.regions.owner)):
        owner = int(graph.regions.owner[region])
        if strings[graph.nodes.op[owner]] != "fusion" or cost.fused[owner]:
            continue
        # It is inside that is tagged by what it computes; a kernel has the tag of one of all.
        written[owner] = False
        start, end = (int(side[region]) for side in graph.region_intervals)
        for result in range(start, end):
            if graph.nodes.kind[result] == RESULT and graph.nodes.region[result] == region:
                source = int(graph.operands.source[graph.first_operand[result]])
                if source >= 0:
                    written[_renamed(graph, int(graph.value_node[source]))] = True
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
    #: How many numbers lie in the last axis, in the last two, and so on.
    sizes: tuple[int, ...]


def _same(one: _Type, other: _Type, devices: int = 1) -> bool:
    """Whether one is the other but for its shape: to take axes apart costs nothing, to change their order a copy. With
    several devices, `other` may be the part of one of them.

    >>> rows, heads = _Type("float32", (1, 64, 1024)), _Type("float32", (1, 16, 64, 1024))
    >>> _same(rows, heads), _same(heads, _Type("float32", (1, 4, 64, 1024))), _same(rows, _Type("int32", (1, 1024)))
    (True, False, False)
    """
    if devices > 1 and one.sizes != other.sizes:
        parts, rest = divmod(one.sizes[-1], max(other.sizes[-1], 1))
        return one.dtype == other.dtype and len(one.sizes) == len(other.sizes) and not rest and parts <= devices
    apart, together = sorted((set(one.sizes), set(other.sizes)), key=len, reverse=True)
    return one.dtype == other.dtype and one.sizes[-1] == other.sizes[-1] and together <= apart


def _type(graph: Graph, node: int) -> _Type | None:
    """The type of a node with one result."""
    first, end = int(graph.first_value[node]), int(graph.first_value[node + 1])
    return _value_type(graph, first) if end - first == 1 else None


def _value_type(graph: Graph, value: int) -> _Type:
    types = graph.tables.types
    row = int(graph.values.type[value])
    return _Type(graph.tables.strings[types.dtype[row]], tuple(accumulate((1, *reversed(types.dims[row])), mul)))


def _handed_out(graph: Graph, found: NDArray[np.bool_]) -> NDArray[np.bool_]:
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
            found[first + place] |= source >= 0 and bool(found[source])
    return found
