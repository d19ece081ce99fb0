"""Measures by the schema of a document, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from jaxviz.document.model import STAGE_KINDS, MeasuresEntry, ProgramEntry
from jaxviz.graph import Graph

if TYPE_CHECKING:
    from jaxviz.document.read import JsonReader


def measures_json(entry: MeasuresEntry) -> dict[str, Any]:
    """One run, with the figures of its stages."""
    measures = entry.measures
    return {
        "program": entry.program,
        "device": measures.device,
        "devices": measures.devices,
        "runs": measures.runs,
        "words": list(measures.words),
        "seconds": dict(measures.seconds),
        **({"coverage": measures.coverage} if measures.coverage is not None else {}),
        **({"ceilings": dict(measures.ceilings)} if measures.ceilings else {}),
        **({"byDevice": _columns(measures.by_device)} if measures.by_device else {}),
        "figures": {
            kind: {"node": figures.node, **{name: _numbers(column) for name, column in figures.columns.items()}}
            for kind, figures in measures.figures.items()
        },
    }


_BY_DEVICE = ("device", "computing", "waiting")


def _columns(rows: tuple[tuple[int, float, float], ...]) -> dict[str, list[Any]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(_BY_DEVICE)}


def _read_by_device(reader: JsonReader, value: Any, position: str) -> tuple[tuple[int, float, float], ...]:
    if not isinstance(value, dict):
        raise reader.fail(position, "an object")
    columns = [reader.list(value, name, position) for name in _BY_DEVICE]
    if len({len(column) for column in columns}) != 1:
        raise reader.fail(position, "columns of one length")
    for name, column in zip(_BY_DEVICE, columns, strict=True):
        for number, item in enumerate(column):
            _check(reader, item, f"{position}.{name}[{number}]")
            if name == "device" and type(item) is not int:
                raise reader.fail(f"{position}.{name}[{number}]", "the number of a device")
    return tuple(zip(*columns, strict=True))


def _numbers(column: Any) -> list[float]:
    """As JSON writes them shortest: whole numbers without a point."""
    return [int(value) if value.is_integer() else value for value in column.tolist()]


def read_measures(
    reader: JsonReader, value: Any, position: str, programs: tuple[ProgramEntry, ...], graphs: tuple[Graph, ...]
) -> MeasuresEntry:
    """The measures of one program, each thing checked as it is taken."""
    from jaxviz.measure.measures import FIGURES, Measures, NodeFigures

    if not isinstance(value, dict):
        raise reader.fail(position, "an object")
    program = reader.number(value, "program", position, 0, len(programs))
    words = reader.list(value, "words", position)
    for number, text in enumerate(words):
        if not isinstance(text, str):
            raise reader.fail(f"{position}.words[{number}]", "a string")
    seconds = reader.object(value, "seconds", position)
    for key, number in seconds.items():
        _check(reader, number, f"{position}.seconds.{key}")
    coverage = value.get("coverage")
    if coverage is not None:
        _check(reader, coverage, f"{position}.coverage")
    ceilings = reader.object(value, "ceilings", position) if "ceilings" in value else {}
    for key, number in ceilings.items():
        _check(reader, number, f"{position}.ceilings.{key}")
    figures = {}
    stages = {stage.kind: stage.graph for stage in programs[program].stages}
    for kind, table in reader.object(value, "figures", position).items():
        at = f"{position}.figures.{kind}"
        if kind not in STAGE_KINDS or kind not in stages:
            raise reader.fail(at, f"a stage of program {program}")
        if not isinstance(table, dict):
            raise reader.fail(at, "an object")
        node = reader.bounded(table, "node", at, 0, len(graphs[stages[kind]]))
        columns = {}
        for name in FIGURES:
            if name not in table:
                continue
            column = reader.list(table, name, at)
            if len(column) != len(node):
                raise reader.fail(f"{at}.{name}", f"{len(node)} numbers, one for each node")
            for number, figure in enumerate(column):
                _check(reader, figure, f"{at}.{name}[{number}]")
            columns[name] = np.array(column, np.float64)
        figures[kind] = NodeFigures(node, columns)
    return MeasuresEntry(
        program,
        Measures(
            device=reader.text(value, "device", position),
            devices=reader.number(value, "devices", position, 1, None),
            runs=reader.number(value, "runs", position, 1, None),
            words=tuple(words),
            seconds=seconds,
            coverage=coverage,
            ceilings=ceilings,
            figures=figures,
            by_device=_read_by_device(reader, value["byDevice"], f"{position}.byDevice") if "byDevice" in value else (),
        ),
    )


def _check(reader: JsonReader, number: Any, position: str) -> None:
    if type(number) not in (int, float) or not 0 <= number < float("inf"):
        raise reader.fail(position, "a number, at least 0")
