"""From states to a series: each record once, and for each state how it comes from the one before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from jaxviz.graph import CARRY, SLICE, Column, Graph
from jaxviz.outline.tree import Outline
from jaxviz.series.rows import makers_of
from jaxviz.series.series import LISTS, RECORDS, Series, State, Step
from jaxviz.tables import Tables


class SeriesWriter:
    """Takes state after state."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._numbers: dict[str, dict[Any, int]] = {part: {} for part in RECORDS}
        self._before: dict[str, list[int]] = {part: [] for part in RECORDS}
        self._steps: list[Step] = []

    def add(self, state: State, *, name: str, pipeline: str, joined: int) -> None:
        edits = {}
        for part, rows in (
            ("nodes", state.node_rows),
            ("regions", _region_rows(state.graph)),
            ("rows", _outline_rows(state.outline)),
            ("bindings", _binding_rows(state)),
        ):
            numbers = self._numbers[part]
            after = [numbers.setdefault(row, len(numbers)) for row in rows]
            edits[part] = edit_between(self._before[part], after)
            self._before[part] = after
        self._steps.append(Step(name, pipeline, joined, edits))

    def series(self) -> Series:
        records = {}
        lists: dict[str, Mapping[str, Column]] = {}
        for part, names in RECORDS.items():
            rows = list(self._numbers[part])
            if part == "nodes":
                own = len(names) - len(LISTS)
                for place, (of_part, of_names) in enumerate(LISTS.items(), start=own):
                    flat = [entry for row in rows for entry in row[place]]
                    lists[of_part] = _columns(of_names, flat)
                rows = [(*row[:own], *map(len, row[own:])) for row in rows]
            records[part] = _columns(names, rows)
        return Series(self._tables, records, lists, tuple(self._steps))


def _columns(names: Sequence[str], rows: Sequence[Any]) -> dict[str, Column]:
    table = np.array(rows, np.int32).reshape(-1, len(names))
    return {name: table[:, place].copy() for place, name in enumerate(names)}


def _region_rows(graph: Graph) -> Iterable[tuple[int, ...]]:
    start, end = graph.region_intervals
    regions = graph.regions
    size = (end - start).tolist()
    # The program holds everything: its size would be another in every state.
    size[0] = 0
    gap = np.diff(regions.owner, prepend=np.int32(-1)).tolist()
    return zip(gap, size, regions.kind.tolist(), regions.name.tolist(), strict=True)


def _outline_rows(outline: Outline) -> Iterable[tuple[int, ...]]:
    packed = outline.packed()
    packed["depth"] = outline.depth
    packed["size"] = np.concatenate([[0], packed["size"][1:]])
    return zip(*(packed[name].tolist() for name in RECORDS["rows"]), strict=True)


def _binding_rows(state: State) -> Iterable[tuple[int, ...]]:
    lineage, bindings = state.lineage.tolist(), state.graph.bindings
    makers, outputs = makers_of(state.graph)

    def port(place: int, is_node: bool) -> tuple[int, int]:
        return (lineage[place], 0) if is_node else (lineage[makers[place]], outputs[place])

    rows = zip(bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist(), strict=True)
    for kind, start, end in rows:
        yield (kind, *port(start, kind > SLICE), *port(end, kind <= SLICE or kind == CARRY))


def edit_between(before: Sequence[int], after: Sequence[int]) -> list[int]:
    """The edit that makes one sequence of the other."""
    start, end = 0, 0
    shorter = min(len(before), len(after))
    while start < shorter and before[start] == after[start]:
        start += 1
    while end < shorter - start and before[-1 - end] == after[-1 - end]:
        end += 1
    matcher = SequenceMatcher(None, before[start : len(before) - end], after[start : len(after) - end], autojunk=False)
    edit: list[int] = []
    stay = start
    for kind, low, high, first, last in matcher.get_opcodes():
        if kind == "equal":
            stay += high - low
        else:
            edit += [stay, high - low, last - first, *after[start + first : start + last]]
            stay = 0
    return edit
