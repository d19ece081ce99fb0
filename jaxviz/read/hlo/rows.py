"""The rows that each computation of an HLO module fills in a graph, before it is known where and how often it stands.

First its arguments, then its instructions without those that only pack and unpack tuples, then its results. Values are
slots here: places among the values that one copy of every computation would make.
"""

from __future__ import annotations

from itertools import chain

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, CONSTANT, OPERATION, RESULT
from jaxviz.read.distinct import distinct
from jaxviz.read.hlo.attributes import AttributeReader
from jaxviz.read.hlo.callers import own_frames
from jaxviz.read.hlo.frames import HloFrames
from jaxviz.read.hlo.module import HloComputation, HloModule
from jaxviz.read.hlo.order import Orders
from jaxviz.read.hlo.shapes import Shapes
from jaxviz.read.hlo.table import InstructionTable
from jaxviz.read.shortest import is_real
from jaxviz.read.tag_text import MARK, without_tag
from jaxviz.tables import Tables

Array = NDArray[np.int64]


class Groups:
    """Groups of numbers, one after the other: group n begins at `start[n]` and has `count[n]`."""

    def __init__(self, start: Array, count: Array) -> None:
        self.start = start
        self.count = count

    @classmethod
    def of(cls, count: Array) -> Groups:
        return cls(np.cumsum(count) - count, count)

    def spread(self, chosen: Array) -> Array:
        """The members of the chosen groups, in order."""
        return spread(self.start[chosen], self.count[chosen])


def spread(start: Array, count: Array) -> Array:
    """The numbers from each start on, as many as are counted."""
    before = np.cumsum(count) - count
    return np.repeat(start - before, count) + np.arange(int(count.sum()))


class Rows:
    """Columns with a row for each node of one copy of every computation that is reached from the entry."""

    def __init__(
        self, module: HloModule, table: InstructionTable, tables: Tables, orders: Orders, frames: HloFrames
    ) -> None:
        self.module = module
        self.tables = tables
        #: The numbers of the computations that are here, and where each is among them.
        self.reached = _reached(module, orders)
        self.place = {number: place for place, number in enumerate(self.reached)}
        self.computations = [module.computations[number] for number in self.reached]
        #: Instructions are numbered through all of them, from here on in each.
        self.table = table.only(self.reached)
        sizes = np.diff(self.table.bounds)
        self.first_instruction = self.table.bounds[:-1]
        self.computation_of = np.repeat(np.arange(len(sizes)), sizes)
        opcodes = self.table.opcodes
        self._parameter, self._tuple, self._element, self._constant = (
            opcodes.where([wanted]) for wanted in ("parameter", "tuple", "get-tuple-element", "constant")
        )
        #: Whether each instruction only calls a computation.
        self.is_call = opcodes.where(["fusion", "call"])
        self._read_shapes(Shapes(tables))
        sequence = self._sequence(orders)
        self._read_flows(sequence)
        self._make_rows(sequence)
        self._fill(frames)
        self._read_attributes(AttributeReader(tables, module.partitions))

    def instruction(self, number: int) -> tuple[HloComputation, int]:
        """Its computation, and its place there."""
        computation = int(self.computation_of[number])
        return self.computations[computation], number - int(self.first_instruction[computation])

    # Values.

    def _read_shapes(self, shapes: Shapes) -> None:
        """What each instruction makes: `types` of the values, and for a tuple where its elements begin."""
        number, different = self.table.shapes
        known = []
        for which, text in enumerate(different):
            shape = shapes.read(text)
            if shape is None:
                wrong = self.instruction(int(np.flatnonzero(number == which)[0]))
                raise self.module.error(*wrong, f"expected a shape such as f32[2,3], not {text[:100]}")
            known.append(shape)
        self._shape = number
        self._elements = [shape.elements for shape in known]
        types = Groups.of(np.array([len(shape.types) for shape in known], np.int64))
        self._makes = types.count[number]
        flat = np.array([type_ for shape in known for type_ in shape.types], np.int64)
        self._type = (types, flat)

    def _sequence(self, orders: Orders) -> Array:
        """The instructions in the order in which they stand."""
        first = self.first_instruction[self.computation_of]
        if len(self.reached) == len(self.module.computations):
            return orders.instruction + first
        sizes = np.array([len(each) for each in self.module.computations], np.int64)
        is_reached = np.zeros(len(sizes), bool)
        is_reached[self.reached] = True
        return orders.instruction[np.repeat(is_reached, sizes)] + first

    def _read_flows(self, sequence: Array) -> None:
        """Which slots each instruction hands on: its own, but for tuples, which hand on those of others."""
        aliases = self._tuple | self._element
        own = Groups.of(np.where(aliases, 0, self._makes))
        self.slots = int(own.count.sum())
        counts = self.table.operand_counts
        self.operands = Groups.of(counts)
        self.sources = self.table.operands + np.repeat(self.first_instruction[self.computation_of], counts)
        start, count, more = own.start.copy(), own.count.copy(), list[int]()
        flows: dict[int, list[int]] = {}
        for number in sequence[aliases[sequence]].tolist():
            flow = flows[number] = self._alias(number, flows, start, count)
            start[number], count[number] = self.slots + len(more), len(flow)
            more += flow
        self.flow = Groups(start, count)
        self.slot = np.concatenate([np.arange(self.slots), np.array(more, np.int64)])

    def _alias(self, instruction: int, flows: dict[int, list[int]], start: Array, count: Array) -> list[int]:
        def flow(source: int) -> list[int]:
            known = flows.get(source)
            return list(range(start[source], start[source] + count[source])) if known is None else known

        first = int(self.operands.start[instruction])
        sources = self.sources[first : first + int(self.operands.count[instruction])].tolist()
        computation, index = self.instruction(instruction)
        if self._tuple[instruction]:
            if int(count[sources].sum()) != self._makes[instruction]:
                expected = f"expected the elements of {computation.shapes[index][:100]}"
                raise self.module.error(computation, index, expected)
            return [slot for source in sources for slot in flow(source)]
        if len(sources) != 1:
            raise self.module.error(computation, index, "expected one operand")
        elements = self._elements[self._shape[sources[0]]]
        if not elements:
            raise self.module.error(computation, index, "expected a tuple as its operand")
        number = computation.numbers[index]
        if not 0 <= number < len(elements) - 1:
            raise self.module.error(computation, index, f"expected the index of an element, below {len(elements) - 1}")
        return flow(sources[0])[elements[number] : elements[number + 1]]

    # Rows.

    def _make_rows(self, sequence: Array) -> None:
        """`row_instruction` and `element` of each row, and its `kind`; those of computation n are group n of `own`."""
        rows = np.where(self._parameter, self._makes, np.where(self._tuple | self._element, 0, 1))[sequence]
        instruction = np.repeat(sequence, rows)
        constant = self._constant & (self._makes == 1)
        kind = np.where(self._parameter, ARGUMENT, np.where(constant, CONSTANT, OPERATION))[instruction]
        self.roots = self.first_instruction + np.array([each.root for each in self.computations], np.int64)
        roots = self.roots
        results = self.flow.count[roots]
        of_result = np.repeat(roots, results)
        instruction = np.concatenate([instruction, of_result])
        order = np.argsort(self.computation_of[instruction], kind="stable")
        self.kind = np.concatenate([kind, np.full(len(of_result), RESULT)])[order]
        self.row_instruction = instruction[order]
        element = np.concatenate([spread(np.zeros_like(rows), rows), spread(np.zeros_like(results), results)])
        self.element = element[order]
        self.own = Groups.of(np.bincount(self.computation_of[instruction], minlength=len(roots)))
        self.results = results
        parameters = self._parameter
        self.arguments = np.bincount(
            self.computation_of[parameters], weights=self._makes[parameters], minlength=len(roots)
        ).astype(np.int64)
        self._find_slots()
        self._find_reads()

    def _find_slots(self) -> None:
        """Which row makes each slot, and as which of its values."""
        argument = self.kind == ARGUMENT
        makes = np.where(argument, 1, np.where(self.kind == RESULT, 0, self._makes[self.row_instruction]))
        self.outputs = makes
        slot = self.flow.start[self.row_instruction] + np.where(argument, self.element, 0)
        at = spread(slot, makes)
        self.slot_row = np.zeros(self.slots, np.int64)
        self.slot_row[at] = np.repeat(np.arange(len(makes)), makes)
        self.slot_output = np.zeros(self.slots, np.int64)
        self.slot_output[at] = spread(np.zeros_like(makes), makes)
        types, flat = self._type
        shape = self._shape[self.row_instruction]
        self.value_groups = Groups(types.start[shape] + np.where(argument, self.element, 0), makes)
        self.types = flat

    def _find_reads(self) -> None:
        """The pieces of `slot` that each row reads: all that its operands hand on, or one for a result."""
        result = self.kind == RESULT
        reads = np.where(self.kind == OPERATION, self.operands.count[self.row_instruction], 0)
        count = np.where(result, 1, reads)
        self.reads = Groups.of(count)
        at = self.reads.start
        start, length = np.zeros(int(count.sum()), np.int64), np.ones(int(count.sum()), np.int64)
        start[at[result]] = (self.flow.start[self.row_instruction] + self.element)[result]
        sources = self.sources[spread(self.operands.start[self.row_instruction], reads)]
        inside = spread(at, reads)
        start[inside], length[inside] = self.flow.start[sources], self.flow.count[sources]
        self.pieces = Groups(start, length)

    def _fill(self, frames: HloFrames) -> None:
        """Operation, name, call stack and name stack of each row."""
        string = self.tables.string
        instruction, argument, result = self.row_instruction, self.kind == ARGUMENT, self.kind == RESULT
        opcode = self.table.opcodes
        op = np.array(list(map(string, opcode.different)), np.int64)[opcode.number][instruction]
        self.op = np.where(argument, string("argument"), np.where(result, string("result"), op))

        names = list(self.table.names)
        # The compiler names some after their tag.
        for number in [number for number, name in enumerate(names) if name.startswith(MARK)]:
            names[number] = opcode.different[opcode.number[number]] + without_tag(names[number])
        op_names = self.table.op_names.different
        self.scopes = ["", *op_names]
        scope = np.array([place if name else 0 for place, name in enumerate(op_names, 1)], np.int64)
        scope = scope[self.table.op_names.number]
        # Arguments of the program are known by the names that the person gave them.
        entry = self.computation_of == self.place[self.module.entry]
        named = self._parameter & entry & (scope > 0)
        for number in np.flatnonzero(named).tolist():
            names[number] = self.scopes[scope[number]]
        self.scope = np.where(result, 0, np.where(named, 0, scope)[instruction])
        self.name = np.where(result, 0, self._name_rows(names)[instruction])
        for row in np.flatnonzero(argument & (self._makes[instruction] > 1)).tolist():
            self.name[row] = string(f"{names[instruction[row]]}[{self.element[row]}]")
        self.stack = np.full(len(instruction), -1, np.int64)
        if frames.wanted:
            named = list(chain.from_iterable(each.frames for each in self.computations))
            found = own_frames(self.module, self.table, named, self.reached)
            place, first = distinct(found.tolist())
            stack = np.array([frames.stack(int(found[row])) for row in first], np.int64)[place]
            self.stack = np.where(result, -1, stack[instruction])

    def _name_rows(self, names: list[str]) -> Array:
        """The rows of the names; none for those that no node has."""
        unused = self._tuple | self._element | (self._parameter & (self._makes > 1))
        found = np.zeros(len(names), np.int64)
        used = np.flatnonzero(~unused)
        found[used] = self.tables.strings_of([names[row] for row in used.tolist()])
        return found

    def _read_attributes(self, reader: AttributeReader) -> None:
        """The attributes of each row: group n of `attributes` in `keys` and `texts`."""
        number, different = self.table.attributes
        rows = list(map(reader.rows, different))
        number = number.copy()
        shapes = self.table.shapes.different
        elements = [element if is_real(element := text.partition("[")[0]) else "" for text in shapes]
        # The numbers of a constant are as long as their type needs.
        is_written = self._constant & np.array([bool(element) for element in elements], bool)[self._shape]
        written: dict[tuple[int, str], int] = {}
        for row in np.flatnonzero(is_written).tolist():
            key = int(number[row]), elements[self._shape[row]]
            if key not in written:
                written[key] = len(rows)
                rows.append(reader.rows(different[key[0]], key[1]))
            number[row] = written[key]
        groups = Groups.of(np.array(list(map(len, rows)), np.int64))
        number_ = number[self.row_instruction]
        hidden = (self.kind == RESULT) | ((self.kind == ARGUMENT) & (self.element > 0))
        self.attributes = Groups(groups.start[number_], np.where(hidden, 0, groups.count[number_]))
        flat = np.array([row for each in rows for row in each], np.int64).reshape(-1, 2)
        self.keys, self.texts = flat.T


def _reached(module: HloModule, orders: Orders) -> list[int]:
    """The computations that the entry calls, directly or not, in the order of the module."""
    found = {module.entry}
    waiting = [module.entry]
    while waiting:
        for callee in orders.callees.get(waiting.pop(), ()):
            if callee not in found:
                found.add(callee)
                waiting.append(callee)
    return sorted(found)
