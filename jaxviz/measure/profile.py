"""What JAX's profiler saw of some runs of one program: one event for each operation that was executed.

On a CPU an event is named by the instruction of the optimized HLO; a loop's event spans those of its body, as long as
they ran on the same thread. On a GPU or TPU events are on the lines of the device.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from jaxviz import compat
from jaxviz.measure.completion import END, Ends, Followers, tails


class NoProfile(Exception):
    """There is no profile; the message says why, in words."""


@dataclass(frozen=True, eq=False)
class Events:
    """One row for each event: `name` is a row of `names`; times are in seconds; a lane is a thread or a stream."""

    names: list[str]
    name: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    lane: NDArray[np.int64]
    device: NDArray[np.int64]
    #: Which run it belongs to, from 0 in the order of time.
    run: NDArray[np.int64]
    #: How long what it began went on after it, in other threads.
    tail: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True)
class Watched:
    """What events are looked for: those of the instructions of a module. `renamed` are names that some of them have in
    the program that runs, and `followers`, for each instruction, those that begin only after it is done."""

    module: str
    instructions: frozenset[str]
    renamed: Mapping[str, str]
    followers: Followers

    @property
    def names(self) -> frozenset[str]:
        """The names of events."""
        return self.instructions - frozenset(self.renamed.values()) | frozenset(self.renamed)


def profiled(run: Callable[[], None], watched: Watched, runs: int) -> Events:
    """The events that are looked for, while `run()` executes their module `runs` times; `NoProfile` says why not."""
    reader = compat.profile_reader()
    if reader is None:
        raise NoProfile(f"JAX {jax.__version__} cannot read a profile: there is no time for each operation")
    with tempfile.TemporaryDirectory(prefix="jaxviz-") as folder:
        with tracing(folder):
            run()
        files = sorted(Path(folder).rglob("*.xplane.pb"))
        if not files:
            raise NoProfile("the profiler wrote nothing: there is no time for each operation")
        # Where warnings are errors, one of jaxlib 0.12 on Python 3.13 as it makes a class would end the process.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            return _read(reader(files[-1]), watched, runs)


@contextmanager
def tracing(folder: str) -> Iterator[None]:
    """Has the profiler write to a folder; `NoProfile` where another profile is being made."""
    try:
        compat.start_trace(folder)
    except RuntimeError as error:
        # Only one profile can be made at a time.
        raise NoProfile(f"there is no time for each operation: {str(error).splitlines()[0]}") from None
    try:
        yield
    finally:
        jax.profiler.stop_trace()


def _read(data: Any, watched: Watched, runs: int) -> Events:
    rows: list[Row] = []
    names, renamed = watched.names, watched.renamed
    ends: dict[str, list[float]] = {}
    lane = 0
    for plane in data.planes:
        on_device = plane.name.startswith("/device:")
        if not on_device and not plane.name.startswith("/host:CPU"):
            continue
        for line in plane.lines:
            lane += 1
            for event in line.events:
                # To ask for what an event carries takes long, and most events are of Python or of the runtime.
                name = event.name
                if not on_device and name not in names:
                    if name.startswith(END) and (done := name[len(END) :]) in names:
                        ends.setdefault(renamed.get(done, done), []).append(float(event.start_ns))
                    continue
                carried = dict(event.stats)
                if carried.get("hlo_module", watched.module) != watched.module:
                    continue
                row = Row.of(event, carried, plane.name, lane)
                if row.name in names:
                    rows.append(row._replace(name=renamed[row.name]) if row.name in renamed else row)
    return events_of(rows, runs, ends, watched.followers)


class Row(NamedTuple):
    """One event of an instruction, in nanoseconds."""

    name: str
    start: float
    end: float
    lane: int
    device: int
    run: int

    @classmethod
    def of(cls, event: Any, carried: Mapping[str, Any], plane: str, lane: int) -> Row:
        """An event of a profile, with what it carries."""
        start = float(event.start_ns)
        return cls(
            str(carried.get("hlo_op", event.name)).lstrip("%").partition(" = ")[0],
            start,
            start + float(event.duration_ns),
            lane,
            int(carried.get("device_ordinal", _ordinal(plane))),
            int(carried.get("run_id", -1)),
        )


def _ordinal(plane: str) -> int:
    """Of the device in the name of a plane: `/device:GPU:1`."""
    last = plane.rpartition(":")[2]
    return int(last) if last.isdecimal() else 0


def events_of(rows: Sequence[Row], runs: int, ends: Ends | None = None, followers: Followers | None = None) -> Events:
    """The events in columns; `runs` is how many there were. `ends` are in nanoseconds."""
    known: dict[str, int] = {}
    name = np.array([known.setdefault(row[0], len(known)) for row in rows], np.int64)
    start, end = (np.array([row[place] for row in rows], np.float64) * 1e-9 for place in (1, 2))
    lane, device, run = (np.array([row[place] for row in rows], np.int64) for place in (3, 4, 5))
    number = _in_order(run, start, device, runs)
    tail = np.zeros(len(rows))
    if ends and followers:
        told = {each: [1e-9 * time for time in times] for each, times in ends.items()}
        tail = tails([row.name for row in rows], start, end, device, number, told, followers)
    return Events(list(known), name, start, end, lane, device, number, tail)


def _in_order(
    run: NDArray[np.int64], start: NDArray[np.float64], device: NDArray[np.int64], runs: int
) -> NDArray[np.int64]:
    """Runs by number, in the order of time; where the profile does not tell them apart, all events are of run 0."""
    ids, place = np.unique(run, return_inverse=True)
    if len(ids) <= 1 or ((run < 0).all() and len(ids) == 1):
        return np.zeros(len(run), np.int64)
    # A run has a number of its own on each device in some versions: they are the same in the order of time.
    number = np.zeros(len(run), np.int64)
    for each in np.unique(device):
        here = device == each
        first = {int(one): float(start[here & (place == one)].min()) for one in np.unique(place[here])}
        order = {one: rank for rank, one in enumerate(sorted(first, key=first.__getitem__))}
        number[here] = [order[one] for one in place[here].tolist()]
    return np.minimum(number, max(runs - 1, 0))
