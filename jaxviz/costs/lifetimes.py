"""What is alive while optimized HLO runs: from the order in which it runs, when each value is made and last read.

Counted are the arguments and results of the program, which are there all the time, and what the kernels of the entry
computation write in between. What a loop holds inside is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jaxviz.costs.traffic import value_bytes
from jaxviz.graph import ARGUMENT, CONSTANT, RESULT, Column, Graph

# Operations whose result lies where their operand lies.
_SAME_PLACE = frozenset({"bitcast", "get-tuple-element", "tuple", "while", "dynamic-update-slice", "copy-done"})
_SAME_PLACE |= {"sort", "scatter"}


@dataclass(frozen=True, eq=False)
class Peak:
    """The moment at which most is alive: the node that runs then, bytes in all, and the nodes that made the values."""

    node: int
    bytes: float
    arguments: float
    #: Nodes of the HLO that made what is alive besides arguments, and the bytes of each.
    alive: tuple[tuple[int, float], ...]
    #: Bytes of those that are results.
    results: float = 0.0
    #: Whether the places are those of XLA's buffer assignment, and not counted from the order alone.
    assigned: bool = False


def peak_of(graph: Graph, order: Column) -> Peak | None:
    """The peak of a graph of optimized HLO whose nodes stood at `order` in the order in which they run."""
    entry = np.flatnonzero(graph.nodes.region == 0)
    entry = entry[np.argsort(order[entry], kind="stable")]
    if not len(entry):
        return None
    time = np.full(len(graph), -1, np.int64)
    time[entry] = np.arange(len(entry))
    strings = graph.tables.strings
    root: dict[int, int] = {}
    made: dict[int, int] = {}
    last: dict[int, int] = {}
    arguments = 0.0
    for node in entry.tolist():
        kind, op = graph.nodes.kind[node], strings[graph.nodes.op[node]]
        sources = graph.operands.source[graph.first_operand[node] : graph.first_operand[node + 1]].tolist()
        for source in sources:
            if source >= 0:
                place = root.get(source, source)
                last[place] = len(entry) if kind == RESULT else max(last.get(place, -1), int(time[node]))
        for number, value in enumerate(range(graph.first_value[node], graph.first_value[node + 1])):
            if kind in (ARGUMENT, CONSTANT):
                arguments += value_bytes(graph, value) if kind == ARGUMENT else 0.0
                made[value] = -1
            elif op in _SAME_PLACE and sources:
                inner = sources[min(number, len(sources) - 1)]
                root[value] = root.get(inner, inner) if inner >= 0 else value
            else:
                made[value] = int(time[node])
    for value, end in last.items():
        # A result has its place from the start.
        if end == len(entry) and made.get(value, -1) >= 0:
            made[value] = 0
    change = np.zeros(len(entry) + 2)
    spans: list[tuple[int, int, int, float]] = []
    for value, start in made.items():
        if start < 0:
            continue
        end = last.get(value, start)
        size = value_bytes(graph, value)
        change[start] += size
        change[end + 1] -= size
        spans.append((start, end, value, size))
    alive = np.cumsum(change[:-1])
    moment = int(np.argmax(alive[: len(entry)]))
    there = [
        (int(graph.value_node[value]), size) for start, end, value, size in spans if start <= moment <= end and size
    ]
    there.sort(key=lambda one: -one[1])
    results = sum(size for _, end, _, size in spans if end == len(entry))
    return Peak(int(entry[moment]), float(alive[moment]) + arguments, arguments, tuple(there), results)
