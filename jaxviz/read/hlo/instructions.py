"""All instructions of a module in a protocol buffer, as the columns of its computations.

Their fields are read at once, field by field. What many of them share, a shape, attributes, is read once for its bytes.
"""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from jaxviz.read.distinct import distinct
from jaxviz.read.hlo.columns import Array, ByNumber, Columns, Rows
from jaxviz.read.hlo.fields import pairs_of
from jaxviz.read.hlo.literal import literal_text
from jaxviz.read.hlo.module import Calls, HloError, HloModule, Pairs
from jaxviz.read.hlo.origins import read_origins
from jaxviz.read.hlo.shape_text import shape_text
from jaxviz.read.hlo.table import InstructionTable, Numbered
from jaxviz.read.hlo.wire import SPAN, Field

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


class Read(NamedTuple):
    """The instructions in the order in which they run, with the id, the frame (or -1) and the first byte of each."""

    table: InstructionTable
    ids: Array
    frames: Array
    places: Array


def read_instructions(
    columns: Columns,
    module: HloModule,
    members: Members,
    schedule: Schedule,
    number_of: dict[int, int],
    *,
    frames: bool = True,
) -> Read:
    """The instructions of the computations whose numbers are by their ids.

    Computations that have no schedule, or one that is not of their instructions, stay in the order of the file. Without
    `frames` no instruction has one.
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
        order = np.lexsort((_places(members.computation, keys, schedule, len(number_of)), members.computation))
        rank = np.empty(self.count, np.int64)
        rank[order] = np.arange(self.count)
        self.members = Members(*(column[order] for column in members))
        self.ids = ids[order]
        self.keys = keys.renumbered(rank)
        self.fields = ByNumber(rows._replace(message=rank[rows.message]))
        # The first instruction of each computation, and one past the last.
        self.bounds = np.searchsorted(self.members.computation, np.arange(len(number_of) + 1))

    def read(self, with_frames: bool) -> Read:
        names = self.columns.texts(*self.columns.span(self.fields.of(_NAME), self.count, "a text"))
        opcodes, shapes = self._opcodes_and_shapes()
        incomplete = opcodes.where([""]) | shapes.where([""])
        if "" in names or incomplete.any():
            row = min([*np.flatnonzero(incomplete).tolist(), *(row for row, name in enumerate(names) if not name)])
            raise self._error(row, "an instruction with a name, an operation and a shape")
        reader, operand = self._operands(names)
        first_operand = np.full(self.count, -1, np.int64)
        # Backwards, so that the first operand of each is the last to be written.
        first_operand[reader[::-1]] = operand[::-1]
        op_names, frames = self._origins(with_frames)
        table = InstructionTable(
            *(self.bounds, names, opcodes, shapes, op_names),
            self._attributes(opcodes, shapes, first_operand, names),
            self._own_numbers(opcodes),
            np.bincount(reader, minlength=self.count),
            operand - self.bounds[self.members.computation[operand]],
            self._calls(opcodes, names),
        )
        return Read(table, self.ids, frames, self.members.start)

    def _error(self, row: int, expected: str) -> HloError:
        return HloError(f"byte {self.members.start[row]}: expected {expected}")

    # Texts.

    def _opcodes_and_shapes(self) -> tuple[Numbered, Numbered]:
        opcode = self.columns.span(self.fields.of(_OPCODE), self.count, "a text")
        shape = self.columns.span(self.fields.of(_SHAPE), self.count, "a shape")
        rows = self.fields.of(_SHAPE)
        # What stands side by side, as in all that XLA writes, is taken out together.
        together = len(rows.message) == self.count and bool((rows.begin == opcode[1][rows.message]).all())
        number, first = distinct(self.columns.slices(opcode[0], shape[1] if together else opcode[1]))
        opcodes = _merged(number, self.columns.texts(*(column[first] for column in opcode)))
        if not together:
            number, first = distinct(self.columns.slices(*shape))
        known: dict[str, str] = {"": ""}
        for begin, end, text in zip(*self._slices(shape, first), strict=True):
            if text not in known:
                known[text] = shape_text(self.data, Field(_SHAPE, SPAN, begin, end))
        return opcodes, _merged(number, [known[text] for text in self._slices(shape, first)[2]])

    def _origins(self, with_frames: bool) -> tuple[Numbered, Array]:
        """The name stack and the frame in the metadata of each instruction."""
        start, end = self.columns.span(self.fields.of(_METADATA), self.count, "a message")
        # Those of parameters are mostly empty.
        filled = np.flatnonzero(end > start)
        place, first = distinct(self.columns.slices(start[filled], end[filled]))
        rows = filled[first]
        op_names, frames = read_origins(self.columns, self.module, start[rows], end[rows], frames=with_frames)
        number = np.zeros(self.count, np.int64)
        number[filled] = 1 + place
        return _merged(number, ["", *op_names]), np.array([-1, *frames], np.int64)[number]

    def _slices(self, spans: tuple[Array, Array], rows: list[int]) -> tuple[list[int], list[int], list[str]]:
        """Where some of these spans begin and end, and the characters in them."""
        start, end = (column[rows] for column in spans)
        return start.tolist(), end.tolist(), self.columns.slices(start, end)

    # Numbers.

    def _own_numbers(self, opcodes: Numbered) -> Array:
        own = [self.columns.number(self.fields.of(kind), self.count, -1) for kind in (_PARAMETER, _ELEMENT)]
        number: Array = np.maximum(*own)
        # A number that is zero is not written.
        return np.where((number < 0) & opcodes.where(_NUMBERED), 0, number)

    def _operands(self, names: list[str]) -> tuple[Array, Array]:
        """Each instruction that reads, as often as it reads one, and the instructions that it reads."""
        reader, id_ = self.columns.numbers(self.fields.of(_OPERANDS))
        operand = self.keys.find(self.members.computation[reader], id_)
        for row in reader[operand < 0][:1].tolist():
            raise self._error(row, f"operands of {names[row]} in its own computation")
        return reader, operand

    def _calls(self, opcodes: Numbered, names: list[str]) -> dict[int, Calls]:
        """What each instruction calls, of those that do."""
        caller, called = self.columns.numbers(self.fields.of(_CALLED))
        callees: dict[int, list[int]] = {}
        for row, id_ in zip(caller.tolist(), called.tolist(), strict=True):
            callee = self.number_of.get(id_)
            if callee is None:
                raise self._error(row, f"computations of this module, called by {names[row]}")
            callees.setdefault(row, []).append(callee)
        found: dict[int, Calls] = {}
        kinds = opcodes.number[list(callees)].tolist()
        for (row, numbers), kind in zip(callees.items(), kinds, strict=True):
            opcode = opcodes.different[kind]
            calling = tuple(zip(_roles(opcode, len(numbers)), numbers, strict=True))
            # As text has them: the condition of a loop before its body.
            found[row] = calling[::-1] if opcode == "while" else calling
        return found

    # Attributes.

    def _attributes(self, opcodes: Numbered, shapes: Numbered, first_operand: Array, names: list[str]) -> Numbered:
        rows = self.fields.rows
        number = np.minimum(self.fields.number, len(_IS_ATTRIBUTE) - 1)
        chosen = np.flatnonzero(_IS_ATTRIBUTE[number])
        empty = _IS_OFTEN_EMPTY[number[chosen]] & (rows.value[chosen] >= rows.end[chosen])
        rows = rows.where(chosen[~empty]).in_order()
        by_instruction = np.searchsorted(rows.message, np.arange(self.count + 1))
        values = self._values(opcodes, shapes)
        keys = self._keys_of(rows)
        # One number for operation, bytes of the attributes and value.
        whole = (opcodes.number * (1 + keys.max(initial=0)) + keys) * len(values.different) + values.number
        beside = np.unique(rows.message[(rows.number == _CONTROL) | (rows.number == _ORDER)])
        whole[beside] = -1 - beside
        number, first = distinct(whole.tolist())
        known: list[Pairs] = []
        with_others = set(beside.tolist())
        for row in first:
            fields: dict[int, list[Field]] = {}
            for each in range(by_instruction[row], by_instruction[row + 1]):
                fields.setdefault(int(rows.number[each]), []).append(rows.field(each))
            its_names = self._names_beside(row, names) if row in with_others else {}
            operand = int(first_operand[row])
            shape = shapes.different[shapes.number[operand]] if operand >= 0 else ""
            pairs = pairs_of(self.data, opcodes.different[opcodes.number[row]], fields, its_names, shape)
            value = values.different[values.number[row]]
            known.append((("value", value), *pairs) if value else pairs)
        return Numbered(number, known)

    def _keys_of(self, rows: Rows) -> Array:
        """For each instruction a number, the same for those in which these fields have the same bytes; 0 for none."""
        if not len(rows.message):
            return np.zeros(self.count, np.int64)
        # Those that stand side by side are taken out together.
        goes_on = (rows.message[1:] == rows.message[:-1]) & (rows.begin[1:] == rows.end[:-1])
        first = np.flatnonzero(np.concatenate([[True], ~goes_on]))
        last = np.concatenate([first[1:], [len(rows.message)]]) - 1
        found: dict[int, str] = {}
        texts = self.columns.slices(rows.begin[first], rows.end[last])
        for row, text in zip(rows.message[first].tolist(), texts, strict=True):
            found[row] = found.get(row, "") + text
        keys = np.zeros(self.count, np.int64)
        keys[list(found)] = 1 + distinct(found.values())[0]
        return keys

    def _names_beside(self, row: int, names: list[str]) -> dict[int, str]:
        """The names of the instructions of its computation, by their ids."""
        beside = np.flatnonzero(self.members.computation == self.members.computation[row])
        return {id_: names[other] for id_, other in zip(self.ids[beside].tolist(), beside.tolist(), strict=True)}

    def _values(self, opcodes: Numbered, shapes: Numbered) -> Numbered:
        """The texts of constants; empty for all else."""
        start, end = self.columns.span(self.fields.of(_LITERAL), self.count, "a message")
        rows = np.flatnonzero(end)
        first_bytes = self.columns.slices(start[rows], np.minimum(end, start + _LONG)[rows])
        alone = np.where((end - start)[rows] < _LONG, -1, rows).tolist()
        number, first = distinct(zip(first_bytes, shapes.number[rows].tolist(), alone, strict=True))
        texts = [
            literal_text(self.data, Field(_LITERAL, SPAN, *span), shapes.different[shape])
            for *span, shape in np.stack([start, end, shapes.number])[:, rows[first]].T.tolist()
        ]
        values = np.zeros(self.count, np.int64)
        constant = opcodes.where(["constant"])
        values[constant] = 1
        values[rows] = np.where(constant[rows], 2 + number, 0)
        return Numbered(values, ["", "{...}", *texts])


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


def _merged(number: Array, items: list[str]) -> Numbered:
    """A column of items, by their numbers, of which some are equal."""
    which, different = Numbered.of(items)
    return Numbered(which[number], different)


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
