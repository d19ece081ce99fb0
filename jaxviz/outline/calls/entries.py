"""Where modules are entered: of each call stack the call of each module that an operation stands in.

A name stack says which modules there are, a call stack which functions; what a function of the person does beside the
module that it calls is told by the operations that stand in that function and in no module.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping

import numpy as np

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.calls.modules import BACKWARD, Scope, stems_of
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.read.distinct import in_order

# More modules than anything stands in.
_NONE = np.iinfo(np.int32).max

#: The call of a module, the person's innermost call around that, and the frame that the latter calls; the last two
#: are -1 where the module around calls it.
Entry = tuple[int, int, int]
NOWHERE = (-1, -1, -1)


class Entries:
    """The entries of modules of one graph. `base` is how many modules each region stands in."""

    def __init__(self, graph: Graph, scopes: Mapping[int, Scope], stack: Column, stacks: StackTree) -> None:
        self._scopes = scopes
        self._stacks = stacks
        modules = np.zeros(max(scopes, default=0) + 1, np.int32)
        for number, scope in scopes.items():
            modules[number] = len(scope.modules)
        self.base = _modules_around(graph, modules)
        self._fewest = self._fewest_below(graph, modules, stack)
        self._known: dict[tuple[int, int, int], tuple[int, tuple[Entry, ...]]] = {}
        self._shared: dict[tuple[tuple[str, ...], int], int] = {}
        nodes = graph.nodes
        at = np.flatnonzero((modules[nodes.scope] > 0) & (stack >= 0))
        used = np.unique(np.column_stack([nodes.scope[at], stack[at], self.base[nodes.region[at]]]), axis=0)
        for number, one, base in used.tolist():
            key = scopes[number].modules, self._enter(number, one, base)[0]
            self._shared[key] = stacks.common(one, self._shared.get(key, one))

    def of(self, scope: int, stack: int, base: int) -> tuple[int | None, tuple[Entry, ...]]:
        """The stack that all operations of one call of the innermost module share, and where each one is entered."""
        if stack < 0 or not self._scopes[scope].modules:
            return None, ()
        entry, entries = self._enter(scope, stack, base)
        return self._shared.get((self._scopes[scope].modules, entry)), entries

    def frames_around(self) -> frozenset[int]:
        """The frames that called modules, which stand beside what else was called there."""
        frames = (self._stacks.frames_between(stack, -1) for stack in self._shared.values())
        return frozenset(frame for stack in frames for frame in stack)

    def _fewest_below(self, graph: Graph, modules: Column, stack: Column) -> list[int]:
        """Of each call stack, in how few modules anything stands that it is or called.

        What runs backward stands where it ran forward, but some of it without its modules. A library that runs a whole
        program, one module after the other, is in none of them.
        """
        nodes = graph.nodes
        backward = np.zeros(len(modules), bool)
        backward[[number for number, scope in self._scopes.items() if scope.phase == BACKWARD]] = True
        at = np.flatnonzero((nodes.kind == OPERATION) & (stack >= 0) & ~backward[nodes.scope])
        fewest = np.full(int(stack.max(initial=-1)) + 1, _NONE, np.int32)
        np.minimum.at(fewest, stack[at], self.base[nodes.region[at]] + modules[nodes.scope[at]])
        found: list[int] = fewest.tolist()
        outermost: list[set[int]] = [set() for _ in found]
        module = self._outermost(graph)[at]
        size = 1 + int(module.max(initial=0))
        pairs = in_order(stack[at].astype(np.int64) * size + module)
        for one, number in zip(*(column.tolist() for column in np.divmod(pairs, size)), strict=True):
            outermost[one].add(number)
        for one in range(len(found) - 1, -1, -1):
            caller = self._stacks.parent(one)
            if caller >= 0:
                found[caller] = min(found[caller], found[one])
                outermost[caller] |= outermost[one]
            if len(outermost[one]) > 1 and self._stacks.library[self._stacks.frame(one)]:
                found[one] = 0
        return found

    def _outermost(self, graph: Graph) -> Column:
        """Of each node the outermost module that it stands in, as a number that is 0 where there is none; those that
        differ by their own numbers alone are one."""
        named = {number: scope.modules[0] for number, scope in self._scopes.items() if scope.modules}
        stems = stems_of(named.values())
        numbers = {"": 0}
        module = np.zeros(max(self._scopes, default=0) + 1, np.int32)
        for scope, name in named.items():
            module[scope] = numbers.setdefault(stems[name], len(numbers))
        owner, depth = graph.regions.owner, graph.region_depth
        own, around = module[graph.nodes.scope], np.zeros(len(owner), np.int32)
        for level in range(1, int(depth.max(initial=0)) + 1):
            regions = np.flatnonzero(depth == level)
            outer = around[graph.nodes.region[owner[regions]]]
            around[regions] = np.where(outer > 0, outer, own[owner[regions]])
        outer = around[graph.nodes.region]
        return np.where(outer > 0, outer, own)

    def _enter(self, scope: int, stack: int, base: int) -> tuple[int, tuple[Entry, ...]]:
        """The person's call of the innermost module, or what is around it where it is no call; and all entries."""
        key = scope, stack, base
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._find(len(self._scopes[scope].modules), stack, base)
        return known

    def _find(self, count: int, stack: int, base: int) -> tuple[int, tuple[Entry, ...]]:
        stacks = self._stacks
        chain = stacks.chain(stack)
        # In order: that of a caller holds for all that it calls.
        fewest = [self._fewest[one] for one in chain]
        own = [not stacks.library[stacks.frame(one)] for one in chain]
        entries: list[Entry] = []
        place, first = 0, 0
        for number in range(base + 1, base + count + 1):
            if first and place == first and fewest[place] >= number:
                # All that the module around does stands in modules, each of which a place in it calls.
                calls = (at for at in range(first, len(chain) - 1) if own[at] and not own[at + 1])
                place = next(calls, place)
            place = bisect_left(fewest, number, place)
            if place == len(chain):
                return -1, (*entries, *[NOWHERE] * (count - len(entries)))
            outer = place - 1
            while outer >= first and not own[outer]:
                outer -= 1
            around = (chain[outer], stacks.frame(chain[outer + 1])) if outer >= first else (-1, -1)
            # A library calls the module; a block of statements is one in the function around it.
            is_call = place + 1 < len(chain) and not own[place + 1]
            entries.append((chain[place] if is_call else stacks.parent(chain[place]), *around))
            if is_call:
                place = first = place + 1
        # Calls within one of the person's are alike: how a library's module runs others is its own.
        entry = entries[-1][0]
        while entry >= 0 and stacks.library[stacks.frame(entry)]:
            entry = stacks.parent(entry)
        return entry, tuple(entries)


def _modules_around(graph: Graph, modules: Column) -> Column:
    """How many modules each region stands in, by the names of the operations that own it and those around it."""
    owner, depth = graph.regions.owner, graph.region_depth
    found = np.zeros(len(owner), np.int32)
    for level in range(1, int(depth.max(initial=0)) + 1):
        regions = np.flatnonzero(depth == level)
        at = owner[regions]
        found[regions] = found[graph.nodes.region[at]] + modules[graph.nodes.scope[at]]
    return found
