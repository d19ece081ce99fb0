"""What one process writes of a recording: a document of the programs that it compiled and ran, and how.

What ran is taken from the profile, which holds the optimized HLO of every module, as the device ran it, with the
collectives between processes.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import socket
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from jaxviz import compat
from jaxviz.costs.cost import cost_of
from jaxviz.document import (
    STAGE_KINDS,
    Document,
    FindingEntry,
    MeasuresEntry,
    OutlineEntry,
    ProcessEntry,
    ProgramEntry,
    StageEntry,
)
from jaxviz.exploration import Exploration
from jaxviz.graph import Graph
from jaxviz.join import joined
from jaxviz.measure.attribution import Attributed, attribute, own_seconds
from jaxviz.measure.measures import Measures, NodeFigures
from jaxviz.measure.processes import CompiledThere, DeviceRuns, Process, device_runs
from jaxviz.measure.profile import Events, NoProfile, Row, events_of
from jaxviz.measure.stragglers import collectives
from jaxviz.outline import Outline
from jaxviz.tables import Tables
from jaxviz.units import seconds_text

if TYPE_CHECKING:
    from jaxviz.listening.listening import Compilation
    from jaxviz.listening.recorder import Recording

# So many programs are written, and no more nodes than this: what a person looks at.
_MOST_PROGRAMS, _MOST_NODES = 20, 30_000
# A profile of more bytes than this takes longer to read than anybody waits.
_MOST_PROFILE = 1 << 30
_MOST_EVENTS = 2_000_000
# Seconds after which a compilation counts as one that failed, and between two looks at whether one has begun.
_LONGEST_COMPILATION, _LOOK = 600.0, 0.2
_NO_BUFFERS = "--xla_gpu_enable_command_buffer="
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


class ProfiledBlock:
    """Has the profiler on while a block runs, for at most so many seconds in which nothing is compiled."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        # What was compiled meanwhile does not count, and since when something is being compiled.
        self._compiling = 0.0
        self._since: float | None = None
        self.note = ""
        #: Whether there is a profile, because the time is over.
        self.ended = False
        self._folder: str | None = None
        self._left = threading.Event()
        self._lock = threading.Lock()
        self._on = False

    def start(self) -> None:
        if compat.profile_reader() is None:
            self.note = f"JAX {jax.__version__} cannot read a profile: there are no times of runs"
            return
        self._folder = tempfile.mkdtemp(prefix="jaxviz-")
        try:
            compat.start_trace(self._folder)
        except RuntimeError as error:
            self.note = f"there are no times of runs: {str(error).splitlines()[0]}"
            return
        self._on = True
        threading.Thread(target=self._limit, name="jaxviz recording", daemon=True).start()

    def begins_to_compile(self) -> None:
        """From now until `compiled` no time counts."""
        self._since = time.perf_counter()

    def compiled(self, seconds: float) -> None:
        """A compilation has taken so many seconds, all in all."""
        since, self._since = self._since, None
        passed = 0.0 if since is None else time.perf_counter() - since
        self._compiling += max(seconds, passed)

    def _limit(self) -> None:
        started = time.perf_counter()
        while True:
            since = self._since
            # One that fails is never heard of again.
            busy = 0.0 if since is None else min(time.perf_counter() - since, _LONGEST_COMPILATION)
            left = started + self._seconds + self._compiling + busy - time.perf_counter()
            if left <= 0:
                break
            if self._left.wait(min(left, _LOOK) if since is None else _LOOK):
                return
        self._end(f"times are of the first {self._seconds:.3g} s that were not spent compiling")

    def _end(self, note: str = "") -> None:
        with self._lock:
            if self._on:
                self._on = False
                self.note = note
                jax.profiler.stop_trace()
                self.ended = True

    def stop(self) -> None:
        self._left.set()
        self._end()

    def profile(self) -> bytes | None:
        """The profile, once, where there is one."""
        if self._folder is None:
            return None
        try:
            files = sorted(Path(self._folder).rglob("*.xplane.pb"))
            if not files:
                return None
            if files[-1].stat().st_size > _MOST_PROFILE:
                self.note = "there are no times of runs: the profile is too large; record fewer seconds"
                return None
            return files[-1].read_bytes()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


class ProcessWriter:
    """Makes the document of what this process recorded, as often as it is asked for."""

    def __init__(self, recording: Recording, block: ProfiledBlock) -> None:
        self._recording, self._block = recording, block
        self._began, self._start = time.time(), time.perf_counter()
        self._ran: list[_Ran] | None = None
        # What each function that was compiled looks like; None where it cannot be shown.
        self._traced: list[Document | None] = []

    def profiled(self) -> bool:
        """Whether there are times of runs that are in no document yet."""
        return self._block.ended and self._ran is None

    def begun(self, index: int, count: int) -> Process:
        """This process before it has done anything; what devices it has is not known yet."""
        return Process(
            index=index,
            count=count,
            host=socket.gethostname(),
            device="",
            devices=0,
            began=self._began,
            seconds=0.0,
            versions=_versions(),
            compiled=(),
            runs=(),
            seen=self._began,
        )

    def document(self, finished: bool) -> Document:
        """All that is known so far, or all there is once it has `finished`."""
        compilations = list(self._recording.compilations)
        if finished:
            self._block.stop()
        if self._ran is None and (finished or self._block.ended):
            self._ran = []
            try:
                profile = self._block.profile()
                self._ran = _ran(profile) if profile is not None else []
            except Exception as error:
                self._block.note = f"there are no times of runs: {(str(error) or type(error).__name__).splitlines()[0]}"
        # Operations outside of `jit` are not what is looked for.
        passing = {one.definition.name for one in self._recording.operations} - {
            one.definition.name for one in compilations
        }
        ran = [one for one in self._ran or () if one.name not in passing]
        for compilation in compilations[len(self._traced) : _MOST_PROGRAMS]:
            self._traced.append(_traced(compilation))
        process = self._process(compilations, ran, finished)
        return _document(list(zip(compilations, self._traced, strict=False)), ran, process)

    def _process(self, compilations: Sequence[Compilation], ran: Sequence[_Ran], finished: bool) -> Process:
        notes = [self._block.note] if self._block.note else []
        devices = jax.local_devices()
        if devices[0].platform == "gpu" and _NO_BUFFERS not in os.environ.get("XLA_FLAGS", "").split():
            notes.append(
                f"what runs in command buffers is seen as a whole, if at all; XLA_FLAGS={_NO_BUFFERS} shows it"
            )
        return Process(
            index=jax.process_index(),
            count=jax.process_count(),
            host=socket.gethostname(),
            device="CPU" if devices[0].platform == "cpu" else str(devices[0].device_kind),
            devices=len(devices),
            began=self._began,
            seconds=time.perf_counter() - self._start,
            versions=_versions(),
            compiled=tuple(_compiled(one) for one in compilations),
            runs=tuple(run for one in ran for run in one.runs),
            notes=tuple(notes),
            seen=0.0 if finished else time.time(),
        )


def _traced(compilation: Compilation) -> Document | None:
    # What cannot be shown is still listed with what it cost.
    with suppress(Exception):
        return Exploration(compilation.program()).document(stages=("jaxpr",))
    return None


def _versions() -> dict[str, str]:
    import jaxlib

    settings = {
        f"jax_{name}": str(getattr(jax.config, f"jax_{name}", ""))
        for name in ("enable_x64", "default_matmul_precision", "default_prng_impl", "threefry_partitionable")
    }
    return {
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "Python": platform.python_version(),
        "XLA_FLAGS": os.environ.get("XLA_FLAGS", ""),
        **settings,
        "program": Path(sys.argv[0]).name if sys.argv else "",
    }


def _compiled(compilation: Compilation) -> CompiledThere:
    special = compilation.specialization
    text = _ADDRESS.sub("0x", str(compilation.jaxpr))
    placed = [(leaf.text, leaf.placement) for leaf in special.signature.leaves]
    digest = hashlib.sha256(f"{text}\n{placed}\n{compilation.donated}".encode()).hexdigest()
    seconds = compilation.seconds
    return CompiledThere(
        compilation.definition.name,
        compilation.call,
        digest[:16],
        seconds.get("trace", 0.0),
        seconds.get("lower", 0.0),
        seconds.get("compile", 0.0),
    )


class _Ran(NamedTuple):
    """A module that ran: its graph, and what each node took."""

    name: str
    graph: Graph
    outline: Outline
    times: Attributed
    runs: list[DeviceRuns]
    wall: float


def _ran(profile: bytes) -> list[_Ran]:
    """The modules that the profile saw running, the most costly first."""
    from jaxviz.read.hlo.module import HloError
    from jaxviz.read.hlo.wrapping import module_names

    reader = compat.serialized_profile_reader()
    if reader is None:
        return []
    names = set(module_names(profile))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        rows = _rows(reader(profile), names)
    found = []
    for name, own in sorted(rows.items(), key=lambda item: -sum(row.end - row.start for row in item[1])):
        with suppress(HloError, ValueError):
            found.append(_one(profile, name, own))
        if len(found) == _MOST_PROGRAMS:
            break
    return found


def _rows(data: Any, modules: set[str]) -> dict[str, list[Row]]:
    """Events of operations by the module that they are of."""
    rows: dict[str, list[Row]] = {}
    lane = count = 0
    for plane in data.planes:
        if not plane.name.startswith(("/device:", "/host:CPU")):
            continue
        for line in plane.lines:
            lane += 1
            for event in line.events:
                if event.duration_ns <= 0 or count > _MOST_EVENTS:
                    continue
                carried = dict(event.stats)
                module = carried.get("hlo_module")
                if module is None or module not in modules:
                    continue
                count += 1
                rows.setdefault(str(module), []).append(Row.of(event, carried, plane.name, lane))
    return rows


def _one(profile: bytes, name: str, rows: list[Row]) -> _Ran:
    from jaxviz.outline.opened.metadata import placed_outline
    from jaxviz.read.communication import take_frames_of_elements
    from jaxviz.read.hlo.graph import read_hlo
    from jaxviz.read.hlo.proto import parse_hlo_proto

    module = parse_hlo_proto(profile, name)
    take_frames_of_elements(module)
    read = read_hlo(module, Tables(is_source=lambda _: False))
    graph, outline, order = placed_outline(read.graph)
    instructions = [read.instruction[place] for place in order.tolist()]
    known = set(instructions)
    runs = len({row.run for row in rows})
    events = events_of([row for row in rows if row.name in known], max(runs, 1))
    times = attribute(events, graph, instructions, module, max(runs, 1))
    together = {instructions[node] for node in collectives(graph).tolist()}
    waits = [events.names[number] in together for number in events.name.tolist()]
    program = _bare(name)
    return _Ran(
        program, graph, outline, times, device_runs(program, events, own_seconds(events).tolist(), waits), _wall(events)
    )


def _wall(events: Events) -> float:
    spans = [float(np.ptp(np.r_[events.start[here], events.end[here]])) for here in _by_run(events)]
    return float(np.median(spans or [0.0]))


def _by_run(events: Events) -> list[Any]:
    return [events.run == run for run in np.unique(events.run).tolist()]


def _bare(name: str) -> str:
    return name.removeprefix("jit_").removeprefix("pmap_")


def _document(
    compiled: Sequence[tuple[Compilation, Document | None]], ran: Sequence[_Ran], process: Process
) -> Document:
    """The programs that were compiled as jaxprs, and those that ran as HLO; of one that is both, both stages."""
    documents: list[Document] = []
    room = _MOST_NODES
    left = list(ran)
    for compilation, traced in compiled:
        if traced is None:
            continue
        size = len(traced.graphs[0])
        if size > room:
            continue
        room -= size
        mine = next((one for one in left if one.name == compilation.definition.name), None)
        if mine is not None and len(mine.graph) <= room:
            left.remove(mine)
            room -= len(mine.graph)
            traced = _with_hlo(traced, mine, process)
        documents.append(traced)
    for one in left:
        if len(one.graph) <= room:
            room -= len(one.graph)
            documents.append(_alone(one, process))
    if not documents:
        raise NoProfile("nothing was compiled and nothing ran while it was recorded")
    whole = joined(documents) if len(documents) > 1 else documents[0]
    return replace(whole, processes=(ProcessEntry(process),))


def _with_hlo(document: Document, ran: _Ran, process: Process) -> Document:
    """One program with both stages; no links are known between them."""
    both = joined([document, _alone(ran, process)])
    first, second = both.programs
    stages = tuple(sorted((*first.stages, *second.stages), key=lambda stage: STAGE_KINDS.index(stage.kind)))
    missing = {kind: why for kind, why in first.missing.items() if kind != "hlo"}
    return replace(
        both,
        programs=(replace(first, stages=stages, missing=missing),),
        measures=tuple(replace(entry, program=0) for entry in both.measures),
    )


def _alone(ran: _Ran, process: Process) -> Document:
    from jaxviz.find import find_in_hlo

    entry = ProgramEntry(ran.name, ran.name, -1, 0, (StageEntry("hlo", 0),))
    cost = cost_of(ran.graph)
    times = ran.times
    figures = NodeFigures.of(
        seconds=times.seconds,
        count=times.count,
        flops=cost.kernel_work * times.count,
        bytes=cost.kernel_bytes * times.count,
    )
    counted = max((run.runs for run in ran.runs), default=1)
    measures = Measures(
        device=process.device,
        devices=process.devices,
        runs=counted,
        words=(
            f"ran {counted} times in process {process.index}, {seconds_text(ran.wall)} from first to last operation",
        ),
        seconds={"median": ran.wall, "operations": times.total},
        coverage=times.coverage,
        figures={"hlo": figures},
    )
    return Document(
        ran.graph.tables,
        (ran.graph,),
        (entry,),
        outlines=(OutlineEntry(0, ran.outline),),
        findings=tuple(FindingEntry(0, finding) for finding in find_in_hlo(ran.graph, ran.outline)),
        measures=(MeasuresEntry(0, measures),),
    )
