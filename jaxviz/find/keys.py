"""Random keys: the same key used twice gives the same numbers twice.

Each key is followed from where it is made: through wrapping, into bodies, to its entries. Numbers and splits use a key
up; `fold_in` does not, because it is made to be called on one key again and again.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from jaxviz.find.baked_keys import baked_keys
from jaxviz.find.finding import NOTE, WARNING, Finding, Subject
from jaxviz.find.left_keys import left_keys
from jaxviz.graph import ARGUMENT, ENTER, INIT, LEAVE, RESULT, SLICE, Graph

# Operations that use up their first operand.
_USING = frozenset({"random_bits", "random_split", "random_gamma", "threefry2x32"})
# Operations whose value is the same key in another form.
_SAME = frozenset({"random_wrap", "random_unwrap", "copy", "copy_p", "optimization_barrier", "squeeze", "reshape"})
_SAME |= {"convert_element_type", "broadcast_in_dim", "device_put", "sharding_constraint"}
# Operations that make a key of numbers.
_MAKING = frozenset({"random_seed", "random_fold_in"})
# Operations that take an entry out of an array of keys: equal operands and parameters are the same entry.
_ENTRIES = frozenset({"slice", "dynamic_slice", "gather", "index_in_dim"})
# Steps that are followed from a split to who draws with its keys.
_STEPS = 6
_LOOPS = frozenset({"scan", "while body", "while cond", "while"})
# Parts that JAX computes again in the backward pass, with the same numbers on purpose: by their name stack, or by the
# parameter of their owner.
_AGAIN = "rematted_computation"
_AGAIN_KEY = "differentiated"


class _Use(NamedTuple):
    node: int
    region: int


class _Key(NamedTuple):
    """A key: what it is told by, and the region that it was made in."""

    identity: Hashable
    region: int


def find(subject: Subject) -> Iterator[Finding]:
    """What is told alike of several keys, as in each turn of a loop of Python, is one finding."""
    alike: dict[tuple[Hashable, ...], list[Finding]] = {}
    for one in _of_each_key(subject):
        alike.setdefault((one.title, one.text, one.lines), []).append(one)
    for first, *others in alike.values():
        yield _of_several(first, others) if others else first


def _of_several(first: Finding, others: list[Finding]) -> Finding:
    keys = 1 + len(others)
    nodes = np.unique(np.concatenate([first.nodes, *(one.nodes for one in others)]))
    return replace(
        first, title=f"{first.title}: {keys} such keys", nodes=nodes, figures={**first.figures, "keys": keys}
    )


def _of_each_key(subject: Subject) -> Iterator[Finding]:
    graph = subject.graph
    strings = graph.tables.strings
    yield from _unused_arguments(subject)
    if not any(op in _USING for op in map(strings.__getitem__, np.unique(graph.nodes.op).tolist())):
        return
    walk = _Walk(graph)
    known: set[int] = set()
    for key, uses in walk.uses.items():
        clashing = _clashing(graph, uses)
        looping = [use for use in uses if _in_loop(graph, use.region, key.region)]
        # A library that takes a key twice where no line of the person's is, in what it traced once for all, means it.
        if not subject.lines(np.array([use.node for use in uses], np.int32)):
            continue
        if len(clashing) > 1 or looping:
            known.update(use.node for use in uses)
        if len(clashing) > 1:
            yield _reused(subject, [use.node for use in clashing])
        elif looping:
            yield _reused_in_loop(subject, looping[0].node)
    yield from _unused(subject, walk)
    yield from baked_keys(subject, known)


class _Walk:
    """One pass over the nodes in program order: which key each value is, and where keys are used up."""

    def __init__(self, graph: Graph) -> None:
        self.uses: dict[_Key, list[_Use]] = {}
        self.splits: list[int] = []
        self._graph = graph
        self._key_of: dict[int, _Key] = {}
        strings = graph.tables.strings
        bindings = graph.bindings
        entering: dict[int, tuple[int, int]] = {}
        leaving: dict[int, int] = {}
        for kind, start, end in zip(
            bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist(), strict=True
        ):
            if kind in (ENTER, INIT, SLICE):
                entering[end] = (kind, start)
            elif kind == LEAVE:
                leaving[start] = end
        ops, kinds, regions = graph.nodes.op.tolist(), graph.nodes.kind.tolist(), graph.nodes.region.tolist()
        region_kinds = graph.regions.kind.tolist()
        scopes = graph.nodes.scope.tolist()
        repeated = _repeated_regions(graph)
        for node in range(len(graph)):
            op = strings[ops[node]]
            if node in entering and entering[node][0] == ENTER and entering[node][1] >= 0:
                self._set(node, self._key(entering[node][1]))
            elif kinds[node] == RESULT:
                # What leaves a loop is another key than that of its last turn.
                if node in leaving and strings[region_kinds[regions[node]]] not in _LOOPS:
                    source = self._operands(node)[0]
                    if source >= 0:
                        self._key_of[leaving[node]] = self._key(source)
            elif op in _MAKING:
                self._make(node, op)
            elif op in _USING or op in _SAME or op in _ENTRIES:
                again = regions[node] in repeated or _AGAIN in strings[scopes[node]]
                self._follow(node, op, again)

    def _follow(self, node: int, op: str, again: bool) -> None:
        operands = self._operands(node)
        if not operands or operands[0] < 0:
            return
        key = self._key(operands[0])
        if op in _SAME:
            self._set(node, key)
        elif op in _ENTRIES:
            attributes = tuple(sorted(self._graph.node(node).attributes.items()))
            others = tuple(self._key(source).identity if source >= 0 else source for source in operands[1:])
            self._set(node, _Key((key.identity, op, attributes, others), key.region))
        elif not again:
            self.uses.setdefault(key, []).append(_Use(node, int(self._graph.nodes.region[node])))
            if op == "random_split":
                self.splits.append(node)

    def _make(self, node: int, op: str) -> None:
        """A key of a seed, or of a key and a number: equal ones are the same key, wherever they are made."""
        sources = self._operands(node)
        kept = tuple(sorted(self._graph.node(node).attributes.items()))
        keys = [self._key(source) if source >= 0 else None for source in sources]
        parts = tuple(
            key.identity if key is not None else self._literal(source)
            for source, key in zip(sources, keys, strict=True)
        )
        # It is the same for as long as all that it is made of is.
        regions = [key.region for key in keys if key is not None]
        self._set(node, _Key((op, parts, kept), max(regions, key=self._depth, default=0)))

    def _literal(self, source: int) -> Hashable:
        literals = self._graph.literals
        return int(literals.text[-1 - source]), int(literals.type[-1 - source])

    def _depth(self, region: int) -> int:
        return len(_regions(self._graph, region))

    def _operands(self, node: int) -> list[int]:
        graph = self._graph
        return graph.operands.source[graph.first_operand[node] : graph.first_operand[node + 1]].tolist()

    def _key(self, value: int) -> _Key:
        known = self._key_of.get(value)
        if known is None:
            region = int(self._graph.nodes.region[self._graph.value_node[value]])
            known = self._key_of[value] = _Key(value, region)
        return known

    def _set(self, node: int, key: _Key) -> None:
        first, end = self._graph.first_value[node], self._graph.first_value[node + 1]
        if end > first:
            self._key_of[int(first)] = key


def _repeated_regions(graph: Graph) -> set[int]:
    """The regions of what is computed again for a derivative, and those inside them."""
    key, value = graph.tables.find_string(_AGAIN_KEY), graph.tables.find_string("True")
    attributes = graph.attributes
    owners = set(attributes.node[(attributes.key == key) & (attributes.value == value)].tolist())
    strings = graph.tables.strings
    found: set[int] = set()
    for region, owner in enumerate(graph.regions.owner.tolist()):
        # In bodies, name stacks begin anew.
        again = owner in owners or (owner >= 0 and _AGAIN in strings[graph.nodes.scope[owner]])
        if again or int(graph.region_parent[region]) in found:
            found.add(region)
    return found


def _regions(graph: Graph, region: int) -> list[int]:
    """A region and those around it, innermost first."""
    found = []
    while region >= 0:
        found.append(region)
        region = int(graph.region_parent[region])
    return found


def _in_loop(graph: Graph, region: int, home: int) -> bool:
    """Whether a loop lies between where a key is used and where it was made: then each turn uses it."""
    strings, kind = graph.tables.strings, graph.regions.kind
    # What a call gives back was made inside of it, and is used outside.
    homes = _regions(graph, home)
    return any(strings[kind[around]] in _LOOPS for around in _regions(graph, region) if around not in homes)


def _clashing(graph: Graph, uses: list[_Use]) -> list[_Use]:
    """The uses of which at least two happen in one run: those in different branches of a condition do not."""
    return [use for use in uses if any(other is not use and not _apart(graph, use, other) for other in uses)]


def _apart(graph: Graph, one: _Use, other: _Use) -> bool:
    strings, kind, owner = graph.tables.strings, graph.regions.kind, graph.regions.owner
    branch_of = {
        int(owner[region]): region for region in _regions(graph, one.region) if strings[kind[region]] == "branch"
    }
    for region in _regions(graph, other.region):
        mine = branch_of.get(int(owner[region]))
        if mine is not None:
            return mine != region
    return False


def _reused(subject: Subject, nodes: list[int]) -> Finding:
    return _finding(
        subject,
        nodes,
        WARNING,
        f"the same random key is used {len(nodes)} times",
        "A key always gives the same numbers, so what is drawn here is not independent.",
        "key, sub = jax.random.split(key) before each use, and use sub.",
    )


def _reused_in_loop(subject: Subject, node: int) -> Finding:
    return _finding(
        subject,
        [node],
        WARNING,
        "each turn of a loop uses the same random key",
        "The key comes from outside the loop and is the same in each turn, so each turn draws the same numbers.",
        "Carry the key and split it in the body, or jax.random.fold_in(key, i) with the number of the turn.",
    )


def _unused(subject: Subject, walk: _Walk) -> Iterator[Finding]:
    """Splits of which nothing is used, or not what has a name of its own. One entry left over is how keys are handed
    on, and libraries split in store."""
    graph = subject.graph
    read = np.bincount(graph.operands.source[graph.operands.source >= 0], minlength=len(graph.values.type))
    for node in filter(subject.is_own, walk.splits):
        if not _is_read(graph, int(graph.first_value[node]), read):
            title, text = "a random key is split and not used", "None of the keys that it makes is read."
            yield _finding(subject, [node], NOTE, title, text, "Remove the split.")
            continue
        left = list(left_keys(subject, node, partial(_is_read, graph, read=read)))
        if left:
            names = [f"`{name}`" for _, name in left]
            listed = f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
            several = len(names) > 1
            title = f"the random key{'s' * several} {listed} {'are' if several else 'is'} made and not used"
            text = "The others of the same split are used. What was to be drawn with it is missing, or drawn otherwise."
            nodes = list(dict.fromkeys(one for one, _ in left))
            yield _finding(subject, nodes, NOTE, title, text, "Draw with it, or split into fewer.")


def _is_read(graph: Graph, value: int, read: np.ndarray, steps: int = _STEPS) -> bool:
    """Whether something is made of keys; to take one of them out and leave it does not count."""
    if not read[value]:
        return False
    strings = graph.tables.strings
    for node in graph.readers(value):
        # From 0.12 on, to unpack an array is one operation.
        passes = strings[graph.nodes.op[node]] in _SAME | _ENTRIES | {"unstack"}
        made = range(graph.first_value[node], graph.first_value[node + 1])
        if not passes or not steps or any(_is_read(graph, value, read, steps - 1) for value in made):
            return True
    return False


def _unused_arguments(subject: Subject) -> Iterator[Finding]:
    """Keys that the program is given and that nothing reads: what is random was switched off, or forgotten."""
    graph, flow = subject.graph, subject.flow
    read = set(graph.operands.source.tolist()) | set(graph.bindings.start.tolist())
    names = []
    nodes = []
    for node in np.flatnonzero((graph.nodes.kind == ARGUMENT) & (graph.nodes.region == 0)).tolist():
        value = int(graph.first_value[node])
        if flow.dtype(value).startswith("key<") and value not in read:
            names.append(f"`{graph.tables.strings[graph.nodes.name[node]]}`")
            nodes.append(node)
    if names:
        several = len(names) > 1
        yield subject.told(
            kind="key",
            severity=NOTE,
            title=f"the random key{'s' * several} {', '.join(names[:3])} {'are' if several else 'is'} not used",
            text="The program is given it and draws nothing with it: what should be random is switched off or "
            "forgotten.",
            remedy="Draw with it, or leave it out.",
            nodes=nodes,
            figures={"uses": 0},
        )


def _finding(subject: Subject, uses: list[int], severity: str, title: str, text: str, remedy: str) -> Finding:
    return subject.told("key", severity, title, text, remedy, uses, {"uses": len(uses)})
