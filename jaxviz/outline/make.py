"""From a graph to its outline, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.chains import Chains, Label, is_itself
from jaxviz.outline.containers import containers
from jaxviz.outline.cuts import with_parts
from jaxviz.outline.draft import Draft
from jaxviz.outline.elements import (
    BODY,
    CALL,
    COND,
    FUNCTION,
    LOOP,
    MODULE,
    PHASE,
    RECOMPUTED,
    STATEMENT,
    is_kind,
)
from jaxviz.outline.names.names import GOES_ON, Names
from jaxviz.outline.noise import BOX, node_roles
from jaxviz.outline.paths import NodePaths, PathReader
from jaxviz.outline.phases.turns_back import calls_in_turns
from jaxviz.outline.phases.twins import twins_of
from jaxviz.outline.phases.way_back import order_back
from jaxviz.outline.repeats.joined import turns_apart
from jaxviz.outline.repeats.likes import names_in_common, rows_alike
from jaxviz.outline.repeats.repeats import Repeats
from jaxviz.outline.rows import Rows, before_each, rows_of
from jaxviz.outline.statements import with_statements
from jaxviz.outline.tree import ROW_KINDS, Outline
from jaxviz.outline.written.expressions import Expressions, is_control
from jaxviz.read.garbage import without_collections
from jaxviz.tables import rows_used

_EXPRESSION, _STACK, _COPY, _PART = (ROW_KINDS.index(kind) for kind in ("expression", "stack", "copy", "part"))

# What may itself be the stack of all that is in it.
_STACKABLE = (MODULE, CALL, STATEMENT, FUNCTION, RECOMPUTED, _EXPRESSION)

# What a person wrote: a call that holds any of these is more than one expression.
_OF_THE_PERSON = (PHASE, MODULE, CALL, STATEMENT, LOOP, COND, BODY)


@without_collections
def make_outline(graph: Graph) -> Outline:
    """The outline of a graph that was read from a jaxpr."""
    reader = PathReader(graph)
    found = reader.read()
    own_frame = _own_frames(reader.stack, reader.stacks)
    return outline_by(graph, reader, found, node_roles(graph, found, own_frame, reader.stacks.calling()))


def outline_by(graph: Graph, reader: PathReader, found: NodePaths, role: Column) -> Outline:
    """The outline of a graph by the paths that were found in it, and by what its nodes are drawn as."""
    drawn = (graph.nodes.kind == OPERATION) & (role == BOX)
    chains = Chains(graph, found, reader.expressions)
    rows = turns_apart(rows_of(found), found.paths, reader.expressions)
    rows, label = chains.shorten(rows, drawn)
    labels = chains.labels
    tokens = _numbered([one.token for one in labels])
    # What a row begins with says where it came from, also where a copy of it lacks what the others have; of a module it
    # is its class alone, and another one of that class is no copy.
    # Where that is one box, what is left of it may be less.
    firsts = [one.token[:1] for one in labels]
    tokens_of_places = [one.token if one.kind == MODULE else first for one, first in zip(labels, firsts, strict=True)]
    begins, places = np.split(_numbered([*firsts, *tokens_of_places]), 2)
    kind = np.array([one.kind for one in labels], np.int32)[label]
    own_frame = _own_frames(reader.stack, reader.stacks)
    # What was fused into one kernel is a detail of that.
    one_frame = _one_frame(rows, own_frame, drawn & ~found.opaque)
    control = _control_frames(own_frame, reader.expressions)
    closed = is_kind(kind, (CALL, MODULE, LOOP, COND)) & _is_one_expression(rows, kind, own_frame, one_frame, control)
    goes_on = (kind == BODY) & np.array([one.name == GOES_ON for one in labels], np.bool_)[label]
    closed |= _is_condition_of_library(rows, goes_on, own_frame, one_frame, control)
    closed &= ~containers(rows, labels, label, tokens, drawn, graph.tables)
    closed |= (kind == RECOMPUTED) | np.array([is_itself(one) for one in labels], np.bool_)[label]
    draft = _stacked(graph, rows, label, labels, tokens, begins, places, kind, closed, drawn)
    draft = calls_in_turns(draft, labels)
    draft = with_statements(graph, draft, drawn, labels, reader.expressions, reader.stack, reader.stacks)
    tokens = _numbered([one.token for one in labels])
    draft = with_parts(graph, draft, drawn, _PART)

    names = Names(graph, reader.expressions, labels, draft, drawn, reader.stack, reader.stacks, reader.called)
    name, detail, variable = names.columns
    token = np.where(draft.label >= 0, tokens[draft.label] * 2 + draft.added, -1).astype(np.int32)
    like = rows_alike(draft.rows, token, _steps(labels, draft), draft.copy)
    # A copy itself is called as its stack is.
    numbered = np.where((draft.kind == MODULE) & (draft.copy < 0), like, -1)
    common = names_in_common(numbered, name, graph.tables)
    name[list(common)] = list(common.values())
    twin = twins_of(draft, labels, name, like, common)
    # A stack of turns backward is told by the loop that it is the way back of.
    back = np.flatnonzero((draft.count > 1) & (twin >= 0) & (twin < np.arange(len(draft))) & (draft.count[twin] > 1))
    name[back], detail[back], variable[back] = name[twin[back]], detail[twin[back]], variable[twin[back]]
    # So is what a library calls, where on the way back nothing but its operations is known: `relu`, not `select_n`.
    told = names.by_operations & (draft.kind == FUNCTION) & (twin >= 0) & (twin < np.arange(len(draft)))
    told &= ~names.by_operations[twin]
    name[told], detail[told] = name[twin[told]], detail[twin[told]]
    draft = replace(draft, closed=draft.closed | _says_the_same(draft, name))
    return Outline(
        graph=graph,
        parent=draft.rows.parent,
        kind=draft.kind,
        name=name,
        detail=detail,
        variable=variable,
        first=draft.rows.first,
        end=draft.rows.end,
        closed=draft.closed,
        count=draft.count,
        copy=draft.copy,
        like=like,
        twin=twin,
        region=_regions(graph, draft),
        role=role,
    )


def _stacked(
    graph: Graph,
    rows: Rows,
    label: Column,
    labels: Sequence[Label],
    tokens: Column,
    begins: Column,
    places: Column,
    kind: Column,
    closed: NDArray[np.bool_],
    drawn: NDArray[np.bool_],
) -> Draft:
    """Rows with their kinds, and stacks where there are repeats."""
    kind = np.where(closed & (kind == CALL), _EXPRESSION, kind).astype(np.int32)
    bare = np.flatnonzero(drawn).astype(np.int32)
    stacked = Repeats(
        rows,
        tokens[label],
        places[label],
        np.where(closed, begins[label], places[label]),
        closed,
        is_kind(kind, _STACKABLE),
        bare,
        graph.nodes.op,
        order_back(rows, label, labels, places[label]),
    ).find()
    old = stacked.old >= 0
    origin = np.where(old, stacked.old, stacked.pattern)
    known = origin >= 0
    added = np.where(stacked.copy >= 0, _COPY, _STACK)
    kinds = np.where(old | (stacked.single & known), kind[origin], added).astype(np.int32)
    # Copies in a call of the person are calls, though JAX knows them by the function that it wraps.
    kinds[(stacked.copy >= 0) & (kinds == FUNCTION) & (kinds[stacked.rows.parent] == CALL)] = CALL
    return Draft(
        stacked.rows,
        kinds,
        np.where(known, label[origin], -1).astype(np.int32),
        # What a call does itself is as little to open where it does that several times.
        (known & closed[origin] & (old | (kind[origin] == FUNCTION))).astype(np.int32),
        stacked.count,
        stacked.copy,
        (~old).astype(np.int32),
    )


def _says_the_same(draft: Draft, name: Column) -> NDArray[np.bool_]:
    """Calls of a library in which only one thing has a name, which is theirs: what is beside it is a detail of that."""
    parent = draft.rows.parent[1:]
    called = draft.kind[1:] == FUNCTION
    same = called & (draft.kind[parent] == FUNCTION) & (name[1:] == name[parent]) & (draft.count[1:] == 1)
    found = np.zeros(len(draft), np.bool_)
    found[parent[same]] = True
    return found & (np.bincount(parent, minlength=len(draft)) == 1) & (name > 0)


def _steps(labels: Sequence[Label], draft: Draft) -> NDArray[np.int64]:
    """What each row stands for, from the outermost in, as numbers from 1 on: of a stack that was put in, what is first
    in it, and of all copies the same."""
    numbers: dict[object, int] = {(): 1}
    steps = [[numbers.setdefault(step, len(numbers) + 1) for step in one.token] for one in labels]
    table = np.zeros((len(steps) + 1, max(map(len, steps))), np.int64)
    for row, taken in zip(table, steps, strict=False):
        row[: len(taken)] = taken
    found = table[draft.label]
    found[draft.added > 0, 0] += len(numbers) + 1
    found[draft.copy >= 0, 0] = 1
    found[(draft.added > 0) | (draft.copy >= 0), 1:] = 0
    return found


def _numbered(tokens: Sequence[tuple[object, ...]]) -> Column:
    """Equal numbers for equal tokens, which are those of what may be copies of each other."""
    numbers: dict[tuple[object, ...], int] = {}
    return np.array([numbers.setdefault(token, len(numbers)) for token in tokens], np.int32)


def _own_frames(stack: Column, stacks: StackTree) -> Column:
    """The innermost of the person's frames that each node came from, -1 where there is none."""
    # The last is for the empty stack, which is number -1.
    frames = np.full(int(stack.max(initial=-1)) + 2, -1, np.int32)
    for one in rows_used(stack[stack >= 0]):
        frames[one] = stacks.own_frame(one)
    return frames[stack]


def _control_frames(own_frame: Column, expressions: Expressions) -> NDArray[np.bool_]:
    """Of each node, whether the person himself repeats or chooses where it came from: `scan(step, ...)`."""
    frames = [frame for frame in np.unique(own_frame).tolist() if frame >= 0 and is_control(expressions.at(frame).name)]
    return np.isin(own_frame, frames)


def _one_frame(rows: Rows, frame: Column, drawn: NDArray[np.bool_]) -> Column:
    """The frame that all boxes in each row are of, -1 where that are several or none."""
    boxes = np.flatnonzero(drawn)
    if not len(boxes):
        return np.full(len(rows), -1, np.int32)
    changes = np.concatenate([[0, 0], np.cumsum(frame[boxes[1:]] != frame[boxes[:-1]])])
    before = before_each(boxes, len(drawn))
    low, high = before[rows.first], before[rows.end]
    one = (high > low) & (changes[high] == changes[np.minimum(low + 1, high)])
    return np.where(one, frame[boxes[np.minimum(low, len(boxes) - 1)]], -1)


def _is_one_expression(
    rows: Rows, kind: Column, frame: Column, one_frame: Column, control: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Whether all of a row came from one expression of the person's source.

    So it is where nothing that the person wrote stands inside, and where all boxes inside are of one frame. The loops
    of a library's function are its own: all in them is of the frame of the call, which is no `scan` of the person.
    One that runs modules, as that which unrolls a recurrent network, is no more than these.
    """
    inside, after = np.arange(1, len(rows) + 1), rows.after()
    of_library = is_kind(kind, (LOOP, COND)) & (one_frame >= 0)
    if of_library.any():
        # What is handed to the functions that a loop of a library stands in has no frame.
        known = np.flatnonzero(frame >= 0)
        call = known[np.minimum(np.searchsorted(known, rows.first), len(known) - 1)]
        of_library &= (one_frame == frame[call]) & ~control[call]
    of_library |= (kind == BODY) & of_library[rows.parent]
    counted = np.concatenate([[0], np.cumsum(is_kind(kind, _OF_THE_PERSON) & ~of_library)])
    levels = np.concatenate([[0], np.cumsum(is_kind(kind, (PHASE, LOOP, COND, BODY)) & ~of_library)])
    modules = np.concatenate([[0], np.cumsum(kind == MODULE)])
    is_one = (counted[after] == counted[inside]) | ((one_frame >= 0) & (levels[after] == levels[inside]))
    return is_one & np.where(is_kind(kind, (LOOP, COND)), of_library & (modules[after] == modules[inside]), True)


def _is_condition_of_library(
    rows: Rows, goes_on: NDArray[np.bool_], frame: Column, one_frame: Column, control: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Whether a row `goes_on` with a loop, and a library says if: all in it is of the frame that the loop is of."""
    if not goes_on.any():
        return goes_on
    loop = rows.first[rows.parent]
    condition: NDArray[np.bool_] = goes_on & (one_frame >= 0) & (one_frame == frame[loop]) & ~control[loop]
    return condition


def _regions(graph: Graph, draft: Draft) -> Column:
    """The region of the graph whose body each row is."""
    rows = draft.rows
    start, end = graph.region_intervals
    owners = graph.regions.owner[1:]
    owned = np.bincount(owners, minlength=len(graph) + 1)
    # Of each node the last region that it owns: of one that owns no others, its only one.
    last = np.zeros(len(graph) + 1, np.int32)
    last[owners] = np.arange(1, len(owners) + 1)
    around = np.append(graph.nodes.region, 0)[rows.first]
    is_body = (draft.kind == BODY) & (start[around] == rows.first) & (end[around] == rows.end)
    is_owner = ((draft.kind == LOOP) | (draft.kind == BODY)) & (owned[rows.first] == 1)
    region: Column = np.where(is_body, around, np.where(is_owner, last[rows.first], -1)).astype(np.int32)
    return region
