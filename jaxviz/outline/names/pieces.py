"""What a piece of a compiled program does, in the words of the operations that it was made of."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

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


class Piece(NamedTuple):
    """What runs as one piece: up to three of its operations and how many more there are, and all that it does.

    `content` is equal for pieces that are copies of each other.
    """

    title: str
    content: tuple[tuple[str, int], ...]

    @property
    def main(self) -> str:
        """The operation that says most of it."""
        return self.title.partition(",")[0].partition(" ")[0]


def pieces_of(graph: Graph) -> dict[int, Piece]:
    """The bodies of a graph by their names, as strings."""
    strings = graph.tables.strings
    start, end = graph.region_intervals
    operation = graph.nodes.kind == OPERATION
    pieces: dict[int, Piece] = {}
    for region in range(1, len(graph.regions.owner)):
        inside = np.arange(start[region], end[region])
        count = Counter(strings[op] for op in graph.nodes.op[inside[operation[inside]]].tolist())
        telling = [name for name in count if name not in _NOISE] or list(count)
        telling.sort(key=lambda name: name not in _HEAVY)
        if telling:
            more = f" +{len(telling) - _MOST}" if len(telling) > _MOST else ""
            piece = Piece(", ".join(telling[:_MOST]) + more, tuple(sorted(count.items())))
            pieces.setdefault(int(graph.regions.name[region]), piece)
    return pieces
