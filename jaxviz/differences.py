"""What differs between a stage of one program and that of another, by the rule by which the picture marks it.

The rule is that of `labextension/src/view/compared.ts`: what the picture draws has a counterpart or not; what it does
not draw as an operation, as an argument, a constant or a broadcast, is a difference of the operations that read it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, CARRY, OPERATION, RESULT, SLICE, Column, Graph, Node
from jaxviz.link.links import CHANGED, MERGED, PLUMBING, Links
from jaxviz.link.side import Seen
from jaxviz.outline.noise import BOX, COUNTER, EDGE

#: What a node is beside the other graph; NONE where it is not drawn, or computes nothing.
NONE, SAME, ONLY, OTHER, FOLDED = range(5)

# Operations that are frames in the picture, and more than a call.
_FRAMES = ("scan", "while", "cond", "conditional", "case", "if")

# What hands on the value as it is: what reads it reads the same without it.
_COPIES = ("copy", "copy_p")


@dataclass(frozen=True, eq=False)
class Differences:
    """How a stage of one program differs from that of another, in the operations that the picture draws.

    `only_a` and `only_b` have no counterpart; `changed` are counterparts that do not do the same, or read a constant
    that is another; the `same` do. `merged` counts the copies of an unrolled loop that are the body of a loop in the
    other.
    """

    stage: str
    only_a: tuple[Node, ...]
    only_b: tuple[Node, ...]
    changed: tuple[tuple[Node, Node], ...]
    same: int
    merged: int

    def __bool__(self) -> bool:
        return bool(self.only_a or self.only_b or self.changed or self.merged)

    def __str__(self) -> str:
        if not self:
            return f"{self.stage}: the same {self.same:,}"
        parts = [
            (len(self.only_a), "only in the first"),
            (len(self.only_b), "only in the second"),
            (len(self.changed), "changed"),
            (self.merged, "folded into a loop"),
            (self.same, "the same"),
        ]
        return f"{self.stage}: " + ", ".join(f"{count:,} {words}" for count, words in parts if count)

    def __repr__(self) -> str:
        return f"<{self}>"


def differences(stage: str, ours: Seen, theirs: Seen, links: Links) -> Differences:
    """What differs between two graphs, by the links from the first to the second."""
    here = _Beside(ours, links.source, links.target, links.kind)
    there = _Beside(theirs, links.target, links.source, links.kind)
    # Seen from either side the same operations have changed, whichever has the value.
    mine, yours = here.readers_of_others(), there.readers_of_others()
    one = here.standing([*mine, *there.counterparts(yours, here.role)])
    other = there.standing([*yours, *here.counterparts(mine, there.role)])
    start, end = one[links.source], other[links.target]
    changed = (start == OTHER) & (end == OTHER) | (links.kind == CHANGED) & ((start == OTHER) | (end == OTHER))
    return Differences(
        stage,
        only_a=_nodes(here.graph, one == ONLY),
        only_b=_nodes(there.graph, other == ONLY),
        changed=tuple(
            (here.graph.node(source), there.graph.node(target))
            for source, target in zip(links.source[changed].tolist(), links.target[changed].tolist(), strict=True)
        ),
        same=int(np.count_nonzero(one == SAME)),
        # The copies: of what they are in the other there are fewer.
        merged=max(int(np.count_nonzero(standing == FOLDED)) for standing in (one, other)),
    )


def _nodes(graph: Graph, chosen: NDArray[np.bool_]) -> tuple[Node, ...]:
    return tuple(graph.node(node) for node in np.flatnonzero(chosen).tolist())


class _Beside:
    """A graph beside another; the links as `own` node, `other` node and kind."""

    def __init__(self, seen: Seen, own: Column, other: Column, kind: Column) -> None:
        graph = self.graph = seen.graph
        self.role = seen.outline.role if seen.outline else np.full(len(graph), BOX, np.int32)
        self._own, self._other = own, other
        self._linked, self._differs, self._merged = (
            _at(len(graph), own[chosen]) for chosen in (kind >= 0, kind == CHANGED, kind == MERGED)
        )
        self._computes = (graph.nodes.kind == OPERATION) & ~_is_one_of(graph, PLUMBING)
        self._drawn = (self.role <= COUNTER) | _is_one_of(graph, _FRAMES)

    def standing(self, changed: Iterable[int]) -> Column:
        """What each node is, where these have changed because of what they read."""
        linked = np.select([self._differs, self._merged], [OTHER, FOLDED], SAME)
        standing = np.where(self._computes & self._drawn, np.where(self._linked, linked, ONLY), NONE)
        for node in changed:
            if standing[node] != ONLY:
                standing[node] = OTHER
        return standing

    def readers_of_others(self) -> list[int]:
        """What reads a value without a box that differs; what makes that value where nothing with a box reads it."""
        hands_on = self._computes & (self.role == EDGE)
        nodes = self.graph.nodes
        given = _is_one_of(self.graph, ("constant",)) | (nodes.kind == ARGUMENT) & (nodes.region == 0)
        missing = hands_on & ~self._linked & ~_is_one_of(self.graph, _COPIES)
        others = (given | hands_on) & self._differs | missing
        return [reader for node in np.flatnonzero(others).tolist() for reader in self._drawn_readers(node) or (node,)]

    def counterparts(self, nodes: Iterable[int], role: Column) -> list[int]:
        """The boxes of the other graph that nodes of this one are linked to."""
        linked = self._other[np.isin(self._own, np.array([*nodes], np.int64))]
        return [int(node) for node in np.unique(linked) if role[node] == BOX]

    def _drawn_readers(self, node: int) -> list[int]:
        """The boxes that read what a node makes, through what only hands it on."""
        first, after = self._after
        found: list[int] = []
        waiting, seen = [node], {node}
        while waiting:
            at = waiting.pop()
            for reader in set(after[first[at] : first[at + 1]].tolist()) - seen:
                seen.add(reader)
                drawn = self.role[reader] == BOX and self._computes[reader]
                (found if drawn else waiting).append(reader)
        return found

    @cached_property
    def _after(self) -> tuple[Column, Column]:
        """The nodes after node n: `after[first[n]]` to `after[first[n + 1]]`."""
        start, end = _steps(self.graph)
        order = np.argsort(start, kind="stable")
        return np.searchsorted(start[order], np.arange(len(self.graph) + 1)).astype(np.int32), end[order]


def _at(count: int, nodes: Column) -> NDArray[np.bool_]:
    found = np.zeros(count, bool)
    found[nodes] = True
    return found


def _is_one_of(graph: Graph, ops: Iterable[str]) -> NDArray[np.bool_]:
    known = [number for number in map(graph.tables.find_string, ops) if number is not None]
    return np.isin(graph.nodes.op, np.array(known, np.int32))


def _steps(graph: Graph) -> tuple[Column, Column]:
    """From which node to which a value leads: along operands, into bodies and out of them, in one turn of a loop."""
    bindings, nodes = graph.bindings, graph.nodes
    entering = (bindings.kind <= SLICE) & (bindings.start >= 0)
    taken, argument = bindings.start[entering], bindings.end[entering]
    # What a body takes in leads into the body; what none takes, as the index of a branch, to all that comes out.
    values = len(graph.value_node)
    bound = graph.regions.owner[nodes.region[argument]].astype(np.int64) * values + taken
    source, reader = graph.operands.source, graph.operand_node
    read = (source >= 0) & ~np.isin(reader.astype(np.int64) * values + source, bound)
    value, target = np.concatenate([taken, source[read]]), np.concatenate([argument, reader[read]])
    result, left = _results_as(graph, value)
    deciding = _deciding(graph)
    owner = graph.regions.owner[nodes.region[deciding]]
    return np.concatenate([graph.value_node[value], result, deciding]), np.concatenate([target, target[left], owner])


def _results_as(graph: Graph, value: Column) -> tuple[Column, Column]:
    """The results of bodies that values stand for, each with the place of its value."""
    bindings = graph.bindings
    leaving = np.flatnonzero((bindings.kind > SLICE) & (bindings.kind != CARRY))
    leaving = leaving[np.argsort(bindings.end[leaving], kind="stable")]
    low, high = (np.searchsorted(bindings.end[leaving], value, side) for side in ("left", "right"))
    place = np.repeat(np.arange(len(value)), high - low)
    row = np.arange(len(place)) - np.repeat(np.cumsum(high - low) - (high - low), high - low) + low[place]
    return bindings.start[leaving[row]], place.astype(np.int32)


def _deciding(graph: Graph) -> Column:
    """Results of bodies that lead nowhere: they decide something for what holds the body, as to end a loop."""
    leads = _at(len(graph), graph.bindings.start[graph.bindings.kind > SLICE])
    inside = graph.regions.owner[graph.nodes.region] >= 0
    return np.flatnonzero((graph.nodes.kind == RESULT) & inside & ~leads).astype(np.int32)
