"""The loops of the person's source that stand around equations, and the turns that it says they have."""

from __future__ import annotations

import ast
from typing import NamedTuple

import numpy as np

from jaxviz.find.finding import Line, Subject
from jaxviz.outline.source import Source, source_of

# Places of one copy that are looked up in the source.
_PLACES = 64


class Loop(NamedTuple):
    """A loop in the person's source: its first line, its last and its head.

    `turns` are those that the source tells, as in `range(8)`, or 0; `outer` are the loops around it in its function,
    outermost first.
    """

    line: Line
    last: int
    head: str
    turns: int
    outer: tuple[Loop, ...] = ()

    def is_in(self, other: Loop) -> bool:
        """Whether it stands in another."""
        same = self.line.file == other.line.file and self.line != other.line
        return same and other.line.line <= self.line.line and self.last <= other.last


def loops_around(subject: Subject, first: int, end: int) -> list[Loop]:
    """The loops around all of an interval of nodes, the outermost first: at each depth of the call stack the widest."""
    stacks = np.unique(subject.graph.nodes.stack[first:end])[:_PLACES].tolist()
    frames_of = [_frames(subject, one) for one in stacks if one >= 0]
    found = []
    for depth in range(min(map(len, frames_of), default=0)):
        loops = [loop for frames in frames_of if (loop := _loop_at(subject, frames[depth])) is not None]
        if loops:
            found.append(max(loops, key=lambda loop: loop.last - loop.line.line))
    return found


def _frames(subject: Subject, stack: int) -> list[int]:
    """The frames of a call stack, outermost first."""
    stacks = subject.graph.tables.stacks
    found = []
    while stack >= 0:
        found.append(stacks.frame[stack])
        stack = stacks.parent[stack]
    return found[::-1]


def _loop_at(subject: Subject, frame: int) -> Loop | None:
    """The loop around the place of a frame of the person's own."""
    tables = subject.graph.tables
    frames = tables.frames
    file = frames.file[frame]
    if tables.files.library[file]:
        return None
    source = source_of(tables, file)
    if not source.parsed:
        return None
    found = source.find((frames.line[frame], frames.column[frame], frames.end_line[frame], frames.end_column[frame]))
    if found.loop is None:
        return None
    outer: tuple[Loop, ...] = ()
    for loop in found.outer:
        outer = (*outer, _loop(source, file, loop, outer))
    return _loop(source, file, found.loop, outer)


def _loop(source: Source, file: int, loop: ast.AST, outer: tuple[Loop, ...]) -> Loop:
    head = source.text_of(loop)
    if isinstance(loop, (ast.For, ast.While)):
        head = head.partition(":")[0]
    return Loop(Line(file, source.line_of(loop)), source.end_line_of(loop), head, _turns(loop), outer)


def _turns(loop: ast.AST) -> int:
    """How many turns the source itself says that a loop has, 0 where it does not."""
    generators = getattr(loop, "generators", [])
    if len(generators) == 1 and not generators[0].ifs:
        through = generators[0].iter
    elif isinstance(loop, ast.For):
        through = loop.iter
    else:
        return 0
    if isinstance(through, (ast.List, ast.Tuple)):
        return 0 if any(isinstance(one, ast.Starred) for one in through.elts) else len(through.elts)
    if not isinstance(through, ast.Call) or not isinstance(through.func, ast.Name) or through.func.id != "range":
        return 0
    try:
        return len(range(*map(ast.literal_eval, through.args)))
    except (ValueError, TypeError):
        return 0
