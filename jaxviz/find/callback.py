"""Calls back into Python, and moves between host and device, inside a compiled function."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from jaxviz.costs.traffic import value_bytes
from jaxviz.find.finding import ADVICE, NOTE, Finding, Subject
from jaxviz.graph import OPERATION, Graph
from jaxviz.units import bytes_text, plural

_LOOPS = frozenset({"scan", "while body", "while cond", "while"})
_BRANCHES = frozenset({"branch"})
# Bytes from which to print them takes time.
_LARGE = 1_000_000
_PRINTS = frozenset({"debug_callback", "debug_print"})


def find(subject: Subject) -> Iterator[Finding]:
    graph, strings = subject.graph, subject.graph.tables.strings
    ops = [op for op in np.unique(graph.nodes.op).tolist() if "callback" in strings[op] or strings[op] in _PRINTS]
    calls = np.flatnonzero(np.isin(graph.nodes.op, ops) & (graph.nodes.kind == OPERATION))
    nodes = np.array([node for node in calls.tolist() if not _is_check(subject, node)], np.int32)
    looping = np.array([node for node in nodes.tolist() if _is_inside(subject, node, _LOOPS)], np.int32)
    straight = np.setdiff1d(nodes, looping)
    straight = np.array([node for node in straight.tolist() if _holds_up(subject, node)], np.int32)
    for found, in_loop in ((looping, True), (straight, False)):
        if not len(found):
            continue
        given, back = _bytes(graph, found.tolist())
        yield subject.told(
            kind="callback",
            severity=ADVICE if in_loop else NOTE,
            title=f"{plural(len(found), 'call')} into Python {'in each turn of a loop' if in_loop else 'in each run'}",
            text=f"The compiled program waits there for the host, {_moved(given, back)}, and takes Python's lock; on a "
            "GPU or TPU nothing else runs meanwhile.",
            remedy="Compute it with jax.numpy where that is possible; collect values in a loop and call once after it.",
            nodes=found.tolist(),
            figures={"calls": len(found), "bytes": given + back},
        )


def _holds_up(subject: Subject, node: int) -> bool:
    """Whether a call in each run is worth a word: a print is there to be seen, and to print little takes little time.

    A check that a library makes is not the person's to mend.
    """
    prints = subject.flow.op(node) in _PRINTS and sum(_bytes(subject.graph, [node])) < _LARGE
    return not prints and subject.is_own(node)


def _moved(given: float, back: float) -> str:
    """What goes to the host and what comes back, each time that all is called."""
    parts = [f"moves {bytes_text(given)} to it"] if given else []
    parts += [f"{'' if given else 'moves '}{bytes_text(back)} back"] if back else []
    return " and ".join(parts) or "moves nothing"


def _bytes(graph: Graph, nodes: list[int]) -> tuple[float, float]:
    """The bytes that calls take from the device, and those that they give back to it."""
    given = back = 0.0
    for node in nodes:
        operands = graph.operands.source[graph.first_operand[node] : graph.first_operand[node + 1]].tolist()
        given += sum(value_bytes(graph, source) for source in operands if source >= 0)
        made = range(int(graph.first_value[node]), int(graph.first_value[node + 1]))
        back += sum(value_bytes(graph, value) for value in made)
    return given, back


def _is_check(subject: Subject, node: int) -> bool:
    """Whether a library calls Python in a branch: it does to raise an error, and in no other turn."""
    return not subject.is_own(node) and _is_inside(subject, node, _BRANCHES)


def _is_inside(subject: Subject, node: int, kinds: Collection[str]) -> bool:
    """Whether a body of one of these kinds is around a node."""
    graph, strings = subject.graph, subject.graph.tables.strings
    region = int(graph.nodes.region[node])
    while region > 0:
        if strings[graph.regions.kind[region]] in kinds:
            return True
        region = int(graph.region_parent[region])
    return False
