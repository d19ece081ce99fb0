"""What is shown in place of a program that could not be traced: the error explained, and what was traced until then."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from jaxviz import compat
from jaxviz.compat import traces as compat_traces
from jaxviz.document import Document, ErrorEntry, OutlineEntry, ProgramEntry, StageEntry
from jaxviz.errors import Explanation, Failure, explain
from jaxviz.errors.failure import Place, is_plain
from jaxviz.errors.partial import traced_so_far
from jaxviz.errors.source import Source
from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline import make_outline
from jaxviz.program.program import Program
from jaxviz.read.frames import add_excerpt, add_file, characters
from jaxviz.read.jaxpr import read_jaxpr
from jaxviz.tables import Tables

# The longest line of a terminal.
_WIDTH = 88

# Letters of what failed that are read on its box.
_NAME_LENGTH = 40


class FailedExploration:
    """A function that could not be traced: shows itself in a notebook as the error in words.

    Made while the error is handled; afterwards it holds data alone, and no frame of the function.
    """

    def __init__(self, program: Program, error: BaseException, call: str, height: int | None = None) -> None:
        typed = call != program.call or all(map(is_plain, (*program.args, *program.kwargs.values())))
        failure = Failure(error, program.fn, program.name, call, program.args, program.kwargs, typed)
        self.explanation = explain(failure)
        self.height = height
        self._document = _document(program, failure, self.explanation)
        entry = self._document.programs[0].error
        frames = self._document.tables.frames_of(entry.stack) if entry is not None else ()
        #: The line that the error is told of; none where nothing of the function was entered.
        self.place = frames[-1] if frames else None
        self._kind = failure.kind
        self._line = f"line {frames[-1].line}" if frames and failure.source is None else failure.line_text

    def document(self) -> Document:
        """The error, and what was traced until then, as data."""
        return self._document

    def __repr__(self) -> str:
        return words(self.explanation, f"{self._kind} on {self._line}")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from jaxviz.notebook.display import mime_bundle

        # Where only the picture is shown, as in a page that nbconvert wrote, it says why it ends where it ends.
        return mime_bundle(self._document, repr(self), height=self.height, note=repr(self))


def words(told: Explanation, where: str) -> str:
    """An explanation as text for terminals and tracebacks."""
    import textwrap

    lines = [f"jaxviz: {where}: {told.title}", *textwrap.wrap(told.reason, _WIDTH)]
    for cure in told.cures:
        lines += ["", *textwrap.wrap(cure.text, _WIDTH), textwrap.indent(cure.code, "    ")]
    return "\n".join([*lines, *(["", told.link] if told.link else [])])


def _document(program: Program, failure: Failure, told: Explanation) -> Document:
    tables = Tables()
    graph, culprits, unfinished = _graph(program, failure, tables)
    stack = _stack(failure, failure.own, tables)
    outlined = graph
    if "traced" not in vars(program):
        graph = _placed(graph, {**unfinished, **dict.fromkeys(culprits.tolist(), stack)})
        # What failed is no part of what its expression did until then: it stands beside that.
        around = _stack(failure, failure.own[:-1], tables)
        outlined = _placed(graph, dict.fromkeys(culprits.tolist(), around))
    if stack < 0:
        stack = _returning(program, tables) if told.case == "result" else _reading(graph, culprits)
    file = add_file(tables, program.file) if program.file else -1
    if stack < 0 and file >= 0:
        # Nothing of the function was entered: its definition is shown.
        add_excerpt(tables, file, program.line, program.last_line)
    entry = ProgramEntry(
        name=program.name,
        call=failure.call,
        file=file,
        line=program.line,
        stages=(StageEntry("jaxpr", 0),),
        missing=dict.fromkeys(("stablehlo", "hlo"), "the function could not be traced"),
        error=ErrorEntry(
            kind=failure.kind,
            message=failure.message,
            case=told.case,
            title=told.title,
            reason=told.reason,
            cures=tuple((cure.text, cure.code) for cure in told.cures),
            link=told.link,
            stack=stack,
            nodes=culprits,
        ),
    )
    return Document(tables, (graph,), (entry,), outlines=(OutlineEntry(0, make_outline(outlined)),))


def _graph(program: Program, failure: Failure, tables: Tables) -> tuple[Graph, Column, dict[int, int]]:
    """What was traced, the nodes of it that the error is about, and the call stacks of what has an unfinished body."""
    if "traced" in vars(program):
        # The trace ended well, and what it closes over turned out to be no value.
        leaked = compat_traces.traced_values_of(program.traced)
        names = list(compat.argument_names_of(program.jaxpr))
        names[: len(leaked)] = ["leaked value" if is_leaked else "" for is_leaked in leaked]
        graph = read_jaxpr(program.jaxpr, tables, argument_names=names)
        return graph, np.flatnonzero(leaked).astype(np.int32), {}
    try:
        own = [number for number, place in enumerate(failure.places) if place in failure.own]
        name = _name(program, failure)
        traced = traced_so_far([place.frame for place in failure.places], name, own)
        if traced is None:
            return _empty(tables), np.zeros(0, np.int32), {}
        graph = read_jaxpr(traced.jaxpr, tables)
    except Exception:  # Of another version of JAX: the explanation is shown without a picture.
        return _empty(tables), np.zeros(0, np.int32), {}
    bodies = _unfinished(graph, len(traced.entered))
    inside = np.flatnonzero((graph.nodes.kind == OPERATION) & (graph.nodes.region == (bodies or [0])[-1]))
    stacks = {
        int(graph.regions.owner[body]): _stack(failure, _own_of(failure, frames), tables)
        for body, frames in zip(bodies, traced.entered, strict=False)
    }
    return graph, inside[-1 if name else len(inside) :].astype(np.int32), stacks


def _own_of(failure: Failure, frames: int) -> list[Place]:
    """The person's places among the first frames of the traceback."""
    first = failure.places[:frames]
    return [place for place in failure.own if place in first]


def _unfinished(graph: Graph, depth: int) -> list[int]:
    """The regions of the bodies that were being traced, outermost first: each is the last in the one around it."""
    bodies: list[int] = []
    for _ in range(depth):
        around = bodies[-1] if bodies else 0
        inside = np.flatnonzero(graph.region_parent == around)
        inside = inside[inside != around]
        if not len(inside):
            break
        bodies.append(int(inside[np.argmax(graph.regions.owner[inside])]))
    return bodies


def _placed(graph: Graph, known: dict[int, int]) -> Graph:
    """The graph with nodes that JAX did not make at their places in the source."""
    stacks = graph.nodes.stack.copy()
    for node, stack in known.items():
        stacks[node] = stack
    return replace(graph, nodes=replace(graph.nodes, stack=stacks))


def _reading(graph: Graph, culprits: Column) -> int:
    """The call stack of the first equation that reads what leaked; -1 where none does."""
    leaked = culprits[graph.first_value[culprits] < graph.first_value[culprits + 1]]
    readers = graph.operand_node[np.isin(graph.operands.source, graph.first_value[leaked])]
    stacks = graph.nodes.stack[np.sort(readers)]
    return int(stacks[stacks >= 0][0]) if np.any(stacks >= 0) else -1


def _returning(program: Program, tables: Tables) -> int:
    """The last `return` of the function, which gave what cannot come out; -1 where its source is not at hand."""
    value = _returned(program)
    file = add_file(tables, program.file)
    if value is None or file < 0:
        return -1
    add_excerpt(tables, file, program.line, program.last_line)
    column = characters(program.file, value.lineno, value.col_offset)
    end_line = value.end_lineno or value.lineno
    end_column = characters(program.file, end_line, value.end_col_offset or 0)
    return tables.stack([tables.frame(file, program.name, value.lineno, column, end_line, end_column)])


def _returned(program: Program) -> ast.expr | None:
    """What the last `return` of the function gives; none where its source is not at hand."""
    code = program.code
    if code is None:
        return None
    function = Source(code, -1, program.line).function_at(program.line)
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)] if function is not None else []
    return function.body if isinstance(function, ast.Lambda) else returns[-1].value if returns else None


def _name(program: Program, failure: Failure) -> str:
    """What could not be made, as the person wrote it: outside of the function, what that gave."""
    written = " ".join(failure.text(failure.expression or failure.statement).split())
    if not written and not failure.own and (value := _returned(program)) is not None:
        written = ast.unparse(value)
    return written if len(written) <= _NAME_LENGTH else f"{written[:_NAME_LENGTH]}…"


def _empty(tables: Tables) -> Graph:
    return read_jaxpr(jax.make_jaxpr(lambda: ())(), tables)


def _stack(failure: Failure, places: Sequence[Place], tables: Tables) -> int:
    """The person's call stack through the places of an error, with the source around them."""
    frames = []
    for place in places:
        source = Source(place.frame.f_code, place.instruction, place.line)
        file = add_file(tables, source.path)
        if file < 0:
            continue
        add_excerpt(tables, file, source.first_line, source.last_line)
        column = characters(source.path, source.line, source.column)
        end_column = characters(source.path, source.end_line, source.end_column)
        line, end_line = source.line, source.end_line
        if place is failure.place:
            expression = failure.expression
            column = end_column = -1
            if expression is not None and expression.end_lineno and expression.end_col_offset is not None:
                line, end_line = expression.lineno, expression.end_lineno
                column = characters(source.path, line, expression.col_offset)
                end_column = characters(source.path, end_line, expression.end_col_offset)
        frames.append(tables.frame(file, source.function, line, column, end_line, end_column))
    return tables.stack(frames)
