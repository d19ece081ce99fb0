"""What the reader found in one jaxpr, numbered from zero, and the graph made by placing it wherever it is called.

A jaxpr that is called a thousand times is read once: a `Block`. `assemble` gives every instance its place in the columns,
all instances of a block at a time, so the cost of an instance is that of copying rows of numpy arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import (
    CARRY,
    LEAVE,
    SLICE,
    Attributes,
    Bindings,
    Graph,
    Literals,
    Nodes,
    Operands,
    Regions,
    Values,
)
from jaxviz.tables import Tables

Array = NDArray[np.int64]

# What an instance takes of each group of columns, and where it starts in them: nodes, values, operands, regions, bindings, attributes.
_NODE, _VALUE, _OPERAND, _REGION, _BINDING, _ATTRIBUTE = range(6)


@dataclass(slots=True)
class Stack:
    """A call stack as a block knows it: its frames, outermost first, below the owner's stack unless `absolute`."""

    frames: tuple[int, ...]
    absolute: bool


@dataclass(slots=True)
class Block:
    """The rows of one jaxpr. Nodes and values are numbered as in an instance, with those of the calls between them.

    `size` counts nodes, values, operands, regions, bindings and attributes of an instance, with the calls in it.
    `node_region` is left out: all of these nodes stand in the region that the block fills.
    """

    kind: list[int] = field(default_factory=list)
    op: list[int] = field(default_factory=list)
    name: list[int] = field(default_factory=list)
    stack: list[int] = field(default_factory=list)
    scope: list[int] = field(default_factory=list)
    outputs: list[int] = field(default_factory=list)
    operands: list[int] = field(default_factory=list)
    value_type: list[int] = field(default_factory=list)
    operand_source: list[int] = field(default_factory=list)
    region_owner: list[int] = field(default_factory=list)
    region_kind: list[int] = field(default_factory=list)
    region_name: list[int] = field(default_factory=list)
    binding_kind: list[int] = field(default_factory=list)
    binding_start: list[int] = field(default_factory=list)
    binding_end: list[int] = field(default_factory=list)
    attribute_node: list[int] = field(default_factory=list)
    attribute_key: list[int] = field(default_factory=list)
    attribute_value: list[int] = field(default_factory=list)
    stacks: list[Stack] = field(default_factory=list)
    # One row for each call: the block; how many own nodes, values, operands and attributes come before it; the owner.
    calls: list[Block] = field(default_factory=list)
    call_before: list[tuple[int, int, int, int]] = field(default_factory=list)
    argument_start: int = 0
    result_count: int = 0
    size: tuple[int, int, int, int, int, int] = (0, 0, 0, 1, 0, 0)
    label: str = ""

    @property
    def result_start(self) -> int:
        """The node of the first result: results are the last nodes of an instance."""
        return self.size[_NODE] - self.result_count


def assemble(
    blocks: Sequence[Block],
    literals: tuple[Sequence[int], Sequence[int]],
    tables: Tables,
    region_kind: int,
    region_name: int,
) -> Graph:
    """The graph of the last of `blocks`, each of which calls only earlier ones."""
    columns = _Columns(blocks[-1].size)
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
    return columns.graph(literals, tables)


class _Columns:
    """The columns of the graph while they are filled, one row of each array for each column."""

    def __init__(self, size: tuple[int, ...]) -> None:
        # kind, op, name, region, stack, scope, outputs, operands
        self.nodes = np.zeros((8, size[_NODE]), np.int32)
        self.values = np.zeros(size[_VALUE], np.int32)
        self.operands = np.zeros(size[_OPERAND], np.int32)
        self.regions = np.zeros((3, size[_REGION]), np.int32)
        self.bindings = np.zeros((3, size[_BINDING]), np.int32)
        self.attributes = np.zeros((3, size[_ATTRIBUTE]), np.int32)

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


def _place(
    block: Block, columns: _Columns, starts: Array, owner_stacks: Array, tables: Tables
) -> list[tuple[Block, Array, Array]]:
    """Fill in the rows of a block at each of its instances; give the instances of the blocks that it calls."""
    rows = _Rows(block)
    node_start, value_start = starts[:, _NODE, None], starts[:, _VALUE, None]

    at = rows.node_at + node_start
    stacks = _stacks(block, owner_stacks, tables)
    columns.nodes[0, at] = block.kind
    columns.nodes[1, at] = block.op
    columns.nodes[2, at] = block.name
    columns.nodes[3, at] = starts[:, _REGION, None]
    columns.nodes[4, at] = stacks
    columns.nodes[5, at] = block.scope
    columns.nodes[6, at] = block.outputs
    columns.nodes[7, at] = block.operands

    columns.values[rows.value_at + value_start] = block.value_type
    if block.operand_source:
        source = np.array(block.operand_source, np.int64)
        columns.operands[rows.operand_at + starts[:, _OPERAND, None]] = source + np.where(source >= 0, value_start, 0)
    if block.attribute_node:
        at = rows.attribute_at + starts[:, _ATTRIBUTE, None]
        columns.attributes[0, at] = np.array(block.attribute_node) + node_start
        columns.attributes[1, at] = block.attribute_key
        columns.attributes[2, at] = block.attribute_value
    if block.binding_kind:
        _place_bindings(block, columns, starts)
    if not block.calls:
        return []

    at = rows.call_at[:, _REGION] + starts[:, _REGION, None]
    columns.regions[0, at] = np.array(block.region_owner) + node_start
    columns.regions[1, at] = block.region_kind
    columns.regions[2, at] = block.region_name

    # An owner is the last own node before its bodies.
    owner = np.array([before[0] for before in block.call_before]) - 1
    found = []
    for callee, calls in rows.calls_of:
        places = (rows.call_at[calls] + starts[:, None, :]).reshape(-1, 6)
        found.append((callee, places, stacks[:, owner[calls]].reshape(-1)))
    return found


def _place_bindings(block: Block, columns: _Columns, starts: Array) -> None:
    at = np.arange(len(block.binding_kind)) + starts[:, _BINDING, None]
    node_start, value_start = starts[:, _NODE, None], starts[:, _VALUE, None]
    kind = np.array(block.binding_kind)
    start, end = np.array(block.binding_start), np.array(block.binding_end)
    from_value = np.where(start >= 0, value_start, 0)
    columns.bindings[0, at] = kind
    columns.bindings[1, at] = start + np.where(kind <= SLICE, from_value, node_start)
    columns.bindings[2, at] = end + np.where((kind < LEAVE) | (kind == CARRY), node_start, value_start)


class _Rows:
    """Where the own rows of a block lie in an instance, and where its calls start."""

    def __init__(self, block: Block) -> None:
        self.node_at = np.arange(len(block.kind))
        self.value_at = np.arange(len(block.value_type))
        self.operand_at = np.arange(len(block.operand_source))
        self.attribute_at = np.arange(len(block.attribute_node))
        self.calls_of: list[tuple[Block, Any]] = []
        if not block.calls:
            return
        sizes = np.array([callee.size for callee in block.calls], np.int64)
        before = np.array(block.call_before, np.int64)
        call_before = np.zeros((len(block.calls), 6), np.int64)
        call_before[:, [_NODE, _VALUE, _OPERAND, _ATTRIBUTE]] = before
        # The block's own region and all its own bindings come first.
        call_before[:, _REGION] = 1
        call_before[:, _BINDING] = len(block.binding_kind)
        self.call_at = call_before + np.cumsum(sizes, axis=0) - sizes
        self.node_at += _shift(before[:, 0], sizes[:, _NODE], len(block.kind))
        self.value_at += _shift(before[:, 1], sizes[:, _VALUE], len(block.value_type))
        self.operand_at += _shift(before[:, 2], sizes[:, _OPERAND], len(block.operand_source))
        self.attribute_at += _shift(before[:, 3], sizes[:, _ATTRIBUTE], len(block.attribute_node))
        by_callee: dict[int, tuple[Block, list[int]]] = {}
        for number, callee in enumerate(block.calls):
            by_callee.setdefault(id(callee), (callee, []))[1].append(number)
        self.calls_of = list(by_callee.values())


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
