"""What a pass of the compiler did: instructions that it added, removed, changed, fused or moved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from jaxviz.graph import CONSTANT, OPERATION, Graph, Node
from jaxviz.series import Series, State
from jaxviz.series.rows import content

CHANGE_KINDS = ("added", "removed", "changed", "fused", "moved")


@dataclass(frozen=True)
class Change:
    """What became of one instruction. One that was removed is a node of the graph before the pass."""

    kind: str
    node: Node
    #: The equations that it comes from: nodes of the graph of the jaxpr.
    equations: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.kind} {self.node.name}"


class Pass:
    """One pass of the compiler that changed something, with the graph that it left."""

    def __init__(self, series: Series, number: int) -> None:
        self._series, self.number = series, number
        step = series.steps[number]
        self.name, self.pipeline = step.name, step.pipeline
        #: How many passes between this and the one before it changed something too, and are told as part of it.
        self.joined = step.joined

    @cached_property
    def graph(self) -> Graph:
        """The program after this pass."""
        return self._series.state(self.number).graph

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """All that it did, in program order, what it removed first."""
        before, after = self._series.state(self.number - 1), self._series.state(self.number)
        found = changed_lineages(before, after)
        removed = [_change("removed", before, lineage) for lineage in found.pop("removed")]
        kind_of = {lineage: kind for kind, lineages in found.items() for lineage in lineages}
        others = [lineage for lineage in after.lineage.tolist() if lineage in kind_of]
        return (*removed, *(_change(kind_of[lineage], after, lineage) for lineage in others))

    @property
    def added(self) -> tuple[Change, ...]:
        """Instructions that were not there before."""
        return self._of("added")

    @property
    def removed(self) -> tuple[Change, ...]:
        """Instructions that are no longer there."""
        return self._of("removed")

    @property
    def changed(self) -> tuple[Change, ...]:
        """Instructions that became another operation or read or say something else."""
        return self._of("changed")

    @property
    def fused(self) -> tuple[Change, ...]:
        """Instructions that went into a fusion."""
        return self._of("fused")

    @property
    def moved(self) -> tuple[Change, ...]:
        """Instructions that went somewhere else: out of a call that was inlined, into or out of a loop."""
        return self._of("moved")

    def _of(self, kind: str) -> tuple[Change, ...]:
        return tuple(change for change in self.changes if change.kind == kind)

    def __repr__(self) -> str:
        counts = {kind: len(self._of(kind)) for kind in CHANGE_KINDS}
        told = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
        joined = f" and {self.joined} before it" if self.joined else ""
        return f"<Pass {self.number} {self.name}{joined}: {told}>"


class Passes(Sequence[Pass]):
    """The passes of the compiler that changed something, in order, each with the graph that it left::

    ex.passes[0].name, ex.passes[0].removed
    ex.passes.start                          # the graph before any of them
    """

    def __init__(self, series: Series, note: str = "") -> None:
        self.series = series
        #: What was left out, in words; empty where these are all.
        self.note = note
        self._passes = tuple(Pass(series, number) for number in range(1, len(series)))

    @cached_property
    def start(self) -> Graph:
        """The program as the compiler was given it."""
        return self.series.state(0).graph

    def __len__(self) -> int:
        return len(self._passes)

    def __getitem__(self, number: Any) -> Any:
        return self._passes[number]

    def __repr__(self) -> str:
        names = ", ".join(each.name for each in self._passes)
        return f"<{len(self)} pass{'es' * (len(self) != 1)}: {names}{'; ' * bool(self.note)}{self.note}>"


def changed_lineages(before: State, after: State) -> dict[str, list[int]]:
    """What happened to instructions between two states of a series, by kind of change; each as its lineage."""
    old, new = _instructions(before), _instructions(after)
    was, now = before.node_rows, after.node_rows
    held_before, held_now = _holders(before), _holders(after)
    fused = _in_fusion(after)
    found: dict[str, list[int]] = {kind: [] for kind in CHANGE_KINDS}
    found["removed"] = [lineage for lineage in old if lineage not in after.node_of]
    for lineage, node in new.items():
        other = old.get(lineage)
        if other is None:
            found["added"].append(lineage)
        elif held_before[other] != held_now[node]:
            found["fused" if fused[node] else "moved"].append(lineage)
        elif was[other] != now[node] and content(was[other]) != content(now[node]):
            found["changed"].append(lineage)
    return found


def _change(kind: str, state: State, lineage: int) -> Change:
    node = state.node_of[lineage]
    return Change(kind, state.graph.node(node), tuple(state.links.sources(node)))


def _instructions(state: State) -> dict[int, int]:
    """The nodes that are instructions, by lineage: borders come and go with what they belong to."""
    kinds = state.graph.nodes.kind
    nodes = np.flatnonzero((kinds == OPERATION) | (kinds == CONSTANT))
    return dict(zip(state.lineage[nodes].tolist(), nodes.tolist(), strict=True))


def _holders(state: State) -> list[int]:
    """For each node the lineage of what holds it, -1 for the program."""
    owner = state.graph.regions.owner
    if not len(state.lineage):
        return []
    held = np.where(owner >= 0, state.lineage[np.maximum(owner, 0)], -1)
    return held[state.graph.nodes.region].tolist()


def _in_fusion(state: State) -> list[bool]:
    strings = state.graph.tables.strings
    fusion = np.array([strings[kind] == "fusion" for kind in state.graph.regions.kind.tolist()])
    return fusion[state.graph.nodes.region].tolist()
