"""All instructions of a module in a protocol buffer, as the columns of its computations.

Their fields are read at once, field by field. What many of them share, a shape, attributes, is read once for its bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from jaxviz.read.distinct import distinct
from jaxviz.read.hlo_columns import Array, ByNumber, Columns, Rows
from jaxviz.read.hlo_fields import pairs_of
from jaxviz.read.hlo_literal import literal_text
from jaxviz.read.hlo_module import HloError, HloModule, Pairs
from jaxviz.read.hlo_origins import read_origins
from jaxviz.read.hlo_shape_text import shape_text
from jaxviz.read.hlo_wire import SPAN, Field

# Fields of an instruction. All others are attributes.
_NAME, _OPCODE, _SHAPE, _METADATA, _LITERAL, _PARAMETER, _ELEMENT, _ID, _OPERANDS, _CALLED = (
    *(1, 2, 3, 7, 8, 9, 13),
    *(35, 36, 38),
)
# By the number of a field, of which the last stands for all from there on.
_IS_ATTRIBUTE, _IS_OFTEN_EMPTY = np.ones(128, bool), np.zeros(128, bool)
_IS_ATTRIBUTE[[_NAME, _OPCODE, _SHAPE, _METADATA, _LITERAL, _PARAMETER, _ELEMENT, _ID, _OPERANDS, _CALLED]] = False
# Messages that are written even where nothing is in them.
_IS_OFTEN_EMPTY[[68, 82, 98]] = True
# What has a number, which is not written where it is zero.
_NUMBERED = frozenset({"parameter", "get-tuple-element"})
# Attributes that say something of other instructions, or mean something only beside them.
_CONTROL, _ORDER = 37, 102
# A constant of more bytes is not remembered.
_LONG = 256


class Members(NamedTuple):
    """The instructions of all computations as they are written: where each lies, and in which computation."""

    start: Array
    end: Array
    computation: Array


class Schedule(NamedTuple):
    """The instructions of computations in the order in which they run, by number: rows of computation and id."""

    computation: Array
    id: Array


def read_instructions(
    columns: Columns,
    module: HloModule,
    members: Members,
    schedule: Schedule,
    number_of: dict[int, int],
    *,
    frames: bool = True,
) -> Array:
    """Fill in the computations of the module, whose numbers are by their ids; give the id of each instruction in order.

    Computations that have no schedule, or one that is not of their instructions, stay in the order of the file. Without
    `frames` none has one.
    """
    return _Instructions(columns, module, members, schedule, number_of).read(frames)


class _Instructions:
    """The fields of all instructions, which are numbered in the order in which they run, by computation."""

    def __init__(
        self, columns: Columns, module: HloModule, members: Members, schedule: Schedule, number_of: dict[int, int]
    ) -> None:
        self.columns = columns
        self.data = columns.data
        self.module = module
        self.number_of = number_of
        self.count = len(members.start)
        rows = columns.fields(members.start, members.end)
        ids = columns.number(rows.of(_ID), self.count)
        keys = _Keys(members.computation, ids)
        for row in keys.twice()[:1].tolist():
            raise HloError(f"byte {members.start[row]}: expected an instruction with a number of its own")
        order = np.lexsort(
            (_places(members.computation, keys, schedule, len(module.computations)), members.computation)
        )
        rank = np.empty(self.count, np.int64)
        rank[order] = np.arange(self.count)
        self.members = Members(*(column[order] for column in members))
        self.ids = ids[order]
        self.keys = keys.renumbered(rank)
        self.fields = ByNumber(rows._replace(message=rank[rows.message]))

    def read(self, with_frames: bool) -> Array:
        computation = self.members.computation
        # The first instruction of each computation, and one past the last.
        bounds = np.searchsorted(computation, np.arange(len(self.module.computations) + 1))
        local = np.arange(self.count) - bounds[computation]

        names = self._texts(_NAME)
        opcodes = self._texts(_OPCODE)
        shapes = self._shapes()
        for column in (names, opcodes, shapes):
            if "" in column:
                raise self._error(column.index(""), "an instruction with a name, an operation and a shape")
        reader, operand = self._operands(names)
        first_operand = np.full(self.count, -1, np.int64)
        # Backwards, so that the first operand of each is the last to be written.
        first_operand[reader[::-1]] = operand[::-1]
        op_names, frames = self._origins(with_frames)
        found: tuple[list[Any], ...] = (
            *(names, opcodes, shapes, _tuples(reader, local[operand], self.count), self._calls(opcodes, names)),
            self._attributes(opcodes, shapes, first_operand, names),
            *(op_names, frames, self._own_numbers(opcodes), self.members.start.tolist()),
        )
        for made, first, last in zip(self.module.computations, bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
            made.fill(*[column[first:last] for column in found])
        return self.ids

    def _error(self, row: int, expected: str) -> HloError:
        return HloError(f"byte {self.members.start[row]}: expected {expected}")

    # Texts.

    def _texts(self, kind: int) -> list[str]:
        return self.columns.texts(*self.columns.span(self.fields.of(kind), self.count, "a text"))

    def _shapes(self) -> list[str]:
        start, end = self.columns.span(self.fields.of(_SHAPE), self.count, "a shape")
        number, first = distinct(self._slices(start, end))
        spans = zip(start[first].tolist(), end[first].tolist(), strict=True)
        known = [shape_text(self.data, Field(_SHAPE, SPAN, *span)) if span[1] else "" for span in spans]
        return _taken(known, number.tolist())

    def _origins(self, with_frames: bool) -> tuple[list[str], list[int]]:
        """The name stack and the frame in the metadata of each instruction."""
        start, end = self.columns.span(self.fields.of(_METADATA), self.count, "a message")
        number, first = distinct(self._slices(start, end))
        op_names, frames = read_origins(self.columns, self.module, start[first], end[first], frames=with_frames)
        numbers = number.tolist()
        return _taken(op_names, numbers), _taken(frames, numbers) if with_frames else [-1] * self.count

    def _slices(self, start: Array, end: Array) -> list[str]:
        return self.columns.slices(start, end)

    # Numbers.

    def _own_numbers(self, opcodes: list[str]) -> list[int]:
        own = [self.columns.number(self.fields.of(kind), self.count, -1) for kind in (_PARAMETER, _ELEMENT)]
        # A number that is zero is not written.
        return [
            0 if number < 0 and opcode in _NUMBERED else number
            for number, opcode in zip(np.maximum(*own).tolist(), opcodes, strict=True)
        ]

    def _operands(self, names: list[str]) -> tuple[Array, Array]:
        """Each instruction that reads, as often as it reads one, and the instructions that it reads."""
        reader, id_ = self.columns.numbers(self.fields.of(_OPERANDS))
        operand = self.keys.find(self.members.computation[reader], id_)
        for row in reader[operand < 0][:1].tolist():
            raise self._error(row, f"operands of {names[row]} in its own computation")
        return reader, operand

    def _calls(self, opcodes: list[str], names: list[str]) -> list[tuple[tuple[str, int], ...]]:
        caller, called = self.columns.numbers(self.fields.of(_CALLED))
        callees: dict[int, list[int]] = {}
        for row, id_ in zip(caller.tolist(), called.tolist(), strict=True):
            callee = self.number_of.get(id_)
            if callee is None:
                raise self._error(row, f"computations of this module, called by {names[row]}")
            callees.setdefault(row, []).append(callee)
        found: list[tuple[tuple[str, int], ...]] = [()] * self.count
        for row, numbers in callees.items():
            calling = tuple(zip(_roles(opcodes[row], len(numbers)), numbers, strict=True))
            # As text has them: the condition of a loop before its body.
            found[row] = calling[::-1] if opcodes[row] == "while" else calling
        return found

    # Attributes.

    def _attributes(self, opcodes: list[str], shapes: list[str], first_operand: Array, names: list[str]) -> list[Pairs]:
        rows = self.fields.rows
        number = np.minimum(rows.number, len(_IS_ATTRIBUTE) - 1)
        attributes = _IS_ATTRIBUTE[number] & ~(_IS_OFTEN_EMPTY[number] & (rows.value >= rows.end))
        rows = rows.where(attributes).in_order()
        key = self._bytes_of(rows)
        by_instruction = np.searchsorted(rows.message, np.arange(self.count + 1))
        literals = self._literals(shapes)
        values = [literals.get(row, "{...}") if opcode == "constant" else "" for row, opcode in enumerate(opcodes)]
        beside = set(rows.message[(rows.number == _CONTROL) | (rows.number == _ORDER)].tolist())
        alone = [row if row in beside else -1 for row in range(self.count)] if beside else [-1] * self.count
        number, first = distinct(zip(opcodes, key, values, alone, strict=True))
        known: list[Pairs] = []
        for row in first:
            fields: dict[int, list[Field]] = {}
            for each in range(by_instruction[row], by_instruction[row + 1]):
                fields.setdefault(int(rows.number[each]), []).append(rows.field(each))
            its_names = self._names_beside(row, names) if row in beside else {}
            operand = int(first_operand[row])
            pairs = pairs_of(self.data, opcodes[row], fields, its_names, shapes[operand] if operand >= 0 else "")
            if values[row]:
                pairs = (("value", values[row]), *pairs)
            known.append(pairs)
        return _taken(known, number.tolist())

    def _bytes_of(self, rows: Rows) -> list[str]:
        """The bytes of some fields of each instruction; those that stand side by side are taken together."""
        found = [""] * self.count
        if not len(rows.message):
            return found
        goes_on = (rows.message[1:] == rows.message[:-1]) & (rows.begin[1:] == rows.end[:-1])
        first = np.flatnonzero(np.concatenate([[True], ~goes_on]))
        last = np.concatenate([first[1:], [len(rows.message)]]) - 1
        whole = self.columns.characters
        for row, begin, end in zip(
            rows.message[first].tolist(), rows.begin[first].tolist(), rows.end[last].tolist(), strict=True
        ):
            found[row] += whole[begin:end]
        return found

    def _names_beside(self, row: int, names: list[str]) -> dict[int, str]:
        """The names of the instructions of its computation, by their ids."""
        beside = np.flatnonzero(self.members.computation == self.members.computation[row])
        return {id_: names[other] for id_, other in zip(self.ids[beside].tolist(), beside.tolist(), strict=True)}

    def _literals(self, shapes: list[str]) -> dict[int, str]:
        known: dict[tuple[str, str], str] = {}
        found = {}
        rows = self.fields.of(_LITERAL)
        for each, row in enumerate(rows.message.tolist()):
            field = rows.field(each)
            key = self.columns.characters[field.value : field.end][:_LONG], shapes[row]
            literal = known.get(key)
            if literal is None:
                literal = literal_text(self.data, field, shapes[row])
                if field.end - field.value < _LONG:
                    known[key] = literal
            found[row] = literal
        return found


def _places(computation: Array, keys: _Keys, schedule: Schedule, computations: int) -> Array:
    """Where each instruction stands among those of its computation."""
    place = np.arange(len(computation))
    rows = keys.find(schedule.computation, schedule.id)
    scheduled = np.bincount(schedule.computation, minlength=computations)
    good = scheduled == np.bincount(computation, minlength=computations)
    good[schedule.computation[rows < 0]] = False
    times = np.bincount(rows[rows >= 0], minlength=len(computation))
    good[computation[times != 1]] = False
    used = good[schedule.computation]
    place[rows[used]] = np.flatnonzero(used)
    return place


class _Keys:
    """Finds instructions by the number of their computation and their id."""

    def __init__(self, computation: Array, ids: Array) -> None:
        self._ids, rank = np.unique(ids, return_inverse=True)
        key = computation * len(self._ids) + rank
        self._rows = np.argsort(key, kind="stable")
        self._sorted = key[self._rows]

    def renumbered(self, rank: Array) -> _Keys:
        """The same for instructions that have these numbers now."""
        other = copy(self)
        other._rows = rank[self._rows]
        return other

    def twice(self) -> Array:
        """Instructions that have the id of another one beside them."""
        return self._rows[1:][self._sorted[1:] == self._sorted[:-1]]

    def find(self, computation: Array, ids: Array) -> Array:
        """The instructions, or -1."""
        if not len(self._ids):
            return np.full(len(ids), -1, np.int64)
        rank = np.minimum(np.searchsorted(self._ids, ids), len(self._ids) - 1)
        key = computation * len(self._ids) + rank
        place = np.minimum(np.searchsorted(self._sorted, key), len(self._sorted) - 1)
        there = (self._ids[rank] == ids) & (self._sorted[place] == key)
        return np.where(there, self._rows[place], -1)


def _taken(column: Sequence[Any], rows: list[int]) -> list[Any]:
    """The items of these rows, without a step of Python for each."""
    return list(map(column.__getitem__, rows))


def _tuples(reader: Array, operand: Array, count: int) -> list[tuple[int, ...]]:
    bounds = np.searchsorted(reader, np.arange(count + 1)).tolist()
    flat = operand.tolist()
    return [tuple(flat[first:last]) for first, last in pairwise(bounds)]


def _roles(opcode: str, count: int) -> list[str]:
    """What the computations that an instruction calls are to it, in their order."""
    if opcode == "while" and count == 2:
        return ["body", "condition"]
    if opcode == "conditional":
        return [f"branch {place}" for place in range(count)]
    if opcode == "select-and-scatter" and count == 2:
        return ["select", "scatter"]
    if opcode == "fusion" or opcode.startswith("async-"):
        return ["calls"] * count
    if opcode == "custom-call":
        return [f"calls {place}" for place in range(count)]
    return ["to_apply"] * count
