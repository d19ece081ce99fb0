"""The outline of a stage that was opened from a file, by what its metadata say: name stacks and call stacks.

There is no jaxpr to go by. The name stack of an operation (`jit(step)/transpose(jvp(LM))/Block_0/dot_general`) gives
phase, modules and primitive, its frames give the calls. What has neither goes with those that read it. The nodes are
put into an order in which what belongs together stands together, as far as values allow.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.calls.modules import BACKWARD, FORWARD, parse_scope
from jaxviz.outline.compiled.order import program_order, reordered
from jaxviz.outline.compiled.roles import fetched_arguments, roles_of
from jaxviz.outline.elements import BODY, CALL, COND, FUNCTION, LOOP, Element
from jaxviz.outline.make import outline_by
from jaxviz.outline.names.pieces import Piece, pieces_of
from jaxviz.outline.opened.called import called_functions
from jaxviz.outline.opened.checks import with_checks_named
from jaxviz.outline.opened.counted import mark_counted
from jaxviz.outline.opened.origins import CALLED, TURN, Origins, described
from jaxviz.outline.opened.trips import with_trip_counts
from jaxviz.outline.paths import NodePaths, PathReader
from jaxviz.outline.tree import Outline

_BEFORE, _FORWARD, _BACKWARD, _UPDATE = range(4)
# So many steps from numbers on, what is made of these is looked for: a number is converted and spread.
_STEPS_OF_NUMBERS = 6
_LOOP_BODIES = {"while cond": "while", "while body": "do"}


def opened_outline(graph: Graph) -> tuple[Graph, Outline]:
    """The graph in an order that can be folded, and its outline."""
    placed, outline, _ = placed_outline(graph)
    return placed, outline


def placed_outline(graph: Graph) -> tuple[Graph, Outline, Column]:
    """The same, and where each node stood before."""
    origins = Origins(with_checks_named(graph))
    phase = _phases(graph, origins)
    origins = origins.with_phases(phase == _BACKWARD)
    paths = _PathReader(graph, origins).read()
    # What a schedule runs early, such as constants, does not say where its group stands. Sorted once, all of it does.
    place = np.empty(len(graph), np.float64)
    place[program_order(graph, _keys(graph, paths, phase, np.arange(len(graph))))] = np.arange(len(graph))
    order = program_order(graph, _keys(graph, paths, phase, place))
    if len(graph):
        order = order[_beside_readers(reordered(graph, order), paths.path[order])]
    graph = reordered(graph, order) if len(graph) else graph
    reader = _PathReader(graph, origins.reordered(order))
    role = roles_of(graph)
    mark_counted(role, graph)
    graph = with_trip_counts(graph)
    outline = outline_by(reader.graph, reader, reader.read(), role)
    return graph, replace(outline, graph=graph), order


class _PathReader(PathReader):
    """Paths by the words of StableHLO and HLO for what has bodies. What runs as one piece is one row, flat inside."""

    def __init__(self, graph: Graph, origins: Origins) -> None:
        super().__init__(described(graph, origins))
        self._pieces = pieces_of(self.graph)
        self._fetched = fetched_arguments(graph)
        self.called = called_functions(graph, origins.parts, origins.primitives, origins.row)

    def read(self) -> NodePaths:
        """What fetches arguments is of the program, no part of what reads them: others may, too."""
        found = super().read()
        found.path[self._fetched] = 0
        return found

    def _body(self, path: int, op: int, kind: int, name: int) -> tuple[int, int, bool]:
        strings = self.graph.tables.strings
        operation, words, label = strings[op], strings[kind], strings[name]
        if words == CALLED:
            return path, self._step(path, Element(FUNCTION, (CALLED, label), label, (FUNCTION, label))), False
        if operation in ("call", "composite"):
            return path, path, False
        if operation == "while":
            path = self._step(path, Element(LOOP, (operation,), operation, (LOOP, operation)))
            if words == TURN:
                return path, path, False
            label = _LOOP_BODIES.get(words, words)
        elif operation in ("conditional", "case", "if"):
            path = self._step(path, Element(COND, (), "cond", (COND,)))
        else:
            piece = self._pieces.get(name) or Piece(label or operation, ())
            token = CALL, operation, piece.content
            inside = self._step(path, Element(CALL, (operation, label), piece.title, token, -1, label))
            return inside, inside, True
        return path, self._step(path, Element(BODY, (label,), label, (BODY, label))), False


def _beside_readers(graph: Graph, path: Column) -> Column:
    """The order in which what is made of numbers alone stands right before what reads it first, where that is of its
    group: nothing that it reads says in which turn of a loop it was made."""
    source, first, region = graph.operands.source, graph.first_operand, graph.nodes.region
    count = len(graph)
    numbers = _of_numbers(graph)
    # Where each is read first, when what is made of numbers has moved itself, and by which node.
    read_at = np.full(count, count, np.int64)
    others = (source >= 0) & ~numbers[graph.operand_node]
    np.minimum.at(read_at, graph.value_node[source[others]], graph.operand_node[others])
    reader, place = read_at.copy(), np.arange(count)
    for node in np.flatnonzero(numbers)[::-1].tolist():
        by = reader[node]
        if by < count and path[by] == path[node] and region[by] == region[node]:
            place[node] = read_at[node]
        read = source[first[node] : first[node + 1]]
        for maker in graph.value_node[read[read >= 0]].tolist():
            if place[node] < read_at[maker]:
                read_at[maker], reader[maker] = place[node], node
    return np.lexsort((np.arange(count), place)).astype(np.int32)


def _of_numbers(graph: Graph) -> NDArray[np.bool_]:
    """Which operations, that have no bodies, are made of numbers alone, in a few steps."""
    made_by, count = graph.operand_maker, len(graph)
    alone = graph.nodes.kind == OPERATION
    alone[list(graph.owned_regions)] = False
    found = np.zeros(count, bool)
    for _ in range(_STEPS_OF_NUMBERS):
        others = (made_by >= 0) & ~found[made_by]
        found = alone & (np.bincount(graph.operand_node[others], minlength=count) == 0)
    return found


def _keys(graph: Graph, paths: NodePaths, phase: Column, place: NDArray[Any]) -> Column:
    """The place of each node in the order that is wanted: by phase, and in it by group as groups stand in `place`."""
    ancestors = paths.paths.ancestors()[paths.path]
    columns: list[NDArray[np.float64]] = []
    operation = graph.nodes.kind == OPERATION
    for level in range(ancestors.shape[1]):
        group = np.where(ancestors[:, level] >= 0, ancestors[:, level], -1) * 4 + phase
        _, which = np.unique(group, return_inverse=True)
        which = which.reshape(-1)
        total = np.bincount(which, weights=place * operation)
        count = np.maximum(np.bincount(which, weights=operation), 1)
        columns.append((total / count)[which])
    order = np.lexsort(np.stack([place, *columns[::-1], phase]))
    key = np.empty(len(graph), np.int32)
    key[order] = np.arange(len(graph), dtype=np.int32)
    return key


def _phases(graph: Graph, origins: Origins) -> Column:
    """Before, forward, backward or update; what names none goes by what it reads and by what reads it."""
    said = np.array([parse_scope("/".join(parts)).phase for parts in origins.parts], np.int32)[origins.row]
    if not (said == BACKWARD).any():
        return np.full(len(graph), _FORWARD, np.int32)
    phase = np.full(len(graph), -1, np.int32)
    phase[said == FORWARD] = _FORWARD
    phase[said == BACKWARD] = _BACKWARD
    source = graph.operands.source
    known = source >= 0
    makers, readers = graph.value_node[source[known]].tolist(), graph.operand_node[known].tolist()
    # A value is made before it is read: what follows the backward phase is the update.
    late = phase == _BACKWARD
    for made, read in zip(makers, readers, strict=True):
        if late[made]:
            late[read] = True
    phase[(phase < 0) & late] = _UPDATE
    # What a phase reads belongs to it or comes before it, whatever it says of itself.
    latest = np.full(len(graph), _UPDATE + 1, np.int32)
    for made, read in zip(reversed(makers), reversed(readers), strict=True):
        of_reader = phase[read] if phase[read] >= 0 else latest[read]
        latest[made] = min(latest[made], of_reader)
        if phase[made] > latest[made]:
            phase[made] = latest[made]
    unknown = phase < 0
    # What only backward reads, but is made of nothing that forward makes, comes before both.
    made_late = ~unknown
    for made, read in zip(makers, readers, strict=True):
        if made_late[made]:
            made_late[read] = True
    early = (latest == _FORWARD) | (latest == _BACKWARD) & ~made_late | fetched_arguments(graph)
    phase[unknown] = np.where(early, _BEFORE, np.minimum(latest, _UPDATE))[unknown]
    return phase
