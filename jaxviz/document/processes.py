"""What one of several processes recorded, by the schema of a document, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxviz.document.model import ProcessEntry
from jaxviz.document.rows import columns_of, rows_of

if TYPE_CHECKING:
    from jaxviz.document.read import JsonReader

_COMPILED = ("name", "call", "print", "trace", "lower", "compile")
_RUNS = ("program", "device", "runs", "computing", "waiting", "between")


def process_json(entry: ProcessEntry) -> dict[str, Any]:
    """One process: what it compiled, and how its devices ran it."""
    process = entry.process
    return {
        **{name: getattr(process, name) for name in ("index", "count", "host", "device", "devices")},
        "began": round(process.began, 3),
        "seconds": float(f"{process.seconds:.4g}"),
        "versions": dict(process.versions),
        "compiled": columns_of(process.compiled, _COMPILED),
        "runs": columns_of(process.runs, _RUNS),
        "notes": list(process.notes),
        **({} if process.finished else {"seen": round(process.seen, 3)}),
    }


def read_process(reader: JsonReader, value: Any, position: str) -> ProcessEntry:
    """One process, each thing checked as it is taken."""
    from jaxviz.measure.processes import CompiledThere, DeviceRuns, Process

    if not isinstance(value, dict):
        raise reader.fail(position, "an object")
    versions = reader.object(value, "versions", position)
    notes = reader.list(value, "notes", position)
    for key, text in [*versions.items(), *((number, text) for number, text in enumerate(notes))]:
        if not isinstance(text, str):
            raise reader.fail(f"{position}.{'notes' if isinstance(key, int) else 'versions'}[{key}]", "a string")
    seen = {"seen": value["seen"]} if "seen" in value else {}
    for name in ("began", "seconds", *seen):
        if type(value.get(name)) not in (int, float) or not 0 <= value[name] < float("inf"):
            raise reader.fail(f"{position}.{name}", "a number, at least 0")
    count = reader.number(value, "count", position, 1, None)
    return ProcessEntry(
        Process(
            index=reader.number(value, "index", position, 0, count),
            count=count,
            host=reader.text(value, "host", position),
            device=reader.text(value, "device", position),
            devices=reader.number(value, "devices", position, 0, None),
            began=value["began"],
            seconds=value["seconds"],
            versions=versions,
            compiled=tuple(CompiledThere(**row) for row in rows_of(reader, value, "compiled", position, _COMPILED)),
            runs=tuple(DeviceRuns(**row) for row in rows_of(reader, value, "runs", position, _RUNS)),
            notes=tuple(notes),
            **seen,
        )
    )
