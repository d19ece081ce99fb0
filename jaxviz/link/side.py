"""One of two graphs that are matched with each other, and what is asked of its nodes: what each does by itself, what it
reads and what reads it, where it stands, and numbers for all that it is made of and all that is made of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from jaxviz.graph import ARGUMENT, CONSTANT, ENTER, INIT, LEAVE, OPERATION, RESULT, SLICE, STACK, Graph
from jaxviz.link.links import Links
from jaxviz.outline.tree import Outline

#: What a node reads at one place: the node that makes it and which of its values, or -1 and the text of a literal.
Read = tuple[int, int]


# Operations that give the same whichever operand comes first, in the words of jaxprs and of HLO.
_COMMUTATIVE = frozenset(
    {"add", "add_any", "mul", "multiply", "max", "maximum", "min", "minimum", "and", "or", "xor", "eq", "ne"}
)

_LOOPS = frozenset({"scan", "while"})


@dataclass(frozen=True, eq=False)
class Seen:
    """A graph to be matched, its outline where it has one, and the links to it from the jaxpr that it was made from."""

    graph: Graph
    outline: Outline | None = None
    origins: Links | None = None


class Side:
    """One graph, with what is asked of its nodes."""

    def __init__(self, seen: Seen) -> None:
        self.graph, self.outline, self.origins = seen.graph, seen.outline, seen.origins
        graph, nodes = self.graph, self.graph.nodes
        strings = graph.tables.strings
        self.commutative = {op for op in set(nodes.op.tolist()) if strings[op] in _COMMUTATIVE}
        self.kind: list[int] = nodes.kind.tolist()
        self.op: list[int] = nodes.op.tolist()
        border = (nodes.kind == ARGUMENT) | (nodes.kind == RESULT)
        #: What has a counterpart of its own: not the borders of bodies, which only hand values on.
        self.counts: list[bool] = (~border | (nodes.region == 0)).tolist()
        self.nodes = [node for node, counts in enumerate(self.counts) if counts]

    @cached_property
    def names(self) -> list[int | None]:
        """The name of each node; None where it has none."""
        return [name or None for name in self.graph.nodes.name.tolist()]

    @cached_property
    def reads(self) -> list[tuple[Read, ...]]:
        """What each node reads, through the borders of bodies: a call that is inlined reads the same."""
        graph = self.graph
        sources = graph.operands.source.tolist()
        first = graph.first_operand.tolist()
        maker, first_value = graph.value_node.tolist(), graph.first_value.tolist()
        into: dict[int, int] = {}
        out: dict[int, int] = {}
        bindings = graph.bindings
        for kind, start, end in zip(
            bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist(), strict=True
        ):
            if kind in (ENTER, INIT, SLICE):
                into.setdefault(end, start)
            elif kind in (LEAVE, STACK) and first[start] < first[start + 1]:
                out.setdefault(end, sources[first[start]])
        texts = graph.literals.text.tolist()

        def behind(source: int) -> Read:
            seen = 0
            while source >= 0 and seen < len(self.kind):
                seen += 1
                if source in out:
                    source = out[source]
                elif maker[source] in into:
                    source = into[maker[source]]
                else:
                    return maker[source], source - first_value[maker[source]]
            return -1, texts[-1 - source] if source < 0 else 0

        known: dict[int, Read] = {source: behind(source) for source in set(sources)}
        return [tuple(known[source] for source in sources[start:end]) for start, end in pairwise(first)]

    @cached_property
    def readers(self) -> list[list[tuple[int, int]]]:
        """For each node those that read it, each with the place at which it does."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.kind]
        for node in self.nodes:
            for place, (made_by, _) in enumerate(self.reads[node]):
                if made_by >= 0:
                    found[made_by].append((node, place))
        return found

    @cached_property
    def says(self) -> list[Hashable]:
        """What each node does by itself: its parameters, and the types that it makes."""
        graph = self.graph
        types, first = graph.values.type.tolist(), graph.first_value.tolist()
        said: dict[int, list[tuple[int, int]]] = defaultdict(list)
        rows = (graph.attributes.node.tolist(), graph.attributes.key.tolist(), graph.attributes.value.tolist())
        for node, key, value in zip(*rows, strict=True):
            said[node].append((key, value))
        return [(tuple(types[first[node] : first[node + 1]]), *said.get(node, ())) for node in range(len(self.kind))]

    def hashes(self, border: list[int], strict: bool) -> list[int]:
        """A number for all that each node is made of; `border` gives that of arguments.

        What is read stands before what reads it.
        """
        reads, says, op, kind = self.reads, self.says, self.op, self.kind
        made = border.copy()
        for node in self.nodes:
            if kind[node] in (OPERATION, CONSTANT, RESULT):
                of = [
                    (made[maker], place) if maker >= 0 else (0, place if strict else 0) for maker, place in reads[node]
                ]
                if op[node] in self.commutative:
                    of.sort()
                made[node] = hash((kind[node], op[node], says[node] if strict else 0, *of))
        return made

    def hashes_back(self, border: list[int], strict: bool) -> list[int]:
        """A number for all that is made of each node; `border` gives that of results."""
        says, op, kind, readers = self.says, self.op, self.kind, self.readers
        led = border.copy()
        for node in reversed(self.nodes):
            if kind[node] != RESULT:
                to = sorted(
                    (led[reader], 0 if op[reader] in self.commutative else place) for reader, place in readers[node]
                )
                led[node] = hash((op[node], says[node] if strict else 0, tuple(to)))
        return led

    @cached_property
    def loops_around(self) -> list[int]:
        """In how many bodies of loops each node stands."""
        graph, strings = self.graph, self.graph.tables.strings
        loops = [0]
        for region, owner in enumerate(graph.regions.owner.tolist()[1:], 1):
            loops.append(loops[graph.region_parent[region]] + (strings[self.op[owner]] in _LOOPS))
        return [loops[region] for region in graph.nodes.region.tolist()]

    @cached_property
    def place(self) -> list[Hashable]:
        """Where each node stands in the outline: the names of the rows around it."""
        if self.outline is None:
            return [()] * len(self.kind)
        outline = self.outline
        path: list[Hashable] = []
        for parent, name, kind, copy in zip(
            outline.parent.tolist(), outline.name.tolist(), outline.kind.tolist(), outline.copy.tolist(), strict=True
        ):
            path.append((path[parent] if parent >= 0 else (), name, kind, copy))
        return [path[row] for row in self.leaf]

    @cached_property
    def leaf(self) -> list[int]:
        """The innermost row of each node."""
        outline = self.outline
        leaf = np.zeros(len(self.kind), np.int32)
        if outline is not None:
            for row, (first, end) in enumerate(zip(outline.first.tolist(), outline.end.tolist(), strict=True)):
                leaf[first:end] = row
        found: list[int] = leaf.tolist()
        return found

    @cached_property
    def alike(self) -> list[int]:
        """For each node that which it is like in the first copy of the stack around it; itself outside of stacks."""
        alike = list(range(len(self.kind)))
        if self.outline is not None:
            outline = self.outline
            first, end, like = outline.first.tolist(), outline.end.tolist(), outline.like.tolist()
            for node, row in enumerate(self.leaf):
                twin = like[row]
                if twin >= 0 and end[twin] - first[twin] == end[row] - first[row]:
                    alike[node] = node - first[row] + first[twin]
        return alike
