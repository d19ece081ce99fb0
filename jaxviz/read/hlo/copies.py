"""Where each copy of a computation stands in the graph of its module: behind the instruction that calls it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from jaxviz.graph import RESULT
from jaxviz.read.hlo.calls import may_be_simple, regions_of, simple_names
from jaxviz.read.hlo.order import Orders
from jaxviz.read.hlo.rows import Array, Rows, spread


class Calling(NamedTuple):
    """A call that is shown: the copy and the row of the caller, and the copies of what it calls with their roles."""

    copy: int
    row: int
    roles: list[str]
    bodies: list[int]


class Copies:
    """All copies, callers before those they call; copy n fills region n of the graph."""

    def __init__(self, rows: Rows, orders: Orders, repeated_nodes: int) -> None:
        self.rows = rows
        self.computation: list[int] = []
        # Of each copy, the one that calls it and the row there.
        self.caller: list[int] = []
        self.caller_row: list[int] = []
        self.regions: list[tuple[int, int]] = []
        self.calls: list[Calling] = []
        #: What calls say that are not shown: copy, row, key, text.
        self.notes: list[tuple[int, int, int, int]] = []
        self._orders = orders
        self._left = repeated_nodes
        self._shown: set[int] = set()
        #: What rows call that is told in a word: row, and the instruction that it applies.
        self.applied: list[tuple[int, int]] = []
        self._simple = simple_names(rows.table, rows.roots)
        self._calls_of = self._find_calls()
        string = rows.tables.string
        self._add(rows.module.entry, -1, -1, (string("program"), string(rows.module.name)))
        self._shown.add(rows.module.entry)
        self._call(0)
        self._place()

    def _find_calls(self) -> dict[int, list[tuple[int, int, str]]]:
        """For each computation the rows that call, with their instructions and the operations of these."""
        rows = self.rows
        calling = np.zeros(len(rows.computation_of), bool)
        calling[list(rows.table.calls)] = True
        at = np.flatnonzero(calling[rows.row_instruction] & (rows.kind != RESULT))
        instruction = rows.row_instruction[at]
        opcodes, which = rows.table.opcodes.different, rows.table.opcodes.number[instruction]
        columns = rows.computation_of[instruction], at, instruction, which
        found: dict[int, list[tuple[int, int, str]]] = {}
        for place, row, number, opcode in zip(*(column.tolist() for column in columns), strict=True):
            found.setdefault(place, []).append((row, number, opcodes[opcode]))
        return found

    def _add(self, computation: int, caller: int, row: int, region: tuple[int, int]) -> int:
        self.computation.append(self.rows.place[computation])
        self.caller.append(caller)
        self.caller_row.append(row)
        self.regions.append(region)
        return len(self.computation) - 1

    def _call(self, copy: int) -> None:
        """Add the copies of all that a copy calls, each with what it calls itself."""
        rows = self.rows
        module, string = rows.module, rows.tables.string
        for row, number, opcode in self._calls_of.get(self.computation[copy], ()):
            callees = []
            for role, callee in rows.table.calls[number]:
                simple = self._simple.get(rows.place[callee], "") if may_be_simple(opcode) else ""
                if simple:
                    self.notes.append((copy, row, string(role.partition(" ")[0]), string(simple)))
                    self.applied.append((row, int(rows.roots[rows.place[callee]])))
                elif self._may_show(callee):
                    callees.append((role, callee))
                else:
                    name = module.computations[callee].name
                    text = f"same as the first call of {name}, not repeated here"
                    self.notes.append((copy, row, string("body"), string(text)))
            if not callees:
                continue
            bodies = []
            regions = regions_of(opcode, *rows.instruction(number), callees, module)
            for (_, callee), (kind, name) in zip(callees, regions, strict=True):
                body = self._add(callee, copy, row, (string(kind), string(name)))
                bodies.append(body)
                if callee in self._orders.callees:
                    self._call(body)
            self.calls.append(Calling(copy, row, [role for role, _ in callees], bodies))

    def _may_show(self, callee: int) -> bool:
        if callee not in self._shown:
            self._shown.add(callee)
            return True
        size = self._orders.size[callee]
        if size > self._left:
            return False
        self._left -= size
        return True

    # Places.

    def _place(self) -> None:
        """`row` and `copy` of each node of the graph, in order, and where the nodes of each copy are."""
        own = self.rows.own
        computation = np.array(self.computation, np.int64)
        count = own.count[computation]
        #: Rows of copies one after the other: where those of each begin.
        self.first = np.cumsum(count) - count
        total = count.tolist()
        for copy in range(len(total) - 1, 0, -1):
            total[self.caller[copy]] += total[copy]
        # Of all copies but the first: where the row that calls it is among these.
        caller = np.array(self.caller[1:], np.int64)
        at = self.first[caller] + np.array(self.caller_row[1:], np.int64) - own.start[computation[caller]]
        inside = np.bincount(at, weights=np.array(total[1:]), minlength=int(count.sum())).astype(np.int64)
        before = np.concatenate([[0], np.cumsum(inside)])
        offset = spread(np.zeros_like(count), count) + before[:-1] - np.repeat(before[self.first], count)
        base = [0] * len(total)
        taken: dict[int, int] = {}
        for copy, (row, behind) in enumerate(zip(at.tolist(), (offset[at] + 1).tolist(), strict=True), 1):
            base[copy] = base[self.caller[copy]] + behind + taken.get(row, 0)
            taken[row] = taken.get(row, 0) + total[copy]
        #: The node of each row of each copy.
        self.node = np.repeat(np.array(base, np.int64), count) + offset
        row = np.repeat(own.start[computation] - self.first, count) + np.arange(len(self.node))
        self.row, self.copy = np.empty_like(row), np.empty_like(row)
        self.row[self.node] = row
        self.copy[self.node] = np.repeat(np.arange(len(count)), count)
        self._shift = self.first - own.start[computation]

    def nodes(self, copy: Array, row: Array) -> Array:
        """The nodes of these rows in these copies."""
        return self.node[self._shift[copy] + row]

    def owners(self) -> Array:
        """The nodes that call each copy, -1 for that of the entry."""
        callers = np.array((self.caller, self.caller_row), np.int64)[:, 1:]
        return np.concatenate([[-1], self.nodes(*callers)])

    def arguments(self, copy: int) -> list[int]:
        first = int(self.first[copy])
        return self.node[first : first + int(self.rows.arguments[self.computation[copy]])].tolist()

    def results(self, copy: int) -> list[int]:
        place = self.computation[copy]
        end = int(self.first[copy] + self.rows.own.count[place])
        return self.node[end - int(self.rows.results[place]) : end].tolist()
