"""From a serialized HLO module to its columns: a protocol buffer reader without dependencies.

Takes an `HloModuleProto`, and what holds one: `HloProto`, `HloSnapshot`, and the `XSpace` of a profile. Attributes are
written as XLA prints them, so that the columns are those of the same module's text.
"""

from __future__ import annotations

import numpy as np

from jaxviz.read.garbage import without_collections
from jaxviz.read.hlo.aliases import aliases_in_proto
from jaxviz.read.hlo.asynchronous import expand_asynchronous
from jaxviz.read.hlo.columns import Array, Columns
from jaxviz.read.hlo.instructions import Members, Schedule, read_instructions
from jaxviz.read.hlo.module import HloError, HloModule, Location, Pairs
from jaxviz.read.hlo.table import TableComputation
from jaxviz.read.hlo.wire import SPAN, VARINT, Field, fields, message, number, text
from jaxviz.read.hlo.wrapping import module_in


@without_collections
def parse_hlo_proto(
    data: bytes, name: str = "", *, frames: bool = True, at: tuple[int, int] | None = None
) -> HloModule:
    """The module that the bytes hold; `HloError` with the byte for one that it cannot read.

    A profile holds several modules: the one `at` a place, that called `name`, else the largest, is read. Without
    `frames` no call stack is.

    >>> import jax
    >>> compiled = jax.jit(lambda x: -x).lower(1.0).compile()
    >>> data = compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
    >>> module = parse_hlo_proto(data)
    >>> module.computations[module.entry].opcodes
    ['parameter', 'fusion']
    """
    data = bytes(data)
    start, end = module_in(data, name) if at is None else at
    return _Reader(data, frames).read(start, end)


class _Reader:
    def __init__(self, data: bytes, frames: bool) -> None:
        self.data = data
        self.frames = frames
        self.columns = Columns(data)
        self.module = HloModule(unit="byte")
        self._computations: list[Field] = []

    def read(self, start: int, end: int) -> HloModule:
        data, module = self.data, self.module
        scheduled: Field | None = None
        devices: Field | None = None
        # A number that is zero is not written.
        entry_id = 0
        for field in fields(data, start, end):
            if field.number == 1:
                module.name = text(data, field)
            elif field.number == 3:
                self._computations.append(field)
            elif field.number == 6:
                entry_id = number(field)
            elif field.number == 7:
                scheduled = field
            elif field.number == 8:
                module.aliases += aliases_in_proto(data, field)
            elif field.number == 15:
                devices = field
            elif field.number == 17 and self.frames:
                self._read_frames(field)
        if not self._computations:
            raise HloError(f"byte {start}: expected the computations of an HLO module, which are not in this message")
        if scheduled is not None:
            module.attributes = (("is_scheduled", "true"),)
        if devices is not None:
            module.attributes += self._read_devices(devices)
        number_of = self._read_computations(scheduled)
        if entry_id not in number_of:
            raise HloError(f"byte {start}: expected an entry computation")
        module.entry = number_of[entry_id]
        expand_asynchronous(module)
        return module

    # Tables.

    def _schedule(self, field: Field | None, number_of: dict[int, int]) -> Schedule:
        """The instructions of each computation in the order in which they run."""
        columns = self.columns
        entries = message(self.data, field) if field is not None else []
        rows = columns.fields(*_spans(entries))
        own = columns.number(rows.of(1), len(entries))
        sequences = rows.of(2)
        start, end = columns.span(sequences, len(entries), "a message")
        entry, ids = columns.numbers(columns.fields(start, end).of(1))
        computation = np.array([number_of.get(key, -1) for key in own.tolist()], np.int64)[entry]
        return Schedule(computation[computation >= 0], ids[computation >= 0])

    def _read_devices(self, field: Field) -> Pairs:
        """For how many devices the module is, as the head of its text says it: alike ones, and parts."""
        counts = {part.number: number(part) for part in message(self.data, field) if part.wire == VARINT}
        named = (("replica_count", counts.get(1, 1)), ("num_partitions", counts.get(2, 1)))
        return tuple((name, str(count)) for name, count in named if count != 1)

    def _read_frames(self, field: Field) -> None:
        data, module = self.data, self.module
        for table in message(data, field):
            if table.number == 1:
                module.files.append(text(data, table))
            elif table.number == 2:
                module.functions.append(text(data, table))
            elif table.number in (3, 4):
                row = {part.number: number(part) for part in message(data, table) if part.wire == VARINT}
                if table.number == 3:
                    line, column, end_line, end_column = (row.get(each, 0) for each in (3, 4, 5, 6))
                    place = row.get(1, 0) - 1, row.get(2, 0) - 1
                    module.locations.append(Location(*place, line, end_line, column, end_column))
                else:
                    module.frames.append((row.get(1, 0) - 1, row.get(2, 0) - 1))
        for location_row, parent in module.frames:
            if not 0 <= location_row < len(module.locations) or not -1 <= parent < len(module.frames):
                raise HloError(f"byte {field.value}: expected a location and a caller for each frame")
        for location in module.locations:
            file, function = location[:2]
            if not -1 <= file < len(module.files) or not -1 <= function < len(module.functions):
                raise HloError(f"byte {field.value}: expected a file and a function for each location")
            if not all(0 <= each < 2**31 for each in location[2:]):
                raise HloError(f"byte {field.value}: expected lines and columns that are not negative")

    # Computations.

    def _read_computations(self, scheduled: Field | None) -> dict[int, int]:
        """The computations of the module, and their numbers by their ids."""
        module, columns, fields = self.module, self.columns, self._computations
        rows = columns.fields(*_spans(fields))
        names = columns.texts(*columns.span(rows.of(1), len(fields), "a text"))
        inside = rows.of(2).in_order()
        columns.span(inside, len(fields), "a message")
        number_of: dict[int, int] = {}
        for place, own in enumerate(columns.number(rows.of(5), len(fields)).tolist()):
            if number_of.setdefault(own, place) != place:
                raise HloError(f"byte {fields[place].value}: expected a computation with a number of its own")
        members = Members(inside.value, inside.end, inside.message)
        schedule = self._schedule(scheduled, number_of)
        read = read_instructions(columns, module, members, schedule, number_of, frames=self.frames)
        roots = columns.number(rows.of(6), len(fields))
        found = np.full(len(fields), -1, np.int64)
        # The instructions stand computation by computation.
        is_root = np.flatnonzero(read.ids == roots[inside.message])
        found[inside.message[is_root]] = is_root - read.table.bounds[inside.message[is_root]]
        module.table = read.table
        for number_, (name, root) in enumerate(zip(names, found.tolist(), strict=True)):
            if root < 0:
                expected = f"expected a root instruction in computation {name}"
                raise HloError(f"byte {fields[number_].value}: {expected}")
            computation = TableComputation(name, root, read.table, number_, read.frames, read.places)
            module.computations.append(computation)
        return number_of


def _spans(found: list[Field]) -> tuple[Array, Array]:
    """Where messages begin and end."""
    for field in found:
        if field.wire != SPAN:
            raise HloError(f"byte {field.end}: expected a message")
    return np.array([field.value for field in found], np.int64), np.array([field.end for field in found], np.int64)
