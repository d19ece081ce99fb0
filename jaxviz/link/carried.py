"""What the person calls the values that go round a loop, in the stages that the compiler makes.

Nothing keeps their names. An operation that reads such a value is linked to one of the jaxpr, which reads at the same
place what has the name there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

import numpy as np

from jaxviz.graph import ARGUMENT, ENTER, INIT, OPERATION, Graph
from jaxviz.link.links import EXACT, Links
from jaxviz.link.makers import MOVING
from jaxviz.link.variables import VARIABLE, with_marks

_LOOPS = ("scan", "while")
_HANDING = (*MOVING, "bitcast", "broadcast", "convert", "convert_element_type")
#: So many values are followed from one that goes round until an operation is found that says its name.
_MOST_FOLLOWED = 64


def with_carried_variables(graph: Graph, original: Graph, links: Links) -> Graph:
    """A graph whose arguments of loops say which variables they are, where what reads them tells."""
    if not (graph.bindings.kind == INIT).any():
        return graph
    carried, named = _Carried(graph), _Carried(original)
    if not carried.turning or not named.turning:
        return graph
    exact = links.kind == EXACT
    origins = dict(zip(links.target[exact].tolist(), links.source[exact].tolist(), strict=True))
    found = {node: one for node in carried.turning if (one := _same(carried, named, origins, node)) >= 0}
    # Two values of one body are not the same one.
    times = Counter((int(graph.nodes.region[node]), one) for node, one in found.items())
    names = _names(original, named.turning)
    told = {
        node: names[one]
        for node, one in found.items()
        if one in names and times[int(graph.nodes.region[node]), one] == 1
    }
    # A place in a tuple, `carry[1]`, says less than what the other body calls it.
    strings = graph.tables.strings
    called = {node: name for node, name in told.items() if "[" not in strings[name]}
    return with_marks(graph, VARIABLE, {**told, **_of_the_same(graph, carried.turning, called), **called})


def _of_the_same(graph: Graph, turning: Collection[int], told: Mapping[int, int]) -> dict[int, int]:
    """The names of what the bodies of one loop, its condition among them, have at the same places."""
    region, owner = graph.nodes.region, graph.regions.owner
    first: dict[int, int] = {}
    for node in sorted(turning):
        first.setdefault(int(region[node]), node)
    places: dict[tuple[int, int], list[int]] = {}
    for node in turning:
        around = int(region[node])
        places.setdefault((int(owner[around]), node - first[around]), []).append(node)
    names = {place: {told[node] for node in nodes if node in told} for place, nodes in places.items()}
    return {
        node: next(iter(names[place])) for place, nodes in places.items() for node in nodes if len(names[place]) == 1
    }


def _same(carried: _Carried, named: _Carried, origins: dict[int, int], node: int) -> int:
    """What goes round a loop of the jaxpr that an argument is by all who tell; -1 where nobody does, or they differ."""
    seen = set()
    for reader, place in carried.readers(node):
        origin = origins.get(reader, -1)
        # The compiler's reductions also read what they begin with.
        if origin >= 0 and (named.reads(origin) == carried.reads(reader) or (named.reads(origin) == 1 and place == 0)):
            one = named.argument(int(named.graph.operands.source[named.graph.first_operand[origin] + place]))
            if one >= 0:
                seen.add(one)
    return seen.pop() if len(seen) == 1 else -1


def _names(original: Graph, arguments: Collection[int]) -> dict[int, int]:
    """The names of arguments of a jaxpr: what the function calls them comes before their place in others."""
    names = {node: int(original.nodes.name[node]) for node in arguments}
    key = original.tables.find_string(VARIABLE)
    marks = original.attributes
    names |= {
        node: value
        for node, one, value in zip(marks.node.tolist(), marks.key.tolist(), marks.value.tolist(), strict=True)
        if one == key
    }
    return {node: name for node, name in names.items() if name}


class _Carried:
    """The values that go round the loops of a graph, what reads them, and which of them a value is."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        nodes, bindings = graph.nodes, graph.bindings
        self._entered = dict(
            zip(
                bindings.end[bindings.kind == ENTER].tolist(),
                bindings.start[bindings.kind == ENTER].tolist(),
                strict=True,
            )
        )
        begun = np.unique(bindings.end[bindings.kind == INIT])
        owner = graph.regions.owner[nodes.region[begun]]
        loops = [number for op in _LOOPS if (number := graph.tables.find_string(op)) is not None]
        #: The arguments of bodies that have another value in each turn.
        self.turning = set(begun[np.isin(nodes.op[owner], loops) & (nodes.kind[begun] == ARGUMENT)].tolist())
        handing = [number for op in _HANDING if (number := graph.tables.find_string(op)) is not None]
        self._hands = np.isin(nodes.op, handing) & (nodes.kind == OPERATION) & (nodes.operands == 1)

    def reads(self, node: int) -> int:
        return int(self.graph.nodes.operands[node])

    def argument(self, value: int) -> int:
        """What goes round a loop that a value is, as it is or in another shape or type; -1 for anything else."""
        graph = self.graph
        while value >= 0:
            node = int(graph.value_node[value])
            if node in self.turning:
                return node
            if self._hands[node]:
                value = int(graph.operands.source[graph.first_operand[node]])
            else:
                value = self._entered.get(node, -1)
        return -1

    def readers(self, node: int) -> Iterator[tuple[int, int]]:
        """The operations that read an argument as it is or in another shape or type, with the place where they do."""
        graph = self.graph
        pending = [int(graph.first_value[node])]
        for value in pending:
            first, end = np.searchsorted(self._sources, [value, value + 1]).tolist()
            for operand in self._by_source[first:end].tolist():
                reader = int(graph.operand_node[operand])
                if graph.nodes.kind[reader] != OPERATION:
                    continue
                yield reader, operand - int(graph.first_operand[reader])
                if self._hands[reader] and len(pending) < _MOST_FOLLOWED:
                    pending.append(int(graph.first_value[reader]))
            inside = self._enters.get(value, [])[: max(0, _MOST_FOLLOWED - len(pending))]
            pending += [int(graph.first_value[one]) for one in inside]

    @cached_property
    def _by_source(self) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
        return np.argsort(self.graph.operands.source, kind="stable")

    @cached_property
    def _sources(self) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
        return self.graph.operands.source[self._by_source]

    @cached_property
    def _enters(self) -> dict[int, list[int]]:
        """The arguments of bodies that each value is handed to."""
        found: dict[int, list[int]] = {}
        for node, value in self._entered.items():
            found.setdefault(value, []).append(node)
        return found
