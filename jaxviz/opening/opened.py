"""What a file shows: the stages that it holds, in the same explorer as a function that was explored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from jaxviz.document import (
    STAGE_KINDS,
    Document,
    FindingEntry,
    LinksEntry,
    MeasuresEntry,
    OutlineEntry,
    PassesEntry,
    ProgramEntry,
    StageEntry,
)
from jaxviz.exploration import Exploration
from jaxviz.gather import Measured
from jaxviz.graph import OPERATION, Graph
from jaxviz.opening.contents import OpenError, hold_the_same
from jaxviz.opening.listing import listing
from jaxviz.opening.programs import OpenedStage, kernels_of, lowered_in
from jaxviz.opening.written import places_in
from jaxviz.units import seconds_text

if TYPE_CHECKING:
    from jaxviz.find import Finding
    from jaxviz.link.fates import Fate
    from jaxviz.loops.compare import Rebuilt
    from jaxviz.measure.processes import Process
    from jaxviz.opening.beside import Beside
    from jaxviz.opening.states import StateFile


class Opened(Exploration):
    """A program that was opened from a file. Shows itself in a notebook, as an exploration does::

        opened = jv.open("module.hlo.pb")
        opened.hlo                          # a Graph
        opened.document().save("module.jaxviz")

    What was opened from a folder has several programs: `opened.names`, and `opened["jit_step"]` for one of them.
    `left_out` says in one line for each what could not be opened.
    """

    def __init__(
        self,
        path: Path,
        programs: Sequence[OpenedProgram],
        left_out: Sequence[str] = (),
        shown: int = 0,
    ) -> None:
        self.path = path
        self.left_out = tuple(left_out)
        self.height: int | None = None
        # Nothing of it is made here.
        self.stopped = False
        self._measured = Measured()
        self._programs = tuple(programs)
        self._program = self._programs[shown]
        # The files of an archive are there as long as this is.
        self._kept: TemporaryDirectory[str] | None = None
        self.call = self._program.name
        # A file of the compiler is opened for what it made at last; a document is seen as it was where it was saved.
        self.stage = "jaxpr" if "jaxpr" in self._program.kinds else self._program.kinds[-1]

    @property
    def names(self) -> tuple[str, ...]:
        """The programs that there are, those first of which most was written."""
        return tuple(program.name for program in self._programs)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The stages that there are."""
        return tuple(self._program.kinds)

    def __getitem__(self, name: str) -> Opened:
        for number, program in enumerate(self._programs):
            if program.name == name:
                return Opened(self.path, self._programs, self.left_out, number)._keeping(self._kept)
        raise KeyError(f"{self.path} has no program {name!r}; it has: {_listed(self.names, name)}")

    def packed_in(self, path: Path, left_out: Sequence[str], kept: TemporaryDirectory[str]) -> Opened:
        """The same, opened from an archive whose files are in a folder that is kept for it."""
        return Opened(path, self._programs, left_out)._keeping(kept)

    def _keeping(self, kept: TemporaryDirectory[str] | None) -> Opened:
        self._kept = kept
        return self

    @property
    def jaxpr(self) -> Graph:
        """The jaxpr, where the file holds one: a document does."""
        return self._graph("jaxpr")

    @property
    def stablehlo(self) -> Graph:
        """The StableHLO, where the file holds it."""
        return self._graph("stablehlo")

    @property
    def hlo(self) -> Graph:
        """The HLO, where the file holds it."""
        return self._graph("hlo")

    @cached_property
    def fates(self) -> tuple[Fate, ...]:
        """What became of each equation of the jaxpr, where the file says it."""
        from jaxviz.link.fates import fates_of

        found = self._program.document.fates
        return fates_of(self.jaxpr, found[0].fates) if found else ()

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is worth telling, as far as the file says enough."""
        return tuple(entry.finding for entry in self._program.document.findings)

    @property
    def processes(self) -> tuple[Process, ...]:
        """The processes that recorded into the folder: what each compiled, and how its devices spent their time."""
        return tuple(entry.process for entry in self._program.document.processes)

    @property
    def passes(self) -> tuple[OpenedPass, ...]:  # type: ignore[override]
        """The states that passes of the compiler left, where a folder of its dumps holds them: each is another than
        the one before. `unchanged` counts the passes that left what they found."""
        return self._program.passes

    @property
    def unchanged(self) -> int:
        """How many passes of the compiler changed nothing, of those whose states are in a folder of its dumps."""
        return self._program.unchanged

    @property
    def complete(self) -> bool:
        """All of it is in the file."""
        return True

    @property
    def _capture(self) -> Any:  # type: ignore[override]
        """What could be traced, compiled or run: nothing."""
        raise ValueError(f"{self.path} holds what was compiled, not a function: explore or run it where it is defined")

    _memory = None

    def rebuild(self, finding: Finding | None = None, *, progress: Callable[[str], None] | None = None) -> Rebuilt:
        """A file holds no function that could be run."""
        raise ValueError(f"{self.path} holds what was compiled, not a function: rebuild its loop where it is defined")

    def document(self, *, stages: Sequence[str] = STAGE_KINDS, passes: bool | None = None) -> Document:
        """The program as data: what is saved, sent to the browser and reopened; with the states between passes where
        a folder of dumps holds them, unless `passes` is False. A document of several programs is given whole by the
        first of them."""
        if passes is False and self._program.saved_in is None:
            return self._program.document
        return self._program.document_with_others

    def with_others(self) -> Document:
        """This program and the others of the folder as one document, in order, as long as they are not too much."""
        from jaxviz.join import joined

        documents = [self.document()]
        room, bytes_left = _MOST_NODES - self._program.size, _MOST_STATE_BYTES
        # What was saved together stays so, but where another one of it than the first comes first.
        parted = self._program.saved_in if self._program.number else None
        for program in self._programs:
            if program is self._program or (program.number and program.saved_in is not parted):
                continue
            if program.size <= room and len(documents) < _MOST_PROGRAMS:
                room -= program.size
                stepped = program.state_bytes <= bytes_left
                bytes_left -= program.state_bytes if stepped else 0
                if parted is not None and program.saved_in is parted:
                    documents.append(program.document)
                else:
                    documents.append(program.document_with_others if stepped else self._without_passes(program))
        return joined(documents, passes=True) if len(documents) > 1 else documents[0]

    def _without_passes(self, program: OpenedProgram) -> Document:
        """One of the others, with where its passes are stepped through."""
        document = program.document
        first = document.programs[0]
        where = f"its passes are there where it is opened first: jv.open({str(self.path)!r})[{program.name!r}]"
        return replace(
            document,
            programs=(replace(first, missing={**first.missing, "passes": where}), *document.programs[1:]),
        )

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> Any:
        from jaxviz.notebook.display import mime_bundle

        return mime_bundle(self.with_others(), repr(self), height=self.height, stage=self.stage)

    def _graph(self, kind: str) -> Graph:
        document = self._program.document
        for stage in document.programs[0].stages:
            if stage.kind == kind:
                return document.graphs[stage.graph]
        raise ValueError(f"there is no {kind} in {self.path}: it holds {', '.join(self._program.kinds)}")

    def __repr__(self) -> str:
        document = self._program.document
        parts = [f"{kind} of {len(document.graphs[stage.graph])} nodes" for kind, stage in self._program.stages.items()]
        lines = [f"<jaxviz {self.path}: {self.call}, {', '.join(parts)}>"]
        if self.passes:
            same = f"; passes that changed nothing: {self.unchanged}" if self.unchanged else ""
            states = "state" if len(self.passes) == 1 else "states"
            lines.append(f"{len(self.passes)} {states} between passes, in .passes{same}")
        lines += [str(self._program.beside)] if self._program.beside else []
        lines += [f"{name}: {text}" for name, text in self._program.notes.items()]
        lines += [text for entry in document.measures for text in entry.measures.words if entry.program == 0]
        if self.processes:
            kinds = ("unfinished", "straggler", "differing")
            told = [entry.finding for entry in document.findings if entry.finding.kind in kinds]
            lines += [finding.title for finding in told]
            lines += [str(process) for process in self.processes[:_MOST_LINES]]
        if len(self._programs) > 1:
            other = next(name for name in self.names if name != self.call)
            lines.append(f"{len(self._programs)} programs, one of them is opened[{other!r}]:")
            lines += listing(self._programs)
        lines += [f"left out: {reason}" for reason in self.left_out[:_MOST_LINES]]
        if len(self.left_out) > _MOST_LINES:
            lines.append(f"left out: {len(self.left_out) - _MOST_LINES} more, all of them in .left_out")
        return "\n".join(lines)


# What XLA writes in place of a pass where a pipeline begins.
_PIPELINE_START = "pipeline-start"
_MOST_LINES = 10
# A cell that shows a folder holds so many of its programs; the others are opened by name.
_MOST_PROGRAMS = 20
_MOST_NODES = 20_000
# The states between passes of the others are read at once as long as that takes some seconds.
_MOST_STATE_BYTES = 8_000_000


def _listed(names: Sequence[str], wanted: str) -> str:
    """Some of the names, first those that are most like the one that was wanted."""
    close = get_close_matches(wanted, names, cutoff=0.3)
    shown = list(dict.fromkeys([*close, *names]))[:_MOST_LINES]
    return ", ".join(shown) + (f" and {len(names) - _MOST_LINES} more" if len(names) > _MOST_LINES else "")


@dataclass(frozen=True)
class OpenedPass:
    """A state of a module that the compiler dumped: after which pass of which pipeline."""

    name: str
    pipeline: str
    path: Path
    read: Callable[[], Graph] = field(repr=False)

    @cached_property
    def graph(self) -> Graph:
        """The module as this pass left it; read when it is first asked for."""
        return self.read()


class OpenedProgram:
    """One program of a file or folder; its document is made when it is first asked for."""

    def __init__(
        self,
        name: str,
        stage: OpenedStage | None = None,
        document: Document | None = None,
        passes: tuple[OpenedPass, ...] = (),
        states: Sequence[StateFile] = (),
        lowered: OpenedStage | None = None,
        where: str = "",
        number: int = 0,
    ) -> None:
        # What it is opened by; several may be called alike.
        self.name = self.called = name
        # In a folder: the file, or the module of a dump.
        self.where = where
        # The StableHLO that its HLO was made of, where that is there too.
        self._lowered = lowered
        self._all_passes = passes
        self._states = states
        #: What else there is of its module in the folder of a dump of which one file was opened.
        self.beside: Beside | None = None
        self._stage = stage
        #: The document that it was saved in, and which program of that it is.
        self.saved_in = document
        self.number = number

    def with_lowered(self, data: bytes, file: str) -> OpenedProgram:
        """The same program of HLO with the StableHLO that it was made of, which these bytes hold."""
        assert self._stage is not None
        return OpenedProgram(self.name, self._stage, lowered=lowered_in(data, file, self._stage.graph.tables))

    @cached_property
    def document(self) -> Document:
        if self._saved is not None:
            return self._saved
        assert self._stage is not None
        document = _document_of(self.name, self._stage, self._lowered)
        if self.beside is None:
            return document
        (program,) = document.programs
        return replace(document, programs=(replace(program, missing=self.beside.missing(self.kinds)),))

    @cached_property
    def passes(self) -> tuple[OpenedPass, ...]:
        """The states between passes, each other than the one before."""
        return tuple(one for one in self._all_passes if one not in self._unchanged)

    @property
    def unchanged(self) -> int:
        """How many passes changed nothing; that a pipeline begins is no pass."""
        return sum(one.name != _PIPELINE_START for one in self._unchanged)

    @cached_property
    def _unchanged(self) -> tuple[OpenedPass, ...]:
        given = [state.path for state in self._states[:1] if not state.after]
        before = [*given, *(one.path for one in self._all_passes)]
        after = self._all_passes if given else self._all_passes[1:]
        return tuple(one for path, one in zip(before, after, strict=False) if hold_the_same(path, one.path))

    @property
    def document_with_others(self) -> Document:
        """The same with all that was saved with it, if it is the first of that, and with the states between passes."""
        return self.saved_in if self.saved_in is not None and not self.number else self.document_with_passes

    @cached_property
    def document_with_passes(self) -> Document:
        """The same with the states between passes, or why they cannot be stepped through."""
        document = self.document
        if not self._states:
            return document
        from jaxviz.opening.states import states_of

        try:
            between = PassesEntry(0, states_of(self._states, document.tables))
        except (OpenError, OSError) as error:
            program = replace(document.programs[0], missing={**document.programs[0].missing, "passes": str(error)})
            return replace(document, programs=(program, *document.programs[1:]))
        return replace(document, passes=(between,)) if len(between.passes) else document

    @cached_property
    def state_bytes(self) -> int:
        """How large the states between passes are, as files."""
        return sum(state.path.stat().st_size for state in self._states)

    @property
    def is_of_process(self) -> bool:
        """Whether it is what one of several processes recorded."""
        return self.saved_in is not None and bool(self.saved_in.processes)

    @property
    def notes(self) -> dict[str, str]:
        """What is said of the program as a whole, by name."""
        return self._stage.notes if self._stage is not None else {}

    @property
    def derivative(self) -> int:
        """Of which order it is a derivative of another program of its file; 0 of none."""
        return self._stage.derivative if self._stage is not None else 0

    @property
    def is_kernel(self) -> bool:
        """Whether another program of its file calls it, and has it in it as bytes."""
        return self._stage is not None and self._stage.is_kernel

    def kernels(self, left_out: list[str]) -> list[OpenedProgram]:
        """The kernels that it calls and has in it; those that cannot be read are added to `left_out`."""
        found = kernels_of([self._stage] if self._stage is not None else [], self.where, left_out)
        return [OpenedProgram(stage.name, stage, where=self.where) for stage in found]

    @property
    def size(self) -> int:
        """How many nodes there are in all stages."""
        if self._saved is not None:
            return sum(map(len, self._saved.graphs))
        return sum(len(stage.graph) for stage in self._own_stages)

    @cached_property
    def places(self) -> int:
        """At how many places of source code the operations of its last stage stand."""
        return places_in(self._last)

    @property
    def seconds(self) -> float:
        """How long all its operations took together, in a profile that saw it."""
        seen = self._stage.seen if self._stage is not None else None
        return 0.0 if seen is None else seen.seconds

    @property
    def ran(self) -> str:
        """How often it ran in a profile, and how long that took in all; empty where none saw it."""
        seen = self._stage.seen if self._stage is not None else None
        return "" if seen is None else f"ran {seen.often}, {seconds_text(seen.seconds)}"

    @property
    def operations(self) -> int:
        """How many operations there are in its last stage."""
        return int(np.count_nonzero(self._last.nodes.kind == OPERATION))

    @property
    def _last(self) -> Graph:
        if self._saved is not None:
            stages = self._saved.programs[0].stages
            return self._saved.graphs[stages[-1].graph if stages else 0]
        return self._own_stages[-1].graph

    @property
    def stages(self) -> dict[str, StageEntry]:
        return {stage.kind: stage for stage in self.document.programs[0].stages}

    @property
    def kinds(self) -> list[str]:
        return list(self.stages) if self._saved is not None else [stage.kind for stage in self._own_stages]

    @cached_property
    def _saved(self) -> Document | None:
        """What was saved of it: what is told of processes is told of all that they compiled."""
        if self.saved_in is None or self.is_of_process:
            return self.saved_in
        return self.saved_in.of_program(self.number)

    @property
    def _own_stages(self) -> list[OpenedStage]:
        return [stage for stage in (self._lowered, self._stage) if stage is not None]


def _document_of(name: str, stage: OpenedStage, lowered: OpenedStage | None) -> Document:
    from jaxviz.find import find_in_hlo, find_in_stablehlo
    from jaxviz.outline.opened.metadata import placed_outline

    graph, outline, order = placed_outline(stage.graph)
    measures = () if stage.seen is None else (MeasuresEntry(0, stage.seen.measures(graph, stage.instructions, order)),)
    entry = ProgramEntry(name, name, -1, 0, (StageEntry(stage.kind, 0),))
    find = find_in_hlo if stage.kind == "hlo" else find_in_stablehlo
    found = find(graph, outline) if stage.is_understood else ()
    findings = tuple(FindingEntry(0, finding) for finding in found)
    outlines = (OutlineEntry(0, outline),)
    document = Document(graph.tables, (graph,), (entry,), outlines=outlines, findings=findings, measures=measures)
    return document if lowered is None else _with_lowered(document, lowered)


def _with_lowered(document: Document, lowered: OpenedStage) -> Document:
    """The document of HLO with the StableHLO that it was made of as a stage before it, linked by names."""
    from jaxviz.find import SEVERITIES, find_in_stablehlo
    from jaxviz.link.links import link_shares
    from jaxviz.link.named import links_by_name
    from jaxviz.outline.opened.metadata import opened_outline

    graph, outline = opened_outline(lowered.graph)
    # What is told of the HLO already is not told again.
    told = {entry.finding.kind for entry in document.findings}
    more = [FindingEntry(1, one) for one in find_in_stablehlo(graph, outline) if one.kind not in told]
    findings = sorted([*document.findings, *more], key=lambda entry: -SEVERITIES.index(entry.finding.severity))
    (program,), (compiled,) = document.programs, document.graphs
    links = links_by_name(graph, compiled)
    return replace(
        document,
        graphs=(compiled, graph),
        programs=(replace(program, stages=(StageEntry(lowered.kind, 1), *program.stages)),),
        outlines=(*document.outlines, OutlineEntry(1, outline)),
        findings=tuple(findings),
        links=(LinksEntry(1, 0, links, link_shares(compiled, links)),),
    )
