"""The values of a run by the schema of a document, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jaxviz.document.model import ProgramEntry, ValuesEntry
from jaxviz.graph import Graph

if TYPE_CHECKING:
    from jaxviz.document.read import JsonReader

_NUMBERS = ("least", "most", "mean", "deviation")
_COUNTS = ("count", "nan", "infinite", "zero", "denormal")


def values_json(entry: ValuesEntry) -> dict[str, Any]:
    """A row for each value that was looked at."""
    values = entry.values
    several = any(value.result for value in values)
    return {
        "program": entry.program,
        "bad": values.first_bad.node if values.first_bad is not None else -1,
        "bytes": values.bytes,
        "node": [value.node for value in values],
        **{name: [float(f"{getattr(value, name):.6g}") for value in values] for name in _NUMBERS},
        **{name: [getattr(value, name) for value in values] for name in _COUNTS},
        "histogram": [list(value.histogram) for value in values],
        # Of nodes with one result, it says nothing.
        **({"result": [value.result for value in values], "name": [value.name for value in values]} if several else {}),
    }


def read_values(
    reader: JsonReader, value: Any, position: str, programs: tuple[ProgramEntry, ...], graphs: tuple[Graph, ...]
) -> ValuesEntry:
    """The values of one program, each thing checked as it is taken."""
    from jaxviz.measure.values import Value, Values, left_out

    if not isinstance(value, dict):
        raise reader.fail(position, "an object")
    program = reader.number(value, "program", position, 0, len(programs))
    stage = next((stage for stage in programs[program].stages if stage.kind == "jaxpr"), None)
    if stage is None:
        raise reader.fail(position, f"program {program} to have a jaxpr")
    graph = graphs[stage.graph]
    node = reader.bounded(value, "node", position, 0, len(graph)).tolist()
    bad = reader.number(value, "bad", position, -1, len(graph))
    columns = {name: reader.list(value, name, position) for name in (*_NUMBERS, *_COUNTS, "histogram")}
    for name, column in columns.items():
        if len(column) != len(node):
            raise reader.fail(f"{position}.{name}", f"{len(node)} rows, one for each node")
        for number, item in enumerate(column):
            at = f"{position}.{name}[{number}]"
            if name == "histogram":
                if not isinstance(item, list) or any(type(one) is not int or one < 0 for one in item):
                    raise reader.fail(at, "a list of counts")
            elif type(item) not in ((int,) if name in _COUNTS else (int, float)) or (name in _COUNTS and item < 0):
                raise reader.fail(at, "a count" if name in _COUNTS else "a number")
    result = reader.bounded(value, "result", position, 0, 1 << 30).tolist() if "result" in value else [0] * len(node)
    named = reader.list(value, "name", position) if "name" in value else [""] * len(node)
    for name, column in (("result", result), ("name", named)):
        if len(column) != len(node):
            raise reader.fail(f"{position}.{name}", f"{len(node)} rows, one for each node")
    found = []
    for number, index in enumerate(node):
        shown = graph.node(index)
        if result[number] >= max(len(shown.types), 1):
            raise reader.fail(f"{position}.result[{number}]", f"a number below {max(len(shown.types), 1)}")
        if not isinstance(named[number], str):
            raise reader.fail(f"{position}.name[{number}]", "a string")
        figures = {name: columns[name][number] for name in (*_NUMBERS, *_COUNTS)}
        found.append(
            Value(
                index,
                named[number] or shown.name or shown.op,
                shown.types[result[number]] if shown.types else "",
                shown.line,
                **figures,
                histogram=tuple(columns["histogram"][number]),
                result=result[number],
            )
        )
    first = next((one for one in found if one.node == bad), None)
    taken = reader.number(value, "bytes", position, 0, None)
    return ValuesEntry(program, Values(tuple(found), first, taken, left_out(graph, found)))
