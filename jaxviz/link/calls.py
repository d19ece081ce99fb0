"""Which call of a function an instruction is of, where its name says the first one, whichever it is.

Until JAX 0.6 a function is lowered once for all its calls, with the names of the first. What is in a loop or a branch
is of the call that this is of. Else what an instruction is computed of is known, and what reads it: it is of the call
that alone computes it of that, and is read by that. Of more that do the same of the same values, it is of the first; of
others, likely of that which computes it in the fewest steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain

import numpy as np

from jaxviz import compat
from jaxviz.graph import ARGUMENT, CONSTANT, ENTER, LEAVE, OPERATION, RESULT, Graph
from jaxviz.link.flow import Flow
from jaxviz.link.links import Found
from jaxviz.link.repeated import repeated_equations
from jaxviz.link.tags import Places

# What is run more than once, or perhaps not.
_HOLDING = ("scan", "while", "cond", "conditional")
# So many steps back the compiler may have left out what is between two instructions.
_STEPS = 4
# So many instructions are looked at on the way back to what has a name.
_FAR = 32


def with_calls_told_apart(
    jaxpr: Graph, graph: Graph, tagged: Sequence[Found], places: Places
) -> tuple[Sequence[Found], frozenset[int]]:
    """The tags of a stage, those of the first call of a function in place of which another is meant with that; and
    which of them are no more than likely."""
    if not compat.NAMED_BY_FIRST_CALL:
        return tagged, frozenset()
    telling = _Telling(jaxpr, graph, tagged, places)
    left = -1
    while left != (left := telling.left):
        telling.by_what_is_read()
        telling.by_readers()
    return telling.told()


class _Telling:
    """Of each instruction the calls that it may be of, of which less and less are left."""

    def __init__(self, jaxpr: Graph, graph: Graph, tagged: Sequence[Found], places: Places) -> None:
        self._jaxpr, self._graph, self._places = jaxpr, graph, places
        self._back, self._flow = _Flow(graph), Flow(graph)
        self._found = list(tagged)
        #: How many steps it takes each call of which an instruction may be, where that is not known yet.
        self._open: dict[int, dict[int, int]] = {}
        self._calls = _Calls(jaxpr, places)
        for node in np.flatnonzero(np.isin(graph.nodes.kind, (OPERATION, CONSTANT))).tolist():
            candidates = self._calls.of(tagged[node][0]) if len(tagged[node]) == 1 else ()
            if len(candidates) > 1:
                self._open[node] = dict.fromkeys(candidates, 0)
        meant = {one for candidates in self._open.values() for one in candidates}
        self._calls.equal = repeated_equations(jaxpr, meant, self._calls.of) if meant else {}
        for node, calls in list(self._open.items()):
            self._keep(node, dict.fromkeys(map(self._calls.first_of, calls), 0), {})
        self._calls.there.update(chain.from_iterable(self._found))
        #: What arguments and results of the program are.
        self._ends = _ends(jaxpr, graph)

    @property
    def left(self) -> int:
        return len(self._open)

    def by_what_is_read(self) -> None:
        # What holds an instruction, and what it is computed of, stand before it.
        for node, candidates in list(self._open.items()):
            around = self._flow.holder(node)
            if around >= 0 and around not in self._open:
                inside = [one for one in candidates if self._places.holds(self._found[around], one)]
                candidates = {one: candidates[one] for one in inside or candidates}
            read = list(map(frozenset, self._read_by(node)))
            steps = {one: [self._calls.steps(one, tags) for tags in read] or [2 * _STEPS + 1] for one in candidates}
            # Several calls may share what they read, as a number; most is of what reads it.
            most = {one: sum(far <= _STEPS for far in each) for one, each in steps.items()}
            steps = {one: each for one, each in steps.items() if most[one] == max(most.values())}
            self._keep(node, {one: candidates[one] for one in steps}, {one: min(each) for one, each in steps.items()})

    def by_readers(self) -> None:
        for node, candidates in list(reversed(self._open.items())):
            known = [tags[0] for tags in self._reading(node) if len(tags) == 1]
            if known:
                steps = {one: max(self._calls.steps(reader, {one}) for reader in known) for one in candidates}
                self._keep(node, candidates, steps)

    def told(self) -> tuple[Sequence[Found], frozenset[int]]:
        for node, candidates in self._open.items():
            self._found[node] = (min(candidates, key=lambda one: (candidates[one], one)),)
        return self._found, frozenset(self._open)

    def _keep(self, node: int, candidates: dict[int, int], steps: dict[int, int]) -> None:
        """Of the candidates those that are so many steps away without anything between that is still there; if there
        are none, those that are so with it."""
        near = (dict(one for one in steps.items() if one[1] <= most) for most in (_STEPS, 2 * _STEPS))
        self._open[node] = next(filter(None, near), candidates)
        self._found[node] = tuple(self._open[node])
        if len(self._found[node]) == 1:
            del self._open[node]

    def _tags(self, node: int) -> Found:
        return self._ends.get(node) or self._found[node]

    def _read_by(self, node: int) -> Iterator[Found]:
        """The tags of what an instruction is computed of, back to what has a name."""
        return self._until_named(node, self._back.read_by)

    def _reading(self, node: int) -> Iterator[Found]:
        """The tags of what reads an instruction, on to what has a name."""
        return self._until_named(node, self._read_on)

    def _read_on(self, node: int) -> Iterator[int]:
        first, end = self._graph.first_value[node : node + 2].tolist()
        return chain.from_iterable(map(self._flow.readers, range(first, end)))

    def _until_named(self, node: int, beside: Callable[[int], Iterable[int]]) -> Iterator[Found]:
        waiting, seen = [*beside(node)], {node}
        while waiting and len(seen) < _FAR:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            if tags := self._tags(at):
                yield tags
            else:
                waiting += beside(at)


class _Calls:
    def __init__(self, jaxpr: Graph, places: Places) -> None:
        self._jaxpr, self._places = jaxpr, places
        self._flow = _Flow(jaxpr)
        self._known: dict[int, tuple[int, ...]] = {}
        self._back: dict[int, dict[int, int]] = {}
        #: What repeats others: of what is equal, the compiler leaves the first.
        self.equal: dict[int, int] = {}
        #: The equations of which there are instructions, be it in another call.
        self.there: set[int] = set()

    def of(self, node: int) -> tuple[int, ...]:
        """The same equation in all calls of the function that it is in."""
        if node not in self._known:
            region = int(self._jaxpr.nodes.region[node])
            self._known[node] = tuple(sorted(self._places.instances(node, region))) if region else ()
        return self._known[node]

    def first_of(self, node: int) -> int:
        """The first equation that does the same of the same."""
        return self.equal.get(node, node)

    def steps(self, node: int, read: AbstractSet[int]) -> int:
        """In how many steps an equation is computed of one of these, of which it may be one; more than that many are
        allowed, where something is between that is still there."""
        if node in read:
            return 0
        back = self._back.get(node)
        if back is None:
            back = self._back[node] = {}
            for most, there in ((0, self.there), (_STEPS, frozenset[int]())):
                ring, seen = {node}, {node}
                for step in range(most + 1, most + _STEPS + 1):
                    ring = {one for at in ring for one in self._flow.read_by(at)} - seen
                    seen |= ring
                    back.update((one, step) for one in {*map(self.first_of, ring)} - back.keys())
                    ring = {one for one in ring if self.first_of(one) not in there}
        return min((back[one] for one in read if one in back), default=2 * _STEPS + 1)


class _Flow:
    """What a node reads, into and out of bodies. What loops and branches give is of these."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        bindings = graph.bindings
        holding = [op for name in _HOLDING if (op := graph.tables.find_string(name)) is not None]
        owner = graph.regions.owner[graph.nodes.region[bindings.start]]
        enters, leaves = bindings.kind == ENTER, bindings.kind == LEAVE
        leaves &= ~np.isin(graph.nodes.op[owner], holding)
        self._entered = dict(zip(bindings.end[enters].tolist(), bindings.start[enters].tolist(), strict=True))
        self._left = dict(zip(bindings.end[leaves].tolist(), bindings.start[leaves].tolist(), strict=True))

    def read_by(self, node: int) -> Iterator[int]:
        first, end = self._graph.first_operand[node : node + 2].tolist()
        for source in self._graph.operands.source[first:end].tolist():
            maker = self._made_at(source)
            if maker >= 0:
                yield maker

    def _made_at(self, source: int) -> int:
        while source >= 0:
            node = int(self._graph.value_node[source])
            if source in self._left:
                result = self._left[source]
                source = int(self._graph.operands.source[self._graph.first_operand[result]])
            elif node in self._entered:
                source = self._entered[node]
            else:
                return node
        return -1


def _ends(jaxpr: Graph, graph: Graph) -> dict[int, Found]:
    """The arguments and results of the program, with those of the jaxpr that they are."""
    ours, theirs = _borders(jaxpr, RESULT), _borders(graph, RESULT)
    found: dict[int, Found] = {node: (one,) for node, one in zip(theirs, ours, strict=False)}
    named = {int(jaxpr.nodes.name[node]): node for node in _borders(jaxpr, ARGUMENT)}
    names = ((node, int(graph.nodes.name[node])) for node in _borders(graph, ARGUMENT))
    found.update((node, (named[name],)) for node, name in names if name in named)
    return found


def _borders(graph: Graph, kind: int) -> list[int]:
    return np.flatnonzero((graph.nodes.kind == kind) & (graph.nodes.region == 0)).tolist()
