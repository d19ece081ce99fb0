"""The outline of a graph: the tree by which it is folded for reading, as columns.

Rows stand in preorder, row 0 is the program. A row is an interval of program order: it holds the nodes `first` to
`end` (one past the last), those of the rows inside it among them. Each node belongs to the innermost row that holds
it, so every equation is in exactly one leaf, and closing any rows never makes a cycle.

| column     | what it says of a row |
|------------|-----------------------|
| `parent`   | the row around it, -1 for row 0 |
| `kind`     | what it is: a number of `ROW_KINDS` |
| `name`     | what is written on it: string |
| `detail`   | the source behind it, or what more there is to say: string |
| `variable` | what its value is assigned to, where that is known: string |
| `first`, `end` | its nodes |
| `closed`   | 1 for what is one box at first, because all of it comes from one expression of the person's source |
| `count`    | how many copies it is a stack of: then its children are the copies; 1 for what is no stack |
| `copy`     | which copy of the stack around it it is, from 0; -1 for what is none |
| `like`     | the row of the first copy that it corresponds to, -1 where there is none |
| `twin`     | of a row in a forward phase, its part of the backward phase, and the other way round; or -1 |
| `region`   | the region of the graph that it is the body of: a loop of one body, a body of a loop or condition |

`role` says of each node, not row, what it is drawn as: a number of `NODE_ROLES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from jaxviz.graph import OPERATION, Column, Graph

ROW_KINDS = (
    "program",
    "phase",
    "module",
    "call",
    "statement",
    "function",
    "loop",
    "cond",
    "body",
    "recomputed",
    "expression",
    "stack",
    "copy",
    "part",
)
NODE_ROLES = ("box", "edge", "chip", "counter", "through", "detail")

#: The columns as they are written into a document: places as differences, which are small and alike.
PACKED_COLUMNS = (
    "back",
    "kind",
    "name",
    "detail",
    "variable",
    "gap",
    "size",
    "closed",
    "count",
    "copy",
    "like",
    "twin",
    "region",
    "role",
)


@dataclass(frozen=True)
class Row:
    """One row of an outline, in words. `equations` counts what is not a mere border; `depth` the rows around it."""

    index: int
    parent: int
    depth: int
    kind: str
    name: str
    detail: str
    variable: str
    first: int
    end: int
    equations: int
    closed: bool
    count: int
    copy: int
    like: int
    twin: int
    region: int

    def __str__(self) -> str:
        times = f" x{self.count}" if self.count > 1 else ""
        twin = f" <-> {self.twin}" if self.twin >= 0 else ""
        detail = f"  `{self.detail}`" if self.detail and self.detail != self.name else ""
        return f"{self.name or '-'}{times} [{self.kind}{' closed' * self.closed}] {self.equations}{twin}{detail}"


@dataclass(frozen=True, eq=False, repr=False)
class Outline:
    """The outline of `graph`; the columns are explained above. Iterate for rows in words; print it to look at it."""

    graph: Graph = field(compare=False)
    parent: Column
    kind: Column
    name: Column
    detail: Column
    variable: Column
    first: Column
    end: Column
    closed: Column
    count: Column
    copy: Column
    like: Column
    twin: Column
    region: Column
    role: Column

    def packed(self) -> dict[str, Column]:
        """The columns for a document: `back`, `gap` and `size` for `parent`, `first` and `end`."""
        rows = np.arange(len(self), dtype=np.int32)
        columns = {
            "back": rows - self.parent,
            "gap": np.diff(self.first, prepend=np.int32(0)),
            "size": self.end - self.first,
            "like": np.where(self.like >= 0, rows - self.like, 0),
            "twin": np.where(self.twin >= 0, self.twin - rows, 0),
        }
        return {name: columns[name] if name in columns else getattr(self, name) for name in PACKED_COLUMNS}

    @classmethod
    def unpacked(cls, graph: Graph, columns: Mapping[str, Column]) -> Outline:
        """The outline that `packed` wrote; `ValueError` where the columns differ in length."""
        lengths = {len(column) for name, column in columns.items() if name != "role"}
        if len(lengths) != 1:
            raise ValueError(f"expected columns of one length, not {sorted(lengths)}")
        rows = np.arange(len(columns["back"]), dtype=np.int32)
        first = np.cumsum(columns["gap"], dtype=np.int32)
        same = ("kind", "name", "detail", "variable", "closed", "count", "copy", "region", "role")
        return cls(
            graph=graph,
            parent=rows - columns["back"],
            first=first,
            end=first + columns["size"],
            like=np.where(columns["like"] != 0, rows - columns["like"], -1).astype(np.int32),
            twin=np.where(columns["twin"] != 0, rows + columns["twin"], -1).astype(np.int32),
            **{name: columns[name] for name in same},
        )

    def check(self) -> None:
        """Raise `ValueError`, saying what is wrong and where, if the columns do not fit together."""
        rows, nodes, strings = len(self), len(self.graph), len(self.graph.tables.strings)
        bounds = {
            "parent": (-1, rows),
            "kind": (0, len(ROW_KINDS)),
            "name": (0, strings),
            "detail": (0, strings),
            "variable": (0, strings),
            "first": (0, nodes + 1),
            "end": (0, nodes + 1),
            "closed": (0, 2),
            "count": (1, 2**31),
            "copy": (-1, 2**31),
            "like": (-1, rows),
            "twin": (-1, rows),
            "region": (-1, len(self.graph.regions.owner)),
            "role": (0, len(NODE_ROLES)),
        }
        for name, (low, high) in bounds.items():
            column = getattr(self, name)
            wanted = nodes if name == "role" else rows
            if len(column) != wanted:
                raise ValueError(f"{name} has {len(column)} rows, but must have {wanted}")
            wrong = np.flatnonzero((column < low) | (column >= high))
            if len(wrong):
                raise ValueError(f"{name}[{wrong[0]}] is {column[wrong[0]]}, but must be at least {low}, below {high}")
        if not rows or self.parent[0] != -1:
            raise ValueError("parent[0] must be -1: row 0 is the program")
        around = self.parent[1:]
        nested = (around >= 0) & (around < np.arange(1, rows)) & (self.first[1:] <= self.end[1:])
        nested &= (self.first[1:] >= self.first[around]) & (self.end[1:] <= self.end[around])
        if not nested.all():
            raise ValueError(f"row {int(np.flatnonzero(~nested)[0]) + 1} must lie in an earlier row around it")

    def __len__(self) -> int:
        return len(self.parent)

    def __iter__(self) -> Iterator[Row]:
        return (self.row(index) for index in range(len(self)))

    def __repr__(self) -> str:
        return f"<Outline: {len(self)} rows of {len(self.graph)} nodes>"

    def __str__(self) -> str:
        """The tree as indented text, of each stack only the first copy."""
        lines = []
        hidden = np.zeros(len(self), bool)
        for row in self:
            hidden[row.index] = row.copy > 0 or (row.parent >= 0 and hidden[row.parent])
            if not hidden[row.index]:
                lines.append("  " * row.depth + str(row))
        return "\n".join(lines)

    @cached_property
    def depth(self) -> Column:
        """How many rows lie around each."""
        depth = [0] * len(self)
        for row, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                depth[row] = depth[parent] + 1
        return np.array(depth, np.int32)

    @cached_property
    def paths(self) -> tuple[tuple[int, ...], ...]:
        """The rows around each row and itself, outermost first, without row 0."""
        paths: list[tuple[int, ...]] = [()]
        for row, parent in enumerate(self.parent[1:].tolist(), 1):
            paths.append((*paths[parent], row))
        return tuple(paths)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The rows right inside each row, in order."""
        inside: list[list[int]] = [[] for _ in range(len(self))]
        for row, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                inside[parent].append(row)
        return tuple(map(tuple, inside))

    @cached_property
    def leaf(self) -> Column:
        """The innermost row that holds each node."""
        nodes = np.arange(len(self.graph))
        # The last row that begins before a node, or the innermost around it that has not ended there.
        leaf = (np.searchsorted(self.first, nodes, side="right") - 1).astype(np.int32)
        ended = nodes[(self.end[leaf] <= nodes) & (leaf > 0)]
        while len(ended):
            leaf[ended] = self.parent[leaf[ended]]
            ended = ended[(self.end[leaf[ended]] <= ended) & (leaf[ended] > 0)]
        return leaf

    @cached_property
    def equations(self) -> Column:
        """How many equations each row holds; those that are looked through, and details, do not count."""
        counted = (self.graph.nodes.kind == OPERATION) & (self.role < NODE_ROLES.index("through"))
        before = np.concatenate([[0], np.cumsum(counted)])
        return (before[self.end] - before[self.first]).astype(np.int32)

    def row(self, index: int) -> Row:
        """One row, in words."""
        strings = self.graph.tables.strings
        return Row(
            index=index,
            parent=int(self.parent[index]),
            depth=int(self.depth[index]),
            kind=ROW_KINDS[self.kind[index]],
            name=strings[self.name[index]],
            detail=strings[self.detail[index]],
            variable=strings[self.variable[index]],
            first=int(self.first[index]),
            end=int(self.end[index]),
            equations=int(self.equations[index]),
            closed=bool(self.closed[index]),
            count=int(self.count[index]),
            copy=int(self.copy[index]),
            like=int(self.like[index]),
            twin=int(self.twin[index]),
            region=int(self.region[index]),
        )
