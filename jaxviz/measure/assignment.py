"""XLA's own buffer assignment of a compiled program: which value lies where in which allocation.

Read from the serialized `BufferAssignmentProto` and `HloModuleProto` by the numbers of their fields.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxviz.read.hlo.wire import SPAN, Field, fields

ARGUMENT, RESULT, TEMPORARY, CONSTANT, THREAD = "argument", "result", "temporary", "constant", "of one thread"


@dataclass(frozen=True)
class Assigned:
    """Where one value lies: that of an instruction, or of element `index` of the tuple that it makes."""

    instruction: str
    index: tuple[int, ...]
    allocation: int
    kind: str
    start: int
    size: int


@dataclass(frozen=True)
class Allocation:
    number: int
    size: int
    kind: str


def read_assignment(assignment: bytes, module: bytes) -> tuple[list[Allocation], list[Assigned]]:
    """The allocations, and where in them each value lies."""
    names = _names(module)
    defined: dict[int, tuple[str, tuple[int, ...]]] = {}
    allocations: list[Allocation] = []
    places: list[tuple[int, int, int, int]] = []
    for field in fields(assignment, 0, len(assignment)):
        if field.wire != SPAN:
            continue
        if field.number == 1:
            number, where = _logical(assignment, field)
            defined[number] = (names.get(where[0], ""), where[1])
        elif field.number == 3:
            allocation, assigned = _allocation(assignment, field)
            allocations.append(allocation)
            places += [(buffer, allocation.number, start, size) for buffer, start, size in assigned]
    kinds = {allocation.number: allocation.kind for allocation in allocations}
    found = []
    for buffer, number, start, size in places:
        name, index = defined.get(buffer, ("", ()))
        found.append(Assigned(name, index, number, kinds[number], start, size))
    return allocations, found


def _logical(data: bytes, message: Field) -> tuple[int, tuple[int, tuple[int, ...]]]:
    number = instruction = 0
    index: list[int] = []
    for field in fields(data, message.value, message.end):
        if field.number == 1:
            number = field.value
        elif field.number == 3:
            for inner in fields(data, field.value, field.end):
                if inner.number == 4:
                    instruction = inner.value
                elif inner.number == 3:
                    index += _numbers(data, inner)
    return number, (instruction, tuple(index))


def _numbers(data: bytes, field: Field) -> list[int]:
    """A repeated number, packed or not."""
    if field.wire != SPAN:
        return [field.value]
    found, value, shift = [], 0, 0
    for byte in data[field.value : field.end]:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value)
            value = shift = 0
    return found


def _allocation(data: bytes, message: Field) -> tuple[Allocation, list[tuple[int, int, int]]]:
    number = size = 0
    kind = TEMPORARY
    assigned = []
    for field in fields(data, message.value, message.end):
        if field.number == 1:
            number = field.value
        elif field.number == 2:
            size = field.value
        elif field.number == 9:
            parts = {inner.number: inner.value for inner in fields(data, field.value, field.end)}
            assigned.append((parts.get(1, 0), parts.get(2, 0), parts.get(3, 0)))
        elif field.value and field.number in _KINDS and kind in (TEMPORARY, RESULT):
            # A donated argument is both an argument and a result.
            kind = _KINDS[field.number]
    return Allocation(number, size, kind), assigned


_KINDS = {3: THREAD, 5: ARGUMENT, 7: RESULT, 12: CONSTANT}


def _names(module: bytes) -> dict[int, str]:
    """The names of the instructions by their numbers."""
    names: dict[int, str] = {}
    for computation in fields(module, 0, len(module)):
        if computation.number != 3 or computation.wire != SPAN:
            continue
        for instruction in fields(module, computation.value, computation.end):
            if instruction.number != 2 or instruction.wire != SPAN:
                continue
            name, number = "", -1
            for field in fields(module, instruction.value, instruction.end):
                if field.number == 1 and field.wire == SPAN:
                    name = module[field.value : field.end].decode(errors="replace")
                elif field.number == 35:
                    number = field.value
            names[number] = name
    return names
