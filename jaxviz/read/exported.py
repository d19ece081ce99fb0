"""The module in a `jax.export` artifact, and what is said of it.

JAX's own reader needs a package more, and looks at more than the module. An artifact is one table of FlatBuffers; a
field of a table is found by its number, or is not there.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

# The places of the fields in the table.
_NAME, _PLATFORMS, _MODULE, _CONVENTION, _VJP = 6, 22, 30, 32, 38
# Derivatives of derivatives: nobody exports more.
_MOST_ORDERS = 10


class ExportedError(ValueError):
    """An artifact that cannot be read: where, and what was expected."""


@dataclass(frozen=True)
class Exported:
    """What an artifact holds: the function's name, what it was exported for, and its module as MLIR bytecode; its
    derivative, where that was exported with it (`vjp_order`), is of `order` 1, that of this of 2."""

    name: str
    platforms: tuple[str, ...]
    calling_convention: int
    module: bytes
    order: int = 0


def read_exported(data: bytes) -> list[Exported]:
    """Take an artifact apart, the function first, then its derivatives; `ExportedError` with the byte for one that it
    cannot read."""
    table: _Table | None = _Table(data, _unsigned(data, 0))
    found: list[Exported] = []
    while table is not None and len(found) <= _MOST_ORDERS:
        found.append(_exported(table, len(found)))
        table = table.inner(_VJP)
    return found


def _exported(table: _Table, order: int) -> Exported:
    module = table.span(_MODULE)
    if module is None:
        raise ExportedError("byte 0: expected an artifact with a module")
    name = table.span(_NAME) or b""
    platforms = tuple(text.decode(errors="replace") for text in table.spans(_PLATFORMS))
    return Exported(name.decode(errors="replace"), platforms, table.number(_CONVENTION), module, order)


class _Table:
    def __init__(self, data: bytes, at: int) -> None:
        self._data = data
        self._at = at
        self._fields = at - _unpack(data, "<i", at)
        self._size = _unpack(data, "<H", self._fields)

    def _place(self, field: int) -> int | None:
        if field >= self._size:
            return None
        offset = _unpack(self._data, "<H", self._fields + field)
        return self._at + offset if offset else None

    def number(self, field: int) -> int:
        place = self._place(field)
        return _unpack(self._data, "<H", place) if place is not None else 0

    def span(self, field: int) -> bytes | None:
        place = self._place(field)
        return None if place is None else _span(self._data, place)

    def inner(self, field: int) -> _Table | None:
        place = self._place(field)
        return None if place is None else _Table(self._data, place + _unsigned(self._data, place))

    def spans(self, field: int) -> list[bytes]:
        place = self._place(field)
        if place is None:
            return []
        start = place + _unsigned(self._data, place)
        count = _unsigned(self._data, start)
        if count > 100:
            raise ExportedError(f"byte {start}: expected at most 100 platforms")
        return [_span(self._data, start + 4 + 4 * number) for number in range(count)]


def _span(data: bytes, place: int) -> bytes:
    """The bytes that a place points to, after their number."""
    start = place + _unsigned(data, place)
    size = _unsigned(data, start)
    if start + 4 + size > len(data):
        raise ExportedError(f"byte {start}: expected {size} bytes, but the file ends at byte {len(data)}")
    return data[start + 4 : start + 4 + size]


def _unsigned(data: bytes, at: int) -> int:
    return _unpack(data, "<I", at)


def _unpack(data: bytes, layout: str, at: int) -> int:
    if not 0 <= at <= len(data) - struct.calcsize(layout):
        raise ExportedError(f"byte {min(max(at, 0), len(data))}: expected a place inside of the file")
    return int(struct.unpack_from(layout, data, at)[0])
