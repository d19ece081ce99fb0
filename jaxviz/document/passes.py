"""The passes of the compiler in a document: the columns of a series as lists, and back with every thing checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxviz.document.model import DocumentError, PassesEntry
from jaxviz.graph import BINDING_KINDS, NODE_KINDS, Column, Graph
from jaxviz.tables import Tables

if TYPE_CHECKING:
    from jaxviz.document.read import JsonReader
    from jaxviz.series import Step

_MOST = 2**31


def passes_json(entry: PassesEntry) -> dict[str, Any]:
    series = entry.passes.series
    parts = {**series.records, **series.lists}
    return {
        "graph": entry.graph,
        "note": entry.passes.note,
        **{part: {name: column.tolist() for name, column in columns.items()} for part, columns in parts.items()},
        "states": [
            {"name": step.name, "pipeline": step.pipeline, "joined": step.joined, **_edits_json(step)}
            for step in series.steps
        ],
    }


def _edits_json(step: Step) -> dict[str, list[int]]:
    return {part: list(edit) for part, edit in step.edits.items()}


def read_passes(
    reader: JsonReader, value: Any, position: str, graphs: tuple[Graph, ...], tables: Tables
) -> PassesEntry:
    from jaxviz.link.changes import Passes
    from jaxviz.series import LISTS, RECORDS, Series

    if not isinstance(value, dict):
        raise reader.fail(position, "an object")
    graph = reader.number(value, "graph", position, 0, len(graphs))
    bounds = _bounds(len(graphs[graph]), tables)
    parts = {
        part: _columns(reader, value, part, names, position, bounds) for part, names in {**RECORDS, **LISTS}.items()
    }
    records, lists = {part: parts[part] for part in RECORDS}, {part: parts[part] for part in LISTS}
    for part, columns in lists.items():
        wanted = int(records["nodes"][part].sum())
        for name, column in columns.items():
            if len(column) != wanted:
                raise reader.fail(f"{position}.{part}.{name}", f"{wanted} entries, as many as the nodes have")
    steps = tuple(
        _step(reader, entry, f"{position}.states[{number}]")
        for number, entry in enumerate(reader.list(value, "states", position))
    )
    if not steps:
        raise reader.fail(f"{position}.states", "at least one state")
    series = Series(tables, records, lists, steps)
    try:
        series.sequences  # noqa: B018  (each is made from the one before)
    except ValueError as error:
        raise DocumentError(f"{reader.name}: {position}.{error}") from None
    for number in range(len(series)):
        try:
            series.state(number)
        except ValueError as error:
            raise DocumentError(f"{reader.name}: {position}.states[{number}]: {error}") from None
    return PassesEntry(graph, Passes(series, reader.text(value, "note", position)))


def _bounds(nodes: int, tables: Tables) -> dict[str, tuple[int, int]]:
    """The least and the limit of columns, by part and name; others are whole numbers from 0."""
    from jaxviz.link.links import LINK_KINDS
    from jaxviz.outline.tree import NODE_ROLES, ROW_KINDS
    from jaxviz.series import STRINGS

    strings = (0, len(tables.strings))
    return {
        **{f"{part}.{name}": strings for part, name in STRINGS},
        **dict.fromkeys(("rows.copy", "rows.region"), (-1, _MOST)),
        "nodes.kind": (0, len(NODE_KINDS)),
        "nodes.stack": (-1, len(tables.stacks.frame)),
        "nodes.role": (0, len(NODE_ROLES)),
        "outputs.type": (0, len(tables.types.text)),
        "links.node": (0, nodes),
        "links.kind": (0, len(LINK_KINDS)),
        "rows.kind": (0, len(ROW_KINDS)),
        "rows.twin": (-_MOST, _MOST),
        "bindings.kind": (0, len(BINDING_KINDS)),
    }


def _columns(
    reader: JsonReader,
    value: dict[str, Any],
    part: str,
    names: tuple[str, ...],
    position: str,
    bounds: dict[str, tuple[int, int]],
) -> dict[str, Column]:
    table = reader.object(value, part, position)
    columns = {
        name: reader.bounded(table, name, f"{position}.{part}", *bounds.get(f"{part}.{name}", (0, _MOST)))
        for name in names
    }
    if len({len(column) for column in columns.values()}) > 1:
        raise reader.fail(f"{position}.{part}", "columns of one length")
    return columns


def _step(reader: JsonReader, value: Any, position: str) -> Step:
    from jaxviz.series import RECORDS, Step

    if not isinstance(value, dict):
        raise reader.fail(position, "an object")
    edits = {part: reader.bounded(value, part, position, 0, _MOST).tolist() for part in RECORDS}
    joined = reader.number(value, "joined", position, 0, None)
    return Step(reader.text(value, "name", position), reader.text(value, "pipeline", position), joined, edits)
