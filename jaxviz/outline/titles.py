"""What a piece of a compiled program does, in the words of the operations that it was made of."""

from __future__ import annotations

import numpy as np

from jaxviz.graph import OPERATION, Graph

_MOST = 3

# What says little of what is done.
_NOISE = frozenset(
    {"broadcast", "broadcast_in_dim", "convert", "convert_element_type", "reshape", "bitcast", "copy", "transpose"}
    | {"squeeze", "slice", "pad", "constant", "iota", "select", "get-tuple-element", "tuple", "expand_dims", "fusion"}
)
# What does most of the work comes first.
_HEAVY = ("dot_general", "dot", "conv_general_dilated", "convolution", "custom-call", "scatter", "scatter-add", "sort")


def titles_of(graph: Graph) -> dict[int, str]:
    """For the name of each region, as a string, up to three of the operations in it and how many more there are."""
    strings = graph.tables.strings
    start, end = graph.region_intervals
    operation = graph.nodes.kind == OPERATION
    titles: dict[int, str] = {}
    for region in range(1, len(graph.regions.owner)):
        inside = np.arange(start[region], end[region])
        names = [strings[op] for op in graph.nodes.op[inside[operation[inside]]].tolist()]
        telling = list(dict.fromkeys(name for name in names if name not in _NOISE)) or list(dict.fromkeys(names))
        telling.sort(key=lambda name: name not in _HEAVY)
        if telling:
            more = f" +{len(telling) - _MOST}" if len(telling) > _MOST else ""
            titles.setdefault(int(graph.regions.name[region]), ", ".join(telling[:_MOST]) + more)
    return titles
