"""Records of nodes: what stays the same of a node when others come and go."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from jaxviz.graph import Column, Graph
from jaxviz.link.links import Links
from jaxviz.outline.tree import Outline

#: Lineage, kind, op, name, stack, scope, role; then what it makes, reads and says, and its links.
NodeRow = tuple[Any, ...]
_LISTS = 7


def content(row: NodeRow) -> NodeRow:
    """What a node is, whatever it is called and wherever it comes from: what it makes, reads and says."""
    return (row[1], row[2], *row[_LISTS : _LISTS + 3])


def node_rows(graph: Graph, lineage: Column, links: Links, outline: Outline) -> list[NodeRow]:
    """The record of each node."""
    numbers = lineage.tolist()
    nodes = graph.nodes
    columns = (nodes.kind, nodes.op, nodes.name, nodes.stack, nodes.scope, outline.role)
    makers, outputs = makers_of(graph)
    read = zip(
        [numbers[makers[value]] for value in graph.operands.source.tolist()],
        [outputs[value] for value in graph.operands.source.tolist()],
        strict=True,
    )
    rows = zip(
        numbers,
        *(column.tolist() for column in columns),
        _split([(type_,) for type_ in graph.values.type.tolist()], nodes.outputs),
        _split(list(read), nodes.operands),
        _split(_pairs(graph.attributes.key, graph.attributes.value), _counts(graph.attributes.node, len(graph))),
        _split(_pairs(links.source, links.kind), _counts(links.target, len(graph))),
        strict=True,
    )
    return list(rows)


def makers_of(graph: Graph) -> tuple[list[int], list[int]]:
    """For each value the node that makes it, and which of the node's values it is."""
    maker = graph.value_node
    return maker.tolist(), (np.arange(len(maker)) - graph.first_value[maker]).tolist()


def _pairs(first: Column, second: Column) -> list[tuple[int, int]]:
    return list(zip(first.tolist(), second.tolist(), strict=True))


def _counts(owners: Column, count: int) -> Column:
    return np.bincount(owners, minlength=count).astype(np.int32)


def _split(rows: Sequence[Any], counts: Column) -> Iterable[tuple[Any, ...]]:
    ends = np.cumsum(counts).tolist()
    return (tuple(rows[end - count : end]) for end, count in zip(ends, counts.tolist(), strict=True))
