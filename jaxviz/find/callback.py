"""Calls back into Python, and moves between host and device, inside a compiled function."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from jaxviz.find.finding import ADVICE, NOTE, Finding, Subject
from jaxviz.graph import OPERATION
from jaxviz.units import plural

_LOOPS = frozenset({"scan", "while body", "while cond", "while"})
_BRANCHES = frozenset({"branch"})
_PRINTS = frozenset({"debug_callback", "debug_print"})


def find(subject: Subject) -> Iterator[Finding]:
    graph, strings = subject.graph, subject.graph.tables.strings
    ops = [op for op in np.unique(graph.nodes.op).tolist() if "callback" in strings[op] or strings[op] in _PRINTS]
    calls = np.flatnonzero(np.isin(graph.nodes.op, ops) & (graph.nodes.kind == OPERATION))
    nodes = np.array([node for node in calls.tolist() if not _is_check(subject, node)], np.int32)
    looping = np.array([node for node in nodes.tolist() if _is_inside(subject, node, _LOOPS)], np.int32)
    straight = np.setdiff1d(nodes, looping)
    # A print of each run is there to be seen; what goes to Python for a value holds the device up.
    # Nor is a check that a library makes the person's to mend.
    straight = np.array(
        [node for node in straight.tolist() if subject.flow.op(node) not in _PRINTS and subject.is_own(node)], np.int32
    )
    for found, in_loop in ((looping, True), (straight, False)):
        if not len(found):
            continue
        yield subject.told(
            kind="callback",
            severity=ADVICE if in_loop else NOTE,
            title=f"{plural(len(found), 'call')} into Python {'in each turn of a loop' if in_loop else 'in each run'}",
            text="The compiled program waits there for the host, moves the values to it and back, and takes Python's "
            "lock; on a GPU or TPU nothing else runs meanwhile.",
            remedy="Compute it with jax.numpy where that is possible; collect values in a loop and call once after it.",
            nodes=found.tolist(),
            figures={"calls": len(found)},
        )


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
