"""Where in a protocol buffer an HLO module lies: at its top, inside another message, or in the trace of a profile."""

from __future__ import annotations

from jaxviz.read.hlo_module import HloError
from jaxviz.read.hlo_wire import SPAN, VARINT, Field, fields, message, text

_WRAPPINGS = 3


def module_in(data: bytes, name: str = "") -> tuple[int, int]:
    """The first byte of the module and the one past its last.

    A profile holds every module of its process: the largest of those with this name is taken, if one is given.
    """
    span = _module_at(data, 0, len(data), _WRAPPINGS)
    if span is not None:
        return span
    spans = [span for span in (_module_of(data, field) for field in _profiled(data)) if span is not None]
    if name:
        spans = [span for span in spans if module_name(data, *span) == name]
        if not spans:
            raise HloError(f"byte 0: expected a module named {name[:100]}")
    if spans:
        return max(spans, key=lambda span: span[1] - span[0])
    # The message of the reader says what is missing.
    return 0, len(data)


def module_names(data: bytes) -> list[str]:
    """The names of the modules in a profile, in order."""
    spans = (_module_of(data, field) for field in _profiled(data))
    return [module_name(data, *span) for span in spans if span is not None]


def module_name(data: bytes, start: int, end: int) -> str:
    """The name of the module at this place."""
    return next((text(data, field) for field in fields(data, start, end) if field.number == 1), "")


def _module_of(data: bytes, field: Field) -> tuple[int, int] | None:
    return _module_at(data, field.value, field.end, _WRAPPINGS)


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


def _profiled(data: bytes) -> list[Field]:
    """Modules in an XSpace: planes, their event metadata, and in the statistics of these the bytes of an HloProto."""
    found = []
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
                    for statistic in message(data, event):
                        if statistic.number == 5 and statistic.wire == SPAN:
                            found += [
                                part for part in message(data, statistic) if part.number == 6 and part.wire == SPAN
                            ]
    except HloError:
        return found
    return found
