"""Functions that call themselves while JAX traces: what each call computes stands in the program as a copy of its own.

Call stacks tell it: the same place of the source is in one stack again and again, and how often the function is in the
stack of an equation is the depth of the call that made it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxviz.find.finding import Line, Subject
from jaxviz.find.written_loops import RECURSION, Loop
from jaxviz.graph import OPERATION, Column
from jaxviz.outline.written.source import Found, source_of

# A function that is in a stack so often is worth a look.
_DEEP = 4
# Places of the source that are looked up.
_PLACES = 64


class Copies(NamedTuple):
    """What the calls of a function made one after the other: the first node of each, and the one past its last."""

    first: Column
    end: Column


def recursions(subject: Subject) -> Iterator[tuple[Loop, list[Copies]]]:
    """The functions that call themselves, the outermost first, with what they make on the way down, up and back."""
    told: set[ast.AST] = set()
    for frame in _repeated(subject):
        found = _found(subject, frame)
        if found.function is None or found.function in told:
            continue
        told.add(found.function)
        copies = list(_copies(subject, _depths(subject, frame, found.function)))
        if copies:
            yield _loop(subject, frame, found), copies


def _repeated(subject: Subject) -> list[int]:
    """The frames of the person's own that are in one stack often enough, those that are there most first."""
    stacks, tables = subject.graph.tables.stacks, subject.graph.tables
    frames, parents = np.array(stacks.frame, np.int64), stacks.parent
    counts = np.bincount(frames, minlength=1) if len(frames) else np.zeros(0, np.int64)
    wanted = {
        frame
        for frame in np.flatnonzero(counts >= _DEEP).tolist()
        if not tables.files.library[tables.frames.file[frame]]
    }
    again: dict[int, int] = {}
    most: dict[int, int] = {}
    for row in np.flatnonzero(np.isin(frames, list(wanted))).tolist():
        waiting, around = [row], row
        # Down to a row that is known, or to where the frame is for the first time.
        while True:
            around = parents[around]
            while around >= 0 and stacks.frame[around] != stacks.frame[row]:
                around = parents[around]
            if around < 0 or around in again:
                break
            waiting.append(around)
        depth = again[around] if around >= 0 else 0
        for one in reversed(waiting):
            depth += 1
            again[one] = depth
        most[stacks.frame[row]] = max(most.get(stacks.frame[row], 0), again[row])
    deep = [frame for frame, depth in most.items() if depth >= _DEEP - 1]
    return sorted(deep, key=lambda frame: -most[frame])[:_PLACES]


def _found(subject: Subject, frame: int) -> Found:
    frames = subject.graph.tables.frames
    place = frames.line[frame], frames.column[frame], frames.end_line[frame], frames.end_column[frame]
    return source_of(subject.graph.tables, frames.file[frame]).find(place)


def _depths(subject: Subject, frame: int, function: ast.AST) -> Column:
    """Of each call stack, how often a function is in it."""
    tables = subject.graph.tables
    frames, stacks = tables.frames, tables.stacks
    inside: dict[int, int] = {}
    for other in {*stacks.frame}:
        same = frames.file[other] == frames.file[frame] and frames.function[other] == frames.function[frame]
        inside[other] = int(same and _found(subject, other).function is function)
    depth = np.full(len(stacks.frame), -1, np.int32)
    for row in range(len(depth)):
        waiting = []
        while row >= 0 and depth[row] < 0:
            waiting.append(row)
            row = stacks.parent[row]
        known = int(depth[row]) if row >= 0 else 0
        for one in reversed(waiting):
            known += inside[stacks.frame[one]]
            depth[one] = known
    return depth


def _copies(subject: Subject, depths: Column) -> Iterator[Copies]:
    """Runs of intervals of nodes that calls at one depth after the other made, in one body."""
    graph = subject.graph
    operations = np.flatnonzero((graph.nodes.kind == OPERATION) & (graph.nodes.stack >= 0))
    deep = depths[graph.nodes.stack[operations]]
    regions = graph.nodes.region[operations]
    if not (deep > 0).any():
        return
    region = int(np.bincount(regions[deep > 0]).argmax())
    rows = operations[regions == region]
    deep = depths[graph.nodes.stack[rows]]
    starts = np.flatnonzero(np.diff(deep, prepend=-1))
    levels, first = deep[starts], rows[starts]
    end = np.append(first[1:], _past(subject, int(rows[-1])))
    place = 0
    while place < len(levels):
        stop = place + 1
        if levels[place] and stop < len(levels):
            step = levels[stop] - levels[place]
            while abs(step) == 1 and stop < len(levels) and levels[stop] and levels[stop] - levels[stop - 1] == step:
                stop += 1
        if stop - place >= _DEEP:
            yield Copies(first[place:stop].astype(np.int32), end[place:stop].astype(np.int32))
            # Where the way turns, the deepest call may be part of the way back too.
        place = stop


def _past(subject: Subject, node: int) -> int:
    """The node after all that a node holds."""
    graph = subject.graph
    regions = graph.owned_regions.get(node, ())
    return int(max(graph.region_intervals[1][list(regions)])) if len(regions) else node + 1


def _loop(subject: Subject, frame: int, found: Found) -> Loop:
    tables = subject.graph.tables
    file = tables.frames.file[frame]
    source = source_of(tables, file)
    # Of a chain such as `layer(n - 1, f(x))`, the call itself; where it is not known, its line.
    node = found.expression or found.statement
    line, last = tables.frames.line[frame], tables.frames.end_line[frame]
    head = source.text_of(node) if node is not None else tables.strings[tables.frames.function[frame]]
    return Loop(Line(file, line), max(last, line), head, 0, (), RECURSION)
