"""Where in a protocol buffer an HLO module lies: at its top, inside another message, or in the trace of a profile."""

from __future__ import annotations

from typing import NamedTuple

from jaxviz.read.hlo.module import HloError
from jaxviz.read.hlo.wire import SPAN, VARINT, Field, fields, message, text

_WRAPPINGS = 3


class Profiled(NamedTuple):
    """A module in a profile: its name, the number that its process gave it, and where it is."""

    name: str
    program: int
    start: int
    end: int


def module_in(data: bytes, name: str = "") -> tuple[int, int]:
    """The first byte of the module and the one past its last.

    A profile holds every module of its process: the largest of those with this name is taken, if one is given.
    """
    begin, end = after_length(data) or (0, len(data))
    span = _module_at(data, begin, end, _WRAPPINGS)
    if span is not None:
        return span
    found = profiled_modules(data)
    if name:
        found = [one for one in found if one.name == name]
        if not found:
            raise HloError(f"byte 0: expected a module named {name[:100]}")
    if found:
        largest = max(found, key=lambda one: one.end - one.start)
        return largest.start, largest.end
    # The message of the reader says what is missing.
    return 0, len(data)


def after_length(data: bytes) -> tuple[int, int] | None:
    """The message at the beginning of what holds several, each after its length: a snapshot before its arguments.

    >>> after_length(bytes([3, 10, 1, 65, 7]))
    (1, 4)
    """
    # What begins so is the message itself: no module is as short as this would say.
    if data[:1] == b"\n":
        return None
    size = at = 0
    for at, byte in enumerate(data[:5]):
        size |= (byte & 127) << 7 * at
        if byte < 128:
            break
    begin = at + 1
    # Every message that holds a module begins with a field of bytes.
    return (begin, begin + size) if 0 < size <= len(data) - begin and data[begin] == 10 else None


def module_names(data: bytes) -> list[str]:
    """The names of the modules in a profile, in order."""
    return [one.name for one in profiled_modules(data)]


def profiled_modules(data: bytes) -> list[Profiled]:
    """The modules in a profile, in order; several may have one name."""
    spans = ((program, _module_at(data, field.value, field.end, _WRAPPINGS)) for program, field in _profiled(data))
    return [Profiled(module_name(data, *span), program, *span) for program, span in spans if span is not None]


def module_name(data: bytes, start: int, end: int) -> str:
    """The name of the module at this place."""
    return next((text(data, field) for field in fields(data, start, end) if field.number == 1), "")


def _module_at(data: bytes, start: int, end: int, wrappings: int) -> tuple[int, int] | None:
    """The module here, or in the first field of the message here: HloProto and HloSnapshot hold it there."""
    try:
        found = fields(data, start, end)
    except HloError:
        # A module that is cut off: the reader says where.
        return (start, end) if wrappings == _WRAPPINGS else None
    if any(field.number == 3 and _is_computation(data, field) for field in found):
        return start, end
    if wrappings:
        for field in found:
            if field.number == 1 and field.wire == SPAN:
                return _module_at(data, field.value, field.end, wrappings - 1)
    return None


def _is_computation(data: bytes, field: Field) -> bool:
    try:
        inside = {(part.number, part.wire) for part in message(data, field)}
    except HloError:
        return False
    return (2, SPAN) in inside and ((5, VARINT) in inside or (6, VARINT) in inside)


def _profiled(data: bytes) -> list[tuple[int, Field]]:
    """Modules in an XSpace: planes, their event metadata, each named by a module and its number, `jit_step(12)`, and in
    the statistics of these the bytes of an HloProto."""
    found: list[tuple[int, Field]] = []
    try:
        for plane in fields(data, 0, len(data)):
            if plane.number != 1 or plane.wire != SPAN:
                continue
            for entry in message(data, plane):
                if entry.number != 4 or entry.wire != SPAN:
                    continue
                for event in message(data, entry):
                    if event.number != 2 or event.wire != SPAN:
                        continue
                    parts = message(data, event)
                    spans = [part for part in parts if part.wire == SPAN and part.number in (2, 5)]
                    named = next((text(data, part) for part in spans if part.number == 2), "")
                    for statistic in spans:
                        if statistic.number == 5:
                            inside = message(data, statistic)
                            found += [
                                (number_in(named), part) for part in inside if part.number == 6 and part.wire == SPAN
                            ]
    except HloError:
        return found
    return found


def number_in(named: str) -> int:
    """The number of a program at the end of its name in a profile, -1 where there is none.

    >>> number_in("jit_step(12)")
    12
    """
    digits = named.rpartition("(")[2].removesuffix(")")
    return int(digits) if digits.isdecimal() and named.endswith(f"({digits})") else -1
