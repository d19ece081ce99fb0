"""What waits for an operation that the compiler combined of several.

Where the program runs on many devices, the compiler makes one exchange of several: that of the loss and those of the
gradients. Nobody has the loss before backward has ended. So what reads it is late; all of backward is not early.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.tree import Outline


def waiting_operands(graph: Graph, place: Column, links: tuple[Column, Column]) -> NDArray[np.bool_]:
    """Which operands are read later than the program says, since what makes them is of later parts of it, too.

    `place` has the last node of the jaxpr that each node is linked to, or -1; `links` are all, from and to. A reader
    waits if fewer nodes wait with it than would be early with what it reads.
    """
    waits = np.zeros(len(graph.operands.source), bool)
    origin, target = links
    first = np.full(len(graph), len(origin) and int(origin.max()) + 1, np.int64)
    np.minimum.at(first, target, origin)
    nodes, region = graph.nodes, graph.nodes.region
    maker, reader = graph.operand_maker, graph.operand_node
    several = (nodes.kind == OPERATION) & (np.diff(graph.first_value) > 1) & (first < place)
    inside = (maker >= 0) & (region[maker] == region[reader]) & (nodes.kind[reader] == OPERATION)
    early = inside & several[maker] & (place[reader] >= 0) & (place[reader] < place[maker])
    if early.any():
        flow = _Flow(maker[inside], reader[inside], place)
        for operand in np.flatnonzero(early).tolist():
            waits[operand] = flow.is_cheaper_late(int(maker[operand]), int(reader[operand]))
    return waits


def order_of_waiting(graph: Graph, place: Column, waits: NDArray[np.bool_], outline: Outline) -> Column:
    """The keys by which nodes are put in order: what waits stands behind the part of the program that the operation
    which it waits for is of, and it is not."""
    if not waits.any():
        return place
    leaf, paths, end = outline.leaf.tolist(), outline.paths, outline.end.tolist()
    # Between two places there is room for all that waits; what waits for a smaller part to end comes first.
    room = int(outline.depth.max()) + 2
    key = (room * place).astype(np.int32)
    for operand in np.flatnonzero(waits).tolist():
        reader = graph.operand_node[operand]
        made = int(place[graph.value_node[graph.operands.source[operand]]])
        late, early = paths[leaf[made]], paths[leaf[place[reader]]]
        both = zip(late, early, strict=False)
        shared = next((at for at, (one, other) in enumerate(both) if one != other), min(len(late), len(early)))
        last = end[late[shared]] - 1 if shared < len(late) else made
        key[reader] = max(key[reader], room * last + room - 1 - shared)
    return key


class _Flow:
    """Who makes what each node reads, and who reads what it makes; and where all stand."""

    def __init__(self, maker: Column, reader: Column, place: Column) -> None:
        self._place: list[int] = place.tolist()
        self._makers: dict[int, list[int]] = {}
        self._readers: dict[int, list[int]] = {}
        for one, other in zip(maker.tolist(), reader.tolist(), strict=True):
            self._makers.setdefault(other, []).append(one)
            self._readers.setdefault(one, []).append(other)

    def is_cheaper_late(self, maker: int, reader: int) -> bool:
        """Whether fewer nodes wait with a reader than would be drawn to where it stands."""
        place = self._place
        early, late = place[reader], place[maker]
        drawn = self._reached(maker, self._makers, {node for node in self._makers if place[node] > early})
        waiting = self._reached(reader, self._readers, {node for node in self._readers if place[node] < late})
        return waiting < drawn

    @staticmethod
    def _reached(start: int, beside: dict[int, list[int]], within: set[int]) -> int:
        """From how many nodes of some one comes to others, `start` among them."""
        seen, found = {start}, [start]
        for node in found:
            for other in beside.get(node, ()):
                if other in within and other not in seen:
                    seen.add(other)
                    found.append(other)
        return len(found)
