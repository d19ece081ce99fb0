"""The memory of a program by the schema of a document, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxviz.document.model import MemoryEntry, ProgramEntry
from jaxviz.graph import Graph

if TYPE_CHECKING:
    from jaxviz.document.read import JsonReader

_SIZES = ("arguments", "results", "aliased", "temporary")


def memory_json(entry: MemoryEntry) -> dict[str, Any]:
    """What is in memory over the schedule of one program."""
    memory = entry.memory
    return {
        "program": entry.program,
        **{name: getattr(memory, name) for name in _SIZES},
        "words": list(memory.lines()),
        "step": memory.steps,
        "live": memory.live.astype(np.int64).tolist(),
        "node": [value.node for value in memory.values],
        "size": [value.size for value in memory.values],
        "first": [value.first for value in memory.values],
        "last": [value.last for value in memory.values],
    }


def read_memory(
    reader: JsonReader, value: Any, position: str, programs: tuple[ProgramEntry, ...], graphs: tuple[Graph, ...]
) -> MemoryEntry:
    """The memory of one program, each thing checked as it is taken."""
    from jaxviz.measure.memory import Live, Memory

    if not isinstance(value, dict):
        raise reader.fail(position, "an object")
    program = reader.number(value, "program", position, 0, len(programs))
    stage = next((stage for stage in programs[program].stages if stage.kind == "hlo"), None)
    if stage is None:
        raise reader.fail(position, f"program {program} to have HLO")
    graph = graphs[stage.graph]
    for number, text in enumerate(reader.list(value, "words", position)):
        if not isinstance(text, str):
            raise reader.fail(f"{position}.words[{number}]", "a string")
    steps = reader.bounded(value, "step", position, 0, len(graph))
    live = amounts_of(reader, value, "live", position)
    node = reader.bounded(value, "node", position, 0, len(graph))
    size = amounts_of(reader, value, "size", position)
    first = reader.bounded(value, "first", position, 0, len(steps))
    last = reader.bounded(value, "last", position, 0, len(steps))
    if len(live) != len(steps) or not len(node) == len(size) == len(first) == len(last):
        raise reader.fail(position, "columns of one length")
    rows = zip(node.tolist(), size, first.tolist(), last.tolist(), strict=True)
    sizes = {name: reader.number(value, name, position, 0, None) for name in _SIZES}
    memory = Memory(
        graph=graph,
        **sizes,
        xla_peak=None,
        allocations=(),
        steps=steps,
        live=np.array(live, np.float64),
        values=[Live(*row) for row in rows],
        words=tuple(value["words"]),
    )
    return MemoryEntry(program, memory)


def amounts_of(reader: JsonReader, value: dict[str, Any], key: str, position: str) -> list[int]:
    """A column of numbers of bytes, which may be more than a column of nodes holds."""
    amounts = reader.list(value, key, position)
    for number, amount in enumerate(amounts):
        if type(amount) is not int or amount < 0:
            raise reader.fail(f"{position}.{key}[{number}]", "a number of bytes")
    return amounts
