"""The person's statements in what holds many things: those that one statement made stand in it together.

Modules stand right in what calls them, so a function that calls one on each line holds more than a person takes in.
Its lines are how its author took it in.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column, Graph
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.chains import Label
from jaxviz.outline.cuts import long_rows
from jaxviz.outline.draft import Draft
from jaxviz.outline.elements import STATEMENT
from jaxviz.outline.written.expressions import Expressions


def with_statements(
    graph: Graph,
    draft: Draft,
    drawn: NDArray[np.bool_],
    labels: list[Label],
    expressions: Expressions,
    stack: Column,
    stacks: StackTree,
) -> Draft:
    """The draft with statements around what they made in rows that are too long; their labels are added to `labels`."""
    bare = np.flatnonzero(drawn)
    around: list[int] = []
    first: list[int] = []
    end: list[int] = []
    numbers: list[int] = []
    for row, starts, ends in long_rows(draft, bare):
        low, high = np.searchsorted(bare, starts), np.searchsorted(bare, ends)
        made = [stack[bare[one:other]] for one, other in zip(low.tolist(), high.tolist(), strict=True)]
        frames = frames_below(stacks, made)
        if not _of_one_function(graph, frames):
            continue
        lines = [_statement_of(expressions, one) for one in frames]
        at = 0
        for place, same in itertools.groupby(lines):
            count = len(list(same))
            if place[0] and count > 1 and count < len(lines):
                around.append(row)
                first.append(int(starts[at]))
                end.append(int(ends[at + count - 1]))
                numbers.append(len(labels))
                labels.append(_label(graph, expressions, frames[at][0]))
            at += count
    if not around:
        return draft
    rows = np.array(around), np.array(first, np.int32), np.array(end, np.int32)
    found = draft.with_rows(*rows, STATEMENT, np.array(numbers, np.int32))
    # A piece of a statement that stands in the whole of it now is no thing of its own.
    token = [labels[number].token[0] if number >= 0 else None for number in found.label.tolist()]
    parent = found.rows.parent.tolist()
    is_piece = (found.kind == STATEMENT) & np.array([token[row] == token[parent[row]] for row in range(len(found))])
    is_piece[0] = False
    return found.keep(~is_piece)


def frames_below(stacks: StackTree, made: Sequence[Column]) -> list[list[int]]:
    """Of things by the call stacks of what is in each, the person's frames below all that they have in common.

    What a library does with a function of the person's is no part of a statement in that.
    """
    # There are many things, of a few stacks each, and far more stacks than that.
    used = [sorted(set(one.tolist())) for one in made]
    used = [one if one and one[0] >= 0 else [] for one in used]
    around = functools.reduce(stacks.common, itertools.chain(*used), next(itertools.chain(*used), -1))
    return [
        [frame for stack in one for frame in stacks.frames_between(stack, around)[:1] if not stacks.library[frame]]
        for one in used
    ]


def _of_one_function(graph: Graph, frames: Sequence[Sequence[int]]) -> bool:
    """Whether all these frames are of one function."""
    tables = graph.tables.frames
    return len({(tables.file[frame], tables.function[frame]) for one in frames for frame in one}) == 1


def _statement_of(expressions: Expressions, frames: Sequence[int]) -> tuple[int, int, int]:
    """The statement that frames of one function stand in, (0, 0, 0) where that are several."""
    found = {expressions.at(frame).statement for frame in frames}
    return found.pop() if len(found) == 1 else (0, 0, 0)


def _label(graph: Graph, expressions: Expressions, frame: int) -> Label:
    expression = expressions.at(frame)
    token = (STATEMENT, graph.tables.frames.file[frame], *expression.statement)
    text = expression.statement_text
    return Label(STATEMENT, text, text, "", (frame,), (token,))
