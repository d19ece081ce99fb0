"""The buffer assignment that XLA dumps beside a module: which value lies where in which allocation."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np

from jaxviz.graph import Attributes, Graph
from jaxviz.opening.contents import OpenError
from jaxviz.opening.programs import OpenedStage

_ALLOCATION = re.compile(r"allocation (\d+): size (\d+)(?:, (.*?))?:?\s*$")
_VALUE = re.compile(r"\s+value: <\d+ ([^\s{}]+)(\{[\d,]*\})? @\d+> \(size=(\d+),offset=(\d+)\)")
_PARAMETER = re.compile(r"parameter (\d+)\b")
_KINDS = {
    "preallocated-temp": "temporary",
    "thread-local": "of one thread",
    "constant": "constant",
    "maybe-live-out": "may be a result",
}


@dataclass(frozen=True)
class Buffer:
    """Where a value lies: `start` and `size` in bytes, in an allocation of `whole` bytes that is there for `kind`."""

    element: str
    allocation: int
    kind: str
    start: int
    size: int
    whole: int

    def __str__(self) -> str:
        place = f"bytes {self.start:,} to {self.start + self.size:,} of {self.whole:,}"
        return f"allocation {self.allocation}, {place}" + (f", {self.kind}" if self.kind else "")


def read_buffers(data: bytes, file: str) -> dict[str, list[Buffer]]:
    """The buffers of each instruction by its name; `OpenError` for what is no buffer assignment."""
    found: dict[str, list[Buffer]] = defaultdict(list)
    number, whole, kind = -1, 0, ""
    lines = data.decode(errors="replace").splitlines()
    if not lines or not lines[0].startswith("BufferAssignment"):
        raise OpenError(f"{file}: line 1:1: expected BufferAssignment")
    for place, line in enumerate(lines[1:], 2):
        if allocation := _ALLOCATION.match(line):
            number, whole, kind = int(allocation[1]), int(allocation[2]), _kind(allocation[3] or "")
        elif value := _VALUE.match(line):
            if number < 0:
                raise OpenError(f"{file}: line {place}:1: expected an allocation before its values")
            element = (value[2] or "").strip("{}")
            found[value[1]].append(Buffer(element, number, kind, int(value[4]), int(value[3]), whole))
        elif number >= 0 and not line.strip():
            # What follows counts the same once more.
            break
    return dict(found)


def _kind(words: str) -> str:
    if argument := _PARAMETER.search(words):
        return f"argument {argument[1]}"
    return next((text for word, text in _KINDS.items() if word in words), "")


def with_buffers(stage: OpenedStage, buffers: dict[str, list[Buffer]]) -> OpenedStage:
    """The stage whose nodes say where the values that they make lie, in the attribute `buffer`."""
    graph, rows = stage.graph, []
    string = graph.tables.string
    seen: set[str] = set()
    for node, name in enumerate(stage.instructions):
        # The elements of an argument share their instruction.
        for buffer in buffers.get(name, ()) if name not in seen else ():
            key = f"buffer of element {buffer.element}" if buffer.element else "buffer"
            rows.append((node, string(key), string(str(buffer))))
        seen.add(name)
    return replace(stage, graph=_with_attributes(graph, rows))


def _with_attributes(graph: Graph, rows: list[tuple[int, int, int]]) -> Graph:
    if not rows:
        return graph
    columns = np.array(rows, np.int32).T
    old = graph.attributes
    joined = [np.concatenate(pair) for pair in zip((old.node, old.key, old.value), columns, strict=True)]
    order = np.argsort(joined[0], kind="stable")
    return replace(graph, attributes=Attributes(*(column[order] for column in joined)))
