"""The states between the passes of the compiler in a folder of dumps, as the stage through which a slider steps.

There is no jaxpr that a state could be linked to: an instruction is followed through them by its name, an operation of
StableHLO, which has none, by its name stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.link.changes import Passes
from jaxviz.link.lineage import Named
from jaxviz.link.links import Found, Links
from jaxviz.opening.contents import Contents, OpenError, contents_of, read_bytes
from jaxviz.opening.programs import lowered_in
from jaxviz.outline import Outline
from jaxviz.outline.opened.metadata import placed_outline
from jaxviz.passes import make_passes
from jaxviz.read.hlo.module import HloError
from jaxviz.read.hlo.source import HloSource
from jaxviz.read.passes import PassState, read_states
from jaxviz.tables import Tables

#: More bytes of text are not looked through to show one program; each state can be read by itself.
MOST_BYTES = 100_000_000


class StateFile(NamedTuple):
    """A module that the compiler dumped, after which pass of which pipeline; of what it was given, both are empty."""

    after: str
    pipeline: str
    path: Path


class _Placed(NamedTuple):
    graph: Graph
    order: Column
    links: Links
    outline: Outline


def states_of(files: Sequence[StateFile], tables: Tables) -> Passes:
    """The states that differ, in order; `OpenError` where they cannot be read."""
    size = sum(file.path.stat().st_size for file in files)
    if size > MOST_BYTES:
        raise OpenError(f"{len(files)} states of {size / 1e6:,.0f} MB are too much to step through: .passes has each")
    try:
        sources = [_source(file.path) for file in files]
        taken = [PassState(file.after, file.pipeline, 0, text) for file, (_, text) in zip(files, sources, strict=True)]
        if any(kind is Contents.MLIR for kind, _ in sources):
            return make_passes(taken, tables, lambda states: _lowered(states, tables), _no_tags, _place)
        return make_passes(taken, tables, lambda states: read_states(states, tables, frames=True), _no_tags, _place)
    except (HloError, RecursionError, ValueError) as error:
        raise OpenError(f"the states between passes: {error}") from None


def _source(path: Path) -> tuple[Contents, HloSource]:
    data = read_bytes(path)
    kind = contents_of(data, str(path))
    if kind is Contents.HLO_PROTO:
        return kind, data
    if kind not in (Contents.HLO_TEXT, Contents.MLIR):
        raise OpenError(f"{path}: expected a state between passes, as text or as a protocol buffer")
    return kind, data.decode(errors="replace").removeprefix("\ufeff")


class _Lowered(NamedTuple):
    """A state in StableHLO, and what each of its operations is followed by."""

    graph: Graph
    instruction: Sequence[str]


def _lowered(states: Sequence[PassState], tables: Tables) -> Iterator[_Lowered]:
    for state in states:
        assert isinstance(state.source, str)
        graph = lowered_in(state.source.encode(), state.name, tables).graph
        nodes, strings = graph.nodes, tables.strings
        rows = zip(nodes.kind.tolist(), nodes.op.tolist(), nodes.name.tolist(), nodes.scope.tolist(), strict=True)
        named = [
            f"{strings[op]} {strings[scope]}" if kind == OPERATION else strings[name] for kind, op, name, scope in rows
        ]
        yield _Lowered(graph, named)


def _no_tags(state: Named) -> Sequence[Found]:
    return [()] * len(state.graph)


def _place(graph: Graph, tagged: Sequence[Found]) -> _Placed:
    placed, outline, order = placed_outline(graph)
    none = np.zeros(0, np.int32)
    return _Placed(placed, order, Links(none, none, none), outline)
