"""Read an HLO module as a graph.

Every instruction becomes a node, but for those that only pack and unpack tuples: values flow element by element, into
bodies and out of them too. A computation that is called becomes a region of its caller, each call its own copy; one
that applies a single operation, such as the sum of a reduction, is an attribute. Where copies of copies would blow the
graph up, later calls stay closed once `REPEATED_NODES` have been spent; the node then says so in the attribute `body`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from jaxviz.graph import (
    ENTER,
    LEAVE,
    OPERATION,
    RESULT,
    Attributes,
    Bindings,
    Column,
    Graph,
    Literals,
    Nodes,
    Operands,
    Regions,
    Values,
)
from jaxviz.read.communication import with_communication
from jaxviz.read.garbage import without_collections
from jaxviz.read.hlo.aliases import with_aliases
from jaxviz.read.hlo.calls import Binding, Body, joins_of
from jaxviz.read.hlo.copies import Calling, Copies
from jaxviz.read.hlo.frames import HloFrames
from jaxviz.read.hlo.module import HloError, HloModule
from jaxviz.read.hlo.order import order_of
from jaxviz.read.hlo.rows import Array, Groups, Rows, spread
from jaxviz.read.hlo.table import table_of
from jaxviz.read.tag_text import with_applied, without_tags
from jaxviz.tables import Tables

#: Tuples of tuples, each read again and again, could fill any memory.
MOST_OPERANDS = 10_000_000

# How an array lies in memory, in a text such as `f32[8,4]{1,0:T(8,128)S(1)}`: its axes, the closest first, its tiles,
# and the memory that it is in. How small numbers are packed, `E(4)`, its type and size say.
_LAYOUT = re.compile(r"(\(*)\w+\[([^\]]*)\]\{([\d,]*):?((?:T[()\d,*]+)?)(?:L\(\d+\))?(?:E\(\d+\))?((?:S\(\d+\))?)\}")
#: How many nodes of computations that were shown before a graph may repeat.
REPEATED_NODES = 50_000


class _Layout(NamedTuple):
    """How an array, or the first one of a tuple, lies in memory, but for how small numbers are packed."""

    axes: str
    tiles: str
    memory: str
    #: Of an array that does not lie as others do.
    is_told: bool

    @classmethod
    def of(cls, shape: str) -> _Layout | None:
        found = _LAYOUT.match(shape)
        if found is None:
            return None
        tuple_, dims, axes, tiles, memory = found.groups()
        # Not as an array of numpy does: the last axis closest, and nothing tiled.
        plain = ",".join(map(str, reversed(range(dims.count(",") + 1 if dims else 0))))
        return cls(axes, tiles, memory, not tuple_ and (axes != plain or bool(tiles and dims) or bool(memory)))

    def __str__(self) -> str:
        more = self.tiles + self.memory
        return f"{{{self.axes}{':' if more else ''}{more}}}"


@dataclass(frozen=True, eq=False, repr=False)
class HloGraph:
    """The graph of a module, and which instruction each node was."""

    graph: Graph
    module: HloModule
    #: The name of the instruction of each node; empty for results. Elements of one tuple share it.
    instruction: list[str]
    #: The name stack of each node as the metadata has it, with tags, as a row of `names`.
    names: list[str]
    name: Column

    def __repr__(self) -> str:
        return f"<HloGraph of {self.module!r}: {self.graph!r}>"

    @cached_property
    def node_of(self) -> dict[str, tuple[int, ...]]:
        """The nodes of each instruction: several where its computation is called several times, or for an argument
        that is a tuple, and none where it only packs or unpacks one."""
        nodes: dict[str, list[int]] = {}
        for node, name in enumerate(self.instruction):
            if name:
                nodes.setdefault(name, []).append(node)
        return {name: tuple(found) for name, found in nodes.items()}


@without_collections
def read_hlo(
    module: HloModule,
    tables: Tables | None = None,
    *,
    frames: bool = True,
    excerpts: bool = False,
    repeated_nodes: int = REPEATED_NODES,
    scopes: Sequence[str] = (),
) -> HloGraph:
    """The graph of a module as `parse_hlo_text` or `parse_hlo_proto` give it; `HloError` for one that is wrong.

    Without `frames` the call stacks in the module are left alone: a jaxpr says them better. With `excerpts`
    the lines that the module names are taken from their files, as far as the tables say that these are meant. `scopes`
    are what tags in its names stand for.

    >>> from jaxviz.read.hlo.text import parse_hlo_text
    >>> text = "HloModule m\\nENTRY e {\\n  p = f32[2] parameter(0)\\n  ROOT n = f32[2] negate(p)\\n}"
    >>> [node.op for node in read_hlo(parse_hlo_text(text)).graph]
    ['argument', 'negate', 'result']
    """
    tables = Tables() if tables is None else tables
    if not 0 <= module.entry < len(module.computations):
        raise HloError(f"{module.unit} 0: expected an entry computation")
    table = table_of(module)
    orders = order_of(module, table)
    call_stacks = HloFrames(module, tables, wanted=frames)
    rows = Rows(module, table, tables, orders, call_stacks)
    copies = Copies(rows, orders, repeated_nodes)
    graph = _Writer(rows, copies, scopes).graph()
    if excerpts:
        call_stacks.write_excerpts()
    instruction = rows.row_instruction[copies.row]
    names = list(map(rows.table.names.__getitem__, instruction.tolist()))
    for node in np.flatnonzero(graph.nodes.kind == RESULT).tolist():
        names[node] = ""
    return HloGraph(
        with_aliases(with_communication(graph), module.aliases),
        module,
        names,
        *_tagged_names(rows, copies),
    )


def _tagged_names(rows: Rows, copies: Copies) -> tuple[list[str], Column]:
    """The name stacks, and that of each node; with that of the one operation that a reducer applies."""
    names, name, op_names = list(rows.scopes), rows.scope.copy(), rows.table.op_names
    for row, root in dict.fromkeys(copies.applied):
        own = names[name[row]]
        joined = with_applied(own, op_names.different[op_names.number[root]])
        if joined != own:
            name[row] = len(names)
            names.append(joined)
    return names, name[copies.row].astype(np.int32)


class _Writer:
    """Writes the columns of the graph, all copies of computations at a time."""

    def __init__(self, rows: Rows, copies: Copies, scopes: Sequence[str]) -> None:
        self.rows = rows
        self.scopes = scopes
        self.copies = copies
        self.row = copies.row
        outputs = rows.outputs[self.row]
        self.first_value = np.cumsum(outputs) - outputs
        self._read_operands()

    def _read_operands(self) -> None:
        """What each node reads: group n of `reads`, in `sources`."""
        rows = self.rows
        pieces = rows.reads.spread(self.row)
        piece_node = np.repeat(np.arange(len(self.row)), rows.reads.count[self.row])
        counts = rows.pieces.count[pieces]
        total = np.cumsum(counts)
        if len(total) and total[-1] > MOST_OPERANDS:
            node = int(piece_node[np.searchsorted(total, MOST_OPERANDS, side="right")])
            computation, index = rows.instruction(int(rows.row_instruction[self.row[node]]))
            raise rows.module.error(computation, index, f"expected at most {MOST_OPERANDS:,} operands in all")
        slot = rows.slot[rows.pieces.spread(pieces)]
        copy = np.repeat(self.copies.copy[piece_node], counts)
        maker = self.copies.nodes(copy, rows.slot_row[slot])
        self.sources = self.first_value[maker] + rows.slot_output[slot]
        read = np.bincount(piece_node, weights=counts, minlength=len(self.row)).astype(np.int64)
        self.reads = Groups.of(read)

    def graph(self) -> Graph:
        rows, row, tables = self.rows, self.row, self.rows.tables
        clean = np.array(tables.strings_of(without_tags(rows.scopes, self.scopes)), np.int64)
        columns = (
            *(rows.kind[row], rows.op[row], rows.name[row], self.copies.copy, rows.stack[row]),
            *(clean[rows.scope[row]], rows.outputs[row], self.reads.count),
        )
        caller = np.full(len(self.copies.caller), -1, np.int64)
        caller[1:] = self.copies.nodes(
            np.array(self.copies.caller[1:], np.int64), np.array(self.copies.caller_row[1:], np.int64)
        )
        kind, name = np.array(self.copies.regions, np.int64).T
        none = np.zeros(0, np.int32)
        return Graph(
            nodes=Nodes(*map(_column, columns)),
            values=Values(_column(rows.types[rows.value_groups.spread(row)])),
            operands=Operands(_column(self.sources)),
            literals=Literals(none, none),
            regions=Regions(_column(self.copies.owners()), _column(kind), _column(name)),
            bindings=Bindings(*self._bindings()),
            attributes=Attributes(*self._attributes()),
            tables=tables,
        )

    def _attributes(self) -> list[Column]:
        rows = self.rows
        at = rows.attributes.spread(self.row)
        notes = np.array(self.copies.notes, np.int64).reshape(-1, 4).T
        layout_node, layout = self._layouts()
        with_attributes = np.repeat(np.arange(len(self.row)), rows.attributes.count[self.row])
        node = np.concatenate([with_attributes, self.copies.nodes(notes[0], notes[1]), layout_node])
        order = np.argsort(node, kind="stable")
        key = np.concatenate([rows.keys[at], notes[2], np.full(len(layout), rows.tables.string("layout"))])
        text = np.concatenate([rows.texts[at], notes[3], layout])
        return [_column(column[order]) for column in (node, key, text)]

    def _layouts(self) -> tuple[Array, Array]:
        """The nodes whose arrays do not simply lie in the order of their axes, and in words how they do; of copies that
        change it, also from what."""
        rows, table, string = self.rows, self.rows.table, self.rows.tables.string
        shapes, instruction = table.shapes, rows.row_instruction[self.row]
        found = [_Layout.of(text) for text in shapes.different]
        words = np.array([string(str(one)) if one and one.is_told else 0 for one in found], np.int64)
        copying = table.opcodes.where(["copy", "copy-start"])[instruction] & (rows.kind[self.row] == OPERATION)
        text = np.where(rows.kind[self.row] == RESULT, 0, words[shapes.number[instruction]])
        for node in np.flatnonzero(copying).tolist():
            number = int(instruction[node])
            if not rows.operands.count[number]:
                continue
            source = int(rows.sources[rows.operands.start[number]])
            before, after = (found[shapes.number[one]] for one in (source, number))
            if before and after and (before.axes, before.memory) != (after.axes, after.memory):
                text[node] = string(f"{after} from {before}")
        told = np.flatnonzero(text)
        return told, text[told]

    # What crosses the borders of copies.

    def _bindings(self) -> list[Column]:
        rows, copies, others = self.rows, self.copies, list[Binding]()
        copy, row, body, bodies = (
            np.array([(call.copy, call.row, call.bodies[0], len(call.bodies)) for call in copies.calls], np.int64)
            .reshape(-1, 4)
            .T
        )
        owner = copies.nodes(copy, row)
        place = np.array(copies.computation, np.int64)[body]
        fits = (self.reads.count[owner] == rows.arguments[place]) & (rows.outputs[row] == rows.results[place])
        plain = rows.is_call[rows.row_instruction[row]] & (bodies == 1) & fits
        for number in np.flatnonzero(~plain).tolist():
            others += self._joins(int(owner[number]), int(rows.row_instruction[row[number]]), copies.calls[number])
        columns = [self._plain_calls(owner[plain], body[plain]), np.array(others, np.int64).reshape(-1, 3).T]
        return [_column(column) for column in np.concatenate(columns, axis=1)]

    def _plain_calls(self, owner: Array, body: Array) -> Array:
        """Operands enter as arguments, results leave as outputs."""
        place = np.array(self.copies.computation, np.int64)[body]
        arguments, results = self.rows.arguments[place], self.rows.results[place]
        first = self.copies.first[body]
        node = self.copies.node
        entering = self.sources[self.reads.spread(owner)], node[spread(first, arguments)]
        leaving = (
            node[spread(first + self.rows.own.count[place] - results, results)],
            spread(self.first_value[owner], results),
        )
        kind = np.repeat([ENTER, LEAVE], [len(entering[0]), len(leaving[0])])
        start, end = (np.concatenate(pair) for pair in zip(entering, leaving, strict=True))
        return np.stack([kind, start, end])

    def _joins(self, owner: int, number: int, call: Calling) -> list[Binding]:
        rows = self.rows
        computation, index = rows.instruction(number)
        first = int(self.reads.start[owner])
        operands = []
        for piece in rows.reads.spread(np.array([call.row])).tolist():
            count = int(rows.pieces.count[piece])
            operands.append(tuple(self.sources[first : first + count].tolist()))
            first += count
        value = int(self.first_value[owner])
        outputs = tuple(range(value, value + int(rows.outputs[call.row])))
        bodies = [
            Body(role, self.copies.arguments(body), self.copies.results(body))
            for role, body in zip(call.roles, call.bodies, strict=True)
        ]
        return joins_of(computation, index, operands, outputs, bodies, rows.module)


def _column(column: Array) -> Column:
    return column.astype(np.int32)
