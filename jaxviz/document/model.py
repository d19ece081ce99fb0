"""A document: programs, each with its stages, and the tables they share, as data that can be saved, sent and reopened.

`schema/document.schema.json` is the definition. A document holds no code, and nothing in it is ever evaluated; what is
wrong with a file is told in one line: where, and what was expected.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jaxviz.graph import (
    Column,
    Graph,
)
from jaxviz.tables import Tables

# What makes links, fates and outlines is imported where a document has them: `import jaxviz` must not wait for it.
if TYPE_CHECKING:
    from jaxviz.costs.residuals import Policy, Residual
    from jaxviz.find import Finding
    from jaxviz.link.changes import Passes
    from jaxviz.link.fates import Fates
    from jaxviz.link.links import Links
    from jaxviz.measure.compiling import CompileCost
    from jaxviz.measure.measures import Measures
    from jaxviz.measure.memory import Memory
    from jaxviz.measure.processes import Process
    from jaxviz.measure.values import Values
    from jaxviz.outline.tree import Outline

#: The version of the schema that this jaxviz writes, and the newest that it reads.
DOCUMENT_VERSION = 4

# Of compression: the highest takes five times as long as this, and what it makes is 3 % smaller. The lower one for
# long texts takes half as long, and what it makes is 4 % to 10 % larger.
_LEVEL, _LEVEL_OF_LONG = 5, 2
_LONG = 250_000

STAGE_KINDS = ("jaxpr", "stablehlo", "hlo")


class DocumentError(ValueError):
    """A file or value that is no document, or one that a newer jaxviz made."""


@dataclass(frozen=True)
class StageEntry:
    """One stage of a program: its kind, the number of its graph, and what it cost in seconds, by name."""

    kind: str
    graph: int
    seconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class TargetEntry:
    """The device that a program was compiled for, and what only a device can decide, in words."""

    name: str
    label: str
    limits: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ErrorEntry:
    """The error that ended the trace of a program, explained. `cures` are words and code.

    `stack` is the person's own call stack to the place, or -1; `nodes` are those of the first stage that it is about.
    """

    kind: str
    message: str
    case: str
    title: str
    reason: str
    cures: tuple[tuple[str, str], ...]
    link: str
    stack: int
    nodes: Column


@dataclass(frozen=True)
class ProgramEntry:
    """A function and the arguments it was explored with. `file` is a row of `Tables.files`, or -1."""

    name: str
    call: str
    file: int
    line: int
    stages: tuple[StageEntry, ...]
    #: Why a stage is not there, in words, by its kind.
    missing: Mapping[str, str] = field(default_factory=dict)
    #: None where it is the device that is there.
    target: TargetEntry | None = None
    #: None where it could be traced.
    error: ErrorEntry | None = None


@dataclass(frozen=True, eq=False)
class LinksEntry:
    """Links from the nodes of one graph to those of another, both by number."""

    start: int
    end: int
    links: Links
    shares: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class FatesEntry:
    """The fates of the equations of a graph, by its number."""

    graph: int
    fates: Fates


@dataclass(frozen=True, eq=False)
class OutlineEntry:
    """The outline of a graph, by its number."""

    graph: int
    outline: Outline


@dataclass(frozen=True, eq=False)
class PassesEntry:
    """What the passes of the compiler made of a program, by the number of its first graph: jaxpr, else HLO."""

    graph: int
    passes: Passes


@dataclass(frozen=True, eq=False)
class FindingEntry:
    """What was found about a graph, by its number, and a line of Python that goes on from it, or none."""

    graph: int
    finding: Finding
    action: str = ""


@dataclass(frozen=True, eq=False)
class MeasuresEntry:
    """What a run of a program measured, by its number."""

    program: int
    measures: Measures


@dataclass(frozen=True, eq=False)
class MemoryEntry:
    """What a program, by its number, needs of memory over its schedule."""

    program: int
    memory: Memory


@dataclass(frozen=True, eq=False)
class ValuesEntry:
    """The statistics of the values of a program, by its number."""

    program: int
    values: Values


@dataclass(frozen=True, eq=False)
class CompilingEntry:
    """What compiling a program, by its number, cost."""

    program: int
    cost: CompileCost


@dataclass(frozen=True, eq=False)
class ResidualsEntry:
    """What the forward pass of a graph, by its number, keeps, and what the policies of `jax.checkpoint` would."""

    graph: int
    values: tuple[Residual, ...]
    policies: tuple[Policy, ...]


@dataclass(frozen=True, eq=False)
class ProcessEntry:
    """What one of several processes recorded."""

    process: Process


_OfGraph = TypeVar("_OfGraph", FatesEntry, OutlineEntry, PassesEntry, FindingEntry, ResidualsEntry)
_OfProgram = TypeVar("_OfProgram", MeasuresEntry, MemoryEntry, ValuesEntry, CompilingEntry)


@dataclass(frozen=True, eq=False)
class Document:
    """One or more programs, as data::

    ex.document().save("step.jaxviz")
    jv.load("step.jaxviz").graphs[0]
    """

    tables: Tables
    graphs: tuple[Graph, ...]
    programs: tuple[ProgramEntry, ...]
    producer: Mapping[str, str] = field(default_factory=lambda: _producer())
    links: tuple[LinksEntry, ...] = ()
    fates: tuple[FatesEntry, ...] = ()
    outlines: tuple[OutlineEntry, ...] = ()
    passes: tuple[PassesEntry, ...] = ()
    findings: tuple[FindingEntry, ...] = ()
    measures: tuple[MeasuresEntry, ...] = ()
    memory: tuple[MemoryEntry, ...] = ()
    values: tuple[ValuesEntry, ...] = ()
    compiling: tuple[CompilingEntry, ...] = ()
    residuals: tuple[ResidualsEntry, ...] = ()
    processes: tuple[ProcessEntry, ...] = ()

    def __repr__(self) -> str:
        programs = ", ".join(program.call or program.name for program in self.programs)
        return f"<Document: {programs}; {sum(map(len, self.graphs))} nodes>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from jaxviz.notebook.display import mime_bundle

        return mime_bundle(self, repr(self))

    def of_stage(self, graph: int) -> Document:
        """The document with one of its graphs alone, for what draws a single stage."""
        programs = []
        for program in self.programs:
            stages = tuple(stage for stage in program.stages if stage.graph == graph)
            if stages:
                programs.append(replace(program, stages=stages, missing={}))
        return replace(self._of_graphs([graph], programs), passes=())

    def of_program(self, number: int) -> Document:
        """The document with one of its programs alone."""
        if len(self.programs) == 1:
            return self
        program = self.programs[number]

        def own(entries: tuple[_OfProgram, ...]) -> tuple[_OfProgram, ...]:
            return tuple(replace(entry, program=0) for entry in entries if entry.program == number)

        return replace(
            self._of_graphs([stage.graph for stage in program.stages], [program]),
            measures=own(self.measures),
            memory=own(self.memory),
            values=own(self.values),
            compiling=own(self.compiling),
        )

    def _of_graphs(self, graphs: Sequence[int], programs: Sequence[ProgramEntry]) -> Document:
        """Some of its graphs, with what is said of them, as those of these programs; without what was measured."""
        number = {graph: place for place, graph in enumerate(sorted(graphs))}

        def own(entries: tuple[_OfGraph, ...]) -> tuple[_OfGraph, ...]:
            return tuple(replace(entry, graph=number[entry.graph]) for entry in entries if entry.graph in number)

        return replace(
            self,
            graphs=tuple(self.graphs[graph] for graph in number),
            programs=tuple(
                replace(one, stages=tuple(replace(stage, graph=number[stage.graph]) for stage in one.stages))
                for one in programs
            ),
            links=tuple(
                replace(entry, start=number[entry.start], end=number[entry.end])
                for entry in self.links
                if entry.start in number and entry.end in number
            ),
            fates=own(self.fates),
            outlines=own(self.outlines),
            findings=own(self.findings),
            passes=own(self.passes),
            measures=(),
            memory=(),
            values=(),
            compiling=(),
            residuals=own(self.residuals),
            processes=(),
        )

    def to_json(self, packed: bool | None = None) -> dict[str, Any]:
        """The document by its schema; packed if asked for, or, by default, where that is smaller."""
        from jaxviz.document.text import dumps, plain, text_of
        from jaxviz.document.write import document_value

        value = document_value(self)
        if packed is False:
            return plain(value)
        text = text_of(value)
        level = _LEVEL if len(text) < _LONG else _LEVEL_OF_LONG
        compressed = base64.b64encode(zlib.compress(text, level)).decode()
        small = {"format": "jaxviz", "version": DOCUMENT_VERSION, "packed": compressed}
        if packed is None:
            size = len(dumps({**small, "packed": ""})) + len(compressed)
            # A character takes at most four bytes.
            if size >= len(text) or (size >= len(text) / 4 and size >= len(text.decode())):
                return plain(value)
        return small

    def save(self, path: str | Path) -> Path:
        """Write the document to a file; the suffix is `.jaxviz` by custom."""
        path = Path(path)
        from jaxviz.document.text import dumps

        path.write_text(dumps(self.to_json()) + "\n", encoding="utf-8")
        return path

    @classmethod
    def load(cls, path: str | Path) -> Document:
        """Open a saved document."""
        path = Path(path)
        try:
            value = json.loads(path.read_bytes(), parse_constant=no_constant)
        except json.JSONDecodeError as error:
            where = f"line {error.lineno} column {error.colno}"
            raise DocumentError(f"{path}: {where}: expected a jaxviz document, but {error.msg}") from None
        except UnicodeDecodeError:
            raise DocumentError(f"{path}: $: expected a jaxviz document, which is JSON text") from None
        except ValueError as error:  # A number of more digits than Python reads, or one that JSON does not have.
            raise DocumentError(f"{path}: $: expected a jaxviz document, but {error}") from None
        except RecursionError:
            raise DocumentError(f"{path}: $: expected a jaxviz document, but it is nested too deep") from None
        return cls.from_json(value, name=str(path))

    @classmethod
    def from_json(cls, value: Any, name: str = "document") -> Document:
        """The document that `to_json` gave, packed or not; `name` stands in front of errors."""
        from jaxviz.document.read import JsonReader

        reader = JsonReader(name)
        reader.check_head(value)
        if "packed" in value:
            value = reader.unpack(value)
            reader.check_head(value)
        return reader.document(value)


def no_constant(name: str) -> float:
    """For `json.loads`: Python reads NaN and Infinity, which JSON does not have."""
    raise ValueError(f"{name} is no number of JSON")


def _producer() -> dict[str, str]:
    import jax
    import jaxlib

    from jaxviz._version import __version__

    return {"jaxviz": __version__, "jax": jax.__version__, "jaxlib": jaxlib.__version__}


def load(path: str | Path) -> Document:
    """Opens a document that was saved with `ex.document().save(path)`."""
    return Document.load(path)
