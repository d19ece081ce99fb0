"""Many messages of a protocol buffer at a time: all their first fields, then all their second ones, as numpy columns.

What is wrong with a message is said by the functions of `wire.py`, which look at one at a time.
"""

from __future__ import annotations

from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.read.hlo.module import HloError
from jaxviz.read.hlo.wire import FIXED32, FIXED64, SPAN, VARINT, Field, fields, number, numbers

Array = NDArray[np.int64]

# Below so many messages, one after the other is as fast.
_FEW = 24
# A varint has at most ten bytes, so none that begins inside of the data reads past these.
_BEYOND = 16
_NOWHERE = 1 << 62
# Of fields by number, this one stands for all from there on.
_LARGE = (1 << 16) - 1


class Rows(NamedTuple):
    """Fields: the message that each is in, by its place among them, and the columns of `Field`.

    Those of one message are in order, those of different messages mixed. `begin` is the first byte with the number.
    """

    message: Array
    number: Array
    wire: Array
    value: Array
    end: Array
    begin: Array

    def of(self, kind: int) -> Rows:
        """The fields with this number."""
        return self.where(self.number == kind)

    def where(self, chosen: NDArray[np.bool_] | Array) -> Rows:
        return Rows(*(column[chosen] for column in self))

    def in_order(self) -> Rows:
        """Message by message."""
        return self.where(np.argsort(self.message, kind="stable"))

    def field(self, row: int) -> Field:
        return Field(int(self.number[row]), int(self.wire[row]), int(self.value[row]), int(self.end[row]))


class ByNumber:
    """Fields, of which those with one number are asked for at a time."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        # Small numbers are compared much faster, and there are no larger ones in what XLA writes.
        self.number = np.minimum(rows.number, _LARGE).astype(np.uint16)

    def of(self, kind: int) -> Rows:
        """The fields with this number, below `_LARGE`."""
        return self.rows.where(np.flatnonzero(self.number == kind))


class Columns:
    """The bytes of a file, read many at a time."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        #: Each byte as a character, so that equal slices are equal bytes.
        self.characters = data.decode("latin-1")
        self._octets = np.frombuffer(data + bytes(_BEYOND), np.uint8)

    def fields(self, start: Array, end: Array) -> Rows:
        """The fields of the messages that lie in `data[start:end]`."""
        found: list[tuple[Array, ...]] = []
        message = np.flatnonzero(start < end)
        at, stop = start[message], end[message]
        while len(message) >= _FEW:
            begin = at
            tag, at = self._varints(begin)
            if at.max() >= _NOWHERE:
                self._complain(start, end, int(message[at.argmax()]))
            value, last = self._varints(at)
            wire = tag & 7
            span = wire == SPAN
            wrong = ~span & (wire != VARINT)
            if wrong.any():
                wrong &= ~self._read_fixed(wire, at, value, last)
            value, first, last = np.where(span, last, value), last, last + np.where(span, value, 0)
            # A length may be as large as to begin anew below zero.
            wrong |= (last > stop) | (last < first) | (tag < 8)
            if wrong.any():
                self._complain(start, end, int(message[wrong.argmax()]))
            found.append((message, tag >> 3, wire, value, last, begin))
            more = last < stop
            if more.all():
                at = last
            else:
                message, at, stop = message[more], last[more], stop[more]
        found.append(self._one_by_one(message, at, stop))
        return Rows(*(np.concatenate(columns) for columns in zip(*found, strict=True)))

    def _varints(self, at: Array) -> tuple[Array, Array]:
        """The numbers that begin at these bytes, and the bytes after them."""
        octet = self._octets[at]
        value = (octet & 127).astype(np.int64)
        at = at + 1
        more = np.flatnonzero(octet > 127)
        shift = 7
        while len(more):
            if shift > 63:
                at[more] = _NOWHERE
                break
            octet = self._octets[at[more]]
            value[more] |= (octet & 127).astype(np.int64) << shift
            at[more] += 1
            more = more[octet > 127]
            shift += 7
        return value, at

    def _read_fixed(self, wire: Array, at: Array, value: Array, last: Array) -> NDArray[np.bool_]:
        """Fill in the numbers of four or eight bytes; give which ones there were."""
        fixed = (wire == FIXED32) | (wire == FIXED64)
        for row in np.flatnonzero(fixed).tolist():
            first, size = int(at[row]), 4 if wire[row] == FIXED32 else 8
            raw = self.data[first : first + size]
            value[row] = int.from_bytes(raw, "little", signed=True)
            last[row] = first + size
        return fixed

    def _one_by_one(self, message: Array, start: Array, end: Array) -> tuple[Array, ...]:
        """The fields of messages none of which is empty."""
        found = [fields(self.data, *span) for span in zip(start.tolist(), end.tolist(), strict=True)]
        counts = np.array(list(map(len, found)), np.int64)
        flat = np.fromiter(chain.from_iterable(chain.from_iterable(found)), np.uint64)
        # A number of 64 bits may be one below zero.
        number, wire, value, last = flat.view(np.int64).reshape(-1, 4).T
        begin = np.roll(last, 1)
        begin[np.cumsum(counts) - counts] = start
        return np.repeat(message, counts), number, wire, value, last, begin

    def _complain(self, start: Array, end: Array, message: int) -> None:
        fields(self.data, int(start[message]), int(end[message]))
        raise HloError(f"byte {start[message]}: expected a message")

    # What fields hold.

    def number(self, rows: Rows, count: int, default: int = 0) -> Array:
        """The number that each of `count` messages has in a field."""
        for row in np.flatnonzero(rows.wire != VARINT)[:1].tolist():
            number(rows.field(row))
        column = np.full(count, default, np.int64)
        column[rows.message] = rows.value
        return column

    def span(self, rows: Rows, count: int, expected: str) -> tuple[Array, Array]:
        """Where a field of each of `count` messages begins and ends: twice 0 where it has none."""
        for row in np.flatnonzero(rows.wire != SPAN)[:1].tolist():
            raise HloError(f"byte {rows.end[row]}: expected {expected}")
        start, end = np.zeros(count, np.int64), np.zeros(count, np.int64)
        start[rows.message], end[rows.message] = rows.value, rows.end
        return start, end

    def slices(self, start: Array, end: Array) -> list[str]:
        """The characters between these bytes."""
        return list(map(self.characters.__getitem__, map(slice, start.tolist(), end.tolist())))

    def texts(self, start: Array, end: Array) -> list[str]:
        """What lies between these bytes; bytes that are no UTF-8 are replaced."""
        found = self.slices(start, end)
        if "".join(found).isascii():
            return found
        return [each.encode("latin-1").decode(errors="replace") for each in found]

    def numbers(self, rows: Rows) -> tuple[Array, Array]:
        """All numbers of a repeated field, packed or not: the message that each is in, and the number."""
        rows = rows.in_order()
        single = rows.wire == VARINT
        for row in np.flatnonzero(~single & (rows.wire != SPAN))[:1].tolist():
            numbers(self.data, rows.field(row))
        spans = rows.where(~single)
        sizes = spans.end - spans.value
        bound = np.cumsum(sizes)
        octet = self._octets[np.repeat(spans.value - (bound - sizes), sizes) + np.arange(sizes.sum())]
        ends = np.flatnonzero(octet < 128)
        first = np.concatenate([np.zeros(1, np.int64), ends[:-1] + 1])[: len(ends)]
        filled = sizes > 0
        cut = filled & (self._octets[np.maximum(spans.end - 1, 0)] > 127)
        long = np.flatnonzero(ends - first > 9)
        if cut.any() or len(long):
            row = int(cut.argmax()) if cut.any() else int(np.searchsorted(bound, ends[long[0]], side="right"))
            numbers(self.data, spans.field(row))
            raise HloError(f"byte {spans.value[row]}: expected numbers")
        place = np.arange(len(octet)) - np.repeat(first, ends - first + 1)
        parts = (octet & 127).astype(np.int64) << (7 * place)
        packed = np.add.reduceat(parts, first) if len(first) else parts
        counts = np.ones(len(single), np.int64)
        before = np.searchsorted(ends, bound)
        counts[~single] = np.diff(before, prepend=0)
        value = np.empty(int(counts.sum()), np.int64)
        is_single = np.repeat(single, counts)
        value[is_single], value[~is_single] = rows.value[single], packed
        return np.repeat(rows.message, counts), value
