"""Large values that one kernel writes to memory for another to read, though both only compute entry by entry.

What a product or a reduction reads or writes has to be in memory; that is not told. Told is what XLA could have kept in
one kernel, and the fact that kept it apart, where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxviz.find.finding import NOTE, Compiled, Finding, Subject, bytes_text, plural
from jaxviz.graph import RESULT, Graph
from jaxviz.kernels import kernels_of
from jaxviz.traffic import traffic_of, value_bytes

# Operations that need what they read, or give what they make, in memory.
_WHOLE = frozenset({"dot", "convolution", "custom-call", "reduce", "reduce-window", "sort", "fft", "scatter"})
_WHOLE |= {"triangular-solve", "select-and-scatter", "rng-bit-generator", "while", "conditional", "call", "topk"}
_WHOLE |= {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "dynamic-update-slice"}
_WHOLE |= {"cholesky"}
_LAYOUT = frozenset({"copy", "transpose"})
# Bytes from which a value is large, and how much of all traffic such values must be.
_LARGE, _SHARE = 1_000_000, 0.2


def find(subject: Subject) -> Iterator[Finding]:
    compiled = subject.compiled
    if compiled is None:
        return
    found = _between(compiled)
    if not found:
        return
    size = sum(value_bytes(compiled.graph, value) for value in found)
    # Each is written once, and read by each of its users.
    moved = sum(value_bytes(compiled.graph, value) * (1 + users) for value, (users, _) in found.items())
    traffic = sum(kernel.bytes_in + kernel.bytes_out for kernel in traffic_of(compiled.graph))
    if moved < _SHARE * traffic:
        return
    nodes = compiled.sources(int(compiled.graph.value_node[value]) for value in found)
    largest = sorted(found, key=lambda value: -value_bytes(compiled.graph, value))[:3]
    said = "; ".join(f"{_name(compiled.graph, value)}: {found[value][1]}" for value in largest)
    yield subject.told(
        kind="unfused",
        severity=NOTE,
        title=f"{plural(len(found), 'large value')} ({bytes_text(size)}) written to memory between kernels",
        text=(
            f"Writing and reading them is {moved / traffic:.0%} of all that the program moves, "
            f"{bytes_text(traffic)}. What kept them apart: {said}."
        ),
        remedy="Where a value has several users, computing it again in each may be faster than keeping it; "
        "a copy for layout goes where both sides agree on the order of axes.",
        nodes=nodes.tolist(),
        figures={"values": len(found), "bytes": size, "traffic": traffic},
    )


def _between(compiled: Compiled) -> dict[int, tuple[int, str]]:
    """The large values that no kernel needs as a whole: how many kernels read each, and what kept them apart."""
    graph = compiled.graph
    kernels = kernels_of(graph)
    operands, reader = graph.operands.source, graph.operand_node
    # Only what runs by itself writes to memory.
    writers = np.flatnonzero(kernels == np.arange(len(graph)))
    read = np.argsort(operands, kind="stable")
    sources = operands[read]
    found: dict[int, tuple[int, str]] = {}
    whole: dict[int, bool] = {}

    def needs_whole(node: int) -> bool:
        if node not in whole:
            inside = np.flatnonzero(kernels == node)
            whole[node] = any(graph.tables.strings[op] in _WHOLE for op in np.unique(graph.nodes.op[inside]).tolist())
        return whole[node]

    for node in writers.tolist():
        for value in range(graph.first_value[node], graph.first_value[node + 1]):
            if value_bytes(graph, value) < _LARGE or needs_whole(node):
                continue
            low, high = np.searchsorted(sources, [value, value + 1])
            readers = sorted(set(reader[read[low:high]].tolist()))
            if not readers or any(graph.nodes.kind[one] == RESULT or kernels[one] != one for one in readers):
                continue
            if any(needs_whole(one) for one in readers):
                continue
            found[value] = len(readers), _fact(graph, node, readers)
    return found


def _fact(graph: Graph, node: int, readers: list[int]) -> str:
    strings = graph.tables.strings
    for one in (node, *readers):
        if strings[graph.nodes.op[one]] in _LAYOUT:
            return "a copy for layout"
    if len(readers) > 1:
        return f"{len(readers)} kernels read it"
    return "XLA does not say"


def _name(graph: Graph, value: int) -> str:
    node = int(graph.value_node[value])
    name = graph.tables.strings[graph.nodes.name[node]] or graph.tables.strings[graph.nodes.op[node]]
    return f"{name} ({bytes_text(value_bytes(graph, value))})"
