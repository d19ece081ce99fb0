"""Which nodes of one graph are which of another that is of the same kind: two programs, or one for two targets.

Nodes are the same where all that they are made of is the same, or all that is made of them; from these, what stands
beside them is found, and what is then left by its place in the outline. A link is exact where everything before or
after the node is the same, inferred where its neighbours or its place say so, merged where the copies of an unrolled
loop are the body of a loop, and changed where the counterpart does not do quite the same.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cached_property

import numpy as np

from jaxviz.graph import ARGUMENT, CONSTANT, OPERATION, RESULT
from jaxviz.link.links import CHANGED, EXACT, INFERRED, MERGED, Links
from jaxviz.link.side import Read, Seen, Side


def match(ours: Seen, theirs: Seen, jaxprs: Links | None = None) -> Links:
    """Links from the nodes of one graph to those of the other; both must share their tables.

    `jaxprs` are such links between the jaxprs that the two were made from.
    """
    if ours.graph.tables is not theirs.graph.tables:
        raise ValueError("expected two graphs over one set of tables")
    return _Matching(Side(ours), Side(theirs), jaxprs).links()


class _Matching:
    def __init__(self, ours: Side, theirs: Side, jaxprs: Links | None) -> None:
        self.ours, self.theirs, self.jaxprs = ours, theirs, jaxprs
        self.to = [-1] * len(ours.kind)
        self.back = [-1] * len(theirs.kind)
        self.kind = [INFERRED] * len(ours.kind)
        self._fresh: deque[tuple[int, int]] = deque()

    def links(self) -> Links:
        self._borders()
        self._by_hashes(strict=True)
        self._spread()
        self._by_hashes(strict=False)
        self._spread()
        self._by_origin()
        self._spread()
        self._by_place()
        self._spread()
        for node, other in enumerate(self.to):
            if other >= 0 and self._differs(node, other):
                self.kind[node] = CHANGED
        rows = [(other, node, self.kind[node]) for node, other in enumerate(self.to) if other >= 0]
        columns = np.array(sorted({*rows, *self._copies(), *self._copies_of_origins()}), np.int32).reshape(-1, 3)
        target, source, kind = (np.ascontiguousarray(column) for column in columns.T)
        return Links(source, target, kind)

    def _join(self, node: int, other: int, kind: int) -> None:
        if self.to[node] < 0 and self.back[other] < 0:
            self.to[node], self.back[other], self.kind[node] = other, node, kind
            self._fresh.append((node, other))

    def _borders(self) -> None:
        """Arguments, results and captured arrays of the program: by name, then in order."""
        for kind in (ARGUMENT, RESULT, CONSTANT):
            left, right = (
                [node for node in side.nodes if side.kind[node] == kind and side.graph.nodes.region[node] == 0]
                for side in (self.ours, self.theirs)
            )
            names, their_names = self.ours.names, self.theirs.names
            self._pair(left, right, names.__getitem__, their_names.__getitem__, EXACT)
            rest = [[node for node in left if self.to[node] < 0], [node for node in right if self.back[node] < 0]]
            if len(rest[0]) == len(rest[1]):
                for node, other in zip(*rest, strict=True):
                    self._join(node, other, INFERRED)

    def _pair(
        self,
        left: Iterable[int],
        right: Iterable[int],
        our_key: Callable[[int], Hashable],
        their_key: Callable[[int], Hashable],
        kind: int,
        *,
        unequal: bool = True,
    ) -> None:
        """Joins nodes of the same key in order; with `unequal`, also where one graph has more of them."""
        waiting: dict[Hashable, list[int]] = defaultdict(list)
        for other in right:
            if self.back[other] < 0 and (key := their_key(other)) is not None:
                waiting[key].append(other)
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for node in left:
            if self.to[node] < 0 and (key := our_key(node)) is not None:
                groups[key].append(node)
        for key, nodes in groups.items():
            others = waiting.get(key, [])
            if unequal or len(nodes) == len(others):
                for node, other in zip(nodes, others, strict=False):
                    self._join(node, other, kind)

    def _by_hashes(self, *, strict: bool) -> None:
        # What was joined is the same; all else at the borders is like nothing.
        our_border = [hash(("pair", to) if to >= 0 else ("ours", node)) for node, to in enumerate(self.to)]
        their_border = [hash(("pair" if to >= 0 else "theirs", node)) for node, to in enumerate(self.back)]
        our_made, our_led = self._hashes(self.ours, our_border, strict)
        their_made, their_led = self._hashes(self.theirs, their_border, strict)
        kind = EXACT if strict else INFERRED
        ours, theirs = list(zip(our_made, our_led, strict=True)), list(zip(their_made, their_led, strict=True))
        self._pair(self._left(), self._right(), ours.__getitem__, theirs.__getitem__, kind)
        for our_number, their_number in ((our_made, their_made), (our_led, their_led)):
            key, their_key = our_number.__getitem__, their_number.__getitem__
            self._pair(self._left(), self._right(), key, their_key, kind, unequal=False)

    @staticmethod
    def _hashes(side: Side, border: list[int], strict: bool) -> tuple[list[int], list[int]]:
        return side.hashes(border, strict), side.hashes_back(border, strict)

    def _left(self) -> Iterator[int]:
        return (node for node in self.ours.nodes if self.to[node] < 0 and self.ours.kind[node] == OPERATION)

    def _right(self) -> Iterator[int]:
        return (node for node in self.theirs.nodes if self.back[node] < 0 and self.theirs.kind[node] == OPERATION)

    def _spread(self) -> None:
        """From each pair to what they read and to what reads them, where these are the same operations."""
        ours, theirs = self.ours, self.theirs
        while self._fresh:
            node, other = self._fresh.popleft()
            for (maker, value), (their_maker, their_value) in zip(ours.reads[node], theirs.reads[other], strict=False):
                if maker >= 0 and their_maker >= 0 and value == their_value and self._can(maker, their_maker):
                    self._join(maker, their_maker, INFERRED)
            waiting: dict[Hashable, list[int]] = defaultdict(list)
            for reader, place in theirs.readers[other]:
                if self.back[reader] < 0 and theirs.kind[reader] == OPERATION:
                    waiting[theirs.op[reader], place].append(reader)
            if not waiting:
                continue
            groups: dict[Hashable, list[int]] = defaultdict(list)
            for reader, place in ours.readers[node]:
                if self.to[reader] < 0 and ours.kind[reader] == OPERATION:
                    groups[ours.op[reader], place].append(reader)
            for key, readers in groups.items():
                others = waiting.get(key, [])
                if len(others) == len(readers):
                    for reader, their_reader in zip(readers, others, strict=True):
                        self._join(reader, their_reader, INFERRED)

    def _can(self, node: int, other: int) -> bool:
        ours, theirs = self.ours, self.theirs
        return (
            self.to[node] < 0
            and self.back[other] < 0
            and ours.kind[node] == theirs.kind[other]
            and ours.kind[node] in (OPERATION, CONSTANT)
            and ours.op[node] == theirs.op[other]
        )

    @cached_property
    def _origins(self) -> tuple[list[list[int]], list[list[int]]]:
        """For each node of both graphs the equations of the second jaxpr that it, or its like, was made from."""
        found = []
        for side, moved in ((self.ours, True), (self.theirs, False)):
            origins: list[list[int]] = [[] for _ in side.kind]
            if side.origins is not None and self.jaxprs is not None:
                rows = zip(side.origins.source.tolist(), side.origins.target.tolist(), strict=True)
                for equation, node in rows:
                    origins[node].extend(self.jaxprs.targets(equation) if moved else (equation,))
            found.append(origins)
        return found[0], found[1]

    def _by_origin(self) -> None:
        """What is left, by the equations that it was made from and its operation."""
        ours, theirs = self._origins
        waiting: dict[tuple[int, int], deque[int]] = defaultdict(deque)
        for other in self._right():
            for equation in theirs[other]:
                waiting[self.theirs.op[other], equation].append(other)
        for node in list(self._left()):
            for equation in ours[node]:
                others = waiting.get((self.ours.op[node], equation), ())
                while others and self.back[others[0]] >= 0:
                    others.popleft()
                if others:
                    self._join(node, others[0], INFERRED)
                    break

    def _copies_of_origins(self) -> Iterator[tuple[int, int, int]]:
        """What was made from the copies of an unrolled loop, where the other was made from the body of a loop."""
        if self.jaxprs is None:
            return
        merged = self.jaxprs.kind == MERGED
        ours, theirs = self._origins
        # Of the second jaxpr: bodies of what the first unrolls, and copies of what the first has as a body.
        bodies = set(self.jaxprs.target[merged].tolist())
        for node, other in self._of_one_origin(self.ours, ours, self.to, self.theirs, theirs, bodies):
            yield other, node, MERGED
        for other, node in self._of_one_origin(self.theirs, theirs, self.back, self.ours, ours, bodies):
            yield other, node, MERGED

    @staticmethod
    def _of_one_origin(
        side: Side,
        origins: list[list[int]],
        to: list[int],
        other_side: Side,
        other_origins: list[list[int]],
        of: set[int],
    ) -> Iterator[tuple[int, int]]:
        """What has no counterpart yet, each with the first node of the other graph that is made from the same."""
        first: dict[tuple[int, int], int] = {}
        for other, equations in enumerate(other_origins):
            for equation in equations:
                if equation in of and other_side.counts[other]:
                    first.setdefault((other_side.op[other], equation), other)
        for node, equations in enumerate(origins):
            if to[node] < 0 and side.counts[node]:
                found = next(
                    (first[key] for equation in equations if (key := (side.op[node], equation)) in first), None
                )
                if found is not None:
                    yield node, found

    def _by_place(self) -> None:
        """What is left, by the rows around it and its operation, in order; then by what it does alone."""
        ours, theirs = self.ours, self.theirs
        if ours.outline is not None and theirs.outline is not None:
            self._pair(
                self._left(),
                self._right(),
                lambda node: (ours.place[node], ours.op[node]),
                lambda node: (theirs.place[node], theirs.op[node]),
                INFERRED,
            )
        # The only one of its kind is the same, whatever stands around it.
        self._pair(
            self._left(),
            self._right(),
            lambda node: (ours.op[node], ours.says[node]),
            lambda node: (theirs.op[node], theirs.says[node]),
            INFERRED,
            unequal=False,
        )

    def _differs(self, node: int, other: int) -> bool:
        """Whether a node and its counterpart are told apart by more than what stands before them."""
        ours, theirs = self.ours, self.theirs
        if ours.says[node] != theirs.says[other] or len(ours.reads[node]) != len(theirs.reads[other]):
            return True
        mine, yours = list(ours.reads[node]), list(theirs.reads[other])
        if ours.op[node] in ours.commutative and len(mine) == 2 and not self._reads_like(mine, yours):
            yours.reverse()
        return not self._reads_like(mine, yours)

    def _reads_like(self, mine: list[Read], yours: list[Read]) -> bool:
        for (maker, value), (their_maker, their_value) in zip(mine, yours, strict=True):
            if (maker < 0) != (their_maker < 0) or (maker < 0 and value != their_value):
                return False
            if maker >= 0 and not self._is_like(maker, their_maker):
                return False
        return True

    def _is_like(self, node: int, other: int) -> bool:
        """Whether what is read is the same as far as its reader has to tell it."""
        if self.to[node] >= 0 and self.back[other] >= 0:
            return self.to[node] == other
        if CONSTANT in (self.ours.kind[node], self.theirs.kind[other]):
            # One constant may be read at two places of which the other graph has two.
            return self.ours.says[node] == self.theirs.says[other]
        # What has no counterpart is told by itself.
        return True

    def _copies(self) -> Iterator[tuple[int, int, int]]:
        """Copies in one graph of what stands once in the other: each is linked to it."""
        for to, side, other, turned in (
            (self.to, self.ours, self.theirs, False),
            (self.back, self.theirs, self.ours, True),
        ):
            many: dict[int, list[int]] = defaultdict(list)
            for node, original in enumerate(side.alike):
                if side.kind[node] == OPERATION:
                    many[original].append(node)
            for nodes in many.values():
                found = [to[node] for node in nodes if to[node] >= 0]
                # Copies of what stands in no loop that they do not stand in are copies of their own.
                if len(nodes) > 1 and found and other.loops_around[found[0]] > side.loops_around[nodes[0]]:
                    for node in nodes:
                        if to[node] < 0:
                            pair = (found[0], node) if not turned else (node, found[0])
                            yield (*pair, MERGED)
