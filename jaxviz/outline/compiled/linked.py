"""The outline of a stage after the jaxpr: its operations stand where the equations stand that they come from.

What has bodies of its own that are run as one piece, a fusion or a reducer, is one row inside that, which opens. The
graph is in program order (`order.py`), so each row of the jaxpr's outline is one interval here, or a few.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, RESULT, Column, Graph
from jaxviz.outline.compiled.before_loops import leave_loops
from jaxviz.outline.compiled.roles import KERNELS, WRAPPERS, is_owner_of, mark_handing_on, roles_of
from jaxviz.outline.compiled.turns import LOOPS, hide_counted, mark_turns
from jaxviz.outline.elements import is_kind
from jaxviz.outline.names.kernel_names import KernelNames, weight
from jaxviz.outline.noise import BOX, CHIP, EDGE, THROUGH
from jaxviz.outline.tree import ROW_KINDS, Outline
from jaxviz.read.distinct import in_order

_PHASE, _LOOP, _COND, _CALL, _BODY, _STATEMENT = (
    ROW_KINDS.index(kind) for kind in ("phase", "loop", "cond", "call", "body", "statement")
)
_OWN_NAMED = (_PHASE, _LOOP, _COND, _BODY)

CONDITIONS = frozenset({"conditional", "case", "if"})
# What each device runs by itself: the body of a `shard_map`.
_MANUAL = frozenset({"sdy.manual_computation"})


def linked_outline(graph: Graph, source: Column, outline: Outline, linked: Column) -> Outline:
    """The outline of `graph`, whose node n comes from the node `source[n]` of the graph of `outline`, or -1: of what
    that is made of, `linked[n]`, where it can stand there."""
    role = roles_of(graph)
    mark_turns(role, graph, source, outline)
    mark_handing_on(role, graph)
    hide_counted(role, graph)
    writer = _Writer(graph, source, outline, role, linked)
    writer.write()
    return writer.outline_of(role)


# What the compiler adds to names so that each is another: `while.57`, `reduce.3.clone`.
_NUMBER = re.compile(r"(\.\d+|\.clone|\.remat\d*)+$")

# What hands on several values at once.
_HANDING = frozenset({"optimization_barrier", "opt-barrier"})

# A copy that holds so many times what the first one holds, and some more, has got what is of others.
_MIXED, _FEW = 2, 8


class _Rows:
    """Rows while they are written, as columns: of the jaxpr's outline (`origin`), or of a node with bodies (`unit`)."""

    def __init__(self) -> None:
        self.parent, self.origin, self.unit, self.first, self.end = [-1], [0], [-1], [0], [-1]

    def add(self, parent: int, origin: int, unit: int, first: int) -> int:
        self.parent.append(parent)
        self.origin.append(origin)
        self.unit.append(unit)
        self.first.append(first)
        self.end.append(-1)
        return len(self.parent) - 1


class _Holder(NamedTuple):
    """An owner that holds the nodes before `end`: how many rows are open outside and inside of it, the innermost of
    these that is of the jaxpr's outline, and whether it is a kernel."""

    end: int
    outside: int
    inside: int
    around: int
    is_kernel: bool = False


class _Writer:
    def __init__(self, graph: Graph, source: Column, outline: Outline, role: Column, linked: Column) -> None:
        self.graph = graph
        self.role = role
        self.given = self._told = outline
        self.source = source
        # The row of the jaxpr's outline that each node comes from.
        self.leaf = np.where(source >= 0, outline.leaf[np.maximum(source, 0)], -1)
        self.strings = graph.tables.strings
        self.rows = _Rows()
        self._paths = outline.paths
        self._kind = outline.kind.tolist()
        self._is_result, self._region = (graph.nodes.kind == RESULT).tolist(), graph.nodes.region.tolist()
        self._kernels = is_owner_of(graph, KERNELS)
        self._enter_bodies()
        # By a row for what runs once before a loop, the loop.
        self.given, self._paths, self._loop_after = leave_loops(graph, role, self._kernels, linked, self.leaf, outline)
        self._kind = self.given.kind.tolist()
        self._stand_with_readers()
        self._stand_with_makers()
        self._stand_between()
        self._leave_kernels()

    def _stand_with_readers(self) -> None:
        """What hands on several values for a call, as that a checkpoint is not to be merged with what it makes again,
        stands where they are read first, in what is called."""
        graph, leaf = self.graph, self.leaf
        source = np.maximum(self.source, 0)
        for_calls = (self.source >= 0) & (self.given.role[source] == THROUGH) & (self.role == BOX)
        handing = np.flatnonzero(for_calls & np.isin(graph.nodes.op, list(self._ops(_HANDING))))
        if not len(handing):
            return
        read = np.flatnonzero(graph.operands.source >= 0)
        made = graph.value_node[graph.operands.source[read]]
        reader = graph.operand_node[read]
        for node in handing.tolist():
            told = leaf[reader[made == node]]
            inside = [one for one in told.tolist() if one >= 0 and leaf[node] in self._paths[one]]
            leaf[node] = inside[0] if inside else leaf[node]

    def _stand_with_makers(self) -> None:
        """What is not drawn and reads what is made later in the program than it is known from stands with that: of a
        cast that the compiler merged with an earlier one, what is around it is not in pieces."""
        graph, place = self.graph, self.source.copy()
        read = np.flatnonzero(graph.operands.source >= 0)
        maker, reader = graph.value_node[graph.operands.source[read]], graph.operand_node[read]
        is_operation, region = graph.nodes.kind == OPERATION, graph.nodes.region
        is_drawn = is_operation & ((self.role == BOX) | (self.role == THROUGH))
        hidden = is_operation & ~is_drawn & (place >= 0)
        possible = hidden[reader] & (is_drawn | hidden)[maker] & (region[maker] == region[reader])
        # In order, so that what reads such a one stands with it in turn.
        for one, other in zip(maker[possible].tolist(), reader[possible].tolist(), strict=True):
            if place[one] > place[other] and (is_drawn[one] or place[one] > self.source[one]):
                place[other], self.leaf[other] = place[one], self.leaf[one]

    def _stand_between(self) -> None:
        """What is not drawn, as that a result of a turn goes to its place, stands in what is right before and after it,
        where it is of what is around that: a call is not in pieces for it."""
        leaf, region, paths = self.leaf, self.graph.nodes.region, self._paths
        nodes = np.flatnonzero((self.graph.nodes.kind == OPERATION) & (leaf >= 0))
        nodes = nodes[np.argsort(region[nodes], kind="stable")]
        is_drawn = (self.role[nodes] == BOX) | (self.role[nodes] == THROUGH)
        drawn, between = nodes[is_drawn], nodes[~is_drawn]
        after = np.cumsum(is_drawn)[~is_drawn]
        inside = (after > 0) & (after < len(drawn))
        between, after = between[inside], after[inside]
        last, first = drawn[after - 1], drawn[after]
        inside = (region[last] == region[between]) & (region[first] == region[between])
        inside &= (leaf[last] != leaf[between]) & (leaf[first] != leaf[between])
        columns = (between, leaf[between], leaf[last], leaf[first])
        for node, here, before, behind in zip(*(column[inside].tolist() for column in columns), strict=True):
            own, both = paths[here], zip(paths[before], paths[behind], strict=False)
            common = tuple(one for one, other in both if one == other)
            if len(own) < len(common) and common[: len(own)] == own:
                self.leaf[node] = common[-1]

    def _leave_kernels(self) -> None:
        """What is in a kernel that is no box of its own is where that is."""
        start, end = self.graph.region_intervals
        for owner, regions in self.graph.owned_regions.items():
            if self._kernels[owner] and self.role[owner] in (CHIP, EDGE):
                self.leaf[start[regions[0]] : end[regions[-1]]] = self.leaf[owner]

    def _enter_bodies(self) -> None:
        """What runs in a body of a loop or condition stands in its row, also if all that is known of it is the loop.

        Of a fusion the compiler often says no more than that, and what it made of the body would lie beside it.
        """
        graph, leaf = self.graph, self.leaf
        is_operation = graph.nodes.kind == OPERATION
        turning = self._ops(LOOPS | CONDITIONS)
        for owner, regions in graph.owned_regions.items():
            if graph.nodes.op[owner] not in turning or not self._is_turning(int(leaf[owner])):
                continue
            for region in regions:
                inside = slice(int(graph.region_intervals[0][region]), int(graph.region_intervals[1][region]))
                told, counts = np.unique(leaf[inside][is_operation[inside]], return_counts=True)
                bodies = [self._body(int(leaf[owner]), one) for one in told.tolist()]
                if max(bodies, default=-1) < 0:
                    continue
                most = max(set(bodies) - {-1}, key=lambda body: sum(counts[np.array(bodies) == body]))
                strays = told[np.array(bodies) != most]
                leaf[inside][is_operation[inside] & np.isin(leaf[inside], strays)] = most

    def _body(self, loop: int, leaf: int) -> int:
        """The body of a loop or condition of the jaxpr that a row of it lies in, or -1."""
        around, path = self._paths[loop], self._paths[max(leaf, 0)]
        within = len(around) < len(path) and path[: len(around)] == around
        return path[len(around)] if within and self._kind[path[len(around)]] == _BODY else -1

    def write(self) -> None:
        graph, rows = self.graph, self.rows
        end = graph.region_intervals[1].tolist()
        owned = graph.owned_regions
        ops, leaves = graph.nodes.op.tolist(), self.leaf.tolist()
        is_operation = (graph.nodes.kind == OPERATION).tolist()
        wrappers, turning, manual = self._ops(WRAPPERS), self._ops(LOOPS | CONDITIONS), self._ops(_MANUAL)
        is_piece = ((self.role != CHIP) & (self.role != EDGE)).tolist()
        # Open rows, innermost last, and the rows of the jaxpr's outline that they are; and the owners that hold what
        # follows, the program first.
        stack, origins = [0], [0]
        holders = [_Holder(len(graph) + 1, 1, 1, 0)]
        # What the node before belonged to, and how many rows there were then.
        before = -1, -1, -1
        for node in self._turns():
            while node >= holders[-1].end:
                holder = holders.pop()
                self._close(stack, origins, holder.outside, holder.end)
            _, _, floor, around, is_kernel = holders[-1]
            leaf = leaves[node]
            if leaf >= 0 and is_operation[node] and before != (leaf, floor, len(rows.end)):
                inside = self._inside(around, leaf)
                # In kernels, most of what follows opens nothing, and nothing is open.
                if inside or len(stack) > floor:
                    self._descend(stack, origins, floor, self._of_kernel(inside) if is_kernel else inside, node)
                before = leaf, floor, len(rows.end)
            regions = owned.get(node)
            # The body of a call is seen as part of what is around it; so is what only hands on or writes a constant.
            if regions and ops[node] not in wrappers and is_piece[node]:
                outside = len(stack)
                known = ops[node] in manual or (ops[node] in turning and self._is_turning(origins[-1]))
                if not known:
                    stack.append(rows.add(stack[-1], -1, node, node))
                    origins.append(-1)
                # Rows stand in preorder, so of those that are around each other the innermost is the last.
                is_kernel = bool(self._kernels[node])
                holders.append(_Holder(end[regions[-1]], outside, len(stack), max(origins), is_kernel))
        for holder in holders[:0:-1]:
            self._close(stack, origins, holder.outside, holder.end)
        self._close(stack, origins, 1, len(graph))
        rows.end[0] = len(graph)

    def _turns(self) -> list[int]:
        """The nodes at which a row can begin or end: all others belong where the operation before them does."""
        graph = self.graph
        operations = np.flatnonzero(graph.nodes.kind == OPERATION)
        leaf = self.leaf[operations]
        owners = graph.regions.owner[1:]
        borders = np.searchsorted(operations, np.concatenate([owners + 1, graph.region_intervals[1][1:]]))
        borders = operations[borders[borders < len(operations)]]
        changes = operations[np.flatnonzero(np.diff(leaf, prepend=-2))]
        turns: list[int] = in_order(np.concatenate([changes, owners, borders])).tolist()
        return turns

    def _ops(self, names: frozenset[str]) -> set[int]:
        found = (self.graph.tables.find_string(name) for name in names)
        return {op for op in found if op is not None}

    def _is_turning(self, origin: int) -> bool:
        """Whether a row is the jaxpr's for a loop or condition."""
        return origin >= 0 and self._kind[origin] in (_LOOP, _COND)

    def _inside(self, around: int, leaf: int) -> tuple[int, ...]:
        """The rows of the jaxpr's outline from one that is open down to another.

        What lies outside of the rows that stay open belongs into the innermost of them.
        """
        path = self._paths[leaf]
        if not around:
            return path
        outer = self._paths[self._loop_after.get(around, around)]
        return path[len(outer) :] if path[: len(outer)] == outer else ()

    def _of_kernel(self, inside: tuple[int, ...]) -> tuple[int, ...]:
        """Of rows those that a kernel can hold: what was in a loop or phase does not turn or mirror in it."""
        last = max((at for at, row in enumerate(inside) if self._kind[row] in _OWN_NAMED), default=-1)
        return inside[last + 1 :]

    def _descend(self, stack: list[int], origins: list[int], floor: int, inside: tuple[int, ...], node: int) -> None:
        """Close and open rows so that those from `floor` on are the ones of `inside`."""
        depth = floor
        for origin, now in zip(inside, origins[floor:], strict=False):
            if origin != now:
                break
            depth += 1
        opened = inside[depth - floor :]
        if not opened:
            self._close(stack, origins, depth, node)
            return
        kind, add = self._kind, self.rows.add
        # The body of a loop or condition begins with what comes into it.
        begin = self._body_begin(node) if _BODY in [kind[origin] for origin in opened] else node
        self._close(stack, origins, depth, begin)
        for origin in opened:
            stack.append(add(stack[-1], origin, -1, begin))
            origins.append(origin)
            begin = node if kind[origin] == _BODY else begin

    def _body_begin(self, node: int) -> int:
        """Where the region of `node` begins, if that is the first operation in it."""
        start = int(self.graph.region_intervals[0][self.graph.nodes.region[node]])
        return node if (self.graph.nodes.kind[start:node] == OPERATION).any() else start

    def _close(self, stack: list[int], origins: list[int], depth: int, node: int) -> None:
        """Close rows so that `depth` are open: they end before `node`."""
        if depth == len(stack):
            return
        ends = self.rows.end
        if self._is_result[node - 1]:
            self._close_before_results(stack, origins, depth, node)
        else:
            for row in stack[depth:]:
                ends[row] = node
        del stack[depth:], origins[depth:]

    def _close_before_results(self, stack: list[int], origins: list[int], depth: int, node: int) -> None:
        """What a body gives is its own, not that of the last thing in it."""
        is_result, region = self._is_result, self._region
        inner = 0
        for row, origin in zip(stack[: depth - 1 : -1], origins[: depth - 1 : -1], strict=True):
            end, first = node, self.rows.first[row]
            while end > max(inner, first + 1) and self._kind[max(origin, 0)] not in _OWN_NAMED:
                if not is_result[end - 1] or region[end - 1] != region[first]:
                    break
                end -= 1
            self.rows.end[row] = inner = end

    # The columns.

    def outline_of(self, role: Column) -> Outline:
        graph, given = self.graph, self.given
        parent, origin, unit, first, end, stands, telling, assigned = self._kept()
        own = unit >= 0
        nodes = unit[own]

        def taken(column: Column, other: Column | int, by: Column = origin) -> Column:
            found = column[np.maximum(by, 0)].astype(np.int32)
            found[own] = other
            return found

        op = graph.nodes.op[nodes]
        loop, condition = (np.isin(op, list(self._ops(names))) for names in (LOOPS, CONDITIONS))
        # What a row says: words of the jaxpr's row that tells most of those that it stands for.
        said = np.where(telling >= 0, telling, origin)
        own_name = self._unit_names(parent, origin, nodes, np.flatnonzero(own), telling)
        kind = taken(given.kind, np.where(loop, _LOOP, np.where(condition, _COND, _CALL)), said)
        closed = np.maximum(taken(given.closed, kind[own] == _CALL), taken(given.closed, 0, said))
        count, copy = self._copies(origin, parent, first, end)
        name = taken(given.name, np.where(own_name > 0, own_name, op), said)
        # A copy that is none here is called as what it is a copy of.
        alone = (origin >= 0) & (given.copy[np.maximum(origin, 0)] >= 0) & (copy < 0) & (name == 0)
        name[alone] = given.name[given.parent[origin[alone]]]
        detail, variable = taken(given.detail, 0, said), taken(given.variable, 0, said)
        # Beside a call that is told by its statement, so are those whose statements are not drawn here.
        by_statement = (kind == _CALL) & (variable > 0) & (name == detail)
        around = np.where(said >= 0, given.parent[said], -1)
        is_alone = (given.kind[around] == _STATEMENT) & (around >= 0) & (origin[parent] != around)
        beside = (kind == _CALL) & (variable > 0) & is_alone & np.isin(parent, parent[by_statement])
        name[beside] = given.name[around[beside]]
        return Outline(
            graph=graph,
            parent=parent,
            kind=kind,
            name=name,
            detail=detail,
            variable=np.where((variable == 0) & (assigned >= 0), given.variable[assigned], variable).astype(np.int32),
            first=first,
            end=end,
            closed=closed,
            count=count,
            copy=copy,
            like=self._likes(stands, parent, copy),
            twin=self._twins(stands, end - first),
            region=np.full(len(origin), -1, np.int32),
            role=role,
        )

    def _unit_names(
        self, parent: Column, origin: Column, nodes: Column, rows: NDArray[np.intp], telling: Column
    ) -> Column:
        """The names of units, which stand in `rows`: what went into them, what they are all of, or their own."""
        names = KernelNames(self.graph, self.source, self._told)
        # The rows of the jaxpr that units stand in.
        around = rows
        while (inside := (around > 0) & (origin[around] < 0)).any():
            around = np.where(inside, parent[around], around)
        outer = [self._loop_after.get(row, row) for row in origin[around].tolist()]
        told = map(names.name, nodes.tolist(), outer)
        own = np.fromiter(told, np.int32, len(nodes))
        all_of = telling[rows]
        own = np.where((own == 0) & (all_of >= 0), self.given.name[np.maximum(all_of, 0)], own)
        strings, string = self.graph.tables.strings, self.graph.tables.string
        plain = [string(_NUMBER.sub("", strings[name])) for name in self.graph.nodes.name[nodes].tolist()]
        return np.where(own > 0, own, np.array(plain, np.int32))

    def _kept(self) -> tuple[Column, Column, Column, Column, Column, Column, Column, Column]:
        """Without rows around a single other one, but for phases, loops, and what is part of a stack. Of a phase that
        was left and is entered again, one such row needs no frame.

        The last columns are the rows of the jaxpr that each stands for, with the row around it that was dropped; that
        give each its words, and what it is assigned to, or -1 where it has its own.
        """
        given, rows = self.given, self.rows
        parent, origin, unit, first, end = (
            np.array(column, np.int32) for column in (rows.parent, rows.origin, rows.unit, rows.first, rows.end)
        )
        lonely = (unit < 0) & (np.bincount(parent[1:], minlength=len(parent)) == 1)
        lonely[0] = lonely[-1] = False
        before = np.concatenate([[0], np.cumsum(self.graph.nodes.kind == OPERATION)])
        holds = before[end] - before[first]
        lonely[:-1] &= holds[1:] == holds[:-1]
        # Of several gradients, that a phase is all that is left of one does not tell of which.
        lonely[:-1] &= ~is_kind(given.kind, (_PHASE,))[np.maximum(origin[1:], 0)] | (unit[1:] >= 0)
        # What is one box is told by its own name, not by the condition that a library chooses by in it.
        inner = is_kind(given.kind, (_LOOP, _COND))[np.maximum(origin[1:], 0)] & (unit[1:] < 0)
        lonely[:-1] &= ~(inner & (given.closed[np.maximum(origin[:-1], 0)] > 0))
        stays = is_kind(given.kind, _OWN_NAMED) | (given.copy >= 0) | (given.count != 1)
        again = np.ones(len(origin), bool)
        again[np.unique(origin, return_index=True)[1]] = False
        again &= (origin >= 0) & (given.kind[np.maximum(origin, 0)] == _PHASE)
        lonely &= ~stays[np.maximum(origin, 0)] | again
        stands = np.where((unit >= 0) & lonely[parent], origin[parent], origin)
        telling, assigned = self._telling(parent, origin, lonely)
        around = parent
        while lonely[around[1:]].any():
            around = np.where(lonely[around], parent[around], around)
        number = np.cumsum(~lonely, dtype=np.int32) - np.int32(1)
        around = np.where(around >= 0, number[around], -1).astype(np.int32)
        kept = ~lonely
        told = stands[kept], telling[kept], assigned[kept]
        return around[kept], origin[kept], unit[kept], first[kept], end[kept], *told

    def _telling(self, parent: Column, origin: Column, lonely: NDArray[np.bool_]) -> tuple[Column, Column]:
        """Of the rows that are dropped around each, the one that says more than itself, and the statement that assigns
        what the one that gives its words is to a variable, or -1."""
        kind, variable = self.given.kind, self.given.variable
        telling, assigned = np.full((2, len(parent)), -1, np.int32)

        def tells(row: int) -> int:
            return weight(kind[row]) if row >= 0 else -1

        inside = lonely[parent] & (parent >= 0) & (origin >= 0) & ~is_kind(kind[origin], _OWN_NAMED)
        units = lonely[parent] & (parent >= 0) & (origin < 0)
        for row in np.flatnonzero(inside | units).tolist():
            outer = int(parent[row])
            around = int(origin[outer])
            best = max(around, int(telling[outer]), key=tells)
            if tells(best) > tells(int(origin[row])):
                telling[row], assigned[row] = best, assigned[outer]
            elif kind[around] == _STATEMENT and variable[around]:
                assigned[row] = around
        return telling, assigned

    def _copies(self, origin: Column, parent: Column, first: Column, end: Column) -> tuple[Column, Column]:
        """How many copies each row has here, and which one each copy is: the compiler may have kept fewer.

        Where it has mixed them, so that one is in pieces or a later one holds far more than the first, which is seen
        for all of them, they are no stack.
        """
        given = self.given
        is_copy = (origin >= 0) & (given.copy[np.maximum(origin, 0)] >= 0)
        counts = np.bincount(parent[is_copy], minlength=len(origin))
        children = np.bincount(parent[1:], minlength=len(origin))
        stack = (counts > 1) & (counts == children)
        # A kernel is one of the things that a turn holds, however much went into it.
        told = self.graph.nodes.kind == OPERATION
        region_start, region_end = self.graph.region_intervals
        for owner in np.flatnonzero(self._kernels).tolist():
            regions = self.graph.owned_regions[owner]
            told[region_start[regions[0]] : region_end[regions[-1]]] = False
        before = np.concatenate([[0], np.cumsum(told)])
        holds = before[end] - before[first]
        found = np.flatnonzero(is_copy & stack[parent])
        order = found[np.lexsort((origin[found], parent[found]))]
        same = (origin[order[1:]] == origin[order[:-1]]) & (parent[order[1:]] == parent[order[:-1]])
        stack[parent[order[1:]][same]] = False
        # A row stands right before what is in it.
        stack[parent[found[holds[found] > _MIXED * holds[parent[found] + 1] + _FEW]]] = False
        count = np.where(stack, counts, 1).astype(np.int32)
        copy = np.full(len(origin), -1, np.int32)
        copies = np.flatnonzero(is_copy & stack[parent])
        copies = copies[np.argsort(parent[copies], kind="stable")]
        sizes = counts[stack]
        copy[copies] = np.arange(len(copies)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return count, copy

    def _likes(self, stands: Column, parent: Column, copy: Column) -> Column:
        """The row of an earlier copy that each is like: where the compiler left the first nothing of it, of another."""
        later = copy > 0
        while (inside := later[parent[1:]] & ~later[1:]).any():
            later[1:] |= inside
        like = self.given.like[np.maximum(stands, 0)]
        alike = np.where(stands < 0, -1, np.where(like >= 0, like, stands))
        _, example, which = np.unique(alike, return_index=True, return_inverse=True)
        earliest = example[which.reshape(-1)]
        # What is in pieces has none among these.
        found = later & (alike >= 0) & (stands != stands[earliest])
        return np.where(found, earliest, -1).astype(np.int32)

    def _twins(self, stands: Column, size: Column) -> Column:
        """Of several rows that come from one, that which holds most has the twin."""
        row_of = np.full(len(self.given.kind) + 1, -1, np.int32)
        order = np.lexsort((-np.arange(len(size)), size))
        row_of[stands[order]] = order
        row_of[-1] = -1
        most = row_of[stands] == np.arange(len(stands))
        return np.where(most, row_of[self.given.twin[np.maximum(stands, 0)]], -1).astype(np.int32)
