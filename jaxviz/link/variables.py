"""What the function calls its arguments and results, in the stages that the compiler makes.

The compiler keeps the order of results alone; arguments that nothing reads are gone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from jaxviz.graph import ARGUMENT, RESULT, Attributes, Column, Graph

VARIABLE = "variable"


def with_variables(graph: Graph, original: Graph) -> Graph:
    """A graph whose results, and the arguments of the same names, say which variables they are, as the jaxpr does."""
    key = original.tables.find_string(VARIABLE)
    marks = original.attributes
    marked = marks.key == key if key is not None else np.zeros(len(marks.key), np.bool_)
    marked &= original.nodes.region[marks.node] == 0
    if not marked.any():
        return graph
    variable = dict(zip(marks.node[marked].tolist(), marks.value[marked].tolist(), strict=True))
    found: dict[int, int] = {}
    own, first = _ends(graph, RESULT), _ends(original, RESULT)
    if len(own) == len(first):
        pairs = zip(own.tolist(), first.tolist(), strict=True)
        found |= {node: variable[other] for node, other in pairs if other in variable}
    named = {int(original.nodes.name[node]): variable[node] for node in _ends(original, ARGUMENT) if node in variable}
    for node in _ends(graph, ARGUMENT).tolist():
        if (name := int(graph.nodes.name[node])) in named:
            found[node] = named[name]
    return with_marks(graph, VARIABLE, found)


def with_marks(graph: Graph, key: str, found: Mapping[int, int]) -> Graph:
    """The graph with an attribute of these nodes more, whose values are strings of its tables."""
    if not found:
        return graph
    attributes = graph.attributes
    keys = np.full(len(found), graph.tables.string(key), np.int32)
    node = np.concatenate([attributes.node, np.array(list(found), np.int32)])
    keys = np.concatenate([attributes.key, keys])
    values = np.concatenate([attributes.value, np.array(list(found.values()), np.int32)])
    order = np.argsort(node, kind="stable")
    return replace(graph, attributes=Attributes(node[order], keys[order], values[order]))


def _ends(graph: Graph, kind: int) -> Column:
    """The arguments or results of the program itself."""
    return np.flatnonzero((graph.nodes.kind == kind) & (graph.nodes.region == 0)).astype(np.int32)
