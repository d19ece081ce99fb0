"""What the copies of an unrolled loop hand on, and what is another in each: told from the dataflow between them."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Attributes, Column, Graph
from jaxviz.outline.repeats.hashes import Hashes, mixed, powers

# How far back a turn may read for the loop to carry it, and how many copies are looked at for what they count.
_LAGS, _COUNTED = 4, 4_096
# So many copies of the same shapes in a row are a loop among others.
_SOME = 4
# Bytes of one number.
_NUMBER = 16
# Periods that are tried.
_PERIODS = 64
_SLICES = ("slice", "dynamic_slice")
#: How the numbers of the turns go on: there are none, they are counted, or they are a list.
NO_NUMBERS, COUNTED, LISTED = range(3)


class Flow(NamedTuple):
    """What the copies of a stack hand on, and what they read.

    Of copies that differ in what they compute, or in its shape, only the longest run of those that are alike is told.
    """

    #: Where the run of copies begins and ends.
    low: int = 0
    high: int = 0
    #: Values that each copy gives to a later one, and how many copies later.
    carried: int = 0
    lag: int = 0
    #: Whether these are numbers, while what each copy is given from outside are arrays.
    adds_up: bool = False
    #: Values from outside that are others in each copy, such as the entries of a list of parameters.
    given: int = 0
    #: Values of which each copy takes a piece of its own.
    pieces: int = 0
    numbers: int = NO_NUMBERS
    #: Whether what each copy makes is read after the last.
    collected: bool = False
    #: Whether no copy reads what one far before it made.
    simple: bool = True
    #: Whether each copy has other shapes, which nothing from outside explains; and what is handed on too.
    differs: bool = False
    grows: bool = False
    #: After how many copies what they read from outside comes again, where it does.
    period: int = 1

    @property
    def alike(self) -> int:
        """How many copies in a row are alike."""
        return self.high - self.low


def flow_of(graph: Graph, first: Column, end: Column) -> Flow:
    """How values flow between copies; each reaches from one of the nodes `first` to one of `end`."""
    # What enters the body of a function is read by its call.
    while (owner := graph.regions.owner[graph.nodes.region[first]])[0] >= 0 and (owner == first - 1).all():
        first = owner
    return _Copies(graph, first, end).flow()


class _Copies:
    def __init__(self, graph: Graph, first: Column, end: Column) -> None:
        self.graph, self.first, self.end = graph, first, end
        marks = np.zeros(len(graph) + 1, np.int64)
        np.add.at(marks, first, np.arange(1, len(first) + 1))
        np.add.at(marks, end, -np.arange(1, len(first) + 1))
        self.copy_of = np.cumsum(marks[:-1]) - 1

    def flow(self) -> Flow:
        low, high = _longest(self._computed())
        start, stop = _longest(self._types()[low:high])
        if stop - start >= min(high - low, _SOME):
            return self._told(low + start, low + stop)
        # Hardly two copies in a row are of the same shapes.
        flow = self._told(low, high)
        differs = flow.carried > 0 and not self._given_differ(low, high)
        return flow._replace(low=low + start, high=low + stop, differs=differs, grows=flow.grows and differs)

    def _computed(self) -> Hashes:
        """What each copy computes, whatever the shapes."""
        graph = self.graph
        code = mixed(graph.nodes.op.astype(np.uint64) * np.uint64(8) + graph.nodes.kind.astype(np.uint64))
        code += np.diff(graph.first_operand).astype(np.uint64)
        return _hashes(code, self.first, self.end)

    def _types(self) -> Hashes:
        """The types of what each copy makes."""
        graph = self.graph
        return _hashes(
            mixed(graph.values.type.astype(np.uint64)), graph.first_value[self.first], graph.first_value[self.end]
        )

    def _told(self, low: int, high: int) -> Flow:
        graph = self.graph
        if high - low < 2:
            return Flow(low, high)
        own = np.arange(low, high)[:, None]
        at = graph.first_operand[self.first[low:high]][:, None]
        width = int(graph.first_operand[self.end[low]] - at[0, 0])
        table = graph.operands.source[at + np.arange(width)]
        maker = np.full(table.shape, -1, np.int64)
        maker[table >= 0] = self.copy_of[graph.value_node[table[table >= 0]]]
        # Before the first of these, what all read may be made in what is told as a copy too, as constants are in HLO.
        maker[:, (maker[0] < low) & (table == table[0]).all(axis=0)] = -1
        back = np.where(maker >= 0, own - maker, 0)
        lags = back.max(axis=0)
        reads = lags > 0
        # The first turns read what lies before the loop.
        started = np.arange(high - low)[:, None] >= lags
        steady = (back == lags) | ~started
        simple = bool(steady[:, reads].all() and (back[:, reads] >= 0).all() and (lags <= _LAGS).all())
        outside = (maker < 0).all(axis=0)
        changes = outside & (table != table[0]).any(axis=0)
        given = changes & (table >= 0).any(axis=0)
        numbers = [self._numbers(table[:, column]) for column in np.flatnonzero(changes & ~given).tolist()]
        pieces = self._pieces(low, high)
        carried = np.unique(table[-1, reads]) if simple else table[:0, 0]
        arrays = np.unique(table[-1, given])
        handed = np.where(started, self.graph.values.type[table], -1)[:, reads]
        changing = [table[:, column] for column in np.flatnonzero(changes).tolist()]
        return Flow(
            low,
            high,
            carried=len(carried),
            lag=int(lags.max(initial=0)),
            adds_up=self._are_numbers(carried) and len(arrays) > 0 and not self._are_numbers(arrays),
            given=len(arrays),
            pieces=len(pieces),
            numbers=max(numbers, default=NO_NUMBERS),
            collected=self._collected(low, high),
            simple=simple,
            grows=len(carried) > 0 and bool((handed != handed[-1])[handed >= 0].any()),
            period=_period([*changing, *pieces], high - low),
        )

    def _are_numbers(self, values: Column) -> bool:
        """Whether some values are all of one entry."""
        types = np.asarray(self.graph.tables.types.bytes, np.int64)[self.graph.values.type[values]]
        return len(values) > 0 and bool((types <= _NUMBER).all())

    def _numbers(self, column: Column) -> int:
        """Whether numbers that are others in each turn are counted."""
        graph = self.graph
        texts = [graph.tables.strings[graph.literals.text[-1 - source]] for source in column[:_COUNTED].tolist()]
        try:
            values = np.array([float(text) for text in texts])
        except ValueError:
            return LISTED
        if not np.isfinite(values).all():
            return LISTED
        steps = np.diff(values)
        near = 1e-4 * max(float(np.abs(values).max(initial=0)), 1e-30)
        return COUNTED if len(steps) and bool((np.abs(steps - steps.mean()) <= near).all()) else LISTED

    def _pieces(self, low: int, high: int) -> list[NDArray[Any]]:
        """Of the slices of which each copy takes another piece of the same value, where these begin."""
        graph = self.graph
        strings, found = graph.tables.strings, []
        rows = range(int(self.first[low]), int(self.end[low]))
        slices = [row - rows.start for row in rows if strings[graph.nodes.op[row]] in _SLICES]
        for place in slices:
            nodes = self.first[low:high] + place
            sources = graph.operands.source[graph.first_operand[nodes]]
            starts = _attribute_column(graph, nodes, "start_indices")
            if (sources == sources[0]).all() and (starts != starts[0]).any():
                found.append(starts)
        return found

    def _collected(self, low: int, high: int) -> bool:
        """Whether of each copy something is read after the last."""
        graph = self.graph
        beyond = graph.operand_node >= self.end[high - 1]
        sources = graph.operands.source[beyond]
        read = self.copy_of[graph.value_node[sources[sources >= 0]]]
        return len(np.unique(read[(read >= low) & (read < high)])) >= high - low - 1

    def _given_differ(self, low: int, high: int) -> bool:
        """Whether what copies are given from outside has other shapes in them."""
        graph = self.graph
        kinds = set()
        for copy in range(low, high):
            rows = slice(graph.first_operand[self.first[copy]], graph.first_operand[self.end[copy]])
            sources = graph.operands.source[rows]
            sources = sources[sources >= 0]
            sources = sources[self.copy_of[graph.value_node[sources]] < 0]
            kinds.add(tuple(sorted(set(graph.values.type[sources].tolist()))))
        return len(kinds) > 2


def _attribute_column(graph: Graph, nodes: Column, name: str) -> Column:
    """The texts of one attribute of nodes, as numbers of strings; -1 where it is not there."""
    key = graph.tables.find_string(name)
    attributes: Attributes = graph.attributes
    found = []
    for node in nodes.tolist():
        rows = range(int(graph.first_attribute[node]), int(graph.first_attribute[node + 1]))
        found.append(next((int(attributes.value[row]) for row in rows if attributes.key[row] == key), -1))
    return np.array(found, np.int32)


def _hashes(codes: Hashes, first: Column, end: Column) -> Hashes:
    """Of each interval of numbers, one number that is equal for intervals of the same numbers in the same order."""
    size = (end - first).astype(np.int64)
    begin = np.cumsum(size) - size
    place = np.arange(int(size.sum())) - np.repeat(begin, size)
    found = np.zeros(len(first), np.uint64)
    filled = size > 0
    if filled.any():
        terms = codes[np.repeat(first, size) + place] * powers(int(size.max()))[place]
        found[filled] = np.add.reduceat(terms, begin[filled])
    return mixed(found + size.astype(np.uint64))


def _longest(keys: NDArray[Any]) -> tuple[int, int]:
    """Where the longest run of equal keys begins and ends."""
    if not len(keys):
        return 0, 0
    borders = np.concatenate([[0], np.flatnonzero(keys[1:] != keys[:-1]) + 1, [len(keys)]])
    best = int(np.argmax(np.diff(borders)))
    return int(borders[best]), int(borders[best + 1])


def _period(columns: Sequence[NDArray[Any]], count: int) -> int:
    """After how many rows all columns begin anew, if that is after fewer than all."""
    period = 1
    for column in columns:
        again = np.flatnonzero(column == column[0])
        steps = again[1 : _PERIODS + 1]
        own = next((int(step) for step in steps if (column[step:] == column[:-step]).all()), count)
        period = lcm(period, own)
    return period if 1 < period < count and count % period == 0 else 1
