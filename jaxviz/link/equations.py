"""What the equations of a jaxpr read and make, as the stages after it are linked to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from math import prod

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, OPERATION, Graph
from jaxviz.link.flow import Flow
from jaxviz.link.given import given_nodes
from jaxviz.link.makers import HANDING_ON, Makers, is_sum_of_one
from jaxviz.link.standing_in import changing_nothing

#: What an equation reads, if none made it: an argument of the program, or one of a body that another value may be in
#: each turn.
GIVEN, HANDED = -1, -2

#: The type of the entries of a value, and its dimensions.
Kind = tuple[int, tuple[int, ...]]


class Equations:
    """What equations are computed of."""

    def __init__(self, jaxpr: Graph) -> None:
        self._jaxpr = jaxpr
        self._as_made, self._flow = Makers(jaxpr, ()), Flow(jaxpr)
        self._read: dict[int, frozenset[int]] = {}
        self._kinds: dict[int, frozenset[Kind]] = {}
        self._counting: dict[int, bool] = {GIVEN: False, HANDED: False}

    @cached_property
    def makers(self) -> Makers:
        """Which equation computed a value that others only hand on."""
        makers = Makers(self._jaxpr, HANDING_ON)
        makers.moves |= is_sum_of_one(self._jaxpr)
        makers.places = changing_nothing(self._jaxpr)
        makers.moves[list(makers.places)] = True
        return makers

    @property
    def moves(self) -> NDArray[np.bool_]:
        """Which of them hand on what they read."""
        return self.makers.moves

    @cached_property
    def given(self) -> frozenset[int]:
        """Those that are computed of numbers alone."""
        return given_nodes(self._jaxpr)

    def are_whole(self, node: int) -> bool:
        """Whether all that an equation does is its own: it holds no others."""
        return node >= 0 and node not in self._jaxpr.owned_regions

    def read_by(self, node: int) -> frozenset[int]:
        """The equations and ends that make what one reads, also through what only hands values on."""
        known = self._read.get(node)
        if known is None:
            found: set[int] = set()
            waiting = [node]
            for at in waiting:
                new = set(self._sources(at)) - found
                found |= new
                waiting += [one for one in new if one >= 0 and self.moves[one]]
            known = self._read[node] = frozenset(found)
        return known

    def are_alike(self, node: int, other: int) -> bool:
        """Whether two do the same of the same, as far as their names tell."""
        return bool(self._jaxpr.nodes.op[node] == self._jaxpr.nodes.op[other]) and self.read_by(node) == self.read_by(
            other
        )

    def made(self, source: int) -> int:
        """What makes a value: an equation, or the argument or constant that it is."""
        return self._as_made.made(source)

    def reads(self, node: int, other: int) -> bool:
        """Whether one equation reads the value of another as that makes it."""
        return other in self._as_made.of_operands(node)

    def readers(self, node: int) -> Iterator[int]:
        """What reads a value of an equation as that makes it, in the same body or one that is called there."""
        for value in range(*self._jaxpr.first_value[node : node + 2].tolist()):
            yield from self._flow.readers(value)

    def using(self, nodes: Iterable[int]) -> Iterator[int]:
        """What computes with the values of some equations, there or in what is called there."""
        waiting = [one for one in nodes if one >= 0]
        for node in waiting:
            for reader in self.readers(node):
                if self.moves[reader]:
                    waiting.append(reader)
                else:
                    yield reader

    def counts(self, node: int) -> bool:
        """Whether an equation that needs no argument is computed of the numbers of entries."""
        known = self._counting.get(node)
        if known is None:
            is_count = self._jaxpr.tables.strings[self._jaxpr.nodes.op[node]] == "iota"
            known = node in self.given and (is_count or any(map(self.counts, self.read_by(node))))
            self._counting[node] = known
        return known

    def kinds(self, node: int) -> frozenset[Kind]:
        """Of what kinds the values are that an equation makes."""
        known = self._kinds.get(node)
        if known is None:
            values = range(*self._jaxpr.first_value[node : node + 2].tolist())
            known = self._kinds[node] = frozenset(kind_of(self._jaxpr, value) for value in values)
        return known

    def has_size(self, node: int, size: int) -> bool:
        return any(prod(dims) == size for _, dims in self.kinds(node))

    def of_result(self, result: int) -> int:
        """The equation that makes a result of the program; -1 for none."""
        return self._as_made.of(result)

    def _sources(self, node: int) -> Iterator[int]:
        first, end = self._jaxpr.first_operand[node : node + 2].tolist()
        if node in self.makers.places:
            # The number beside what is left as it is goes nowhere.
            first += self.makers.places[node]
            end = first + 1
        nodes = self._jaxpr.nodes
        for source in self._jaxpr.operands.source[first:end].tolist():
            made_by = self._as_made.made(source) if source >= 0 else -1
            if made_by >= 0 and nodes.kind[made_by] == ARGUMENT:
                yield HANDED if nodes.region[made_by] else GIVEN
            elif made_by >= 0 and nodes.kind[made_by] == OPERATION:
                yield made_by


def kind_of(graph: Graph, value: int) -> Kind:
    types, row = graph.tables.types, int(graph.values.type[value])
    return types.dtype[row], types.dims[row]
