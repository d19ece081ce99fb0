"""From a graph to its outline, step by step."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.chains import Chains
from jaxviz.outline.noise import BOX, node_roles
from jaxviz.outline.paths import BODY, CALL, COND, LOOP, MODULE, PHASE, STATEMENT, PathReader
from jaxviz.outline.rows import Rows, rows_of
from jaxviz.outline.tree import ROW_KINDS, Outline

_EXPRESSION = ROW_KINDS.index("expression")

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
    kind = np.array([one.kind for one in chains.labels], np.int32)[label]
    closed = ~_holds_more(rows, kind) & np.isin(kind, (CALL, MODULE))
    kind = np.where(closed & (kind == CALL), _EXPRESSION, kind).astype(np.int32)

    string = graph.tables.string
    count = len(rows)
    return Outline(
        graph=graph,
        parent=rows.parent,
        kind=kind,
        name=np.array([string(one.name) for one in chains.labels], np.int32)[label],
        detail=np.array([string(one.detail) for one in chains.labels], np.int32)[label],
        variable=np.array([string(one.variable) for one in chains.labels], np.int32)[label],
        first=rows.first,
        end=rows.end,
        closed=closed.astype(np.int32),
        count=np.ones(count, np.int32),
        copy=np.full(count, -1, np.int32),
        like=np.full(count, -1, np.int32),
        twin=np.full(count, -1, np.int32),
        region=_regions(graph, rows, kind),
        role=role,
    )


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
