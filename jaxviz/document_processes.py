"""What one of several processes recorded, by the schema of a document, both ways."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from jaxviz.document import ProcessEntry

if TYPE_CHECKING:
    from jaxviz.document_read import JsonReader

_COMPILED = ("name", "call", "print", "trace", "lower", "compile")
_RUNS = ("program", "device", "runs", "computing", "waiting", "between")
_TEXTS = ("name", "call", "print", "program")
_COUNTS = ("device", "runs")


def process_json(entry: ProcessEntry) -> dict[str, Any]:
    """One process: what it compiled, and how its devices ran it."""
    process = entry.process
    return {
        **{name: getattr(process, name) for name in ("index", "count", "host", "device", "devices")},
        "began": round(process.began, 3),
        "seconds": float(f"{process.seconds:.4g}"),
        "versions": dict(process.versions),
        "compiled": _table(process.compiled, _COMPILED),
        "runs": _table(process.runs, _RUNS),
        "notes": list(process.notes),
    }


def _table(rows: Sequence[Any], columns: Sequence[str]) -> dict[str, list[Any]]:
    return {name: [_short(getattr(row, name)) for row in rows] for name in columns}


def _short(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


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
    for name in ("began", "seconds"):
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
            compiled=tuple(CompiledThere(**row) for row in _rows(reader, value, "compiled", position, _COMPILED)),
            runs=tuple(DeviceRuns(**row) for row in _rows(reader, value, "runs", position, _RUNS)),
            notes=tuple(notes),
        )
    )


def _rows(
    reader: JsonReader, value: dict[str, Any], key: str, position: str, columns: Sequence[str]
) -> list[dict[str, Any]]:
    table = reader.object(value, key, position)
    at = f"{position}.{key}"
    found = {name: reader.list(table, name, at) for name in columns}
    count = len(found[columns[0]])
    for name, column in found.items():
        if len(column) != count:
            raise reader.fail(f"{at}.{name}", f"{count} rows")
        for number, item in enumerate(column):
            if name in _TEXTS:
                fits = isinstance(item, str)
            elif name in _COUNTS:
                fits = type(item) is int and item >= 0
            else:
                fits = type(item) in (int, float) and 0 <= item < float("inf")
            if not fits:
                raise reader.fail(f"{at}.{name}[{number}]", "a string" if name in _TEXTS else "a number, at least 0")
    return [{name: column[row] for name, column in found.items()} for row in range(count)]
