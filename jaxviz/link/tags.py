"""Tags: a mark in the name stack of every equation, by which it is found again in StableHLO and in optimized HLO.

The equations of a traced jaxpr are copied with a name stack that is nothing but their tag, `jvE7` for equation 7.
Lowering writes name stacks into the metadata of operations, and the compiler carries metadata along, so the path
`jit(f)/jvE3/while/body/jvE9/mul` in optimized HLO says: equation 9, inside the body of equation 3. Nothing but metadata
differs from the program without tags, and the person's own jaxpr is not touched.

A tag stands in place of the scopes of its equation, which are known: the compiler copies names again and again, and so
it has less to copy than without tags.

Equations are numbered through all bodies, each body once however often it is called. So a path of numbers names one
equation of one instance of a body.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxviz import compat
from jaxviz.compat import high as compat_high
from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.read.bodies import bodies_of
from jaxviz.read.garbage import without_collections
from jaxviz.read.tag_text import MARK, Path, paths_of

# Of how many instances of a body one is told that it may be.
_INSTANCES = 16


class Tags:
    """The tagged copy of a jaxpr, and which numbers the equations of each body have.

    >>> import jax
    >>> tags = Tags(jax.make_jaxpr(lambda x: x * 2.0 + 1.0)(1.0))
    >>> [str(equation.source_info.name_stack) for equation in tags.jaxpr.eqns]
    ['jvE0', 'jvE1']
    """

    @without_collections
    def __init__(self, jaxpr: Any) -> None:
        self.original = jaxpr
        self._count = 0
        # By the id of an open jaxpr, which the original keeps alive: the number of its first equation.
        self._first: dict[int, int] = {}
        # By id of what was copied, which the tuple keeps alive.
        self._copies: dict[int, tuple[Any, Any]] = {}
        # The name stack of each equation, by its number.
        self._name_stacks: list[Any] = []
        # Classes of parameters that hold no body.
        self._plain: set[type] = set()
        self.jaxpr = self._tagged(jaxpr)

    @cached_property
    def scopes(self) -> list[str]:
        """What each tag stands for: the scopes of the equation, as JAX writes them."""
        # Many equations share one name stack.
        different = {id(stack): stack for stack in self._name_stacks}
        # As many names are read together, each is one line.
        texts = {number: compat.scope_text(stack).replace("\n", " ") for number, stack in different.items()}
        return [texts[id(stack)] for stack in self._name_stacks]

    def first_number(self, jaxpr: Any) -> int | None:
        """The number of the first equation of a body."""
        return self._first.get(id(compat.open_jaxpr(jaxpr)))

    def _tagged(self, jaxpr: Any) -> Any:
        known = self._copies.get(id(jaxpr))
        if known is not None:
            return known[1]
        inner = compat.open_jaxpr(jaxpr)
        copy = jaxpr.replace(jaxpr=self._tagged(inner)) if inner is not jaxpr else self._copy(jaxpr)
        self._copies[id(jaxpr)] = (jaxpr, copy)
        return copy

    def _copy(self, jaxpr: Any) -> Any:
        equations = jaxpr.eqns
        first = self._first[id(jaxpr)] = self._count
        self._count += len(equations)
        copies = []
        plain, alone = self._plain, compat.NO_SCOPES.extend
        self._name_stacks += [equation.source_info.name_stack for equation in equations]
        for number, equation in enumerate(equations, first):
            source_info = equation.source_info
            tagged = source_info.replace(name_stack=alone(f"{MARK}{number}"))
            params = equation.params
            changed = None
            for key, value in params.items():
                # Nearly all are plain, and each call costs as much as all else that is done for an equation.
                other = value if value.__class__ in plain else self._tagged_parameter(value)
                if other is not value:
                    changed = {**params, key: other} if changed is None else {**changed, key: other}
            if changed is None:
                copies.append(equation.replace(source_info=tagged))
            else:
                copies.append(equation.replace(source_info=tagged, params=changed))
        return jaxpr.replace(eqns=copies)

    def _tagged_parameter(self, value: Any) -> Any:
        if value.__class__ in compat.BODY_CLASSES:
            return self._tagged(value)
        if compat_high.is_high(value):
            return compat_high.with_equations(value, self._tagged)
        if not isinstance(value, (tuple, list)):
            self._plain.add(value.__class__)
            return value
        if self._plain.issuperset(map(type, value)):
            return value
        items = [self._tagged_parameter(item) for item in value]
        if all(item is other for item, other in zip(items, value, strict=True)):
            return value
        if hasattr(value, "_make"):
            return value._make(items)
        return type(value)(items)


class Places:
    """Which node of the graph of the jaxpr a path of equation numbers leads to."""

    @without_collections
    def __init__(self, graph: Graph, tags: Tags) -> None:
        # The operations of each region, in order.
        nodes = np.flatnonzero(graph.nodes.kind == OPERATION)
        nodes = nodes[np.argsort(graph.nodes.region[nodes], kind="stable")]
        counts = np.bincount(graph.nodes.region[nodes], minlength=len(graph.regions.owner))
        self._rows: list[Column] = np.split(nodes, np.cumsum(counts)[:-1])
        self._owned = graph.owned_regions
        # For each node the one that holds it, -1 for those of the program itself.
        self._holder: list[int] = graph.regions.owner[graph.nodes.region].tolist()
        # For each region the number of its first equation; -1 for a body that has no tags.
        self._first = [-1] * len(graph.regions.owner)
        self._known: dict[Path, int] = {}
        # Regions by the number of their first equation, once that is asked for.
        self._by_first: dict[int, list[int]] | None = None
        self._firsts: list[int] = []
        self._find_regions(graph, tags)

    def _find_regions(self, graph: Graph, tags: Tags) -> None:
        bodies: dict[int, Any] = {0: tags.original}
        owners: dict[int, list[int]] = {}
        for owner in self._owned:
            owners.setdefault(int(graph.nodes.region[owner]), []).append(owner)
        # Bodies by the id of their equation, which the jaxpr keeps alive.
        found: dict[int, list[Any]] = {}
        for region in range(len(self._first)):
            if region not in bodies:
                continue
            jaxpr = compat.open_jaxpr(bodies.pop(region))
            rows = self._rows[region]
            first = tags.first_number(jaxpr)
            if first is None or len(rows) != len(jaxpr.eqns):
                continue
            self._first[region] = first
            for owner in owners.get(region, ()):
                equation = jaxpr.eqns[int(np.searchsorted(rows, owner))]
                inner = found.get(id(equation))
                if inner is None:
                    inner = found[id(equation)] = [body.jaxpr for body in bodies_of(equation).bodies]
                if len(inner) == len(self._owned[owner]):
                    bodies.update(zip(self._owned[owner], inner, strict=True))

    def node(self, path: Path, start: int = -1) -> int:
        """The node that a path leads to, from the body of `start` on; the last on the way where it leads further."""
        if start < 0:
            known = self._known.get(path)
            if known is None:
                known = self._known[path] = self._walk(path, (0,), -1)
            return known
        return self._walk(path, self._owned.get(start, ()), start)

    def named(self, name: str) -> tuple[int, ...]:
        """The nodes that the name of an instruction tells of.

        Where the way to a body is left out, as it is to what a composite operation stands for, it may be any instance.
        """
        found: dict[int, None] = {}
        for path in paths_of(name):
            if not path:
                continue
            node = self.node(path)
            if node >= 0:
                found[node] = None
            else:
                starts = self._bodies_with(path[0])
                found.update(dict.fromkeys(self._walk(path, (region,), -1) for region in starts))
        return tuple(found)

    def instances(self, node: int, region: int) -> tuple[int, ...]:
        """The nodes that are the equation of this one in the instances of its body; `region` is where it stands."""
        row = int(np.searchsorted(self._rows[region], node))
        number = self._first[region] + row
        return tuple(int(self._rows[one][row]) for one in self._bodies_with(number)) if self._first[region] >= 0 else ()

    def holds(self, outer: Sequence[int], node: int) -> bool:
        """Whether a node of the jaxpr stands in a body of one of others, or in a body inside of that."""
        while node >= 0 and node not in outer:
            node = self._holder[node]
        return node >= 0

    def _bodies_with(self, number: int) -> list[int]:
        """The regions whose equations have that number among theirs."""
        if self._by_first is None:
            known = [region for region, first in enumerate(self._first) if first >= 0]
            self._by_first = {}
            for region in known:
                self._by_first.setdefault(self._first[region], []).append(region)
            self._firsts = sorted(self._by_first)
        place = bisect_right(self._firsts, number) - 1
        if place < 0:
            return []
        regions = self._by_first[self._firsts[place]]
        return [region for region in regions[:_INSTANCES] if number - self._first[region] < len(self._rows[region])]

    def in_program(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """The nodes of these equations of the program itself; -1 for those of bodies."""
        rows, place = self._rows[0], numbers - self._first[0]
        there = (place >= 0) & (place < len(rows)) & (numbers >= 0) & (self._first[0] >= 0)
        nodes = np.full(len(numbers), -1, np.int64)
        nodes[there] = rows[place[there]]
        return nodes

    def _walk(self, path: Path, regions: tuple[int, ...], node: int) -> int:
        for number in path:
            for region in regions:
                row = number - self._first[region]
                if self._first[region] >= 0 and 0 <= row < len(self._rows[region]):
                    node = int(self._rows[region][row])
                    regions = self._owned.get(node, ())
                    break
        return node
