"""From a graph to its outline, step by step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.chains import Chains, Label
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
)
from jaxviz.outline.likes import rows_alike
from jaxviz.outline.names import Names
from jaxviz.outline.noise import BOX, node_roles
from jaxviz.outline.paths import PathReader
from jaxviz.outline.repeats import Repeats
from jaxviz.outline.rows import Rows, rows_of
from jaxviz.outline.tree import ROW_KINDS, Outline
from jaxviz.outline.twins import twins_of
from jaxviz.read.garbage import no_collections

_EXPRESSION, _STACK, _COPY, _PART = (ROW_KINDS.index(kind) for kind in ("expression", "stack", "copy", "part"))

# What may itself be the stack of all that is in it.
_STACKABLE = (MODULE, CALL, STATEMENT, FUNCTION, RECOMPUTED, _EXPRESSION)

# What a person wrote: a call that holds any of these is more than one expression.
_OF_THE_PERSON = (PHASE, MODULE, CALL, STATEMENT, LOOP, COND, BODY)


def make_outline(graph: Graph) -> Outline:
    """The outline of a graph that was read from a jaxpr."""
    with no_collections():
        return _make_outline(graph)


def _make_outline(graph: Graph) -> Outline:
    reader = PathReader(graph)
    found = reader.read()
    role = node_roles(graph, found)
    drawn = (graph.nodes.kind == OPERATION) & (role == BOX)
    chains = Chains(graph, found, reader.expressions)
    rows, label = chains.shorten(rows_of(found), drawn)
    labels = chains.labels
    tokens = _tokens(labels)
    draft = _stacked(graph, rows, label, labels, tokens, drawn)
    draft = with_parts(graph, draft, drawn, _PART)

    name, detail, variable = Names(graph, reader.expressions, labels, draft, drawn).columns
    token = np.where(draft.label >= 0, tokens[draft.label] * 2 + draft.added, -1).astype(np.int32)
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
        like=rows_alike(draft.rows, token, draft.copy),
        twin=twins_of(draft, labels, name),
        region=_regions(graph, draft),
        role=role,
    )


def _stacked(
    graph: Graph, rows: Rows, label: Column, labels: Sequence[Label], tokens: Column, drawn: NDArray[np.bool_]
) -> Draft:
    """Rows with their kinds, and stacks where there are repeats."""
    kind = np.array([one.kind for one in labels], np.int32)[label]
    closed = ~_holds_more(rows, kind) & np.isin(kind, (CALL, MODULE))
    kind = np.where(closed & (kind == CALL), _EXPRESSION, kind).astype(np.int32)
    bare = np.flatnonzero(drawn).astype(np.int32)
    stacked = Repeats(rows, tokens[label], closed, np.isin(kind, _STACKABLE), bare, graph.nodes.op).find()
    old = stacked.old >= 0
    origin = np.where(old, stacked.old, stacked.pattern)
    known = origin >= 0
    added = np.where(stacked.copy >= 0, _COPY, _STACK)
    return Draft(
        stacked.rows,
        np.where(old | (stacked.single & known), kind[origin], added).astype(np.int32),
        np.where(known, label[origin], -1).astype(np.int32),
        (old & closed[origin]).astype(np.int32),
        stacked.count,
        stacked.copy,
        (~old).astype(np.int32),
    )


def _tokens(labels: Sequence[Label]) -> Column:
    """Equal numbers for labels of what may be copies of each other."""
    numbers: dict[tuple[object, ...], int] = {}
    return np.array([numbers.setdefault(label.token, len(numbers)) for label in labels], np.int32)


def _holds_more(rows: Rows, kind: Column) -> NDArray[np.bool_]:
    """Whether anything that the person wrote stands inside a row."""
    counted = np.concatenate([[0], np.cumsum(np.isin(kind, _OF_THE_PERSON))])
    return counted[rows.after()] > counted[np.arange(1, len(rows) + 1)]


def _regions(graph: Graph, draft: Draft) -> Column:
    """The region of the graph whose body each row is."""
    region = np.full(len(draft), -1, np.int32)
    start, end = graph.region_intervals
    rows, kind = draft.rows, draft.kind
    for row in np.flatnonzero((kind == LOOP) | (kind == BODY)).tolist():
        inside = graph.owned_regions.get(int(rows.first[row]), ())
        number = int(graph.nodes.region[rows.first[row]])
        if kind[row] == BODY and start[number] == rows.first[row] and end[number] == rows.end[row]:
            region[row] = number
        elif len(inside) == 1:
            region[row] = inside[0]
    return region
