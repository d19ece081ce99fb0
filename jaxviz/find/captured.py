"""Arrays that a function captured: they are baked into what is compiled, as constants."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxviz.find.finding import ADVICE, WARNING, Finding, Subject, bytes_text
from jaxviz.graph import CONSTANT

# Bytes from which a constant is worth a word, and from which it costs compile time and memory that one notices.
_LARGE, _HUGE = 100_000, 10_000_000


def find(subject: Subject) -> Iterator[Finding]:
    """One finding for each large array; a body that reads it too is about the same one."""
    graph = subject.graph
    types = graph.tables.types
    found: dict[tuple[int, int], list[int]] = {}
    for node in np.flatnonzero(graph.nodes.kind == CONSTANT).tolist():
        type_ = int(graph.values.type[graph.first_value[node]])
        if types.bytes[type_] >= _LARGE:
            name = int(graph.nodes.name[node])
            # Two without a name may be two arrays.
            found.setdefault((name, type_) if name else (-1 - node, type_), []).append(node)
    for (name, type_), nodes in found.items():
        yield _finding(subject, max(name, 0), type_, nodes)


def _finding(subject: Subject, name: int, type_: int, nodes: list[int]) -> Finding:
    tables = subject.graph.tables
    size = tables.types.bytes[type_]
    what = f"`{tables.strings[name]}`" if name else "an array"
    readers = _readers(subject, nodes)
    return Finding(
        kind="captured",
        severity=WARNING if size >= _HUGE else ADVICE,
        title=f"{what} ({tables.type_text(type_)}, {bytes_text(size)}) is baked in as a constant",
        text=(
            f"The function takes {what} from around it, not as an argument. Its {bytes_text(size)} are part of the "
            "compiled program: a change of it is not seen, and each compilation carries a copy."
        ),
        remedy="Pass it as an argument.",
        nodes=np.array(nodes, np.int32),
        lines=subject.lines(readers),
        figures={"bytes": size},
    )


def _readers(subject: Subject, nodes: list[int]) -> np.ndarray:
    """The nodes that read what these make."""
    graph = subject.graph
    values = graph.first_value[nodes]
    return graph.operand_node[np.isin(graph.operands.source, values)]
