"""Processes that should do the same and do not: one that the others wait for, and programs that differ."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from jaxviz.find.finding import ADVICE, NOTE, WARNING, Finding
from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.measure.processes import DeviceRuns, Process, clock_text
from jaxviz.read.communication import is_collective
from jaxviz.units import seconds_text

# What the others wait must be this share of a run, and so many seconds, to be worth telling.
_SHARE, _NOTICED = 0.2, 1e-4
# Seconds after which processes that begin did not record the same.
_APART = 600.0


def compared(processes: Sequence[Process], graphs: Mapping[str, Graph]) -> dict[str, list[Finding]]:
    """What differs between processes, by the program that it is about; `graphs` are the HLO of programs by name. What
    is about none of them is under the empty name."""
    found: dict[str, list[Finding]] = defaultdict(list)
    for program in dict.fromkeys(one.program for process in processes for one in process.runs):
        ran = {process.index: one for process in processes if (one := process.of(program)) is not None}
        finding = _straggler(program, ran, collectives(graphs[program]) if program in graphs else _NOWHERE)
        if finding is not None:
            found[program].append(finding)
    for name, finding in _differing(processes):
        found[name].append(finding)
    found[""] += [*_unfinished(processes), *_missing(processes), *_versions(processes)]
    return found


_NOWHERE = np.zeros(0, np.int32)


def collectives(graph: Graph) -> Column:
    """The operations of HLO in which devices take part together."""
    strings = graph.tables.strings
    ops = [op for op in np.unique(graph.nodes.op).tolist() if is_collective(strings[op])]
    return np.flatnonzero(np.isin(graph.nodes.op, ops) & (graph.nodes.kind == OPERATION)).astype(np.int32)


def _straggler(program: str, ran: Mapping[int, DeviceRuns], nodes: Column) -> Finding | None:
    """The process that waits least for the others, where they wait for it for long."""
    if len(ran) < 2 or min(one.runs for one in ran.values()) < 2:
        return None
    together = len(nodes) > 0 or any(one.waiting for one in ran.values())
    late = min(ran, key=lambda index: ran[index].waiting) if together else max(ran, key=lambda i: ran[i].computing)
    others = [one for index, one in ran.items() if index != late]
    own = ran[late]
    computing = own.computing - statistics.median(one.computing for one in others)
    between = own.between - statistics.median(one.between for one in others)
    lost = statistics.median(one.waiting for one in others) - own.waiting if together else computing
    cycle = statistics.median(one.cycle for one in others)
    if lost < max(_NOTICED, _SHARE * cycle):
        return None
    if computing >= between or not together:
        usual = statistics.median(one.computing for one in others)
        why = (
            f"Its own operations take {seconds_text(own.computing)} in a run, those of the others {seconds_text(usual)}"
        )
        remedy = "See whether it has more to do than the others, or a slower or busier device."
    else:
        usual = statistics.median(one.between for one in others)
        why = f"It begins late: {seconds_text(own.between)} pass between its runs, {seconds_text(usual)} in the others"
        remedy = "See what its Python does between two runs: reading input, logging, writing checkpoints."
    waiting = ", and all others wait for it in collectives" if together else ""
    return Finding(
        "straggler",
        WARNING,
        f"process {late} keeps the others waiting for {seconds_text(lost)} in each run of {program}"
        if together
        else f"process {late} takes {seconds_text(lost)} longer than the others for each run of {program}",
        f"{why}{waiting}.",
        remedy,
        nodes,
        figures={"process": float(late), "seconds": lost, "share": lost / cycle if cycle else 0.0},
    )


def _differing(processes: Sequence[Process]) -> Iterator[tuple[str, Finding]]:
    """Functions that not all processes compiled as the same program."""
    # One that was gone before it came so far would have done the same.
    processes = [process for process in processes if process.compiled or process.finished]
    if len(processes) < 2:
        return
    names = dict.fromkeys(one.name for process in processes for one in process.compiled)
    for name in names:
        prints = {
            process.index: tuple(one.print for one in process.compiled if one.name == name) for process in processes
        }
        groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
        for index, own in prints.items():
            groups[own].append(index)
        if len(groups) == 1:
            continue
        without = groups.pop((), [])
        if without and len(groups) == 1:
            here = next(iter(groups.values()))
            yield (
                name,
                Finding(
                    "differing",
                    NOTE,
                    f"only {_processes(here)} compiled {name}",
                    "What uses devices of other processes must be called by all of them, in the same order.",
                    f"Fine where it is local work, such as logging; else, let {_processes(without)} call it too.",
                    _NOWHERE,
                    figures={"processes": float(len(here))},
                ),
            )
            continue
        usual = max(groups.values(), key=len)
        parts, ways = [], set[tuple[str, ...]]()
        for indices in groups.values():
            first = next(process for process in processes if process.index == indices[0])
            calls = [one.call for one in first.compiled if one.name == name]
            parts.append(f"{_processes(indices)}: {', '.join(calls[:3])}{', ...' * (len(calls) > 3)}")
            ways.add(tuple(calls))
        odd = sorted(index for indices in groups.values() if indices is not usual for index in indices)
        yield (
            name,
            Finding(
                "differing",
                WARNING,
                f"{name} is not the same program in {_processes(odd)} as in {_processes(usual)}",
                f"Compiled were, in {'; in '.join(parts)}."
                + " The calls look alike, and what they compute differs." * (len(ways) < len(parts)),
                "Give all processes arguments of the same types, shapes and static values, and the same code; "
                "programs that differ wait for each other for ever, or fail.",
                _NOWHERE,
                figures={"processes": float(len(odd))},
            ),
        )


def _unfinished(processes: Sequence[Process]) -> Iterator[Finding]:
    """Processes that did not come to the end of what was recorded; the one that went first took the others with it."""
    gone = sorted((process for process in processes if not process.finished), key=lambda process: process.seen)
    if not gone:
        return
    first = gone[0]
    names = _processes(sorted(process.index for process in gone))
    which = f"; {_processes([first.index])} was the first to be gone," if len(gone) > 1 else ","
    yield Finding(
        "unfinished",
        WARNING,
        f"{names} did not finish{which} last seen {clock_text(first.seen, first.began)}",
        f"It is still running, or it was killed: {_left(gone)}. "
        "The others wait for one that is gone, or are ended because of it.",
        "See what the system says of that time: out of memory, a limit of the queue, a machine that was taken away.",
        _NOWHERE,
        figures={"process": float(first.index), "seen": first.seen},
    )


def _left(gone: Sequence[Process]) -> str:
    """What there is of processes that did not finish."""
    without = [process.index for process in gone if not process.compiled]
    here = "what it compiled is here, and its times as far as they were taken"
    if not without:
        return here
    nothing = f"{_processes(sorted(without))} had not compiled anything yet"
    return nothing if len(without) == len(gone) else f"{here}; {nothing}"


def _missing(processes: Sequence[Process]) -> Iterator[Finding]:
    count = max((process.count for process in processes), default=0)
    missing = sorted(set(range(count)) - {process.index for process in processes})
    if missing:
        yield Finding(
            "differing",
            ADVICE,
            f"{len(processes)} of {count} processes recorded; missing: {_processes(missing)}",
            "A process writes its part when the recording begins, or, where jax.distributed is initialized later, with "
            "the first function that it compiles.",
            "See whether they ended before that, or wrote to another folder: it must be one that all of them share.",
            _NOWHERE,
        )
    began = [process.began for process in processes]
    if began and max(began) - min(began) > _APART:
        yield Finding(
            "differing",
            ADVICE,
            f"the processes began up to {(max(began) - min(began)) / 60:,.0f} minutes apart",
            "The folder may hold parts of several recordings.",
            "Record into an empty folder.",
            _NOWHERE,
        )


def _versions(processes: Sequence[Process]) -> Iterator[Finding]:
    """Settings and packages in which processes differ."""
    keys = dict.fromkeys(key for process in processes for key in process.versions)
    for key in keys:
        groups: dict[str, list[int]] = defaultdict(list)
        for process in processes:
            groups[process.versions.get(key, "none")].append(process.index)
        if len(groups) > 1:
            parts = [f"{value} in {_processes(indices)}" for value, indices in groups.items()]
            yield Finding(
                "differing",
                WARNING,
                f"{key} differs: {'; '.join(parts)}"[:300],
                "Processes that work together should be started with the same packages and settings.",
                "Start all of them alike.",
                _NOWHERE,
            )


def _processes(indices: Sequence[int]) -> str:
    """
    >>> _processes([3]), _processes([0, 1, 2, 5]), _processes(list(range(0, 20, 2)))
    ('process 3', 'processes 0 to 2, 5', '10 processes: 0, 2, 4, 6, ...')
    """
    if len(indices) == 1:
        return f"process {indices[0]}"
    spans: list[list[int]] = []
    for index in sorted(indices):
        if spans and index == spans[-1][1] + 1:
            spans[-1][1] = index
        else:
            spans.append([index, index])
    texts = [
        str(first) if first == last else f"{first}, {last}" if last == first + 1 else f"{first} to {last}"
        for first, last in spans
    ]
    if len(texts) > 4:
        return f"{len(indices)} processes: {', '.join(texts[:4])}, ..."
    return f"processes {', '.join(texts)}"
