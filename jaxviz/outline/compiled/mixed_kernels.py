"""Where a kernel stands that is of several parts of the program: in the part that most of it is of, if that is one of
several alike, such as steps of a method or copies in a stack. Of others, the last is what the kernel is there for.

What an earlier kernel computes already, and this one again, does not count: the compiler does so to save memory. Of two
equal operations it keeps one, which says that it is of either: that alone draws no kernel to where the other stood.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.compiled.roles import KERNELS, is_owner_of
from jaxviz.outline.tree import ROW_KINDS, Outline

_STATEMENT = ROW_KINDS.index("statement")
_CALLS = tuple(ROW_KINDS.index(kind) for kind in ("call", "module"))


def places_of_mixed(graph: Graph, source: Column, links: tuple[Column, Column], outline: Outline) -> Column:
    """The places of nodes in the program, where `source` has the last that each is of; `links` are all, from and to."""
    kernels = np.flatnonzero(is_owner_of(graph, KERNELS)[:-1]).astype(np.int32)
    if not len(kernels):
        return source
    place = source.copy()
    equations = _own_equations(graph, kernels, *links)
    leaf, series = outline.leaf.tolist(), _Series(outline)
    for kernel in kernels.tolist():
        own = equations.get(kernel, ())
        if len(own) > 1:
            wanted = _last_of_most(own, leaf, series)
            if wanted < place[kernel] and _floor(graph, place, kernel) <= wanted:
                place[kernel] = wanted
    return place


def _own_equations(graph: Graph, kernels: Column, origin: Column, target: Column) -> dict[int, list[int]]:
    """By kernel the equations that nothing before it is of, in the order of the program."""
    inside = np.zeros(len(graph) + 1, bool)
    inside[kernels] = True
    outside = ~inside[graph.regions.owner[graph.nodes.region[target]]]
    origin, target = origin[outside], target[outside]
    first = np.full(int(origin.max(initial=-1)) + 1, len(graph), np.int64)
    np.minimum.at(first, origin, target)
    found: dict[int, list[int]] = {}
    for equation in np.flatnonzero(inside[np.minimum(first, len(graph))]).tolist():
        found.setdefault(int(first[equation]), []).append(equation)
    return found


class _Series:
    """Which rows of an outline are one of several alike: copies, or calls of one function side by side."""

    def __init__(self, outline: Outline) -> None:
        self.outline = outline
        self._known: dict[int, bool] = {}

    def has(self, row: int) -> bool:
        known = self._known.get(row)
        if known is None:
            known = self._known[row] = bool(self.outline.copy[row] >= 0) or self._is_called_beside(row)
        return known

    def _is_called_beside(self, row: int) -> bool:
        beside = self.outline.children[self.outline.parent[row]]
        called = self._called(row)
        return any(other != row and called & self._called(other) for other in beside)

    def _called(self, row: int) -> set[str]:
        """The functions that a row calls, or is a call of."""
        outline = self.outline
        rows = [row, *outline.children[row]] if outline.kind[row] == _STATEMENT else [row]
        return {self._function(one) for one in rows if outline.kind[one] in _CALLS}

    def _function(self, row: int) -> str:
        """What a call is one of, also where it is told by its whole statement: `f` of `k1 = f(y)`."""
        strings, outline = self.outline.graph.tables.strings, self.outline
        name, assigned = strings[outline.name[row]], f"{strings[outline.variable[row]]} = "
        return name.removeprefix(assigned).partition("(")[0] if name.startswith(assigned) else name


def _last_of_most(own: list[int], leaf: list[int], series: _Series) -> int:
    """The last equation in the part that most are in, of the innermost row that all are in; else the last of all."""
    paths = [series.outline.paths[leaf[equation]] for equation in own]
    first, last = min(paths), max(paths)
    shared = next((at for at, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    parts = Counter(path[shared] for path in paths if len(path) > shared)
    [(most, count)] = parts.most_common(1) or [(0, 0)]
    if 2 * count <= len(own) or not series.has(most):
        return own[-1]
    return max(equation for equation, path in zip(own, paths, strict=True) if path[shared : shared + 1] == (most,))


def _floor(graph: Graph, place: Column, node: int) -> int:
    """The last place of what a node reads."""
    read = graph.operands.source[graph.first_operand[node] : graph.first_operand[node + 1]]
    makers = graph.value_node[read[read >= 0]]
    makers = makers[graph.nodes.kind[makers] == OPERATION]
    return int(place[makers].max(initial=-1))
