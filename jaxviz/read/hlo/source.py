"""An HLO module as it was printed (text) or serialized (bytes): what can be said of it without reading it whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

from jaxviz.read.hlo.module import HloModule
from jaxviz.read.hlo.proto import parse_hlo_proto
from jaxviz.read.hlo.text import parse_hlo_text
from jaxviz.read.hlo.wire import SPAN, fields
from jaxviz.read.hlo.wrapping import module_in, module_name

HloSource = str | bytes

_MODULE = re.compile(r"HloModule ([^\s,]+)")
# Of `HloModuleProto` and of `HloComputationProto`.
_COMPUTATIONS, _INSTRUCTIONS = 3, 2


def parse_hlo(source: HloSource) -> HloModule:
    """The module; `HloError` for one that cannot be read."""
    return parse_hlo_text(source) if isinstance(source, str) else parse_hlo_proto(source)


def name_of(source: HloSource) -> str:
    """The name of the module, empty where it has none."""
    if isinstance(source, bytes):
        return module_name(source, *module_in(source))
    found = _MODULE.match(source)
    return found[1] if found else ""


def instruction_count(source: HloSource) -> int:
    """About how many instructions the module has."""
    return source.count(" = ") if isinstance(source, str) else sum(1 for _ in _instructions(source))


def rows_of(source: HloSource) -> frozenset[str] | frozenset[bytes]:
    """The instructions as they are written: those that two modules share are the same in both."""
    return frozenset(source.splitlines()) if isinstance(source, str) else frozenset(_instructions(source))


def _instructions(data: bytes) -> Iterator[bytes]:
    for computation in fields(data, *module_in(data)):
        if computation.number == _COMPUTATIONS and computation.wire == SPAN:
            for field in fields(data, computation.value, computation.end):
                if field.number == _INSTRUCTIONS and field.wire == SPAN:
                    yield data[field.value : field.end]
