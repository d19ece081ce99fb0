"""All instructions of an HLO module as one table of numbers, computation by computation.

A protocol buffer is read into such a table in the first place; that of a text is made from its computations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, compress, count, pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.read.distinct import distinct
from jaxviz.read.hlo.module import Calls, HloComputation, HloModule

Array = NDArray[np.int64]


class Numbered(NamedTuple):
    """A column in which many are the same: which of the different ones each is."""

    number: Array
    different: list[Any]

    @classmethod
    def of(cls, column: Sequence[Any]) -> Numbered:
        number, first = distinct(column)
        return cls(number, [column[row] for row in first])

    def where(self, wanted: Iterable[Any]) -> NDArray[np.bool_]:
        """Whether each is one of these."""
        wanted = frozenset(wanted)
        found: NDArray[np.bool_] = np.array([one in wanted for one in self.different], bool)[self.number]
        return found

    def only(self, rows: NDArray[np.bool_]) -> Numbered:
        """The column of these rows alone."""
        kept = self.number[rows].tolist()
        number, first = distinct(kept)
        return Numbered(number, [self.different[kept[row]] for row in first])

    def part(self, rows: slice) -> list[Any]:
        """The items of some rows."""
        # Without a step of Python for each.
        return list(map(self.different.__getitem__, self.number[rows].tolist()))


@dataclass(frozen=True, eq=False)
class InstructionTable:
    """The columns of `HloComputation`, of all computations one after the other."""

    #: The first instruction of each computation, and one past the last.
    bounds: Array
    names: list[str]
    opcodes: Numbered
    shapes: Numbered
    op_names: Numbered
    attributes: Numbered
    #: The number of a parameter or of a tuple's element, or -1.
    numbers: Array
    #: How many operands each has; the operands, by their places in the computation.
    operand_counts: Array
    operands: Array
    #: What instructions call, of those that do.
    calls: dict[int, Calls]

    def only(self, computations: Sequence[int]) -> InstructionTable:
        """Of these computations alone, which are in order."""
        sizes = np.diff(self.bounds)
        if len(computations) == len(sizes):
            return self
        wanted = np.zeros(len(sizes), bool)
        wanted[list(computations)] = True
        kept = np.repeat(wanted, sizes)
        place = np.cumsum(kept) - 1
        return InstructionTable(
            np.concatenate([[0], np.cumsum(sizes[wanted])]),
            list(compress(self.names, kept.tolist())),
            self.opcodes.only(kept),
            self.shapes.only(kept),
            self.op_names.only(kept),
            self.attributes.only(kept),
            self.numbers[kept],
            self.operand_counts[kept],
            self.operands[np.repeat(kept, self.operand_counts)],
            {int(place[row]): calls for row, calls in self.calls.items() if kept[row]},
        )

    @cached_property
    def operand_bounds(self) -> Array:
        """Where the operands of each instruction begin, and where those of the last end."""
        return np.concatenate([[0], np.cumsum(self.operand_counts)])


def table_of(module: HloModule) -> InstructionTable:
    """The table of all instructions of a module."""
    return _made(module.computations) if module.table is None else module.table


def _made(computations: Sequence[HloComputation]) -> InstructionTable:
    def column(name: str) -> list[Any]:
        return list(chain.from_iterable(map(attrgetter(name), computations)))

    operands, attributes, calls = column("operands"), column("attributes"), column("calls")
    counts = np.array(list(map(len, operands)), np.int64)
    # Equal ones are mostly the same object, which is quicker to find.
    number, first = distinct(map(id, attributes))
    return InstructionTable(
        np.concatenate([[0], np.cumsum(np.array(list(map(len, computations)), np.int64))]),
        column("names"),
        Numbered.of(column("opcodes")),
        Numbered.of(column("shapes")),
        Numbered.of(column("op_names")),
        Numbered(number, [attributes[row] for row in first]),
        np.array(column("numbers"), np.int64),
        counts,
        np.fromiter(chain.from_iterable(operands), np.int64, int(counts.sum())),
        {row: calls[row] for row in compress(count(), calls)},
    )


class TableComputation(HloComputation):
    """A computation of a table, whose lists are made when they are first asked for."""

    __slots__ = ("_first", "_frames", "_last", "_places", "_table")

    def __init__(self, name: str, root: int, table: InstructionTable, number: int, frames: Array, places: Array):
        """`frames` and `places` are those of all instructions of the table."""
        self.name, self.root = name, root
        self._table, self._frames, self._places = table, frames, places
        self._first, self._last = table.bounds[number : number + 2].tolist()

    def __len__(self) -> int:
        return self._last - self._first

    def __getattr__(self, column: str) -> Any:
        """Python asks this for what is not there yet."""
        if column.startswith("_"):
            raise AttributeError(column)
        table, rows = self._table, slice(self._first, self._last)
        made: list[Any]
        if column == "names":
            made = table.names[rows]
        elif column in ("opcodes", "shapes", "op_names", "attributes"):
            made = getattr(table, column).part(rows)
        elif column == "operands":
            bounds = table.operand_bounds
            flat = table.operands[bounds[self._first] : bounds[self._last]].tolist()
            inner = (bounds[self._first : self._last + 1] - bounds[self._first]).tolist()
            made = [tuple(flat[first:last]) for first, last in pairwise(inner)]
        elif column == "calls":
            made = [table.calls.get(row, ()) for row in range(self._first, self._last)]
        elif column in ("numbers", "frames", "places"):
            whole = {"numbers": table.numbers, "frames": self._frames, "places": self._places}[column]
            made = whole[rows].tolist()
        else:
            raise AttributeError(column)
        setattr(self, column, made)
        return made
