"""The outline of a stage after the jaxpr: its operations stand where the equations stand that they come from.

What has bodies of its own that are run as one piece, a fusion or a reducer, is one row inside that, which opens. The
graph is in program order (`order.py`), so each row of the jaxpr's outline is one interval here, or a few.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.noise import BOX, CHIP, EDGE, THROUGH
from jaxviz.outline.tree import ROW_KINDS, Outline

_PHASE, _LOOP, _COND, _CALL, _BODY = (ROW_KINDS.index(kind) for kind in ("phase", "loop", "cond", "call", "body"))
_STACK, _COPY = ROW_KINDS.index("stack"), ROW_KINDS.index("copy")

# Operations that hand a value on, in the words of StableHLO and HLO.
_HANDS_ON = frozenset(
    {"reshape", "broadcast_in_dim", "broadcast", "convert", "bitcast", "bitcast_convert", "optimization_barrier"}
)
_CONSTANTS = frozenset({"constant", "iota"})
# Owners whose bodies are seen as part of what is around them.
_WRAPPERS = frozenset({"call"})
_LOOPS = frozenset({"while"})
_CONDITIONS = frozenset({"conditional", "case", "if"})


def linked_outline(graph: Graph, source: Column, outline: Outline) -> Outline:
    """The outline of `graph`, whose node n comes from the node `source[n]` of the graph of `outline`, or -1."""
    writer = _Writer(graph, source, outline)
    writer.write()
    return writer.outline_of(roles_of(graph))


@dataclass(eq=False)
class _Row:
    """A row while it is written: of the jaxpr's outline (`origin`), or of a node that has bodies (`unit`)."""

    parent: int
    origin: int
    unit: int
    first: int
    end: int = -1
    children: int = field(default=0)


class _Writer:
    def __init__(self, graph: Graph, source: Column, outline: Outline) -> None:
        self.graph = graph
        self.given = outline
        # The row of the jaxpr's outline that each node comes from.
        self.leaf = np.where(source >= 0, outline.leaf[np.maximum(source, 0)], -1).tolist()
        self.strings = graph.tables.strings
        self.rows: list[_Row] = []
        self._paths: dict[int, tuple[int, ...]] = {}

    def write(self) -> None:
        graph = self.graph
        _, end = graph.region_intervals
        owned = graph.owned_regions
        ops, kinds = graph.nodes.op.tolist(), graph.nodes.kind.tolist()
        self.rows.append(_Row(-1, 0, -1, 0))
        # Open rows, innermost last, as numbers; and the ends of owners that hold what follows.
        stack = [0]
        holders: list[tuple[int, int]] = []
        # What the node before belonged to, and how many rows there were then.
        before = -1, -1, -1
        for node in range(len(graph)):
            while holders and node >= holders[-1][0]:
                _, depth = holders.pop()
                self._close(stack, depth, node)
            floor = holders[-1][1] if holders else 1
            if kinds[node] == OPERATION and before != (self.leaf[node], floor, len(self.rows)):
                self._descend(stack, floor, self._path(self.leaf[node]), node)
                before = self.leaf[node], floor, len(self.rows)
            regions = owned.get(node)
            # The body of a call is seen as part of what is around it.
            if regions and self.strings[ops[node]] not in _WRAPPERS:
                held = self.strings[ops[node]] in _LOOPS | _CONDITIONS and self._has_own_row(stack)
                if not held:
                    self._open(stack, _Row(stack[-1], -1, node, node))
                holders.append((int(end[regions[-1]]), len(stack)))
        self._close(stack, 1, len(graph))
        self.rows[0].end = len(graph)

    def _has_own_row(self, stack: list[int]) -> bool:
        """Whether the innermost open row is the jaxpr's for this loop or condition."""
        row = self.rows[stack[-1]]
        return row.origin >= 0 and self.given.kind[row.origin] in (_LOOP, _COND)

    def _path(self, leaf: int) -> tuple[int, ...]:
        known = self._paths.get(leaf)
        if known is None:
            path = []
            row = leaf
            while row > 0:
                path.append(row)
                row = int(self.given.parent[row])
            known = self._paths[leaf] = tuple(reversed(path))
        return known

    def _descend(self, stack: list[int], floor: int, path: tuple[int, ...], node: int) -> None:
        """Close and open rows so that the innermost is the last of `path`; those below `floor` stay."""
        if not path:
            return
        origins = [self.rows[number].origin for number in stack[1:]]
        kept = [origin for origin in origins[: floor - 1] if origin >= 0]
        # What lies outside of the rows that stay open belongs into the innermost of them.
        inside = path
        for origin in kept:
            if origin in inside:
                inside = inside[inside.index(origin) + 1 :]
            elif kept:
                inside = ()
                break
        common = 0
        now = origins[floor - 1 :]
        while common < len(now) and common < len(inside) and now[common] == inside[common]:
            common += 1
        self._close(stack, floor + common, node)
        for origin in inside[common:]:
            self._open(stack, _Row(stack[-1], origin, -1, node))

    def _open(self, stack: list[int], row: _Row) -> None:
        self.rows[row.parent].children += 1
        stack.append(len(self.rows))
        self.rows.append(row)

    def _close(self, stack: list[int], depth: int, node: int) -> None:
        while len(stack) > depth:
            self.rows[stack.pop()].end = node

    # The columns.

    def outline_of(self, role: Column) -> Outline:
        graph, given = self.graph, self.given
        rows = self._kept()
        count = len(rows)
        origin = np.array([row.origin for row in rows], np.int32)
        unit = np.array([row.unit for row in rows], np.int32)
        first = np.array([row.first for row in rows], np.int32)
        end = np.array([row.end for row in rows], np.int32)
        parent = np.array([row.parent for row in rows], np.int32)
        own = unit >= 0

        def taken(column: Column, other: int) -> Column:
            return np.where(own, other, column[np.maximum(origin, 0)]).astype(np.int32)

        kind = taken(given.kind, _CALL)
        name = taken(given.name, 0)
        for row in np.flatnonzero(own).tolist():
            node = int(unit[row])
            op = self.strings[graph.nodes.op[node]]
            kind[row] = _LOOP if op in _LOOPS else _COND if op in _CONDITIONS else _CALL
            name[row] = graph.nodes.name[node] or graph.nodes.op[node]
        copies, copy = self._copies(origin, parent)
        return Outline(
            graph=graph,
            parent=parent,
            kind=kind,
            name=name,
            detail=taken(given.detail, 0),
            variable=taken(given.variable, 0),
            first=first,
            end=end,
            closed=np.where(own, kind == _CALL, given.closed[np.maximum(origin, 0)]).astype(np.int32),
            count=copies,
            copy=copy,
            like=self._likes(origin, copy),
            twin=self._twins(origin, kind),
            region=np.full(count, -1, np.int32),
            role=role,
        )

    def _kept(self) -> list[_Row]:
        """Without rows around a single other one, but for phases, loops, and what is part of a stack."""
        given = self.given
        number = [0] * len(self.rows)
        kept: list[_Row] = []
        for at, row in enumerate(self.rows):
            around = number[row.parent] if row.parent >= 0 else -1
            lonely = at > 0 and row.unit < 0 and row.children == 1 and self.rows[at + 1].first == row.first
            lonely = lonely and self.rows[at + 1].end == row.end and self.rows[at + 1].parent == at
            if lonely and given.kind[row.origin] not in (_PHASE, _LOOP, _COND, _BODY) and given.copy[row.origin] < 0:
                lonely = given.count[row.origin] == 1
            else:
                lonely = False
            if lonely:
                number[at] = around
            else:
                number[at] = len(kept)
                kept.append(_Row(around, row.origin, row.unit, row.first, row.end, row.children))
        return kept

    def _copies(self, origin: Column, parent: Column) -> tuple[Column, Column]:
        """How many copies each row has here, and which one each copy is: the compiler may have kept fewer."""
        given = self.given
        is_copy = (origin >= 0) & (given.copy[np.maximum(origin, 0)] >= 0)
        counts = np.bincount(parent[is_copy], minlength=len(origin))
        count = np.ones(len(origin), np.int32)
        copy = np.full(len(origin), -1, np.int32)
        children = np.bincount(parent[1:], minlength=len(origin))
        stacks = np.flatnonzero((counts > 1) & (counts == children)).astype(np.int32)
        count[stacks] = counts[stacks]
        taken: dict[int, int] = {}
        whole = set(stacks.tolist())
        for row in np.flatnonzero(is_copy).tolist():
            around = int(parent[row])
            if around in whole:
                copy[row] = taken.get(around, 0)
                taken[around] = int(copy[row]) + 1
        return count, copy

    def _likes(self, origin: Column, copy: Column) -> Column:
        first_row: dict[int, int] = {}
        like = np.full(len(origin), -1, np.int32)
        for row, at in enumerate(origin.tolist()):
            if at < 0:
                continue
            original = int(self.given.like[at])
            if original >= 0:
                like[row] = first_row.get(original, -1)
            first_row.setdefault(at, row)
        return like

    def _twins(self, origin: Column, kind: Column) -> Column:
        first_row: dict[int, int] = {}
        for row, at in enumerate(origin.tolist()):
            if at >= 0:
                first_row.setdefault(at, row)
        twin = np.full(len(origin), -1, np.int32)
        for at, row in first_row.items():
            other = first_row.get(int(self.given.twin[at]), -1)
            if other >= 0:
                twin[row] = other
        return twin


def roles_of(graph: Graph) -> Column:
    """What each node is drawn as. Inside what runs as one piece everything is drawn, where it is opened."""
    strings = graph.tables.strings
    role = np.full(len(graph), BOX, np.int32)
    operation = graph.nodes.kind == OPERATION
    names = {op: strings[op].replace("-", "_") for op in set(graph.nodes.op.tolist())}
    reads = np.zeros(len(graph), bool)
    reads[graph.operand_node[graph.operands.source >= 0]] = True
    for op, name in names.items():
        here = operation & (graph.nodes.op == op)
        if name in _HANDS_ON:
            role[here & (graph.nodes.operands == 1)] = EDGE
        if name in _CONSTANTS:
            role[here & ~reads] = CHIP
        if name in _WRAPPERS:
            role[here] = THROUGH
    constant = np.flatnonzero(operation & (role == EDGE))
    # What is made of a constant alone is one too.
    for node in constant.tolist():
        source = int(graph.operands.source[graph.first_operand[node]])
        if source < 0 or role[graph.value_node[source]] == CHIP or graph.nodes.kind[graph.value_node[source]] == 3:
            role[node] = CHIP
    for region in range(1, len(graph.regions.owner)):
        if role[graph.regions.owner[region]] == THROUGH:
            role[(graph.nodes.region == region) & ~operation] = THROUGH
    if not (operation & (role == BOX)).any():
        role[operation & (role == EDGE)] = BOX
    return role
