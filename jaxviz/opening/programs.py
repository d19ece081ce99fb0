"""From the bytes of one file to the programs in it: each a name and a graph for one stage."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from jaxviz.graph import ARGUMENT, ENTER, Graph
from jaxviz.opening.contents import Contents, OpenError
from jaxviz.opening.modules import entries_of, hlo_parts_of, modules_in, parts_of
from jaxviz.opening.sources import sources_of
from jaxviz.tables import Tables

if TYPE_CHECKING:
    from jaxviz.opening.seen import Seen

_QUOTED = re.compile(rb'"[^"\n]*+"')
_COMMENT_LINE = re.compile(rb"^[^\S\n]*//.*$", re.MULTILINE)

#: Makes the tables of one program.
NewTables = Callable[[], Tables]


@dataclass(frozen=True, eq=False)
class OpenedStage:
    """One stage that a file holds. `notes` are facts about it that no node has, by name."""

    kind: str
    name: str
    graph: Graph
    notes: dict[str, str] = field(default_factory=dict)
    #: Of HLO the name of each node's instruction, empty for results.
    instructions: list[str] = field(default_factory=list)
    #: Of which order it is a derivative of what else the file holds.
    derivative: int = 0
    #: What a profile saw of it.
    seen: Seen | None = None
    #: The kernels that it calls and has in it, as bytecode.
    kernels: tuple[bytes, ...] = ()
    #: Whether it is such a kernel.
    is_kernel: bool = False

    @property
    def is_understood(self) -> bool:
        """Whether it is known what its operations mean, and that each has the operands that it needs, and whether a
        person wrote them: of a kernel, Pallas did."""
        return _BY_LINES not in self.notes and not self.is_kernel


def programs_in(
    data: bytes, contents: Contents, file: str, left_out: list[str], *, is_own: bool = False
) -> list[OpenedStage]:
    """What the bytes of a file hold; `OpenError` with the place where that cannot be read.

    Of several modules in one file those that cannot be read are added to `left_out`.
    """
    is_text = contents is Contents.HLO_TEXT or (contents is Contents.MLIR and not _is_bytecode(data))
    refused: list[str] = []
    with _errors_of(file, data if is_text else b""):
        is_source = None if is_own else sources_of(file)
        found = list(_READERS[contents](data, lambda: Tables(is_source=is_source), refused))
    left_out += [f"{file}: {reason}" for reason in refused]
    return found


def kernels_of(stages: Sequence[OpenedStage], file: str, left_out: list[str]) -> list[OpenedStage]:
    """The kernels that programs have in them, each once; those that cannot be read are added to `left_out`."""
    from jaxviz.read.embedded import lines_in, said_plainly, with_lines

    texts: list[tuple[str, partial[Tables]]] = []
    found = []
    for kernel, caller in {kernel: stage for stage in stages for kernel in stage.kernels}.items():
        try:
            text = _mlir_text(kernel)
        except OpenError as error:
            left_out.append(f"{file}: {_UNREAD_KERNEL}: {error}")
            continue
        if not lines_in(text):
            texts.append((text, partial(Tables, is_source=caller.graph.tables.is_source)))
        elif texts:
            texts[-1] = with_lines(texts[-1][0], text), texts[-1][1]
    for text, tables in texts:
        try:
            # What else is in it says which part of an operand a turn gets.
            stage = next(_mlir_stages(said_plainly(text), tables))
        except OpenError as error:
            left_out.append(f"{file}: {_UNREAD_KERNEL}: {error}")
            continue
        name = "kernel" if stage.name in _NO_NAMES else f"kernel {stage.name}"
        found.append(replace(stage, name=name, is_kernel=True))
    return found


def lowered_in(data: bytes, file: str, tables: Tables) -> OpenedStage:
    """The StableHLO in the bytes of a file, as a stage beside another one: with the tables of that."""
    with _errors_of(file, b"" if _is_bytecode(data) else data):
        return next(_mlir_stages(_mlir_text(data), lambda: tables))


@contextmanager
def _errors_of(file: str, text: bytes) -> Iterator[None]:
    """Names the file in errors; of what it holds as `text`, also says where that just ends too early."""
    try:
        yield
    except OpenError as error:
        reason = ": the file seems to be cut off" if _ends_within(text) else ""
        raise OpenError(f"{file}: {error}{reason}") from None
    except RecursionError:
        raise OpenError(f"{file}: expected calls that are nested less deep") from None


def _ends_within(text: bytes) -> bool:
    """Whether a text ends inside of a body, or of what its last line has opened; comments open nothing."""
    text = _COMMENT_LINE.sub(b"", text)
    last = text.rstrip().rpartition(b"\n")[2]
    bodies = _QUOTED.sub(b"", text)
    return bodies.count(b"{") > bodies.count(b"}") or last.count(b"(") > last.count(b")") or last.count(b'"') % 2 == 1


def _hlo_text(data: bytes, tables: NewTables, refused: list[str]) -> Iterator[OpenedStage]:
    """The modules of a text: XLA prints one, people and tests put several into a file."""
    from jaxviz.read.hlo.module import HloError
    from jaxviz.read.hlo.text import parse_hlo_text

    parts = hlo_parts_of(data.decode(errors="replace").removeprefix("\ufeff"))
    errors: list[str] = []
    for part in parts:
        try:
            yield _hlo_stage(parse_hlo_text(part), tables(), part)
        except HloError as error:
            errors.append(str(error))
    if len(errors) == len(parts):
        raise OpenError(errors[0])
    refused += errors


def _hlo_proto(data: bytes, tables: NewTables, refused: list[str]) -> Iterator[OpenedStage]:
    from jaxviz.read.hlo.module import HloError
    from jaxviz.read.hlo.proto import parse_hlo_proto
    from jaxviz.read.hlo.wrapping import profiled_modules

    try:
        profiled = {(one.name, one.program): (one.start, one.end) for one in profiled_modules(data)}
        if not profiled:
            yield _hlo_stage(parse_hlo_proto(data), tables(), data)
            return
    except HloError as error:
        raise OpenError(str(error)) from None
    from jaxviz.opening.seen import Profile

    modules, stages, errors = {}, {}, list[str]()
    for key, place in profiled.items():
        try:
            modules[key] = parse_hlo_proto(data, at=place)
            stages[key] = _hlo_stage(modules[key], tables(), data[slice(*place)])
        except HloError as error:
            errors.append(str(error))
    if not stages:
        raise OpenError(errors[0])
    profile = Profile(data, {key: modules[key] for key in stages})
    refused += [*errors, *filter(None, [profile.note])]
    for key, stage in stages.items():
        yield replace(stage, seen=profile.of(key))


def _hlo_stage(module: object, tables: Tables, source: str | bytes) -> OpenedStage:
    from jaxviz.read.communication import take_frames_of_elements
    from jaxviz.read.embedded import kernels_in
    from jaxviz.read.hlo.graph import read_hlo
    from jaxviz.read.hlo.module import HloModule

    assert isinstance(module, HloModule)
    take_frames_of_elements(module)
    found = read_hlo(module, tables, excerpts=True)
    entry = module.computations[module.entry].name
    notes = {} if module.is_entry_said else {_NO_ENTRY: f"shown is the last one, {entry}"}
    if module.untyped:
        shown, rest = module.untyped[:_SHOWN], len(module.untyped) - _SHOWN
        notes[_UNTYPED] = ", ".join(shown) + (f" and {rest:,} more" if rest > 0 else "")
    kernels = kernels_in(source)
    return OpenedStage("hlo", module.name, found.graph, notes, instructions=found.instruction, kernels=kernels)


def _mlir(data: bytes, tables: NewTables, refused: list[str]) -> Iterator[OpenedStage]:
    text = _mlir_text(data)
    parts = [] if _is_bytecode(data) else parts_of(text)
    if len(parts) < 2:
        return _mlir_stages(text, tables)
    found: list[OpenedStage] = []
    errors: list[str] = []
    for part in parts:
        try:
            found += _mlir_stages(part, tables)
        except OpenError as error:
            errors.append(str(error))
    if errors:
        # What looks like a mark may be a comment.
        with suppress(OpenError):
            return iter(list(_mlir_stages(text, tables)))
    if not found:
        raise OpenError(errors[0])
    refused += errors
    return iter([stage for stage in found if len(stage.graph)] or found[:1])


def _mlir_text(data: bytes) -> str:
    from jaxviz.read.mlir import MlirError, mlir_text

    try:
        return mlir_text(data if _is_bytecode(data) else data.decode(errors="replace").removeprefix("\ufeff"))
    except MlirError as error:
        raise OpenError(str(error)) from None


def _is_bytecode(data: bytes) -> bool:
    return data.startswith(b"ML\xefR")


def _export(data: bytes, tables: NewTables, refused: list[str]) -> Iterator[OpenedStage]:
    from jaxviz.read.exported import ExportedError, read_exported

    try:
        exported = read_exported(data)
    except ExportedError as error:
        raise OpenError(str(error)) from None
    for one in exported:
        notes = {"exported for": ", ".join(one.platforms), "calling convention": str(one.calling_convention)}
        name = "vjp of " * one.order + exported[0].name
        for stage in _mlir_stages(_mlir_text(one.module), tables, name, notes):
            yield replace(stage, derivative=one.order)


def _mlir_stages(
    text: str, tables: NewTables, name: str = "", notes: dict[str, str] | None = None
) -> Iterator[OpenedStage]:
    """The programs of one module, or of those that a text holds and nothing else."""
    from jaxviz.read.embedded import kernels_in
    from jaxviz.read.mlir import MlirError, UnknownDialectError, parse_mlir
    from jaxviz.read.mlir_frames import MlirFrames
    from jaxviz.read.mlir_lines import LinesError, read_lines
    from jaxviz.read.stablehlo import read_stablehlo

    notes = notes or {}
    try:
        # What is in a module is there as long as that is.
        whole = parse_mlir(text)
        modules = modules_in(whole)
    except UnknownDialectError as error:
        # Of which jaxlib does not know all operations, as far as the lines say it.
        try:
            modules = [read_lines(text)]
        except LinesError as unread:
            raise OpenError(str(unread)) from None
        if not modules[0].body.operations:
            raise OpenError(str(error)) from None
        notes = {**notes, _BY_LINES: str(error)}
    except MlirError as error:
        raise OpenError(str(error)) from None
    kernels = kernels_in(text)
    for module in modules:
        entries = entries_of(module, text if len(modules) == 1 else "")
        for entry in entries or [""]:
            own = tables()
            frames = MlirFrames(own)
            graph = read_stablehlo(module, own, frames=frames, entry=entry).graph
            frames.write_excerpts()
            graph = _with_names_of_arguments(graph)
            called, function = name or own.strings[graph.regions.name[0]], "" if entry == "main" else entry
            if len(entries) > 1:
                called = function or called
            yield OpenedStage("stablehlo", called or function or "module", graph, notes, kernels=kernels)


def _with_names_of_arguments(graph: Graph) -> Graph:
    """The graph with arguments that have no name called as those of the function that gets them.

    Around a function of open lengths, or one that was named to be kept apart, JAX writes one that hands its
    arguments on and names none of them. What has no name at all is numbered as in the text of JAX, `arg0`.
    """
    kind, region, names = graph.nodes.kind, graph.nodes.region, graph.nodes.name.copy()
    made, empty = graph.value_node, graph.tables.string("")
    entering = graph.bindings.kind == ENTER
    values, arguments = graph.bindings.start[entering], graph.bindings.end[entering]
    for value, argument in zip(values.tolist(), arguments.tolist(), strict=True):
        outer = made[value] if value >= 0 else -1
        if outer >= 0 and kind[outer] == ARGUMENT and region[outer] == 0 and names[outer] == empty:
            names[outer] = names[argument]
    for number, node in enumerate(np.flatnonzero((kind == ARGUMENT) & (region == 0)).tolist()):
        if names[node] == empty:
            names[node] = graph.tables.string(f"arg{number}")
    if np.array_equal(names, graph.nodes.name):
        return graph
    return replace(graph, nodes=replace(graph.nodes, name=names))


_UNREAD_KERNEL = "a kernel, which the version of JAX that wrote it may read"
# What says of a kernel no more than that it is one.
_NO_NAMES = ("kernel", "main", "module")
_UNTYPED = "types that the text leaves out and that follow from nothing"
_SHOWN = 5
_NO_ENTRY = "no computation is marked ENTRY"
_BY_LINES = "read line by line, without what its operations mean"

_READERS = {
    Contents.HLO_TEXT: _hlo_text,
    Contents.HLO_PROTO: _hlo_proto,
    Contents.MLIR: _mlir,
    Contents.EXPORT: _export,
}
