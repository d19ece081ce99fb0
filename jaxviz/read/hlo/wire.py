"""Protocol buffers without a schema: the fields of a message, by number, as spans and numbers."""

from __future__ import annotations

import struct
from typing import NamedTuple

from jaxviz.read.hlo.module import HloError

VARINT, FIXED64, SPAN, FIXED32 = 0, 1, 2, 5


class Field(NamedTuple):
    """A field of a message. For a span, `value` is its first byte and `end` the one past its last."""

    number: int
    wire: int
    value: int
    end: int


def fields(data: bytes, at: int, end: int) -> list[Field]:
    """The fields of the message in `data[at:end]`, in order; `HloError` where it is none."""
    found: list[Field] = []
    # Half the price of a call of the class.
    new = tuple.__new__
    try:
        while at < end:
            start = at
            tag = data[at]
            at += 1
            if tag > 127:
                tag, at = _varint(data, at - 1)
            wire = tag & 7
            if wire == SPAN:
                length = data[at]
                at += 1
                if length > 127:
                    length, at = _varint(data, at - 1)
                found.append(new(Field, (tag >> 3, SPAN, at, at + length)))
                at += length
            elif wire == VARINT:
                value = data[at]
                at += 1
                if value > 127:
                    value, at = _varint(data, at - 1)
                found.append(new(Field, (tag >> 3, VARINT, value, at)))
            elif wire in (FIXED32, FIXED64):
                size = 4 if wire == FIXED32 else 8
                found.append(new(Field, (tag >> 3, wire, int.from_bytes(data[at : at + size], "little"), at + size)))
                at += size
            else:
                raise _error(start, "a field of a known kind")
            if at > end:
                raise _cut_off(data) if end == len(data) else _error(start, f"a field that ends before byte {end}")
            if tag < 8:
                raise _error(start, "a field with a number")
    except IndexError:
        raise _cut_off(data) from None
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
        if shift > 63:
            raise _error(at, "a number of at most ten bytes")


def signed(value: int) -> int:
    """A number as int64 or int32 holds it."""
    return value - (1 << 64) if value >> 63 else value


def numbers(data: bytes, field: Field) -> list[int]:
    """The numbers of a repeated field, packed or not."""
    if field.wire == VARINT:
        return [signed(field.value)]
    if field.wire != SPAN:
        raise _error(field.end, "numbers")
    at, end = field.value, field.end
    found = []
    try:
        while at < end:
            value = data[at]
            at += 1
            if value > 127:
                value, at = _varint(data, at - 1)
                value = signed(value)
            found.append(value)
    except IndexError:
        raise _cut_off(data) from None
    return found


def text(data: bytes, field: Field) -> str:
    """A string; bytes that are no UTF-8 are replaced."""
    if field.wire != SPAN:
        raise _error(field.end, "a text")
    return data[field.value : field.end].decode(errors="replace")


def message(data: bytes, field: Field) -> list[Field]:
    """The fields of a message inside a message."""
    if field.wire != SPAN:
        raise _error(field.end, "a message")
    return fields(data, field.value, field.end)


def row_of(data: bytes, field: Field) -> dict[int, list[int]]:
    """The numbers of a message that holds nothing else, by field."""
    row: dict[int, list[int]] = {}
    for part in message(data, field):
        row.setdefault(part.number, []).extend(numbers(data, part))
    return row


def first(row: dict[int, list[int]], kind: int) -> int:
    """A number of a message, which is not written where it is zero."""
    return row.get(kind, [0])[-1]


def number(field: Field) -> int:
    """An int64, int32, enum or bool."""
    if field.wire != VARINT:
        raise _error(field.end, "a number")
    return signed(field.value)


def real(field: Field) -> float:
    """A float or double."""
    if field.wire == FIXED32:
        return float(struct.unpack("<f", field.value.to_bytes(4, "little"))[0])
    if field.wire == FIXED64:
        return float(struct.unpack("<d", field.value.to_bytes(8, "little"))[0])
    raise _error(field.end, "a real number")


def _error(at: int, expected: str) -> HloError:
    return HloError(f"byte {at}: expected {expected}")


def _cut_off(data: bytes) -> HloError:
    return _error(len(data), "more bytes: the file is cut off")
