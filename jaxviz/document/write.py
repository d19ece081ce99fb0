"""A document by its schema, for JSON: columns as they are, places in outlines as differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from jaxviz.document.compiling import compiling_json
from jaxviz.document.measures import measures_json
from jaxviz.document.memory import memory_json
from jaxviz.document.model import (
    DOCUMENT_VERSION,
    Document,
    ErrorEntry,
    FatesEntry,
    FindingEntry,
    LinksEntry,
    OutlineEntry,
    TargetEntry,
)
from jaxviz.document.passes import passes_json
from jaxviz.document.processes import process_json
from jaxviz.document.residuals import residuals_json
from jaxviz.document.values import values_json
from jaxviz.graph import (
    Attributes,
    Bindings,
    Graph,
    Literals,
    Nodes,
    Operands,
    Regions,
    Values,
)

# The name of a column in the schema, where it differs.
SCHEMA_NAMES = {"end_line": "endLine", "end_column": "endColumn", "start": "from", "end": "to"}


PARTS: dict[str, Any] = {
    "nodes": Nodes,
    "values": Values,
    "operands": Operands,
    "literals": Literals,
    "regions": Regions,
    "bindings": Bindings,
    "attributes": Attributes,
}


def _graph_json(graph: Graph) -> dict[str, Any]:
    return {
        part: {
            SCHEMA_NAMES.get(name, name) if part == "bindings" else name: column
            for name, column in vars(getattr(graph, part)).items()
        }
        for part in PARTS
    }


def document_value(document: Document) -> dict[str, Any]:
    """What is written of a document; numbers of graphs, links, fates and outlines are arrays still."""
    tables = document.tables
    types, files, frames = tables.types, tables.files, tables.frames
    strings = list(tables.strings)
    texts = []
    for text in files.text:
        # An excerpt becomes a string only here, after the others; in a document that was loaded it is one already.
        known = tables.find_string(text)
        texts.append(len(strings) if known is None else known)
        if known is None:
            strings.append(text)
    return {
        "format": "jaxviz",
        "version": DOCUMENT_VERSION,
        "producer": dict(document.producer),
        "strings": strings,
        "types": {**_copy(vars(types)), "dims": [dim for dims in types.dims for dim in dims]},
        "files": {**_copy(vars(files)), "text": texts},
        "frames": {SCHEMA_NAMES.get(name, name): list(column) for name, column in vars(frames).items()},
        "stacks": _copy(vars(tables.stacks)),
        "graphs": [_graph_json(graph) for graph in document.graphs],
        "programs": [
            {
                "name": program.name,
                "call": program.call,
                "file": program.file,
                "line": program.line,
                "stages": [
                    {"kind": stage.kind, "graph": stage.graph, "seconds": dict(stage.seconds)}
                    for stage in program.stages
                ],
                **({"missing": dict(program.missing)} if program.missing else {}),
                **({"target": _target_json(program.target)} if program.target is not None else {}),
                **({"error": _error_json(program.error)} if program.error is not None else {}),
            }
            for program in document.programs
        ],
        **({"links": [_links_json(entry) for entry in document.links]} if document.links else {}),
        **({"fates": [_fates_json(entry) for entry in document.fates]} if document.fates else {}),
        **({"outlines": [_outline_json(entry) for entry in document.outlines]} if document.outlines else {}),
        **({"passes": [passes_json(entry) for entry in document.passes]} if document.passes else {}),
        **({"measures": [measures_json(entry) for entry in document.measures]} if document.measures else {}),
        **({"memory": [memory_json(entry) for entry in document.memory]} if document.memory else {}),
        **({"values": [values_json(entry) for entry in document.values]} if document.values else {}),
        **({"compiling": [compiling_json(entry) for entry in document.compiling]} if document.compiling else {}),
        **({"residuals": [residuals_json(entry) for entry in document.residuals]} if document.residuals else {}),
        **({"processes": [process_json(entry) for entry in document.processes]} if document.processes else {}),
        **({"findings": [_finding_json(entry) for entry in document.findings]} if document.findings else {}),
    }


def _target_json(target: TargetEntry) -> dict[str, Any]:
    return {"name": target.name, "label": target.label, "limits": list(target.limits)}


def _error_json(error: ErrorEntry) -> dict[str, Any]:
    texts = {name: getattr(error, name) for name in ("kind", "message", "case", "title", "reason", "link")}
    cures = [{"text": text, "code": code} for text, code in error.cures]
    return {**texts, "cures": cures, "stack": error.stack, "nodes": error.nodes.tolist()}


def _links_json(entry: LinksEntry) -> dict[str, Any]:
    columns = {name: getattr(entry.links, name) for name in ("source", "target", "kind")}
    return {"from": entry.start, "to": entry.end, **columns, "shares": dict(entry.shares)}


def _fates_json(entry: FatesEntry) -> dict[str, Any]:
    return {"graph": entry.graph, **{name: getattr(entry.fates, name) for name in ("kind", "where", "by")}}


def _outline_json(entry: OutlineEntry) -> dict[str, Any]:
    return {"graph": entry.graph, **entry.outline.packed()}


def _finding_json(entry: FindingEntry) -> dict[str, Any]:
    finding = entry.finding
    # Nodes mostly stand next to each other.
    breaks = np.flatnonzero(np.diff(finding.nodes) != 1) + 1
    starts = np.concatenate([[0], breaks]) if len(finding.nodes) else breaks
    sizes = np.diff(np.append(starts, len(finding.nodes)))
    texts = {name: getattr(finding, name) for name in ("kind", "severity", "title", "text", "remedy")}
    return {
        "graph": entry.graph,
        **texts,
        "first": finding.nodes[starts].tolist(),
        "size": sizes.tolist(),
        "file": [line.file for line in finding.lines],
        "line": [line.line for line in finding.lines],
        "figures": dict(finding.figures),
        **({"action": entry.action} if entry.action else {}),
    }


def _copy(columns: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: list(column) for name, column in columns.items()}
