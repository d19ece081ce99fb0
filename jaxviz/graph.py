"""A stage of a program as a graph: nodes (operations), values that flow between them, and regions (bodies).

The columns are those of `schema/document.schema.json`, as numpy arrays of int32; `Graph.node` gives one node in words.
`jaxviz/graph_check.py` holds what must be true of the columns.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxviz.tables import Frame, Tables

Column = NDArray[np.int32]

#: Check every graph as it is made: set by the tests, or by JAXVIZ_CHECK=1 in the environment.
CHECK = os.environ.get("JAXVIZ_CHECK", "0") not in ("", "0")

NODE_KINDS = ("operation", "argument", "result", "constant")
OPERATION, ARGUMENT, RESULT, CONSTANT = range(4)

BINDING_KINDS = ("enter", "init", "slice", "leave", "stack", "carry")
ENTER, INIT, SLICE, LEAVE, STACK, CARRY = range(6)


@dataclass(frozen=True, eq=False)
class Nodes:
    kind: Column
    op: Column
    name: Column
    region: Column
    stack: Column
    scope: Column
    outputs: Column
    operands: Column


@dataclass(frozen=True, eq=False)
class Values:
    type: Column


@dataclass(frozen=True, eq=False)
class Operands:
    source: Column


@dataclass(frozen=True, eq=False)
class Literals:
    text: Column
    type: Column


@dataclass(frozen=True, eq=False)
class Regions:
    owner: Column
    kind: Column
    name: Column


@dataclass(frozen=True, eq=False)
class Bindings:
    """`start` and `end` are `from` and `to` of the schema, which are words of Python or say nothing alone."""

    kind: Column
    start: Column
    end: Column


@dataclass(frozen=True, eq=False)
class Attributes:
    node: Column
    key: Column
    value: Column


@dataclass(frozen=True)
class Node:
    """One node of a graph, in words. `operands` are values, or -1 - i for literal i."""

    index: int
    kind: str
    op: str
    name: str
    region: int
    regions: tuple[int, ...]
    scope: str
    types: tuple[str, ...]
    values: tuple[int, ...]
    operands: tuple[int, ...]
    operand_texts: tuple[str, ...]
    attributes: dict[str, str]
    frames: tuple[Frame, ...]

    @property
    def line(self) -> int:
        """The innermost line of the person's own code that it came from, or 0."""
        own = [frame for frame in self.frames if not frame.library]
        return own[-1].line if own else 0

    def __str__(self) -> str:
        made = ", ".join(f"%{value}:{text}" for value, text in zip(self.values, self.types, strict=True))
        title = self.op + (f"[{self.name}]" if self.name else "")
        return f"{made}{' = ' if made else ''}{title} {' '.join(self.operand_texts)}".rstrip()


@dataclass(frozen=True)
class Region:
    """One region of a graph, in words. It holds the nodes `start` to `end`, with those of the regions inside it."""

    index: int
    owner: int
    kind: str
    name: str
    start: int
    end: int


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """One stage of a program: `len(graph)` nodes, in program order; iterate for each node in words.

    >>> import jax
    >>> from jaxviz.read.jaxpr import read_jaxpr
    >>> graph = read_jaxpr(jax.make_jaxpr(lambda x: x * 2.0)(1.0), Tables())
    >>> [node.op for node in graph]
    ['argument', 'mul', 'result']
    """

    nodes: Nodes
    values: Values
    operands: Operands
    literals: Literals
    regions: Regions
    bindings: Bindings
    attributes: Attributes
    tables: Tables = field(compare=False)

    def __post_init__(self) -> None:
        if CHECK:
            self.check()

    def check(self) -> None:
        """Raise `GraphError`, saying what is wrong and where, if the columns do not fit together."""
        from jaxviz.graph_check import check_graph

        check_graph(self)

    def __len__(self) -> int:
        return len(self.nodes.kind)

    def __iter__(self) -> Iterator[Node]:
        return (self.node(index) for index in range(len(self)))

    def __repr__(self) -> str:
        operations = int(np.count_nonzero(self.nodes.kind == OPERATION))
        arguments = self._count_of_program(ARGUMENT)
        results = self._count_of_program(RESULT)
        regions = len(self.regions.owner) - 1
        inside = f" in {regions} region{'s' * (regions != 1)}" if regions else ""
        return (
            f"<Graph: {operations} operation{'s' * (operations != 1)}{inside}, "
            f"{arguments} argument{'s' * (arguments != 1)}, {results} result{'s' * (results != 1)}>"
        )

    def _count_of_program(self, kind: int) -> int:
        return int(np.count_nonzero((self.nodes.kind == kind) & (self.nodes.region == 0)))

    # What follows from the columns.

    @cached_property
    def first_value(self) -> Column:
        """Node n makes the values `first_value[n]` to `first_value[n + 1]`."""
        return _offsets(self.nodes.outputs)

    @cached_property
    def first_operand(self) -> Column:
        """Node n reads the operands `first_operand[n]` to `first_operand[n + 1]`."""
        return _offsets(self.nodes.operands)

    @cached_property
    def first_attribute(self) -> Column:
        """Node n has the attributes `first_attribute[n]` to `first_attribute[n + 1]`."""
        return np.searchsorted(self.attributes.node, np.arange(len(self) + 1)).astype(np.int32)

    @cached_property
    def value_node(self) -> Column:
        """The node that makes each value."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.nodes.outputs)

    @cached_property
    def operand_node(self) -> Column:
        """The node that reads each operand."""
        return np.repeat(np.arange(len(self), dtype=np.int32), self.nodes.operands)

    @cached_property
    def operand_maker(self) -> Column:
        """The node that makes what each operand is, -1 for a literal."""
        # One more than there are values, for all that is none of them.
        return np.append(self.value_node, np.int32(-1))[np.maximum(self.operands.source, -1)]

    def readers(self, value: int) -> list[int]:
        """The nodes that read a value, once for each operand that it is, in program order."""
        order, sources = self._by_source
        low, high = np.searchsorted(sources, (value, value + 1))
        return self.operand_node[order[low:high]].tolist()

    @cached_property
    def _by_source(self) -> tuple[np.ndarray, np.ndarray]:
        """The operands in the order of what they are, and what they are: as wide as NumPy's own numbers, else each
        search in it would copy it."""
        order = np.argsort(self.operands.source, kind="stable")
        return order, self.operands.source[order].astype(np.int64)

    @cached_property
    def region_parent(self) -> Column:
        """The region that each region's owner stands in; -1 for region 0."""
        parent = np.full(len(self.regions.owner), -1, np.int32)
        parent[1:] = self.nodes.region[self.regions.owner[1:]]
        return parent

    @cached_property
    def region_depth(self) -> Column:
        """How many regions lie around each region."""
        parent = self.region_parent
        depth = np.zeros(len(parent), np.int32)
        inside, around = np.arange(1, len(parent)), parent[1:]
        while len(inside):
            depth[inside] += 1
            deeper = around > 0
            inside, around = inside[deeper], parent[around[deeper]]
        return depth

    @cached_property
    def region_intervals(self) -> tuple[Column, Column]:
        """First node of each region and the one past its last, with the nodes of the regions inside it."""
        count, owner, parent = len(self.regions.owner), self.regions.owner, self.region_parent
        total = np.bincount(self.nodes.region, minlength=count)
        by_depth = np.argsort(self.region_depth, kind="stable")
        borders = np.cumsum(np.bincount(self.region_depth))
        for low, high in zip(borders[-2::-1].tolist(), borders[:0:-1].tolist(), strict=True):
            here = by_depth[low:high]
            np.add.at(total, parent[here], total[here])
        # The regions of one owner stand one after the other, the first right after the owner.
        by_owner = np.argsort(owner, kind="stable")
        before = np.cumsum(total[by_owner]) - total[by_owner]
        first_of_owner = np.searchsorted(owner[by_owner], owner[by_owner])
        start = np.empty(count, np.int64)
        start[by_owner] = owner[by_owner] + 1 + before - before[first_of_owner]
        return start.astype(np.int32), (start + total).astype(np.int32)

    @cached_property
    def owned_regions(self) -> dict[int, tuple[int, ...]]:
        """The regions of each node that has any, in order."""
        owned: dict[int, tuple[int, ...]] = {}
        for region, owner in enumerate(self.regions.owner.tolist()):
            if owner >= 0:
                owned[owner] = (*owned.get(owner, ()), region)
        return owned

    # In words.

    def node(self, index: int) -> Node:
        """One node, with its texts, attributes and frames."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"no node {index}: the graph has {len(self)}")
        index %= len(self)
        nodes, tables = self.nodes, self.tables
        strings = tables.strings
        values = range(self.first_value[index], self.first_value[index + 1])
        operands = self.operands.source[self.first_operand[index] : self.first_operand[index + 1]]
        attributes = range(self.first_attribute[index], self.first_attribute[index + 1])
        return Node(
            index=index,
            kind=NODE_KINDS[nodes.kind[index]],
            op=strings[nodes.op[index]],
            name=strings[nodes.name[index]],
            region=int(nodes.region[index]),
            regions=self.owned_regions.get(index, ()),
            scope=strings[nodes.scope[index]],
            types=tuple(tables.type_text(self.values.type[value]) for value in values),
            values=tuple(values),
            operands=tuple(operands.tolist()),
            operand_texts=tuple(self.source_text(source) for source in operands.tolist()),
            attributes={strings[self.attributes.key[row]]: strings[self.attributes.value[row]] for row in attributes},
            frames=tables.frames_of(int(nodes.stack[index])),
        )

    def attribute(self, index: int, key: str) -> str:
        """The text of one attribute of a node, empty where it has none; all the rest of `node` is not looked up."""
        strings, attributes = self.tables.strings, self.attributes
        for row in range(self.first_attribute[index + 1] - 1, self.first_attribute[index] - 1, -1):
            if strings[attributes.key[row]] == key:
                return strings[attributes.value[row]]
        return ""

    def region(self, index: int) -> Region:
        """One region, with its texts and the nodes that it holds."""
        strings = self.tables.strings
        start, end = self.region_intervals
        return Region(
            index=index,
            owner=int(self.regions.owner[index]),
            kind=strings[self.regions.kind[index]],
            name=strings[self.regions.name[index]],
            start=int(start[index]),
            end=int(end[index]),
        )

    def source_text(self, source: int) -> str:
        """How an operand is written: `%3` for value 3, `2.0` for a literal."""
        if source >= 0:
            return f"%{source}"
        return self.tables.strings[self.literals.text[-1 - source]]

    def find(self, op: str) -> list[Node]:
        """The nodes whose operation is `op`."""
        wanted = self.tables.find_string(op)
        if wanted is None:
            return []
        return [self.node(int(index)) for index in np.flatnonzero(self.nodes.op == wanted)]


def columns_of(part: Any) -> dict[str, Column]:
    """The columns of one part of a graph (`graph.nodes`, `graph.values`, ...) by name."""
    return dict(vars(part))


def _offsets(counts: Column) -> Column:
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(counts, out=offsets[1:])
    return offsets
