"""What a kernel is called in the person's words: by the equations that went into it, not by what the compiler named it.

A kernel that is within a call or an expression has its name; one of parts of several is told by the last of them and
by how many more there are. The compiler's own name stays with the instruction.
"""

from __future__ import annotations

import numpy as np

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.expressions import GENERIC
from jaxviz.outline.noise import BOX
from jaxviz.outline.tree import ROW_KINDS, Outline
from jaxviz.outline.turns import turning_nodes

_LOOKED_THROUGH = tuple(ROW_KINDS.index(kind) for kind in ("phase", "statement", "copy", "stack", "part"))
# Of rows that are one, the name of the last of these wins, or of the innermost if there are several of a kind.
_TELLING = tuple(ROW_KINDS.index(kind) for kind in ("expression", "call", "module"))

# What the compiler makes one kernel of several operations.
_KERNELS = frozenset({"fusion"})
# Names that say nothing.
_SILENT = GENERIC | {""}
# Up to so many things are all told.
_MOST = 2


def weight(kind: int) -> int:
    """How much the name of a row tells of what is in it: that of a row with a greater weight wins."""
    return _TELLING.index(kind) if kind in _TELLING else -1


class KernelNames:
    """Names kernels of `graph`, whose node n comes from the node `source[n]` of the graph of `outline`, or -1."""

    def __init__(self, graph: Graph, source: Column, outline: Outline) -> None:
        self._graph = graph
        self._given = outline
        self._strings = graph.tables.strings
        made = outline.graph.nodes
        telling = (made.kind == OPERATION) & (outline.role == BOX)
        # What turns or chooses is a row of its own.
        telling[turning_nodes(outline.graph)] = False
        # Lists, since few are looked at at a time.
        self._source: list[int] = np.where((source >= 0) & telling[np.maximum(source, 0)], source, -1).tolist()
        self._start, self._end = (column.tolist() for column in graph.region_intervals)
        self._leaf, self._parent = outline.leaf.tolist(), outline.parent.tolist()
        # Of rows of the jaxpr's outline that were asked for, the rows around them and themselves, outermost first.
        self._around: dict[int, list[int]] = {0: [0]}

    def name(self, kernel: int, around: int) -> int:
        """What the node `kernel` is called, a string, that stands in the row `around` of the jaxpr; 0 if by itself."""
        if self._strings[self._graph.nodes.op[kernel]] not in _KERNELS:
            return 0
        # What came from elsewhere, as what is computed anew here, tells less of it.
        paths = {equation: self._path(equation) for equation in self._equations(kernel)}
        paths = {equation: path[path.index(around) + 1 :] for equation, path in paths.items() if around in path}
        if not paths:
            return 0
        first = next(iter(paths.values()))
        holding = [row for row in first if all(row in path for path in paths.values()) and self._row_name(row)]
        best = max(reversed(holding), key=self._weight, default=-1)
        if best >= 0 and self._weight(best) >= 0:
            return self._graph.tables.string(self._row_name(best))
        things = list(dict.fromkeys(self._thing(equation, path) for equation, path in paths.items()))
        words = ", ".join(things) if len(things) <= _MOST else f"{things[-1]} +{len(things) - 1}"
        return self._graph.tables.string(words)

    def _equations(self, kernel: int) -> list[int]:
        """What went into a kernel, in the order of the program."""
        regions = self._graph.owned_regions.get(kernel, ())
        found: set[int] = set()
        for region in regions:
            found.update(self._source[self._start[region] : self._end[region]])
        return sorted(found - {-1})

    def _thing(self, equation: int, path: list[int]) -> str:
        """What an equation is part of, of the rows `path` around it; the text of a statement says too much."""
        telling = (row for row in path if self._given.kind[row] not in _LOOKED_THROUGH)
        return self._row_name(next(telling, 0)) or self._label(equation)

    def _weight(self, row: int) -> int:
        return weight(int(self._given.kind[row]))

    def _path(self, equation: int) -> list[int]:
        """The rows around an equation, outermost first."""
        leaf = self._leaf[equation]
        known = self._around.get(leaf)
        if known is None:
            path = [leaf]
            while path[-1] > 0:
                path.append(self._parent[path[-1]])
            known = self._around[leaf] = path[::-1]
        return known

    def _row_name(self, row: int) -> str:
        """The name of a row, "" where it says nothing; the program itself is told elsewhere."""
        if row == 0:
            return ""
        while self._given.copy[row] >= 0 and not self._strings[self._given.name[row]]:
            row = int(self._given.parent[row])
        name = self._strings[self._given.name[row]]
        return "" if name in _SILENT else name

    def _label(self, equation: int) -> str:
        nodes = self._given.graph.nodes
        regions = self._given.graph.owned_regions.get(equation, ())
        function = self._strings[self._given.graph.regions.name[regions[0]]] if len(regions) == 1 else ""
        own = self._strings[nodes.name[equation]]
        return next((name for name in (own, function) if name not in _SILENT), self._strings[nodes.op[equation]])
