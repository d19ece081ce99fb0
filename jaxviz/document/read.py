"""From the JSON of a file to a document: each thing is checked as it is taken, and a fault is told by its place."""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxviz.document.compiling import read_compiling
from jaxviz.document.measures import read_measures
from jaxviz.document.memory import read_memory
from jaxviz.document.model import (
    DOCUMENT_VERSION,
    STAGE_KINDS,
    Document,
    DocumentError,
    ErrorEntry,
    FatesEntry,
    FindingEntry,
    LinksEntry,
    OutlineEntry,
    ProgramEntry,
    StageEntry,
    TargetEntry,
    no_constant,
)
from jaxviz.document.passes import read_passes
from jaxviz.document.processes import read_process
from jaxviz.document.residuals import read_residuals
from jaxviz.document.values import read_values
from jaxviz.document.write import PARTS, SCHEMA_NAMES
from jaxviz.graph import Column, Graph
from jaxviz.graph_check import GraphError
from jaxviz.tables import Tables

_SURROGATE = re.compile("[\ud800-\udfff]")


class JsonReader:
    """Reads a document, checking each thing as it is taken. Positions are JSON paths: `$.graphs[0].nodes.op[3]`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def fail(self, position: str, expected: str) -> DocumentError:
        return DocumentError(f"{self.name}: {position}: expected {expected}")

    def check_head(self, value: Any) -> None:
        if not isinstance(value, dict) or value.get("format") != "jaxviz":
            raise self.fail("$", 'a jaxviz document: an object with "format": "jaxviz"')
        version = value.get("version")
        if type(version) is not int or version < 1:
            raise self.fail("$.version", "a whole number from 1")
        if version > DOCUMENT_VERSION:
            raise DocumentError(
                f"{self.name}: this document needs jaxviz with document version {version}; "
                f"this is version {DOCUMENT_VERSION}: pip install --upgrade jupyterlab-jaxviz"
            )

    def unpack(self, value: dict[str, Any]) -> Any:
        packed = value["packed"]
        try:
            text = zlib.decompress(base64.b64decode(packed, validate=True))
        except (TypeError, ValueError, binascii.Error, zlib.error):
            raise self.fail("$.packed", "base64 of a zlib stream") from None
        try:
            return json.loads(text, parse_constant=no_constant)
        except (ValueError, RecursionError):
            raise self.fail("$.packed", "JSON inside the zlib stream") from None

    def document(self, value: dict[str, Any]) -> Document:
        producer = self.object(value, "producer", "$")
        for package, version in producer.items():
            if not isinstance(version, str):
                raise self.fail(f"$.producer.{package}", "a string")
        tables = self.tables(value)
        graphs = tuple(
            self.graph(graph, f"$.graphs[{number}]", tables)
            for number, graph in enumerate(self.list(value, "graphs", "$"))
        )
        programs = tuple(
            self.program(program, f"$.programs[{number}]", tables, graphs)
            for number, program in enumerate(self.list(value, "programs", "$"))
        )
        links = tuple(
            self.links(entry, f"$.links[{number}]", graphs) for number, entry in enumerate(self.section(value, "links"))
        )
        fates = tuple(
            self.fates(entry, f"$.fates[{number}]", graphs, tables)
            for number, entry in enumerate(self.section(value, "fates"))
        )
        outlines = tuple(
            self.outline(entry, f"$.outlines[{number}]", graphs, tables)
            for number, entry in enumerate(self.section(value, "outlines"))
        )
        passes = tuple(
            read_passes(self, entry, f"$.passes[{number}]", graphs, tables)
            for number, entry in enumerate(self.section(value, "passes"))
        )
        if not all(program.stages for program in programs):
            raise self.fail("$.programs", "programs with a stage")
        findings = tuple(
            self.finding(entry, f"$.findings[{number}]", graphs, tables)
            for number, entry in enumerate(self.section(value, "findings"))
        )
        measures = tuple(
            read_measures(self, entry, f"$.measures[{number}]", programs, graphs)
            for number, entry in enumerate(self.section(value, "measures"))
        )
        values = tuple(
            read_values(self, entry, f"$.values[{number}]", programs, graphs)
            for number, entry in enumerate(self.section(value, "values"))
        )
        memory = tuple(
            read_memory(self, entry, f"$.memory[{number}]", programs, graphs)
            for number, entry in enumerate(self.section(value, "memory"))
        )
        compiling = tuple(
            read_compiling(self, entry, f"$.compiling[{number}]", programs)
            for number, entry in enumerate(self.section(value, "compiling"))
        )
        residuals = tuple(
            read_residuals(self, entry, f"$.residuals[{number}]", graphs)
            for number, entry in enumerate(self.section(value, "residuals"))
        )
        processes = tuple(
            read_process(self, entry, f"$.processes[{number}]")
            for number, entry in enumerate(self.section(value, "processes"))
        )
        return Document(
            tables,
            graphs,
            programs,
            producer,
            links,
            fates,
            outlines,
            passes,
            findings,
            measures,
            memory,
            values,
            compiling,
            residuals,
            processes,
        )

    def section(self, value: dict[str, Any], key: str) -> list[Any]:
        """A list that older documents lack."""
        return self.list(value, key, "$") if key in value else []

    # Links and fates.

    def links(self, value: Any, position: str, graphs: tuple[Graph, ...]) -> LinksEntry:
        from jaxviz.link.links import LINK_KINDS, Links

        if not isinstance(value, dict):
            raise self.fail(position, "an object")
        start = self.number(value, "from", position, 0, len(graphs))
        end = self.number(value, "to", position, 0, len(graphs))
        shares = self.object(value, "shares", position)
        for key, share in shares.items():
            if type(share) not in (int, float) or not 0 <= share <= 1:
                raise self.fail(f"{position}.shares.{key}", "a share between 0 and 1")
        columns = [
            self.bounded(value, "source", position, 0, len(graphs[start])),
            self.bounded(value, "target", position, 0, len(graphs[end])),
            self.bounded(value, "kind", position, 0, len(LINK_KINDS)),
        ]
        if len({len(column) for column in columns}) > 1:
            raise self.fail(position, "columns of one length")
        return LinksEntry(start, end, Links(*columns), shares)

    def fates(self, value: Any, position: str, graphs: tuple[Graph, ...], tables: Tables) -> FatesEntry:
        from jaxviz.link.fates import FATE_KINDS, Fates

        if not isinstance(value, dict):
            raise self.fail(position, "an object")
        graph = self.number(value, "graph", position, 0, len(graphs))
        nodes = len(graphs[graph])
        columns = [
            self.bounded(value, "kind", position, 0, len(FATE_KINDS)),
            self.bounded(value, "where", position, 0, len(tables.strings)),
            self.bounded(value, "by", position, -1, nodes),
        ]
        if {len(column) for column in columns} != {nodes}:
            raise self.fail(position, f"columns of {nodes} rows, as many as graph {graph} has nodes")
        kind, where, by = columns
        return FatesEntry(graph, Fates(kind, where, by))

    def finding(self, value: Any, position: str, graphs: tuple[Graph, ...], tables: Tables) -> FindingEntry:
        from jaxviz.find import SEVERITIES, Finding, Line

        if not isinstance(value, dict):
            raise self.fail(position, "an object")
        graph = self.number(value, "graph", position, 0, len(graphs))
        texts = {name: self.text(value, name, position) for name in ("kind", "severity", "title", "text", "remedy")}
        if texts["severity"] not in SEVERITIES:
            raise self.fail(f"{position}.severity", f"one of {', '.join(SEVERITIES)}")
        nodes = len(graphs[graph])
        first = self.bounded(value, "first", position, 0, nodes)
        size = self.bounded(value, "size", position, 0, nodes + 1)
        file = self.bounded(value, "file", position, 0, len(tables.files.path))
        line = self.bounded(value, "line", position, 0, 2**31)
        if len(first) != len(size) or len(file) != len(line) or (first + size > nodes).any():
            raise self.fail(position, "runs of nodes of the graph, and a file for each line")
        figures = self.object(value, "figures", position)
        for key, figure in figures.items():
            if type(figure) not in (int, float):
                raise self.fail(f"{position}.figures.{key}", "a number")
        runs = [np.arange(start, start + count) for start, count in zip(first.tolist(), size.tolist(), strict=True)]
        return FindingEntry(
            graph,
            Finding(
                **texts,
                nodes=np.concatenate([np.zeros(0), *runs]).astype(np.int32),
                lines=tuple(Line(*row) for row in zip(file.tolist(), line.tolist(), strict=True)),
                figures=figures,
            ),
            self.text(value, "action", position) if "action" in value else "",
        )

    def outline(self, value: Any, position: str, graphs: tuple[Graph, ...], tables: Tables) -> OutlineEntry:
        from jaxviz.outline.tree import PACKED_COLUMNS, Outline

        if not isinstance(value, dict):
            raise self.fail(position, "an object")
        number = self.number(value, "graph", position, 0, len(graphs))
        graph = graphs[number]
        columns = {name: self.column(value, name, position) for name in PACKED_COLUMNS}
        try:
            outline = Outline.unpacked(graph, columns)
            outline.check()
        except ValueError as error:
            raise DocumentError(f"{self.name}: {position}: {error}") from None
        return OutlineEntry(number, outline)

    def bounded(self, table: dict[str, Any], key: str, position: str, low: int, high: int) -> Column:
        column = self.column(table, key, position)
        wrong = np.flatnonzero((column < low) | (column >= high))
        if len(wrong):
            raise self.fail(f"{position}.{key}[{wrong[0]}]", _range_text(low, high))
        return column

    # Tables.

    def tables(self, value: dict[str, Any]) -> Tables:
        tables = Tables()
        strings = self.list(value, "strings", "$")
        for number, text in enumerate(strings):
            if not isinstance(text, str):
                raise self.fail(f"$.strings[{number}]", "a string")
            if not text.isascii() and _SURROGATE.search(text):
                raise self.fail(f"$.strings[{number}]", "a string without lone surrogates")
        if not strings or strings[0] != "":
            raise self.fail("$.strings[0]", "the empty string")
        count = len(strings)
        types = self.columns(
            value,
            "types",
            {"text": (0, count), "dtype": (0, count), "rank": (-1, None), "bytes": (-1, None), "weak": (0, 2)},
        )
        dims = self.columns(value, "types", {"dims": (None, None)})["dims"]
        if sum(max(rank, 0) for rank in types["rank"]) != len(dims):
            raise self.fail("$.types.dims", "as many dimensions as the ranks add up to")
        files = self.columns(
            value,
            "files",
            {"path": (0, count), "label": (0, count), "library": (0, 2), "start": (0, None), "text": (0, count)},
        )
        frames = self.columns(
            value,
            "frames",
            {
                "file": (0, len(files["path"])),
                "function": (0, count),
                "line": (0, None),
                "column": (-1, None),
                "endLine": (0, None),
                "endColumn": (-1, None),
            },
        )
        stacks = self.columns(value, "stacks", {"frame": (0, len(frames["file"])), "parent": (-1, None)})
        for number, parent in enumerate(stacks["parent"]):
            if parent >= number:
                raise self.fail(f"$.stacks.parent[{number}]", "an earlier stack")
        tables.fill(strings, types, dims, files, frames, stacks)
        return tables

    def columns(
        self, value: dict[str, Any], name: str, ranges: Mapping[str, tuple[int | None, int | None]]
    ) -> dict[str, list[Any]]:
        table = self.object(value, name, "$")
        found: dict[str, list[Any]] = {}
        for key, (low, high) in ranges.items():
            position = f"$.{name}.{key}"
            found[key] = self.list(table, key, f"$.{name}")
            for number, item in enumerate(found[key]):
                whole = type(item) is int or (key == "bytes" and type(item) is float)
                if not whole or (low is not None and item < low) or (high is not None and item >= high):
                    raise self.fail(f"{position}[{number}]", _range_text(low, high))
        lengths = {key: len(column) for key, column in found.items()}
        if len(set(lengths.values())) > 1:
            raise self.fail(f"$.{name}", f"columns of one length, not {lengths}")
        return found

    # Graphs and programs.

    def graph(self, value: Any, position: str, tables: Tables) -> Graph:
        if not isinstance(value, dict):
            raise self.fail(position, "an object")
        parts = {}
        for part, part_class in PARTS.items():
            table = self.object(value, part, position)
            columns = {}
            for name in part_class.__dataclass_fields__:
                key = SCHEMA_NAMES.get(name, name) if part == "bindings" else name
                columns[name] = self.column(table, key, f"{position}.{part}")
            parts[part] = part_class(**columns)
        try:
            graph = Graph(**parts, tables=tables)
            graph.check()
        except GraphError as error:
            raise DocumentError(f"{self.name}: {position}: {error}") from None
        return graph

    def column(self, table: dict[str, Any], key: str, position: str) -> Column:
        items = self.list(table, key, position)
        for number, item in enumerate(items):
            if type(item) is not int or not -(2**31) <= item < 2**31:
                raise self.fail(f"{position}.{key}[{number}]", "a whole number of 32 bits")
        return np.array(items, np.int32)

    def program(self, value: Any, position: str, tables: Tables, graphs: tuple[Graph, ...]) -> ProgramEntry:
        if not isinstance(value, dict):
            raise self.fail(position, "an object")
        name, call = self.text(value, "name", position), self.text(value, "call", position)
        file = self.number(value, "file", position, -1, len(tables.files.path))
        line = self.number(value, "line", position, 0, None)
        stages = []
        for number, stage in enumerate(self.list(value, "stages", position)):
            at = f"{position}.stages[{number}]"
            if not isinstance(stage, dict):
                raise self.fail(at, "an object")
            kind = self.text(stage, "kind", at)
            if kind not in STAGE_KINDS:
                raise self.fail(f"{at}.kind", f"one of {', '.join(STAGE_KINDS)}")
            seconds = self.object(stage, "seconds", at)
            for key, cost in seconds.items():
                if type(cost) not in (int, float) or not cost >= 0:
                    raise self.fail(f"{at}.seconds.{key}", "seconds, at least 0")
            stages.append(StageEntry(kind, self.number(stage, "graph", at, 0, len(graphs)), seconds))
        missing = self.object(value, "missing", position) if "missing" in value else {}
        for kind, reason in missing.items():
            if not isinstance(reason, str):
                raise self.fail(f"{position}.missing.{kind}", "a string")
        target = self.target(value, f"{position}.target") if "target" in value else None
        error = None
        if "error" in value and stages:
            error = self.error(value, f"{position}.error", tables, len(graphs[stages[0].graph]))
        return ProgramEntry(name, call, file, line, tuple(stages), missing, target, error)

    def error(self, value: dict[str, Any], position: str, tables: Tables, nodes: int) -> ErrorEntry:
        error = self.object(value, "error", position.removesuffix(".error"))
        texts = {
            name: self.text(error, name, position) for name in ("kind", "message", "case", "title", "reason", "link")
        }
        cures = []
        for number, cure in enumerate(self.list(error, "cures", position)):
            at = f"{position}.cures[{number}]"
            if not isinstance(cure, dict):
                raise self.fail(at, "an object")
            cures.append((self.text(cure, "text", at), self.text(cure, "code", at)))
        stack = self.number(error, "stack", position, -1, len(tables.stacks.frame))
        return ErrorEntry(
            **texts, cures=tuple(cures), stack=stack, nodes=self.bounded(error, "nodes", position, 0, nodes)
        )

    def target(self, value: dict[str, Any], position: str) -> TargetEntry:
        target = self.object(value, "target", position.removesuffix(".target"))
        limits = self.list(target, "limits", position)
        for number, limit in enumerate(limits):
            if not isinstance(limit, str):
                raise self.fail(f"{position}.limits[{number}]", "a string")
        return TargetEntry(self.text(target, "name", position), self.text(target, "label", position), tuple(limits))

    # Things of JSON.

    def object(self, value: dict[str, Any], key: str, position: str) -> dict[str, Any]:
        if not isinstance(value.get(key), dict):
            raise self.fail(f"{position}.{key}", "an object")
        return value[key]

    def list(self, value: dict[str, Any], key: str, position: str) -> list[Any]:
        if not isinstance(value.get(key), list):
            raise self.fail(f"{position}.{key}", "a list")
        return value[key]

    def text(self, value: dict[str, Any], key: str, position: str) -> str:
        if not isinstance(value.get(key), str):
            raise self.fail(f"{position}.{key}", "a string")
        return value[key]

    def number(self, value: dict[str, Any], key: str, position: str, low: int, high: int | None) -> int:
        item = value.get(key)
        if type(item) is not int or item < low or (high is not None and item >= high):
            raise self.fail(f"{position}.{key}", _range_text(low, high))
        return item


def _range_text(low: int | None, high: int | None) -> str:
    parts = ["a whole number"]
    if low is not None:
        parts.append(f"at least {low}")
    if high is not None:
        parts.append(f"below {high}")
    return ", ".join(parts)
