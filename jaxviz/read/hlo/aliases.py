"""Which results of a module take the memory of which arguments: what donation came to.

JAX donates arguments, and says for each which result may have its memory. Both say so here, as attributes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from jaxviz.graph import ARGUMENT, RESULT, Attributes, Graph
from jaxviz.read.hlo.wire import Field, message, number, numbers

_ENTRY = re.compile(r"\{(\d*)\}: \((\d+), \{\}")


class Alias(NamedTuple):
    """The result of this number lies in the memory of the argument of this number."""

    result: int
    argument: int


def aliases_in_text(text: str) -> list[Alias]:
    """Those of the header of a module: `{ {0}: (1, {}, may-alias) }`. Parts of tuples inside of tuples are left out.

    >>> aliases_in_text("{ {}: (2, {}, may-alias) }")
    [Alias(result=0, argument=2)]
    """
    return [Alias(int(result or 0), int(argument)) for result, argument in _ENTRY.findall(text)]


def aliases_in_proto(data: bytes, field: Field) -> Iterator[Alias]:
    """The same, of the message."""
    for entry in message(data, field):
        result, argument, parts = [0], 0, 0
        for part in message(data, entry):
            if part.number == 1:
                result = numbers(data, part)
            elif part.number == 2:
                argument = number(part)
            elif part.number == 3:
                parts += 1
        if len(result) <= 1 and not parts:
            yield Alias(result[0] if result else 0, argument)


def with_aliases(graph: Graph, aliases: Iterable[tuple[int, int]]) -> Graph:
    """The graph whose arguments and results say which memory they share."""
    nodes, tables = graph.nodes, graph.tables
    own = nodes.region == 0
    arguments, results = (np.flatnonzero(own & (nodes.kind == kind)).tolist() for kind in (ARGUMENT, RESULT))
    rows = []
    for result, argument in aliases:
        if result < len(results) and argument < len(arguments):
            given, taken = arguments[argument], results[result]
            name = tables.strings[nodes.name[given]] or f"argument {argument}"
            taker = tables.strings[nodes.name[taken]] or (f"result {result}" if len(results) > 1 else "the result")
            rows.append((given, tables.string("donated"), tables.string(f"its memory becomes that of {taker}")))
            rows.append((taken, tables.string("memory"), tables.string(f"that of {name}, which is donated")))
    if not rows:
        return graph
    old = graph.attributes
    columns = np.concatenate([np.array([old.node, old.key, old.value], np.int32).T, np.array(rows, np.int32)])
    columns = columns[np.argsort(columns[:, 0], kind="stable")]
    return replace(graph, attributes=Attributes(*columns.T.copy()))
