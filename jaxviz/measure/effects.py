"""What a run does besides computing: prints and calls back into Python, which each further run repeats."""

from __future__ import annotations

from jaxviz.graph import Graph

#: Words for the primitives that leave the device.
_EFFECTS = {
    "debug_print": "prints",
    "debug_callback": "prints or calls back into Python",
    "io_callback": "calls back into Python",
    "pure_callback": "calls back into Python",
    "outside_call": "calls back into Python",
}


def effects_of(graph: Graph) -> str:
    """Which lines of a jaxpr print or call back, in words; empty where none does.

    >>> import jax
    >>> from jaxviz.read.jaxpr import read_jaxpr
    >>> from jaxviz.tables import Tables
    >>> effects_of(read_jaxpr(jax.make_jaxpr(lambda x: x + 1)(1.0), Tables()))
    ''
    """
    words: dict[str, set[int]] = {}
    for op, word in _EFFECTS.items():
        for node in graph.find(op):
            words.setdefault(word, set()).add(node.line)
    parts = []
    for word, lines in words.items():
        known = sorted(line for line in lines if line)
        where = f" (line{'s' * (len(known) > 1)} {', '.join(map(str, known))})" if known else ""
        parts.append(f"{word}{where}")
    return " and ".join(parts)
