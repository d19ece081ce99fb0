"""A series of graphs that differ little, such as those after each pass of the compiler: each once, then what differs.

A state is four sequences of records: nodes, regions, rows of its outline, and bindings. Records are kept once for all
states, and a state is how its sequences come from those of the state before. So that a record stays the same when
others come and go, it names nodes by their lineage, which they keep from state to state, and sizes instead of places.

An edit is a list of numbers: how many records stay, how many go, how many come, those that come; and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from jaxviz.graph import (
    CARRY,
    SLICE,
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
from jaxviz.link.links import Links
from jaxviz.outline.tree import Outline
from jaxviz.series.rows import NodeRow, node_rows
from jaxviz.tables import Tables

#: The parts of a series with their columns. Those of `LISTS` belong to nodes, which say how many each has.
RECORDS: Mapping[str, tuple[str, ...]] = {
    "nodes": (
        *("lineage", "kind", "op", "name", "stack", "scope", "role"),
        *("outputs", "operands", "attributes", "links"),
    ),
    "regions": ("gap", "size", "kind", "name"),
    "rows": (
        *("depth", "gap", "size", "kind", "name", "detail", "variable"),
        *("closed", "count", "copy", "like", "twin", "region"),
    ),
    "bindings": ("kind", "from", "fromOutput", "to", "toOutput"),
}
LISTS: Mapping[str, tuple[str, ...]] = {
    "outputs": ("type",),
    "operands": ("lineage", "output"),
    "attributes": ("key", "value"),
    "links": ("node", "kind"),
}
#: The columns that name strings of the tables.
STRINGS: tuple[tuple[str, str], ...] = (
    *(("nodes", name) for name in ("op", "name", "scope")),
    *(("attributes", name) for name in ("key", "value")),
    *(("regions", name) for name in ("kind", "name")),
    *(("rows", name) for name in ("name", "detail", "variable")),
)


@dataclass(frozen=True, eq=False)
class State:
    """One graph of a series with what belongs to it. `lineage` is what its nodes are called in all states."""

    graph: Graph
    lineage: Column
    links: Links
    outline: Outline

    @cached_property
    def node_of(self) -> dict[int, int]:
        """The node of each lineage that is here."""
        return {lineage: node for node, lineage in enumerate(self.lineage.tolist())}

    @cached_property
    def node_rows(self) -> list[NodeRow]:
        """The record of each node: it is written, and compared with those of the states before and after."""
        return node_rows(self.graph, self.lineage, self.links, self.outline)


@dataclass(frozen=True)
class Step:
    """How a state comes from the one before: its name, what of it is not shown by itself, and an edit for each part."""

    name: str
    pipeline: str
    joined: int
    edits: Mapping[str, Sequence[int]]


@dataclass(frozen=True, eq=False, repr=False)
class Series:
    """The columns of all records, by part, and the steps."""

    tables: Tables = field(compare=False)
    records: Mapping[str, Mapping[str, Column]]
    lists: Mapping[str, Mapping[str, Column]]
    steps: tuple[Step, ...]

    def __len__(self) -> int:
        return len(self.steps)

    def __repr__(self) -> str:
        return f"<Series: {len(self)} states, {len(self.records['nodes']['kind'])} records of nodes>"

    @cached_property
    def sequences(self) -> tuple[Mapping[str, Column], ...]:
        """The records of each state; `ValueError` where an edit does not fit."""
        found: list[Mapping[str, Column]] = []
        before = {part: np.zeros(0, np.int32) for part in RECORDS}
        for number, step in enumerate(self.steps):
            after = {}
            for part in RECORDS:
                count = len(self.records[part]["kind"])
                try:
                    after[part] = apply_edit(before[part], step.edits[part], count)
                except ValueError as error:
                    raise ValueError(f"states[{number}].{part}: {error}") from None
            found.append(after)
            before = after
        return tuple(found)

    def state(self, number: int) -> State:
        """One state, put together."""
        return _Reader(self, self.sequences[number]).state()


def apply_edit(before: Column, edit: Sequence[int], count: int) -> Column:
    """The sequence that an edit makes of another, with records below `count`."""
    parts: list[Any] = []
    at = place = 0
    while place < len(edit):
        if len(edit) < place + 3 or min(edit[place : place + 3]) < 0:
            raise ValueError("expected how many records stay, go and come")
        stay, go, come = edit[place : place + 3]
        place += 3 + come
        fresh = edit[place - come : place]
        if at + stay + go > len(before) or len(fresh) < come:
            raise ValueError(f"expected an edit of {len(before)} records")
        if come and not 0 <= min(fresh) <= max(fresh) < count:
            raise ValueError(f"expected records below {count}")
        parts += [before[at : at + stay], np.array(fresh, np.int32)]
        at += stay + go
    return np.concatenate([*parts, before[at:]]).astype(np.int32)


class _Reader:
    def __init__(self, series: Series, sequence: Mapping[str, Column]) -> None:
        self.series, self.sequence = series, sequence
        self.node = {name: column[sequence["nodes"]] for name, column in series.records["nodes"].items()}
        self.count = len(sequence["nodes"])
        self.by_lineage = np.argsort(self.node["lineage"], kind="stable").astype(np.int32)
        self.lineages = self.node["lineage"][self.by_lineage]
        if (np.diff(self.lineages) == 0).any():
            raise ValueError("expected each lineage once")
        self.first_value = np.concatenate([[0], np.cumsum(self.node["outputs"])]).astype(np.int32)

    def state(self) -> State:
        graph = self.graph()
        graph.check()
        source, kind = self.flat("links")
        target = np.repeat(np.arange(self.count, dtype=np.int32), self.node["links"])
        links = Links(source, target, kind)
        outline = self.outline(graph)
        outline.check()
        return State(graph, self.node["lineage"], links, outline)

    def flat(self, part: str) -> list[Column]:
        """The columns of what belongs to the nodes of this state, node by node."""
        counts = self.series.records["nodes"][part]
        ends = np.cumsum(counts)
        chosen = self.sequence["nodes"]
        taken = counts[chosen]
        starts = (ends - counts)[chosen]
        offsets = np.cumsum(taken) - taken
        rows = np.repeat(starts - offsets, taken) + np.arange(int(taken.sum()))
        return [column[rows] for column in self.series.lists[part].values()]

    def graph(self) -> Graph:
        node = self.node
        lineage, output = self.flat("operands")
        key, value = self.flat("attributes")
        none = np.zeros(0, np.int32)
        owner, region, rows = self.regions()
        return Graph(
            nodes=Nodes(
                kind=node["kind"],
                op=node["op"],
                name=node["name"],
                region=region,
                stack=node["stack"],
                scope=node["scope"],
                outputs=node["outputs"],
                operands=node["operands"],
            ),
            values=Values(self.flat("outputs")[0]),
            operands=Operands(self.values(lineage, output)),
            literals=Literals(none, none),
            regions=Regions(owner, rows["kind"], rows["name"]),
            bindings=self.bindings(),
            attributes=Attributes(np.repeat(np.arange(self.count, dtype=np.int32), node["attributes"]), key, value),
            tables=self.series.tables,
        )

    def nodes(self, lineage: Column) -> Column:
        """The nodes of these lineages."""
        found = np.searchsorted(self.lineages, lineage)
        if len(lineage) and (found.max() >= self.count or (self.lineages[found] != lineage).any()):
            raise ValueError("expected lineages of nodes that are there")
        return self.by_lineage[found]

    def values(self, lineage: Column, output: Column) -> Column:
        return (self.first_value[self.nodes(lineage)] + output).astype(np.int32)

    def regions(self) -> tuple[Column, Column, Mapping[str, Column]]:
        rows = {name: column[self.sequence["regions"]] for name, column in self.series.records["regions"].items()}
        owner = (np.cumsum(rows["gap"]) - 1).astype(np.int32)
        region = np.zeros(self.count, np.int32)
        following: dict[int, int] = {}
        for number, (at, size) in enumerate(zip(owner.tolist(), rows["size"].tolist(), strict=True)):
            if number:
                start = following.get(at, at + 1)
                following[at] = start + size
                region[start : start + size] = number
        return owner, region, rows

    def bindings(self) -> Bindings:
        rows = {name: column[self.sequence["bindings"]] for name, column in self.series.records["bindings"].items()}
        kind = rows["kind"]
        from_node, to_node = kind > SLICE, (kind <= SLICE) | (kind == CARRY)
        start, end = self.nodes(rows["from"]), self.nodes(rows["to"])
        return Bindings(
            kind,
            np.where(from_node, start, self.first_value[start] + rows["fromOutput"]).astype(np.int32),
            np.where(to_node, end, self.first_value[end] + rows["toOutput"]).astype(np.int32),
        )

    def outline(self, graph: Graph) -> Outline:
        rows = {name: column[self.sequence["rows"]] for name, column in self.series.records["rows"].items()}
        rows["size"] = np.concatenate([[self.count], rows["size"][1:]]).astype(np.int32)
        back, path = [], list[int]()
        for row, depth in enumerate(rows.pop("depth").tolist()):
            del path[depth:]
            back.append(row - path[-1] if path else 1)
            path.append(row)
        columns = {**rows, "back": np.array(back, np.int32), "role": self.node["role"]}
        return Outline.unpacked(graph, columns)
