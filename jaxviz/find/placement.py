"""How the arguments of a program come in: which of their dimensions are cut, into how many parts, along which axis of
the mesh.

StableHLO has the axes by name, as the program gave them; optimized HLO has the parts alone, and not in every version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from jaxviz.find.finding import Compiled
from jaxviz.graph import ARGUMENT, Graph

# How a sharding is called that cuts nothing.
_WHOLE = re.compile(r"whole on (?:every device|each of (\d+) devices)")
_CUT = re.compile(r"dimension (\d+) in (\d+) parts(?: along ([^,]+))?")


@dataclass(frozen=True)
class Cut:
    """Into how many parts a dimension is cut, and along which axes of the mesh; none where they are not known."""

    parts: int
    along: tuple[str, ...] = ()

    @property
    def entry(self) -> str:
        """As it stands in a `PartitionSpec`."""
        if not self.along:
            return "axis"
        names = [f"'{name}'" for name in self.along]
        return names[0] if len(names) == 1 else f"({', '.join(names)})"


@dataclass(frozen=True)
class Placed:
    """An argument: its name, its shape as a whole, and what of it is cut."""

    name: str
    shape: tuple[int, ...]
    cuts: Mapping[int, Cut]
    #: On how many devices it lies whole; 1 where something is cut, and where that is not known.
    devices: int = 1

    @property
    def spec(self) -> str:
        return spec(self.cuts, len(self.shape))


def spec(cuts: Mapping[int, Cut], rank: int) -> str:
    """The code of a `PartitionSpec`.

    >>> spec({1: Cut(4, ("data",))}, 2)
    "jax.sharding.PartitionSpec(None, 'data')"
    """
    entries = [cuts[axis].entry if axis in cuts else "None" for axis in range(rank)] if cuts else []
    return f"jax.sharding.PartitionSpec({', '.join(entries)})"


def cuts_of(sharding: str) -> dict[int, Cut]:
    """What a sharding cuts, of its words.

    >>> cuts_of("dimension 1 in 4 parts along data, each on 2 devices")
    {1: Cut(parts=4, along=('data',))}
    """
    return {
        int(axis): Cut(int(parts), tuple(along.split(" and ")) if along else ())
        for axis, parts, along in _CUT.findall(sharding)
    }


def words(cuts: Mapping[int, Cut]) -> str:
    """What is cut, as one says it.

    >>> words({1: Cut(4, ("data",))})
    'dimension 1 in 4 parts along data'
    """
    return " and ".join(
        f"dimension {axis} in {cut.parts} parts" + (f" along {' and '.join(cut.along)}" if cut.along else "")
        for axis, cut in sorted(cuts.items())
    )


def placements(compiled: Compiled) -> dict[str, Placed]:
    """The arguments whose sharding is known, by name."""
    lowered = compiled.lowered()
    if lowered is not None:
        found = {one.name: one for one in _placed(lowered, local=False)}
        if found:
            return found
    return {one.name: one for one in _placed(compiled.graph, local=True)}


def _placed(graph: Graph, local: bool) -> list[Placed]:
    found = []
    for node in np.flatnonzero((graph.nodes.kind == ARGUMENT) & (graph.nodes.region == 0)).tolist():
        sharding = graph.attribute(node, "sharding")
        cuts = cuts_of(sharding)
        dims = graph.tables.types.dims[int(graph.values.type[graph.first_value[node]])]
        whole = _WHOLE.fullmatch(sharding)
        if not (cuts or whole) or max(cuts, default=0) >= max(len(dims), 1):
            continue
        # Each device has one part of it.
        shape = tuple(size * cuts[axis].parts if local and axis in cuts else size for axis, size in enumerate(dims))
        devices = int(whole[1] or 1) if whole else 1
        found.append(Placed(graph.tables.strings[graph.nodes.name[node]], shape, cuts, devices))
    return found
