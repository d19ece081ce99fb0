"""What the reader found in one jaxpr, numbered from zero, and the graph made by placing it wherever it is called.

A jaxpr that is called a thousand times is read once: a `Block`. Equations that call the same bodies with the same
parameters share a `Call`. `assemble` gives every instance its place in the columns, all instances of a block and all
calls of a kind at a time, so the cost of one more call is that of copying rows of numpy arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import (
    LEAVE,
    SLICE,
    STACK,
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
from jaxviz.read.bodies import Join
from jaxviz.tables import Tables

Array = NDArray[np.int64]

# The groups of columns. Places and sizes are six numbers, one for each.
_NODE, _VALUE, _OPERAND, _REGION, _BINDING, _ATTRIBUTE = range(6)
Size = tuple[int, int, int, int, int, int]


@dataclass(slots=True, eq=False)
class Stack:
    """A call stack as a block knows it: its frames, outermost first, below the owner's stack unless `absolute`."""

    frames: tuple[int, ...]
    absolute: bool


class Part(NamedTuple):
    """A body of a call, and the region it fills."""

    block: Block
    kind: int
    name: int


@dataclass(slots=True, eq=False)
class Call:
    """What equations that call the same bodies with the same parameters have in common.

    A binding is its kind, where it starts and where it ends: a value is an operand or output of the owner by its
    number, an argument or result is a node counted from the first node of the bodies.
    """

    name: int
    operands: int
    outputs: int
    attributes: list[tuple[int, int]]
    parts: list[Part]
    bindings: list[tuple[int, int, int]]
    # What it adds after its owner: its bodies, its bindings and its attributes.
    size: Size = field(init=False)

    def __post_init__(self) -> None:
        sizes = [part.block.size for part in self.parts] or [(0,) * 6]
        nodes, values, operands, regions, bindings, attributes = map(sum, zip(*sizes, strict=True))
        bindings, attributes = bindings + len(self.bindings), attributes + len(self.attributes)
        self.size = (nodes, values, operands, regions, bindings, attributes)

    def key(self) -> tuple[object, ...]:
        """Equal for calls that are the same."""
        parts = tuple((id(part.block), part.kind, part.name) for part in self.parts)
        return self.name, self.operands, self.outputs, tuple(self.attributes), parts, tuple(self.bindings)


@dataclass(slots=True, eq=False)
class Block:
    """The rows of one jaxpr: constants, arguments, equations, results.

    Values are numbered as in an instance, with those of the calls between them. `size` is what an instance takes of
    each group of columns, with the calls in it and the region that it fills.
    """

    label: str = ""
    kind: list[int] = field(default_factory=list)
    op: list[int] = field(default_factory=list)
    name: list[int] = field(default_factory=list)
    stack: list[int] = field(default_factory=list)
    scope: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    operands: list[int] = field(default_factory=list)
    value_type: list[int] = field(default_factory=list)
    operand_source: list[int] = field(default_factory=list)
    # By the own row of their node; attributes of owners are in their calls.
    attribute_row: list[int] = field(default_factory=list)
    attribute_key: list[int] = field(default_factory=list)
    attribute_value: list[int] = field(default_factory=list)
    stacks: list[Stack] = field(default_factory=list)
    # The different calls, numbered; then for each call made its number and the own row of its owner.
    calls: dict[Call, int] = field(default_factory=dict)
    call_number: list[int] = field(default_factory=list)
    call_owner: list[int] = field(default_factory=list)
    argument_start: int = 0
    result_count: int = 0
    size: Size = (0, 0, 0, 1, 0, 0)

    def key(self) -> tuple[object, ...]:
        """Equal for blocks that are the same, row by row."""
        return (
            self.size,
            self.argument_start,
            self.result_count,
            tuple(self.op),
            tuple(self.name),
            tuple(self.value_type),
            tuple(self.operand_source),
            tuple(self.operands),
            tuple(self.scope),
            tuple(self.stack),
            tuple(self.attribute_row),
            tuple(self.attribute_value),
            tuple(self.attribute_key),
            tuple((stack.frames, stack.absolute) for stack in self.stacks),
            tuple(map(id, self.calls)),
            tuple(self.call_number),
            tuple(self.call_owner),
        )

    @property
    def result_start(self) -> int:
        """The node of the first result: results are the last nodes of an instance."""
        return self.size[_NODE] - self.result_count


def place_joins(parts: Sequence[Part], joins: Sequence[Join]) -> list[tuple[int, int, int]]:
    """The bindings of a call with these bodies."""
    first_node = [0]
    for part in parts:
        first_node.append(first_node[-1] + part.block.size[_NODE])
    bindings = []
    for kind, body, start, end, to_body in joins:
        if kind > SLICE:
            start += first_node[body] + parts[body].block.result_start
        if kind not in (LEAVE, STACK):
            target = body if kind <= SLICE else to_body
            end += first_node[target] + parts[target].block.argument_start
        bindings.append((kind, start, end))
    return bindings


def assemble(
    blocks: Sequence[Block],
    literals: tuple[Sequence[int], Sequence[int]],
    tables: Tables,
    region_kind: int,
    region_name: int,
) -> Graph:
    """The graph of the last of `blocks`, each of which calls only earlier ones."""
    return place(blocks, tables, region_kind, region_name).graph(literals, tables)


def place(blocks: Sequence[Block], tables: Tables, region_kind: int, region_name: int) -> Columns:
    """The columns of the graph of the last of `blocks`."""
    columns = Columns(blocks[-1].size)
    columns.regions[:, 0] = (-1, region_kind, region_name)
    instances: dict[int, list[tuple[Array, Array]]] = {
        id(blocks[-1]): [(np.zeros((1, 6), np.int64), np.full(1, -1, np.int64))]
    }
    # Callers before those they call, so that all instances of a block are known when its turn comes.
    for block in reversed(blocks):
        found = instances.pop(id(block), None)
        if found is None:
            continue
        starts = np.concatenate([places for places, _ in found])
        owner_stacks = np.concatenate([stacks for _, stacks in found])
        for callee, places, stacks in _place(block, columns, starts, owner_stacks, tables):
            instances.setdefault(id(callee), []).append((places, stacks))
    return columns


class Columns:
    """The columns of the graph while they are filled, one row of each array for each column."""

    def __init__(self, size: Size) -> None:
        # kind, op, name, region, stack, scope, outputs, operands
        self.nodes = np.zeros((8, size[_NODE]), np.int32)
        self.values = np.zeros(size[_VALUE], np.int32)
        self.operands = np.zeros(size[_OPERAND], np.int32)
        self.regions = np.zeros((3, size[_REGION]), np.int32)
        self.bindings = np.zeros((3, size[_BINDING]), np.int32)
        self.attributes = np.zeros((3, size[_ATTRIBUTE]), np.int32)

    @property
    def scope(self) -> Column:
        """A view: what is written into it is in the graph."""
        return self.nodes[5]

    def graph(self, literals: tuple[Sequence[int], Sequence[int]], tables: Tables) -> Graph:
        texts, types = literals
        return Graph(
            nodes=Nodes(*self.nodes),
            values=Values(self.values),
            operands=Operands(self.operands),
            literals=Literals(np.array(texts, np.int32), np.array(types, np.int32)),
            regions=Regions(*self.regions),
            bindings=Bindings(*self.bindings),
            attributes=Attributes(*self.attributes),
            tables=tables,
        )


Instances = list[tuple[Block, Array, Array]]


def _place(block: Block, columns: Columns, starts: Array, owner_stacks: Array, tables: Tables) -> Instances:
    """Fill in the rows of a block at each of its instances; give the instances of the blocks that it calls."""
    rows = _Rows(block)
    node_start, value_start = starts[:, _NODE, None], starts[:, _VALUE, None]

    at = rows.node_at + node_start
    stacks = _stacks(block, owner_stacks, tables)
    for row, column in enumerate(
        (block.kind, block.op, block.name, None, None, block.scope, block.outputs, block.operands)
    ):
        if column is not None:
            columns.nodes[row, at] = np.array(column, np.int32)
    columns.nodes[3, at] = starts[:, _REGION, None]
    columns.nodes[4, at] = stacks

    columns.values[rows.value_at + value_start] = np.array(block.value_type, np.int32)
    source = rows.source
    columns.operands[rows.operand_at + starts[:, _OPERAND, None]] = source + (source >= 0) * value_start
    if block.attribute_row:
        at = rows.attribute_at + starts[:, _ATTRIBUTE, None]
        columns.attributes[0, at] = rows.node_at[block.attribute_row] + node_start
        columns.attributes[1, at] = np.array(block.attribute_key, np.int32)
        columns.attributes[2, at] = np.array(block.attribute_value, np.int32)

    found: Instances = []
    for call, numbers in rows.numbers_of:
        found += _place_calls(call, _Calls(rows, call, numbers), columns, starts, stacks)
    return found


class _Rows:
    """Where the own rows of a block lie in an instance, and where its calls start."""

    def __init__(self, block: Block) -> None:
        self.node_at = np.arange(len(block.kind))
        self.value_at = np.arange(len(block.value_type))
        self.operand_at = np.arange(len(block.operand_source))
        self.attribute_at = np.arange(len(block.attribute_row))
        self.source = np.array(block.operand_source, np.int64)
        self.numbers_of: list[tuple[Call, Array]] = []
        if not block.calls:
            return
        number = np.array(block.call_number)
        sizes = np.array([call.size for call in block.calls], np.int64)[number]
        # How many of the block's own rows come before the bodies of each call: those up to its owner.
        self.owner_row = np.array(block.call_owner)
        node_before = self.owner_row + 1
        value_before = np.cumsum(block.outputs)[self.owner_row]
        self.operand_before = np.cumsum(block.operands)[self.owner_row]
        attribute_before = np.searchsorted(block.attribute_row, node_before)
        self.call_at = np.cumsum(sizes, axis=0) - sizes
        self.call_at[:, _NODE] += node_before
        self.call_at[:, _VALUE] += value_before
        self.call_at[:, _OPERAND] += self.operand_before
        self.call_at[:, _ATTRIBUTE] += attribute_before
        # The region that the block fills comes before those of its calls.
        self.call_at[:, _REGION] += 1
        self.node_at += _shift(node_before, sizes[:, _NODE], len(block.kind))
        self.value_at += _shift(value_before, sizes[:, _VALUE], len(block.value_type))
        self.operand_at += _shift(self.operand_before, sizes[:, _OPERAND], len(block.operand_source))
        self.attribute_at += _shift(attribute_before, sizes[:, _ATTRIBUTE], len(block.attribute_row))
        by_number = np.split(np.argsort(number, kind="stable"), np.cumsum(np.bincount(number))[:-1])
        self.numbers_of = list(zip(block.calls, by_number, strict=True))


class _Calls:
    """All calls of one kind in a block: their places in an instance."""

    def __init__(self, rows: _Rows, call: Call, numbers: Array) -> None:
        self.owner_row = rows.owner_row[numbers]
        self.owner = rows.node_at[self.owner_row]
        self.start = rows.call_at[numbers]
        # The owner's outputs stand together, right before the values of the bodies.
        self.first_output = self.start[:, _VALUE] - call.outputs
        self.operands = rows.source[(rows.operand_before[numbers] - call.operands)[:, None] + np.arange(call.operands)]


def _place_calls(call: Call, calls: _Calls, columns: Columns, starts: Array, stacks: Array) -> Instances:
    """Fill in names, attributes, regions and bindings of all calls of one kind; give the instances of their bodies."""
    owner = calls.owner + starts[:, _NODE, None]
    columns.nodes[2, owner] = call.name
    if call.attributes:
        start = calls.start[:, _ATTRIBUTE] + starts[:, _ATTRIBUTE, None]
        at = start[:, :, None] + np.arange(len(call.attributes))
        columns.attributes[0, at] = owner[:, :, None]
        columns.attributes[1:, at] = np.array(call.attributes).T[:, None, None, :]
    if call.bindings:
        _place_bindings(call, calls, columns, starts)

    found: Instances = []
    place = np.array([0, 0, 0, 0, len(call.bindings), len(call.attributes)])
    for part in call.parts:
        places = calls.start + place + starts[:, None, :]
        at = places[:, :, _REGION]
        columns.regions[0, at] = owner
        columns.regions[1, at] = part.kind
        columns.regions[2, at] = part.name
        found.append((part.block, places.reshape(-1, 6), stacks[:, calls.owner_row].reshape(-1)))
        place = place + part.block.size
    return found


def _place_bindings(call: Call, calls: _Calls, columns: Columns, starts: Array) -> None:
    kind, start, end = np.array(call.bindings).T
    node_start, value_start = starts[:, _NODE, None, None], starts[:, _VALUE, None, None]
    from_value = kind <= SLICE
    to_value = (kind == LEAVE) | (kind == STACK)
    first_node = calls.start[:, _NODE, None]

    origin = first_node + start
    origin[:, from_value] = calls.operands[:, start[from_value]]
    literal = from_value & (origin < 0)
    target = np.where(to_value, calls.first_output[:, None], first_node) + end

    at = (calls.start[:, _BINDING] + starts[:, _BINDING, None])[:, :, None] + np.arange(len(kind))
    columns.bindings[0, at] = kind
    columns.bindings[1, at] = origin + np.where(from_value, value_start, node_start) * ~literal
    columns.bindings[2, at] = target + np.where(to_value, value_start, node_start)


def _shift(before: Array, sizes: Array, count: int) -> Array:
    """For each own row, how many rows of calls come before it."""
    return np.bincount(before, weights=sizes, minlength=count + 1)[:count].cumsum().astype(np.int64)


def _stacks(block: Block, owner_stacks: Array, tables: Tables) -> Array:
    """The call stack of every own node in every instance: one row for an instance."""
    owners, instance = np.unique(owner_stacks, return_inverse=True)
    # The last column is for nodes without a stack, which are numbered -1.
    known = np.full((len(owners), len(block.stacks) + 1), -1, np.int64)
    for row, owner in enumerate(owners.tolist()):
        for column, stack in enumerate(block.stacks):
            known[row, column] = tables.stack(stack.frames, -1 if stack.absolute else owner)
    return known[instance.reshape(-1, 1), np.array(block.stack, np.int64)]
