"""From a graph to its outline, step by step."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.chains import Chains, Label
from jaxviz.outline.likes import rows_alike
from jaxviz.outline.modules import BACKWARD, FORWARD
from jaxviz.outline.noise import BOX, node_roles
from jaxviz.outline.paths import (
    BODY,
    CALL,
    COND,
    FUNCTION,
    LOOP,
    MODULE,
    PHASE,
    RECOMPUTED,
    STATEMENT,
    PathReader,
)
from jaxviz.outline.phases import PHASE_NAMES
from jaxviz.outline.repeats import Repeats, Stacked
from jaxviz.outline.rows import Rows, rows_of
from jaxviz.outline.stack_names import StackNames
from jaxviz.outline.tree import ROW_KINDS, Outline
from jaxviz.outline.twins import Twins

_EXPRESSION = ROW_KINDS.index("expression")

_STACK = ROW_KINDS.index("stack")
_COPY = ROW_KINDS.index("copy")

# What may itself be the stack of all that is in it.
_STACKABLE = (MODULE, CALL, STATEMENT, FUNCTION, RECOMPUTED, _EXPRESSION)

# What a person wrote: a call that holds any of these is more than one expression.
_OF_THE_PERSON = (PHASE, MODULE, CALL, STATEMENT, LOOP, COND, BODY)


def make_outline(graph: Graph) -> Outline:
    """The outline of a graph that was read from a jaxpr."""
    reader = PathReader(graph)
    found = reader.read()
    role = node_roles(graph, found)
    chains = Chains(graph, found, reader.expressions)
    drawn = (graph.nodes.kind == OPERATION) & (role == BOX)
    rows, label = chains.shorten(rows_of(found), drawn)
    labels = chains.labels
    kind = np.array([one.kind for one in labels], np.int32)[label]
    closed = ~_holds_more(rows, kind) & np.isin(kind, (CALL, MODULE))
    kind = np.where(closed & (kind == CALL), _EXPRESSION, kind).astype(np.int32)

    bare = np.flatnonzero(drawn).astype(np.int32)
    tokens = _tokens(labels)
    stacked = Repeats(rows, tokens[label], closed, np.isin(kind, _STACKABLE), bare, graph.nodes.op).find()
    namer = StackNames(graph, reader.expressions, labels)
    names = _Names(graph, labels)
    old = stacked.old
    is_old = old >= 0
    pattern = np.where(is_old, old, stacked.pattern)
    known = pattern >= 0
    kind = np.where(is_old | (stacked.single & known), kind[pattern], np.where(stacked.copy >= 0, _COPY, _STACK))
    label = np.where(known, label[pattern], -1)
    name, detail, variable = (column[label] for column in names.columns)
    new = np.flatnonzero(~is_old)
    for row in new[stacked.copy[new] < 0].tolist():
        name[row] = graph.tables.string(namer.name(int(label[row]), bool(stacked.single[row])))
        detail[row] = variable[row] = 0
    copies = new[stacked.copy[new] >= 0]
    name[copies] = detail[copies] = variable[copies] = 0

    token = np.where(known, tokens[label] * 2 + ~is_old, -1).astype(np.int32)
    return Outline(
        graph=graph,
        parent=stacked.rows.parent,
        kind=kind.astype(np.int32),
        name=name,
        detail=detail,
        variable=variable,
        first=stacked.rows.first,
        end=stacked.rows.end,
        closed=np.where(is_old, closed[pattern], False).astype(np.int32),
        count=stacked.count,
        copy=stacked.copy,
        like=rows_alike(stacked.rows, token, stacked.copy),
        twin=_twins(stacked, kind, label, labels, name),
        region=_regions(graph, stacked.rows, kind),
        role=role,
    )


def _twins(stacked: Stacked, kind: Column, label: Column, labels: Sequence[Label], name: Column) -> Column:
    """The twins of all rows in phases: those of each forward phase and of the backward phase that comes next."""
    phase = [labels[number].name if number >= 0 else "" for number in label.tolist()]
    places = [_place(one) for one in labels]
    children: list[list[int]] = [[] for _ in range(len(label))]
    for row, parent in enumerate(stacked.rows.parent.tolist()[1:], 1):
        children[parent].append(row)
    place: list[Hashable] = [places[number] if number >= 0 else None for number in label.tolist()]
    for row in np.flatnonzero(stacked.old < 0).tolist():
        # The first row in a stack is another one where the order is the other way round.
        place[row] = ("stack", int(name[row])) if stacked.copy[row] < 0 else None
    transparent = np.isin(kind, (STATEMENT, CALL)).tolist()
    twins = Twins(children, place, transparent, stacked.copy)
    waiting: dict[int, int] = {}
    for row in np.flatnonzero(kind == PHASE).tolist():
        parent = int(stacked.rows.parent[row])
        if phase[row] == PHASE_NAMES[FORWARD]:
            waiting[parent] = row
        elif phase[row] == PHASE_NAMES[BACKWARD] and parent in waiting:
            twins.tie(waiting.pop(parent), row)
    return twins.twin


def _place(label: Label) -> Hashable:
    """Equal for a row forward and its part of the backward phase."""
    if label.kind in (MODULE, RECOMPUTED, BODY):
        return label.kind, label.name
    if label.kind == STATEMENT:
        return label.token[0]
    return label.frames[:1] or label.token


class _Names:
    """What labels say, as columns of strings; the last of each is empty, for rows without a label."""

    def __init__(self, graph: Graph, labels: Sequence[Label]) -> None:
        string = graph.tables.string
        texts = [(one.name, one.detail, one.variable) for one in labels] + [("", "", "")]
        self.columns = tuple(
            np.array(column, np.int32) for column in zip(*(map(string, row) for row in texts), strict=True)
        )


def _tokens(labels: Sequence[Label]) -> Column:
    """Equal numbers for labels of what may be copies of each other."""
    numbers: dict[tuple[object, ...], int] = {}
    return np.array([numbers.setdefault(label.token, len(numbers)) for label in labels], np.int32)


def _holds_more(rows: Rows, kind: Column) -> NDArray[np.bool_]:
    """Whether anything that the person wrote stands inside a row."""
    counted = np.concatenate([[0], np.cumsum(np.isin(kind, _OF_THE_PERSON))])
    return counted[rows.after()] > counted[np.arange(1, len(rows) + 1)]


def _regions(graph: Graph, rows: Rows, kind: Column) -> Column:
    """The region of the graph whose body each row is."""
    region = np.full(len(rows), -1, np.int32)
    start, end = graph.region_intervals
    whole = np.flatnonzero((kind == LOOP) | (kind == BODY))
    for row in whole.tolist():
        inside = graph.owned_regions.get(int(rows.first[row]), ())
        number = int(graph.nodes.region[rows.first[row]])
        if kind[row] == BODY and start[number] == rows.first[row] and end[number] == rows.end[row]:
            region[row] = number
        elif len(inside) == 1:
            region[row] = inside[0]
    return region
