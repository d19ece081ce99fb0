"""Fates: what became of every equation of the jaxpr, and, of those that are gone, where and why."""

from __future__ import annotations

from dataclasses import dataclass

from jaxviz.graph import Column, Graph

FATE_KINDS = (
    "none",  # not an equation
    "alone",
    "fused",
    "both",
    "context",
    "dead",
    "unlowered",
    "imported",
    "simplified",
    "folded",
    "merged",
    "consequence",
    "moved",
)
NONE, ALONE, FUSED, BOTH, CONTEXT, DEAD, UNLOWERED, IMPORTED, SIMPLIFIED, FOLDED, MERGED, CONSEQUENCE, MOVED = range(13)

_ALIVE = (ALONE, FUSED, BOTH, CONTEXT)


@dataclass(frozen=True)
class Fate:
    """What became of one equation, a node of the graph of the jaxpr."""

    node: int
    kind: str
    #: The compiler pass that removed it; empty where none did.
    where: str
    #: The equation or the argument that took its place, or -1. Of what was `merged` with another operation, it may be
    #: that only a part of that does the same, as the exponential in an error function.
    by: int

    @property
    def alive(self) -> bool:
        """Whether optimized HLO holds some of it."""
        return FATE_KINDS.index(self.kind) in _ALIVE


@dataclass(frozen=True, eq=False)
class Fates:
    """One row for each node of the graph of the jaxpr; `where` are strings of the tables, `by` nodes or -1."""

    kind: Column
    where: Column
    by: Column
    #: The equations that were merged with a part only of what `by` says.
    parts: frozenset[int] = frozenset()


def fates_of(graph: Graph, fates: Fates) -> tuple[Fate, ...]:
    """The fates of the equations of a graph, in words."""
    strings = graph.tables.strings
    rows = zip(fates.kind.tolist(), fates.where.tolist(), fates.by.tolist(), strict=True)
    return tuple(
        Fate(node, FATE_KINDS[kind], strings[where], by) for node, (kind, where, by) in enumerate(rows) if kind != NONE
    )
