"""Which instruction of one state of the compiler is which of the next.

Names of instructions stay from pass to pass, but where an instruction is copied into a fusion or out of a call that is
inlined, it gets another: there it is known by its operation and by the equations that it comes from. A loop that is
written anew because it carries less is known by these too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from jaxviz.graph import ARGUMENT, RESULT, Column, Graph
from jaxviz.link.links import Found

# Where an instruction stands: the lineage of what holds it (-1 for the program), in which of its bodies, its name, and
# which of several of that name it is.
_Place = tuple[int, int, int, str, int]
#: What a node is known by when its name is another, and by what else; None for borders, which are nothing alone.
Likeness = tuple[Any, Any, Any]
_WAYS = 3


class Named(Protocol):
    """A state as it was read: its graph, and the name of the instruction of each node, empty for results."""

    @property
    def graph(self) -> Graph: ...
    @property
    def instruction(self) -> Sequence[str]: ...


class Lineages:
    """Numbers for the nodes of state after state; the same number for what is the same instruction."""

    def __init__(self) -> None:
        self._count = 0
        self._places: dict[_Place, int] = {}
        self._alike: dict[int, Likeness] = {}

    def of(self, state: Named, tagged: Sequence[Found]) -> Column:
        """The lineage of each node of the next state, whose tags are those."""
        graph = state.graph
        owner, bodies = _bodies(graph)
        alike = _likeness(graph, tagged)
        numbers = [-1] * len(graph)
        places: set[_Place] = set()
        place_of: list[_Place] = []
        fresh: list[int] = []
        rows = zip(graph.nodes.kind.tolist(), graph.nodes.region.tolist(), state.instruction, strict=True)
        for node, (kind, region, name) in enumerate(rows):
            holder = numbers[owner[region]] if region else -1
            place = _free(places, (holder, bodies[region], kind, name, 0))
            known = self._places.get(place, -1)
            if known < 0:
                known = self._count
                self._count += 1
                fresh.append(node)
            numbers[node] = known
            places.add(place)
            place_of.append(place)
        for node, number in self._carried(fresh, set(numbers), alike).items():
            numbers[node] = number
        # Only now it is known what holds what.
        held = (numbers[owner[region]] if region else -1 for region in graph.nodes.region.tolist())
        self._places = {
            (holder, *place[1:]): number for holder, place, number in zip(held, place_of, numbers, strict=True)
        }
        self._alike = {number: alike[node] for node, number in enumerate(numbers)}
        return np.array(numbers, np.int32)

    def _carried(self, fresh: Sequence[int], here: set[int], alike: Sequence[Likeness]) -> dict[int, int]:
        """What is new by its name, but is one that went from its place in the state before."""
        found: dict[int, int] = {}
        taken = set(here)
        # By itself first, then as what it stands in, then as what holds others.
        for way in range(_WAYS):
            gone: dict[Any, list[int]] = {}
            for number, likeness in reversed(self._alike.items()):
                if likeness[way] is not None and number not in taken:
                    gone.setdefault(likeness[way], []).append(number)
            for node in fresh:
                waiting = gone.get(alike[node][way]) if node not in found else None
                if waiting:
                    found[node] = waiting.pop()
                    taken.add(found[node])
        return found


def _free(places: set[_Place], place: _Place) -> _Place:
    """The place itself, or where something stands there, the next of that name."""
    while place in places:
        place = (*place[:-1], place[-1] + 1)
    return place


def _bodies(graph: Graph) -> tuple[list[int], list[int]]:
    """For each region its owner, and which of the owner's bodies it is."""
    owner = graph.regions.owner.tolist()
    bodies = [0] * len(owner)
    for owned in graph.owned_regions.values():
        for number, region in enumerate(owned):
            bodies[region] = number
    return owner, bodies


def _likeness(graph: Graph, tagged: Sequence[Found]) -> list[Likeness]:
    """What nodes are known by; second, those of called functions that have no tag, by that of the call, which they
    have when it is inlined; third, those that hold others, whatever they make."""
    nodes = graph.nodes
    types, first = graph.values.type.tolist(), graph.first_value.tolist()
    said: dict[int, tuple[tuple[int, int], ...]] = {}
    columns = (graph.attributes.node, graph.attributes.key, graph.attributes.value)
    for node, key, value in zip(*(column.tolist() for column in columns), strict=True):
        said[node] = (*said.get(node, ()), (key, value))
    constant, fusion = graph.tables.find_string("constant"), graph.tables.find_string("fusion")
    holding = {node for node in graph.owned_regions if tagged[node] and nodes.op[node] != fusion}
    owner, regions = graph.regions.owner.tolist(), nodes.region.tolist()
    # What holds a node stands before it.
    around: list[Found] = []
    found: list[Likeness] = []
    for node, (kind, op) in enumerate(zip(nodes.kind.tolist(), nodes.op.tolist(), strict=True)):
        around.append(tagged[node] or (around[owner[regions[node]]] if regions[node] else ()))
        if kind in (ARGUMENT, RESULT):
            found.append((None, None, None))
        else:
            made = tuple(types[first[node] : first[node + 1]])
            # What carries no tag is told apart by what it says. So is a constant, by its value: one that is inlined
            # goes by the tag of the call from then on.
            known = tagged[node] if op != constant else ()
            by_call = (op, made, around[node]) if op != constant and around[node] else None
            by_bodies = (op, known) if node in holding else None
            found.append(((op, made, known, () if known else said.get(node, ())), by_call, by_bodies))
    return found
