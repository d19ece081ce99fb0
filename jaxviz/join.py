"""Several documents as one: their programs side by side over one set of tables.

The graphs stay as they are; only what they say through the tables (strings, types, frames) gets the numbers that it has
in the tables of the first document, which grow by what is new.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from jaxviz.document import (
    CompilingEntry,
    Document,
    FatesEntry,
    FindingEntry,
    MeasuresEntry,
    MemoryEntry,
    OutlineEntry,
    PassesEntry,
    ResidualsEntry,
    ValuesEntry,
)
from jaxviz.find.finding import Line
from jaxviz.graph import Column, Graph
from jaxviz.link.changes import Passes
from jaxviz.series import STRINGS, Series
from jaxviz.tables import Tables


def joined(documents: Sequence[Document], *, passes: bool = False) -> Document:
    """One document with the programs of all, in order, each with its own stages, links, fates, outlines, findings
    and all that was measured. The passes of the compiler are left out, but with `passes`.
    """
    first, *others = documents
    tables = first.tables
    parts = [first, *(_moved(other, tables) for other in others)]
    starts = np.cumsum([0, *(len(part.graphs) for part in parts)]).tolist()
    return replace(
        first,
        graphs=tuple(graph for part in parts for graph in part.graphs),
        programs=tuple(
            replace(program, stages=tuple(replace(stage, graph=stage.graph + start) for stage in program.stages))
            for part, start in zip(parts, starts, strict=False)
            for program in part.programs
        ),
        links=tuple(
            replace(entry, start=entry.start + start, end=entry.end + start)
            for part, start in zip(parts, starts, strict=False)
            for entry in part.links
        ),
        fates=tuple(_numbered([part.fates for part in parts], starts)),
        outlines=tuple(_numbered([part.outlines for part in parts], starts)),
        findings=tuple(_numbered([part.findings for part in parts], starts)),
        passes=tuple(_numbered([part.passes for part in parts], starts)) if passes else (),
        measures=tuple(_of_programs(parts, [part.measures for part in parts])),
        memory=tuple(_of_programs(parts, [part.memory for part in parts])),
        values=tuple(_of_programs(parts, [part.values for part in parts])),
        compiling=tuple(_of_programs(parts, [part.compiling for part in parts])),
        residuals=tuple(_numbered([part.residuals for part in parts], starts)),
        processes=tuple(entry for part in parts for entry in part.processes),
    )


_Entry = TypeVar("_Entry", FatesEntry, OutlineEntry, FindingEntry, ResidualsEntry, PassesEntry)


_OfProgram = TypeVar("_OfProgram", MeasuresEntry, MemoryEntry, ValuesEntry, CompilingEntry)


def _of_programs(parts: Sequence[Document], entries: Sequence[Sequence[_OfProgram]]) -> Iterator[_OfProgram]:
    """Entries about a program each, with its number in the whole."""
    start = 0
    for part, own in zip(parts, entries, strict=True):
        for entry in own:
            yield replace(entry, program=entry.program + start)
        start += len(part.programs)


def _numbered(entries: Sequence[Sequence[_Entry]], starts: Sequence[int]) -> Iterator[_Entry]:
    """Entries about a graph each, with its number in the whole."""
    for part, start in zip(entries, starts, strict=False):
        for entry in part:
            yield replace(entry, graph=entry.graph + start)


def _moved(document: Document, tables: Tables) -> Document:
    """The document with all that it says in other tables; itself where they are its own."""
    if document.tables is tables:
        return document
    move = _Move(document.tables, tables)
    graphs = tuple(move.graph(graph) for graph in document.graphs)
    return replace(
        document,
        tables=tables,
        graphs=graphs,
        programs=tuple(
            replace(
                program,
                file=move.files[program.file] if program.file >= 0 else -1,
                error=replace(program.error, stack=int(move.stacks[program.error.stack])) if program.error else None,
            )
            for program in document.programs
        ),
        fates=tuple(
            replace(entry, fates=replace(entry.fates, where=move.strings[entry.fates.where]))
            for entry in document.fates
        ),
        outlines=tuple(
            replace(
                entry,
                outline=replace(
                    entry.outline,
                    graph=graphs[entry.graph],
                    name=move.strings[entry.outline.name],
                    detail=move.strings[entry.outline.detail],
                    variable=move.strings[entry.outline.variable],
                ),
            )
            for entry in document.outlines
        ),
        findings=tuple(
            replace(
                entry,
                finding=replace(
                    entry.finding,
                    lines=tuple(Line(move.files[line.file], line.line) for line in entry.finding.lines),
                ),
            )
            for entry in document.findings
        ),
        passes=tuple(
            replace(entry, passes=Passes(move.series(entry.passes.series), entry.passes.note))
            for entry in document.passes
        ),
    )


class _Move:
    """The numbers that rows of one set of tables have in another, which gets what it lacks."""

    def __init__(self, old: Tables, new: Tables) -> None:
        self.tables = new
        self.strings = np.array(new.strings_of(old.strings), np.int32)
        strings = old.strings
        types = old.types
        self.types = np.array(
            [
                new.type(strings[text], strings[dtype], dims if rank >= 0 else None, size, bool(weak))
                for text, dtype, rank, dims, size, weak in zip(
                    types.text, types.dtype, types.rank, types.dims, types.bytes, types.weak, strict=True
                )
            ],
            np.int32,
        )
        self.files = [self._file(old, row) for row in range(len(old.files.path))]
        frames = old.frames
        moved = [
            new.frame(self.files[file], strings[function], *place)
            for file, function, *place in zip(
                frames.file,
                frames.function,
                frames.line,
                frames.column,
                frames.end_line,
                frames.end_column,
                strict=True,
            )
        ]
        stacks: list[int] = []
        for frame, parent in zip(old.stacks.frame, old.stacks.parent, strict=True):
            stacks.append(new.stack([moved[frame]], stacks[parent] if parent >= 0 else -1))
        # One more, so that -1 stays -1.
        self.stacks = np.array([*stacks, -1], np.int32)

    def _file(self, old: Tables, row: int) -> int:
        """A file by its path. Excerpts of the same file from both are one that spans them, the newer on top."""
        files, strings, new = old.files, old.strings, self.tables.files
        file = self.tables.file(strings[files.path[row]], strings[files.label[row]], bool(files.library[row]))
        if not files.text[row]:
            return file
        if not new.text[file]:
            new.start[file], new.text[file] = files.start[row], files.text[row]
        else:
            new.start[file], new.text[file] = _spanning(
                (new.start[file], new.text[file]), (files.start[row], files.text[row])
            )
        return file

    def graph(self, graph: Graph) -> Graph:
        nodes, strings, types = graph.nodes, self.strings, self.types
        return Graph(
            nodes=replace(
                nodes,
                op=strings[nodes.op],
                name=strings[nodes.name],
                scope=strings[nodes.scope],
                stack=self.stacks[nodes.stack],
            ),
            values=replace(graph.values, type=types[graph.values.type]),
            operands=graph.operands,
            literals=replace(
                graph.literals, text=strings[graph.literals.text], type=_or_none(types, graph.literals.type)
            ),
            regions=replace(graph.regions, kind=strings[graph.regions.kind], name=strings[graph.regions.name]),
            bindings=graph.bindings,
            attributes=replace(
                graph.attributes, key=strings[graph.attributes.key], value=strings[graph.attributes.value]
            ),
            tables=self.tables,
        )

    def series(self, series: Series) -> Series:
        by_column = {
            **dict.fromkeys(STRINGS, self.strings),
            ("nodes", "stack"): self.stacks,
            ("outputs", "type"): self.types,
        }

        def moved(parts: Mapping[str, Mapping[str, Column]]) -> dict[str, dict[str, Column]]:
            return {
                part: {
                    name: by_column[part, name][column] if (part, name) in by_column else column
                    for name, column in columns.items()
                }
                for part, columns in parts.items()
            }

        return replace(series, tables=self.tables, records=moved(series.records), lists=moved(series.lists))


def _or_none(numbers: Column, rows: Column) -> Column:
    return numbers[rows] if len(rows) else rows


def _spanning(one: tuple[int, str], other: tuple[int, str]) -> tuple[int, str]:
    """Two excerpts of a file, each with the number of its first line, as one; lines between them are empty."""
    lines: dict[int, str] = {}
    for start, text in (other, one):
        lines.update(enumerate(text.split("\n"), start))
    first, last = min(lines), max(lines)
    return first, "\n".join(lines.get(number, "") for number in range(first, last + 1))
