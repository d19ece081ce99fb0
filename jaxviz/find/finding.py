"""A finding: something worth telling about a program, and what finders look at."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from jaxviz.find.flow import Flow
from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.link.fates import Fates
from jaxviz.link.links import Links
from jaxviz.outline.phases.derivatives import Derivatives, derivatives_of
from jaxviz.outline.tree import Outline
from jaxviz.outline.written.source import source_of
from jaxviz.program.narrowing import Cut, Narrowed
from jaxviz.scope.impure import Seen

if TYPE_CHECKING:
    from jaxviz.costs.lifetimes import Peak
    from jaxviz.costs.residuals import Residuals
    from jaxviz.find.written_loops import Loop

# How name stacks begin, with the name of the function that was compiled.
_PROGRAM = re.compile(r"p?jit\(([^()]+)\)")
# Seconds that a person notices.
_NOTICED = 0.05

#: How JAX marks, in name stacks, what is part of a derivative, and what is computed again for one.
DERIVATIVES = ("jvp(", "transpose(", "rematted_computation", "linearize(")

#: From what is good to know to what should be mended.
SEVERITIES = ("note", "advice", "warning")
NOTE, ADVICE, WARNING = SEVERITIES


@dataclass(frozen=True)
class Line:
    """A line of the person's source: the row of its file, and its number."""

    file: int
    line: int


@dataclass(frozen=True, eq=False)
class Finding:
    """Something worth telling. `nodes` are those of the jaxpr that it is about, in order.

    >>> Finding("dead", NOTE, "1 equation is not needed", "No result uses it.", "Remove the line.", np.array([3])).kind
    'dead'
    """

    kind: str
    severity: str
    title: str
    text: str
    remedy: str
    nodes: Column
    lines: tuple[Line, ...] = ()
    #: Numbers behind the words: `copies`, `equations`, `bytes`, ...
    figures: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Finding {self.kind}, {self.severity}: {self.title}>"


@dataclass(frozen=True, eq=False)
class Compiled:
    """What the compiler made of a jaxpr: optimized HLO, its links to the jaxpr, and the fates of equations.

    `order` says where each node stood in the HLO as the compiler gave it, which is the order in which it runs.
    `peak` is that of the compiler's own buffer assignment, where it is known.
    """

    graph: Graph
    links: Links
    order: Column
    fates: Fates | None = None
    peak: Peak | None = None
    #: Gives the StableHLO that it was made of, where that is known.
    lowered: Callable[[], Graph | None] = lambda: None

    @classmethod
    def alone(cls, graph: Graph) -> Compiled:
        """Optimized HLO of which nothing else is known: each node is where it comes from."""
        nodes = np.arange(len(graph), dtype=np.int32)
        return cls(graph, Links(nodes, nodes, np.zeros(len(graph), np.int32)), nodes)

    def sources(self, nodes: Iterable[int]) -> Column:
        """The nodes of the jaxpr that these were made from, in order."""
        return np.array(sorted({source for node in nodes for source in self.links.sources(node)}), np.int32)


@dataclass(frozen=True, eq=False)
class Subject:
    """What finders look at: the jaxpr, how it is folded for reading, and what the compiler made of it."""

    graph: Graph
    outline: Outline
    #: What the function does only while it is traced; nothing is known of that where a file was opened.
    seen: tuple[Seen, ...] = ()
    #: Types of 64 bits that it was heard to ask for and does not get.
    narrowed: tuple[Narrowed, ...] = ()
    #: What tracing took; 0 where that is not known.
    trace_seconds: float = 0.0
    #: Not there where nothing was compiled yet.
    compiled: Compiled | None = None
    #: The whole numbers around the function, by name.
    numbers: Mapping[str, int] = field(default_factory=dict)
    #: What arguments hold that JAX does not keep.
    cut: tuple[Cut, ...] = ()
    #: Whether it is StableHLO in the words of a jaxpr: its nodes are operations, not equations.
    lowered: bool = False

    def with_compiled(self, compiled: Compiled) -> Subject:
        """The same program with what the compiler made of it; what was found of the jaxpr alone stays found."""
        more = replace(self, compiled=compiled)
        vars(more).update({name: vars(self)[name] for name in _OF_JAXPR if name in vars(self)})
        return more

    def lines(self, nodes: Column) -> tuple[Line, ...]:
        """The innermost lines of the person's own code that nodes come from, each once, in the order of the source."""
        return self.lines_at(self.own_frame(stack) for stack in np.unique(self.graph.nodes.stack[nodes]).tolist())

    def lines_at(self, frames: Iterable[int]) -> tuple[Line, ...]:
        """The lines of frames, each once, in the order of the source; -1 is no frame."""
        tables = self.graph.tables
        found = {(tables.frames.file[frame], tables.frames.line[frame]) for frame in frames if frame >= 0}
        return tuple(Line(file, line) for file, line in sorted(found))

    def file(self, path: str) -> int:
        """The row of a file in the tables, or -1 where no equation comes from it."""
        tables = self.graph.tables
        number = tables.find_string(path)
        return tables.files.path.index(number) if number in tables.files.path else -1

    def nodes_at(self, file: int, line: int) -> Column:
        """The nodes that come from a line of the person's."""
        frames = self.graph.tables.frames
        stacks = [
            stack
            for stack in np.unique(self.graph.nodes.stack).tolist()
            if (frame := self.own_frame(stack)) >= 0
            and frames.file[frame] == file
            and frames.line[frame] <= line <= max(frames.end_line[frame], frames.line[frame])
        ]
        return np.flatnonzero(np.isin(self.graph.nodes.stack, stacks)).astype(np.int32)

    def told(
        self,
        kind: str,
        severity: str,
        title: str,
        text: str,
        remedy: str,
        nodes: Iterable[int],
        figures: Mapping[str, float] | None = None,
    ) -> Finding:
        """A finding about nodes of the jaxpr, with the lines that they come from behind its title."""
        about = np.array(sorted(nodes), np.int32)
        lines = self.lines(about)
        where = f" ({lines_text(lines)})" if lines else ""
        return Finding(kind, severity, title + where, text, remedy, about, lines, figures or {})

    def is_own(self, node: int) -> bool:
        """Whether a line of the person's own code makes a node itself, not a library that it calls."""
        tables, stack = self.graph.tables, int(self.graph.nodes.stack[node])
        return stack >= 0 and tables.is_own(tables.stacks.frame[stack])

    def is_derived(self, node: int) -> bool:
        """Whether it is part of a derivative that JAX made, of what is differentiated or of the way back."""
        scope = self.graph.tables.strings[self.graph.nodes.scope[node]]
        return any(mark in scope for mark in DERIVATIVES)

    def is_backward(self, node: int) -> bool:
        """Whether a node, or what it stands in, is on the way back: in bodies, name stacks begin anew."""
        graph = self.graph
        while "transpose(" not in graph.tables.strings[graph.nodes.scope[node]]:
            region = int(graph.nodes.region[node])
            if not region:
                return False
            node = int(graph.regions.owner[region])
        return True

    def tracing(self, equations: int) -> str:
        """A sentence on what it took to trace some of the equations, where one notices that."""
        seconds = self.trace_seconds * equations / max(int(np.count_nonzero(self.graph.nodes.kind == OPERATION)), 1)
        return f" Tracing it took about {seconds:.1g} s." if seconds >= _NOTICED else ""

    @property
    def of_hlo(self) -> bool:
        """Whether it is optimized HLO of which nothing else is known: its nodes are operations, not equations."""
        return self.compiled is not None and self.compiled.graph is self.graph

    @cached_property
    def function(self) -> str:
        """Of what was opened from a file, the name of the function that was compiled, as name stacks begin with it."""
        strings = self.graph.tables.strings
        scopes = (strings[scope] for scope in np.unique(self.graph.nodes.scope).tolist())
        found = next(filter(None, map(_PROGRAM.match, scopes)), None) if self.lowered or self.of_hlo else None
        return found[1] if found else ""

    @cached_property
    def function_frames(self) -> frozenset[int]:
        """Of what was opened from a file, the frames of the function that was compiled."""
        strings, functions = self.graph.tables.strings, self.graph.tables.frames.function
        named = (frame for frame, name in enumerate(functions) if strings[name].rpartition(".")[2] == self.function)
        return frozenset(named) if self.function else frozenset()

    @cached_property
    def callers(self) -> frozenset[int]:
        """The frames around those: of whoever had it compiled."""
        stacks, found = self.graph.tables.stacks, set()
        around = {stacks.parent[stack] for stack, frame in enumerate(stacks.frame) if frame in self.function_frames} - {
            -1
        }
        while around:
            found |= {stacks.frame[stack] for stack in around}
            around = {stacks.parent[stack] for stack in around} - {-1}
        return frozenset(found) - self.function_frames

    @cached_property
    def has_gradient(self) -> bool:
        """Whether a backward pass is part of the program."""
        return bool((self.derivatives.order > 0).any())

    @cached_property
    def derivatives(self) -> Derivatives:
        """Which node runs forward, and which on the way back."""
        return derivatives_of(self.graph)

    @cached_property
    def residuals(self) -> Residuals:
        """What the forward pass keeps for the backward pass."""
        from jaxviz.costs.residuals import residuals_of

        return residuals_of(self.graph, self.flow, self.derivatives)

    def expression(self, node: int) -> tuple[ast.AST | None, str]:
        """The expression of the person's that a node comes from, and its text; nothing where that is not known."""
        frame = self.own_frame(int(self.graph.nodes.stack[node]))
        if frame not in self._expressions:
            self._expressions[frame] = self._expression(frame)
        return self._expressions[frame]

    def statement(self, node: int) -> tuple[ast.stmt | None, ast.AST | None]:
        """The statement of the person's that a node comes from, and the function around it."""
        return self.statement_at(self.own_frame(int(self.graph.nodes.stack[node])))

    def statement_at(self, frame: int) -> tuple[ast.stmt | None, ast.AST | None]:
        """The statement at a frame, and the function around it."""
        if frame not in self._statements:
            frames = self.graph.tables.frames
            place = frames.line[frame], frames.column[frame], frames.end_line[frame], frames.end_column[frame]
            found = source_of(self.graph.tables, frames.file[frame]).find(place)
            self._statements[frame] = found.statement, found.function
        return self._statements[frame]

    @cached_property
    def _statements(self) -> dict[int, tuple[ast.stmt | None, ast.AST | None]]:
        return {-1: (None, None)}

    @cached_property
    def _expressions(self) -> dict[int, tuple[ast.AST | None, str]]:
        return {-1: (None, "")}

    @cached_property
    def known_loops(self) -> dict[int, Loop | None]:
        """By frame the innermost loop that was found around it, kept by who looks for loops."""
        return {}

    def _expression(self, frame: int) -> tuple[ast.AST | None, str]:
        frames = self.graph.tables.frames
        place = frames.line[frame], frames.column[frame], frames.end_line[frame], frames.end_column[frame]
        source = source_of(self.graph.tables, frames.file[frame])
        return source.find(place).expression, source.segment(place)

    @cached_property
    def flow(self) -> Flow:
        """Where values come from."""
        return Flow(self.graph)

    def own_frame(self, stack: int) -> int:
        """The innermost frame of a call stack that is the person's own, or -1."""
        tables = self.graph.tables
        stacks = tables.stacks
        while stack >= 0:
            frame = stacks.frame[stack]
            if tables.is_own(frame):
                return frame
            stack = stacks.parent[stack]
        return -1

    def own_frames(self, stack: int) -> list[int]:
        """The frames of a call stack that are the person's own, outermost first."""
        stacks, tables = self.graph.tables.stacks, self.graph.tables
        frames = []
        while stack >= 0:
            frame = stacks.frame[stack]
            if tables.is_own(frame):
                frames.append(frame)
            stack = stacks.parent[stack]
        return frames[::-1]


# What a subject keeps once it was asked for, of that which no compiler changes.
_OF_JAXPR = ("derivatives", "residuals", "flow", "known_loops", "_statements", "_expressions")


def lines_text(lines: tuple[Line, ...]) -> str:
    """The numbers of lines of one or more files, with ranges: `line 4`, `lines 4 to 6, 9`."""
    numbers = sorted({line.line for line in lines})
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    texts = [str(first) if first == last else f"{first} to {last}" for first, last in ranges]
    return f"line{'s' * (len(numbers) > 1)} {', '.join(texts)}"
