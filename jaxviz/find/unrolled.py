"""Python loops that were unrolled: JAX traced each turn, and the compiler gets the body again and again.

The copies are the stacks of the outline, which are of the same shape but for what they index and the objects they are
given. A stack is a loop where the person's source has one around all of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxviz.find.finding import ADVICE, WARNING, Finding, Line, Subject, plural
from jaxviz.graph import Column, Graph
from jaxviz.outline.source import source_of

# So many copies, and so many equations in all, are worth a word; fewer copies where there is much in them.
_COPIES, _EQUATIONS = 8, 64
_FEW_COPIES, _MANY_EQUATIONS = 4, 400
# So many equations cost seconds to trace and compile.
_COSTLY_EQUATIONS = 1_000
# Places of one copy that are looked up in the source.
_PLACES = 64


class Loop(NamedTuple):
    """A loop in the person's source: its first line, its last and its head."""

    line: Line
    last: int
    head: str


class Flow(NamedTuple):
    """What the copies of a stack hand on, and what they read."""

    #: Values that each copy gives to the next.
    carried: int
    #: Values that a copy is given, others in each copy: slices of an array, the entries of a list of parameters.
    given: int
    #: Whether a number is another in each copy, as where the turn is counted.
    counted: bool
    #: Whether a copy reads only the copy right before it.
    simple: bool


_UNCLEAR = Flow(0, 0, False, False)


class Stack(NamedTuple):
    """A stack of the outline, and the first node of each copy and the one past its last."""

    row: int
    first: Column
    end: Column


class Unrolled(NamedTuple):
    """An unrolled loop: its turns, the turns of the loops in it, and its stacks, one for each part of a derivative."""

    loop: Loop
    copies: int
    inner: int
    equations: int
    stacks: list[Stack]


def find(subject: Subject) -> Iterator[Finding]:
    """One finding for each outermost unrolled loop, its forward part and its backward part together."""
    for unrolled in unrolled_loops(subject):
        yield _finding(subject, *unrolled)


def unrolled_loops(subject: Subject) -> Iterator[Unrolled]:
    """The outermost unrolled loops that are worth a word."""
    outline = subject.outline
    stacks_of: dict[Loop, list[Stack]] = {}
    told = -1
    for row in np.flatnonzero(outline.count > 1).tolist():
        if outline.first[row] < told:
            continue
        stack = _stack(subject, row)
        loops = _loops_of(subject, stack) if stack is not None else []
        if stack is not None and loops:
            told = int(outline.end[row])
            stacks_of.setdefault(loops[0], []).append(stack)
    for loop, stacks in _whole(stacks_of).items():
        own = [stack for stack in stacks if loop in _loops_of(subject, stack)]
        count = max(int(outline.count[stack.row]) for stack in own)
        inner = max(_inner_count(subject, stack.row, loop) for stack in own)
        equations = sum(int(outline.equations[stack.row]) for stack in stacks)
        # A loop of two or three turns in another is written for what it does, not to be repeated.
        if max(count, inner) >= _FEW_COPIES and _worth_it(count * inner, equations):
            yield Unrolled(loop, count, inner, equations, stacks)


def _whole(stacks_of: dict[Loop, list[Stack]]) -> dict[Loop, list[Stack]]:
    """The stacks of each loop with those of the loops in it, which stand alone where its own turns are not alike, as
    they often are not on the way back."""
    found: dict[Loop, list[Stack]] = {}
    for loop in stacks_of:
        around = [other for other in stacks_of if _is_in(loop, other)]
        outer = min(around, key=lambda other: other.line.line, default=loop)
        found.setdefault(outer, []).extend(stacks_of[loop])
    return {loop: sorted(stacks, key=lambda stack: int(stack.first[0])) for loop, stacks in found.items()}


def _is_in(loop: Loop, other: Loop) -> bool:
    """Whether a loop stands in another."""
    same = loop.line.file == other.line.file and loop != other
    return same and other.line.line <= loop.line.line and loop.last <= other.last


def stacks_in(subject: Subject, stack: Stack) -> list[Stack]:
    """The outermost stacks in the first copy of a stack."""
    outline, end, found = subject.outline, int(stack.first[0]), []
    inside = _inside(subject, stack.row)
    inside = inside[(outline.count[inside] > 1) & (outline.first[inside] >= stack.first[0])]
    for row in inside[outline.end[inside] <= stack.end[0]].tolist():
        inner = _stack(subject, row)
        if inner is not None and outline.first[row] >= end:
            end = int(outline.end[row])
            found.append(inner)
    return found


def _stack(subject: Subject, row: int) -> Stack | None:
    """The copies of a row, those that are cut short too; None where it has none of its own."""
    outline = subject.outline
    inside = _inside(subject, row)
    copies = inside[(outline.parent[inside] == row) & (outline.copy[inside] >= 0)]
    return Stack(row, outline.first[copies], outline.end[copies]) if len(copies) > 1 else None


def _inside(subject: Subject, row: int) -> Column:
    """The rows inside a row. They stand in preorder, so they come right after it."""
    outline = subject.outline
    after = row + 1 + int(np.searchsorted(outline.first[row + 1 :], outline.end[row]))
    return np.arange(row + 1, after, dtype=np.int32)


def _inner_count(subject: Subject, row: int, loop: Loop) -> int:
    """How many copies of another loop stand in one copy of a stack."""
    outline = subject.outline
    inside = _inside(subject, row)
    # Of what is in all copies alike, the first speaks for all.
    stacks = inside[(outline.count[inside] > 1) & (outline.like[inside] < 0)]
    counts = [1]
    for one in stacks.tolist():
        stack = _stack(subject, one)
        if stack is not None and any(other != loop for other in _loops_of(subject, stack)):
            counts.append(int(outline.count[one]))
    return max(counts)


def _worth_it(copies: int, equations: int) -> bool:
    return (copies >= _COPIES and equations >= _EQUATIONS) or (copies >= _FEW_COPIES and equations >= _MANY_EQUATIONS)


def _finding(subject: Subject, loop: Loop, count: int, inner: int, equations: int, stacks: list[Stack]) -> Finding:
    tables = subject.graph.tables
    times = f"{count:,} x {inner:,}" if inner > 1 else f"{count:,}"
    flow = flow_of(subject.graph, stacks[0].first, stacks[0].end)
    where = f"line {loop.line.line} of {tables.strings[tables.files.label[loop.line.file]]}"
    backward = any(subject.is_backward(int(stack.first[0])) for stack in stacks)
    places = ", and again in the backward pass" if backward else f", in {len(stacks)} places"
    again = places if len(stacks) > 1 else ""
    return Finding(
        kind="unrolled",
        severity=WARNING if equations >= _COSTLY_EQUATIONS else ADVICE,
        title=f"unrolled from line {loop.line.line}: {times} copies",
        text=(
            f"The Python loop `{loop.head}` on {where} ran while JAX traced, so its body is there {count:,} times"
            f"{again}: {plural(equations, 'equation')} to trace and to compile in place of "
            f"{max(1, round(equations / count)):,}." + subject.tracing(equations)
        ),
        remedy=_remedy(count, flow),
        nodes=np.concatenate([np.arange(stack.first[0], stack.end[-1], dtype=np.int32) for stack in stacks]),
        lines=(loop.line,),
        figures={"copies": count, "equations": equations, "carried": flow.carried, "given": flow.given},
    )


def _remedy(count: int, flow: Flow) -> str:
    if not flow.simple:
        return (
            "The turns read more than the turn before them, so the body cannot become a loop as it stands: "
            "carry what they read, then use jax.lax.scan."
        )
    if flow.given and flow.carried:
        return (
            "Each turn reads something of its own: stack these into one array each and use "
            "jax.lax.scan(body, carry, stacked), which is traced and compiled once."
        )
    if flow.carried:
        return f"jax.lax.fori_loop(0, {count}, lambda i, carry: ..., carry) is traced and compiled once."
    return "The turns do not depend on one another: jax.vmap over them is one computation in place of many."


# The copies.


def flow_of(graph: Graph, first: Column, end: Column) -> Flow:
    """How values flow between copies, told from the second to the last copy of full length."""
    # What enters the body of a function is read by its call.
    while (owner := graph.regions.owner[graph.nodes.region[first]])[0] >= 0 and (owner == first - 1).all():
        first = owner
    operand_first, operand_end = graph.first_operand[first], graph.first_operand[end]
    alike = (end - first == end[0] - first[0]) & (operand_end - operand_first == operand_end[0] - operand_first[0])
    if int(alike.sum()) < 2 or not alike[:2].all():
        return _UNCLEAR
    copy_of = np.full(len(graph), -1, np.int64)
    copy_of[first[0] : end[-1]] = np.repeat(np.arange(len(first)), np.diff(np.append(first, end[-1])))
    own = np.flatnonzero(alike)[1:, None]
    table = graph.operands.source[operand_first[own] + np.arange(operand_end[0] - operand_first[0])]
    maker = np.full(table.shape, -1, np.int64)
    maker[table >= 0] = copy_of[graph.value_node[table[table >= 0]]]
    before = maker == own - 1
    outside = maker < 0
    if not (before | outside | (maker == own)).all():
        return _UNCLEAR
    changes = outside.all(axis=0) & (table != table[0]).any(axis=0)
    given = changes & (table >= 0).any(axis=0)
    return Flow(
        carried=len(np.unique(table[0][before[0]])),
        given=len(np.unique(table[0][given])),
        counted=bool((changes & ~given).any()),
        simple=True,
    )


# The loop in the source.


def _loops_of(subject: Subject, stack: Stack) -> list[Loop]:
    """The loops around all of a copy, the outermost first: at each depth of the call stack the widest."""
    stack_of = subject.graph.nodes.stack
    stacks = np.unique(stack_of[stack.first[0] : stack.end[0]])[:_PLACES].tolist()
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
    place = frames.line[frame], frames.column[frame], frames.end_line[frame], frames.end_column[frame]
    loop = source.find(place).loop
    if loop is None:
        return None
    head = source.text_of(loop)
    if isinstance(loop, (ast.For, ast.While)):
        head = head.partition(":")[0]
    return Loop(Line(file, source.line_of(loop)), source.end_line_of(loop), head)
