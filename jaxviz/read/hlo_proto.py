"""From a serialized HLO module to its columns: a protocol buffer reader without dependencies.

Takes an `HloModuleProto`, and what holds one: `HloProto`, `HloSnapshot`, and the `XSpace` of a profile. Attributes are
written as XLA prints them, so that the columns are those of the same module's text.
"""

from __future__ import annotations

from jaxviz.read.garbage import no_collections
from jaxviz.read.hlo_asynchronous import expand_asynchronous
from jaxviz.read.hlo_fields import pairs_of
from jaxviz.read.hlo_literal import literal_text
from jaxviz.read.hlo_module import HloComputation, HloError, HloModule, Location, Pairs
from jaxviz.read.hlo_shape_text import shape_text
from jaxviz.read.hlo_wire import SPAN, VARINT, Field, fields, message, number, numbers, text
from jaxviz.read.hlo_wrapping import module_in


def parse_hlo_proto(data: bytes, name: str = "") -> HloModule:
    """The module that the bytes hold; `HloError` with the byte for one that it cannot read.

    A profile holds several modules: the one called `name`, else the largest, is read.

    >>> import jax
    >>> compiled = jax.jit(lambda x: -x).lower(1.0).compile()
    >>> data = compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
    >>> module = parse_hlo_proto(data)
    >>> module.computations[module.entry].opcodes
    ['parameter', 'fusion']
    """
    data = bytes(data)
    start, end = module_in(data, name)
    with no_collections():
        return _Reader(data).read(start, end)


# Fields of an instruction that are read elsewhere, and messages that are written even where nothing is in them.
_KNOWN = {1, 35}
_OFTEN_EMPTY = {68, 82, 98}


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.module = HloModule(unit="byte")
        # Texts of what is often the same, by its bytes.
        self._shapes: dict[bytes, str] = {}
        self._origins: dict[bytes, tuple[str, int]] = {}
        self._source_frames: dict[tuple[str, int], int] = {}

    def read(self, start: int, end: int) -> HloModule:
        data, module = self.data, self.module
        computations: list[Field] = []
        schedule: dict[int, list[int]] = {}
        # A number that is zero is not written.
        entry_id = 0
        attributes: list[tuple[str, str]] = []
        for field in fields(data, start, end):
            if field.number == 1:
                module.name = text(data, field)
            elif field.number == 3:
                computations.append(field)
            elif field.number == 6:
                entry_id = number(field)
            elif field.number == 7:
                schedule = self._schedule(field)
                attributes.append(("is_scheduled", "true"))
            elif field.number == 17:
                self._read_frames(field)
        module.is_scheduled = bool(attributes)
        module.attributes = tuple(attributes)

        opened = [message(data, field) for field in computations]
        number_of: dict[int, int] = {}
        for place, (field, inside) in enumerate(zip(computations, opened, strict=True)):
            own = next((number(each) for each in inside if each.number == 5), 0)
            if number_of.setdefault(own, place) != place:
                raise HloError(f"byte {field.value}: expected a computation with a number of its own")
        for field, inside in zip(computations, opened, strict=True):
            self._read_computation(field, inside, number_of, schedule)
        if entry_id not in number_of:
            raise HloError(f"byte {start}: expected an entry computation")
        module.entry = number_of[entry_id]
        expand_asynchronous(module)
        return module

    # Tables.

    def _schedule(self, field: Field) -> dict[int, list[int]]:
        """The instructions of each computation in the order in which they run, by their ids."""
        data = self.data
        found: dict[int, list[int]] = {}
        for entry in message(data, field):
            key, sequence = 0, list[int]()
            for part in message(data, entry):
                if part.number == 1:
                    key = number(part)
                elif part.number == 2:
                    sequence = [each for ids in message(data, part) if ids.number == 1 for each in numbers(data, ids)]
            found[key] = sequence
        return found

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

    def _read_computation(
        self, field: Field, inside: list[Field], number_of: dict[int, int], schedule: dict[int, list[int]]
    ) -> None:
        data = self.data
        computation = HloComputation("")
        own = root = 0
        instructions: list[tuple[int, Field, list[Field]]] = []
        names: dict[int, str] = {}
        for part in inside:
            if part.number == 1:
                computation.name = text(data, part)
            elif part.number == 2:
                parts = message(data, part)
                id_, name = 0, ""
                for each in parts:
                    if each.number == 35:
                        id_ = number(each)
                    elif each.number == 1:
                        name = text(data, each)
                names[id_] = name
                instructions.append((id_, part, parts))
            elif part.number == 5:
                own = number(part)
            elif part.number == 6:
                root = number(part)
        by_id = {id_: (part, parts) for id_, part, parts in instructions}
        if len(by_id) != len(instructions):
            raise HloError(f"byte {field.value}: expected instructions with numbers of their own")
        order = schedule.get(own)
        if order is None or len(order) != len(by_id) or set(order) != set(by_id):
            order = [id_ for id_, _, _ in instructions]
        index_of = {id_: index for index, id_ in enumerate(order)}
        for id_ in order:
            self._read_instruction(computation, names[id_], *by_id[id_], index_of, number_of, names)
        if root not in index_of:
            raise HloError(f"byte {field.value}: expected a root instruction in computation {computation.name}")
        computation.root = index_of[root]
        self.module.computations.append(computation)

    def _read_instruction(
        self,
        computation: HloComputation,
        name: str,
        field: Field,
        parts: list[Field],
        index_of: dict[int, int],
        number_of: dict[int, int],
        names: dict[int, str],
    ) -> None:
        data = self.data
        opcode = shape = op_name = value = ""
        frame = own = -1
        operands: list[int] = []
        called: list[int] = []
        others: dict[int, list[Field]] = {}
        for part in parts:
            kind = part.number
            if kind == 2:
                opcode = text(data, part)
            elif kind == 3:
                shape = self._shape(part)
            elif kind == 7:
                op_name, frame = self._origin(part)
            elif kind == 36:
                operands += numbers(data, part)
            elif kind == 38:
                called += numbers(data, part)
            elif kind in (9, 13):
                own = number(part)
            elif kind == 8:
                value = literal_text(data, part, shape)
            elif kind not in _KNOWN and (kind not in _OFTEN_EMPTY or part.value < part.end):
                others.setdefault(kind, []).append(part)
        if not name or not opcode or not shape:
            raise HloError(f"byte {field.value}: expected an instruction with a name, an operation and a shape")
        if opcode in ("parameter", "get-tuple-element") and own < 0:
            own = 0
        first = index_of.get(operands[0], -1) if operands else -1
        operand_shape = computation.shapes[first] if 0 <= first < len(computation) else ""
        pairs: Pairs = pairs_of(data, opcode, others, names, operand_shape)
        if opcode == "constant":
            pairs = (("value", value or "{...}"), *pairs)
        if opcode == "fusion" and ("kind", "") in pairs:
            raise HloError(f"byte {field.value}: expected the kind of a fusion")
        try:
            computation.operands.append(tuple([index_of[operand] for operand in operands]))
        except KeyError:
            raise HloError(f"byte {field.value}: expected operands of {name} in its own computation") from None
        try:
            calls = [number_of[id_] for id_ in called]
        except KeyError:
            raise HloError(f"byte {field.value}: expected computations of this module, called by {name}") from None
        calling = tuple(zip(_roles(opcode, len(calls)), calls, strict=True))
        # As text has them: the condition of a loop before its body.
        computation.calls.append(calling[::-1] if opcode == "while" else calling)
        computation.names.append(name)
        computation.opcodes.append(opcode)
        computation.shapes.append(shape)
        computation.attributes.append(pairs)
        computation.op_names.append(op_name)
        computation.frames.append(frame)
        computation.numbers.append(own)
        computation.places.append(field.value)

    def _shape(self, field: Field) -> str:
        if field.wire != SPAN:
            raise HloError(f"byte {field.end}: expected a shape")
        key = self.data[field.value : field.end]
        known = self._shapes.get(key)
        if known is None:
            known = self._shapes[key] = shape_text(self.data, field)
        return known

    def _origin(self, field: Field) -> tuple[str, int]:
        """The name stack and the frame in the metadata of an instruction."""
        key = self.data[field.value : field.end]
        known_origin = self._origins.get(key)
        if known_origin is None:
            known_origin = self._origins[key] = self._read_origin(field)
        return known_origin

    def _read_origin(self, field: Field) -> tuple[str, int]:
        op_name, frame = "", 0
        file, line = "", 0
        for part in message(self.data, field):
            if part.number == 2:
                op_name = text(self.data, part)
            elif part.number == 15:
                frame = number(part)
            elif part.number == 3:
                file = text(self.data, part)
            elif part.number == 4:
                line = number(part)
        module = self.module
        if frame:
            if not 0 < frame <= len(module.frames):
                raise HloError(f"byte {field.value}: expected a row of the stack frames, not {frame}")
            return op_name, frame - 1
        if not file:
            return op_name, -1
        place = file, min(max(line, 0), 2**31 - 1)
        known = self._source_frames.get(place)
        if known is None:
            known = self._source_frames[place] = len(module.frames)
            if file not in module.files:
                module.files.append(file)
            module.frames.append((len(module.locations), -1))
            module.locations.append(Location(module.files.index(file), -1, place[1], 0, 0, 0))
        return op_name, known


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
