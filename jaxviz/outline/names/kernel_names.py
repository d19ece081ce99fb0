"""What a kernel is called in the person's words: by the equations that went into it, not by what the compiler named it.

A kernel that is within a call or an expression has its name; one of parts of several is told by the one that it stands
in and by how many more there are. So is one of nothing that the person wrote, by its operations. The compiler's own
name stays with the instruction.
"""

from __future__ import annotations

import numpy as np

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.compiled.turns import turning_nodes
from jaxviz.outline.names.heaviest import and_others
from jaxviz.outline.names.loop_heads import without_head
from jaxviz.outline.noise import BOX, EDGE
from jaxviz.outline.tree import ROW_KINDS, Outline
from jaxviz.outline.written.expressions import GENERIC

_LOOKED_THROUGH = tuple(ROW_KINDS.index(kind) for kind in ("phase", "statement", "copy", "stack", "part", "body"))
# Of rows that are one, the name of the last of these wins, or of the innermost if there are several of a kind.
_TELLING = tuple(ROW_KINDS.index(kind) for kind in ("expression", "call", "module"))

# What the compiler makes one kernel of several operations.
_KERNELS = frozenset({"fusion"})
# What only leads values into a kernel, through it and out of it makes a name where there is nothing else.
_LEADING = frozenset({"bitcast", "broadcast", "tuple", "get-tuple-element"})
# What of a kernel takes the slice of a turn from what a loop goes over, and puts that of a result where it belongs.
_OF_TURNS = {"dynamic-slice": "slice", "dynamic-update-slice": "results"}
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
        # What is an edge but does something, such as keep the number of a branch in bounds, may be a kernel of its own.
        does = (outline.role == BOX) | (outline.role == EDGE) & (made.operands > 1)
        telling = (made.kind == OPERATION) & does
        # What turns or chooses is a row of its own.
        telling[turning_nodes(outline.graph)] = False
        turning = np.zeros(len(outline.graph) + 1, bool)
        turning[turning_nodes(outline.graph)] = True
        self._is_turning: list[bool] = turning[source].tolist()
        self._place = source
        # Lists, since few are looked at at a time.
        self._source: list[int] = np.where((source >= 0) & telling[np.maximum(source, 0)], source, -1).tolist()
        self._start, self._end = (column.tolist() for column in graph.region_intervals)
        self._leaf = outline.leaf.tolist()
        self._kind, self._op = outline.kind.tolist(), graph.nodes.op.tolist()
        self._is_operation = (graph.nodes.kind == OPERATION).tolist()
        self._kernels = {op for op in map(graph.tables.find_string, _KERNELS) if op is not None}
        # Below a row of the jaxpr's outline what is around its leaves, with what this is called: rows are few.
        self._below: dict[int, dict[int, tuple[tuple[int, ...], str] | None]] = {}

    def name(self, kernel: int, around: int) -> int:
        """What the node `kernel` is called, a string, that stands in the row `around` of the jaxpr; 0 if by itself."""
        if self._op[kernel] not in self._kernels:
            return 0
        known = self._below.setdefault(around, {})
        paths: set[tuple[int, ...]] = set()
        things: dict[str, None] = {}
        equations = self._equations(kernel)
        for equation in equations:
            leaf = self._leaf[equation]
            if leaf not in known:
                known[leaf] = self._below_row(leaf, around)
            below = known[leaf]
            # What came from elsewhere, as what is computed anew here, tells less of it.
            if below is not None:
                paths.add(below[0])
                things[below[1] or self._label(equation)] = None
        if not paths:
            return self._graph.tables.string(_told(self._operations(kernel)))
        # What all paths have in common is what the first and the last of them have.
        first, last = min(paths), max(paths)
        holding = [row for row, other in zip(first, last, strict=False) if row == other and self._row_name(row)]
        best = max(reversed(holding), key=self._weight, default=-1)
        if best >= 0 and self._weight(best) >= 0:
            return self._graph.tables.string(self._row_name(best))
        return self._graph.tables.string(_told(list(things), self._standing(kernel, around, equations[-1])))

    def _standing(self, kernel: int, around: int, last: int) -> str:
        """What a kernel stands in, a thing in the row `around`, where that is not its last one."""
        equation = int(self._place[kernel])
        below = self._below_row(self._leaf[equation], around) if 0 <= equation < last else None
        return "" if below is None else below[1] or self._label(equation)

    def _equations(self, kernel: int) -> list[int]:
        """What went into a kernel, in the order of the program."""
        regions = self._graph.owned_regions.get(kernel, ())
        found: set[int] = set()
        for region in regions:
            found.update(self._source[self._start[region] : self._end[region]])
        found.discard(-1)
        return sorted(found)

    def _operations(self, kernel: int) -> list[str]:
        """The operations of a kernel, each once, in the order of the program."""
        regions = self._graph.owned_regions.get(kernel, ())
        nodes = [node for region in regions for node in range(self._start[region], self._end[region])]
        found = {self._word(node): None for node in nodes if self._is_operation[node]}
        return [op for op in found if op not in _LEADING] or list(found)

    def _word(self, node: int) -> str:
        op = self._strings[self._op[node]]
        return _OF_TURNS.get(op, op) if self._is_turning[node] else op

    def _below_row(self, leaf: int, around: int) -> tuple[tuple[int, ...], str] | None:
        """The rows around what is in a leaf that are below a row, and what all of it is part of; None if not in it.

        The text of a statement says too much for that. It is empty where there is no other.
        """
        path = self._given.paths[leaf]
        if around:
            if around not in path:
                return None
            path = path[path.index(around) + 1 :]
        return path, self._row_name(next((row for row in path if self._kind[row] not in _LOOKED_THROUGH), 0))

    def _weight(self, row: int) -> int:
        return weight(self._kind[row])

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


def _told(things: list[str], standing: str = "") -> str:
    """All of a few things; of more, the one that they stand in or else the last, and how many others there are."""
    if len(things) > 1:
        standing, things = without_head(standing), list(dict.fromkeys(map(without_head, things)))
    told = standing if standing in things else things[-1]
    return ", ".join(things) if len(things) <= _MOST else and_others(told, len(things) - 1)
