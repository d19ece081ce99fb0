"""Which operations of a graph are needed: their values reach a result, or they act on the world."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import CARRY, LEAVE, OPERATION, RESULT, SLICE, STACK, Column, Graph
from jaxviz.read.bodies import CUSTOM_DERIVATIVES, PLAIN_CALLS

# Operations that do something besides making values, by a part of their name.
_ACTING = ("callback", "print", "infeed", "outfeed", "swap", "addupdate", "send", "recv", "_start", "effect", "assert")
# Those that are called alike and do nothing else.
_PURE = frozenset({"pure_callback"})

#: Operations that hand values round.
LOOPS = ("scan", "while")
# Calls: what goes in and out is of the body alone.
_CALLS = (*PLAIN_CALLS, *CUSTOM_DERIVATIVES, "checkpoint", "remat", "remat2")

# By graph: the fates of equations and several findings ask the same.
_known: WeakKeyDictionary[Graph, Column] = WeakKeyDictionary()


def needed_nodes(graph: Graph, *, carries: bool = False, unread: NDArray[np.bool_] | None = None) -> Column:
    """For each node 1 where it is needed: what a body makes is needed where what leaves it is read.

    What goes into a call is needed where its body reads it, what it makes where something that is needed does. The
    values carried round a loop and the operands of what decides (a condition, a number of turns) count as needed with
    the loop, as JAX and XLA take them at first. With `carries`, what goes into a loop, round it and out of it is
    needed only where something that is needed reads it, as JAX sees to when it lowers a scan. The operands of `unread`
    are taken for such as nobody reads.
    """
    if carries or (unread is not None and unread.any()):
        return _find_needed(graph, carries, unread)
    if graph not in _known:
        _known[graph] = _find_needed(graph, carries=False, unread=None)
        _known[graph].setflags(write=False)
    return _known[graph]


def _find_needed(graph: Graph, carries: bool, unread: NDArray[np.bool_] | None) -> Column:
    strings = graph.tables.strings
    acting = [op for op in set(graph.nodes.op.tolist()) if _acts(strings[op])]
    needed = [False] * len(graph)
    source = graph.operands.source if unread is None else np.where(unread, -1, graph.operands.source)
    operands, first = source.tolist(), graph.first_operand.tolist()
    maker = graph.value_node.tolist()
    kind, regions = graph.nodes.kind, graph.nodes.region.tolist()
    owner, owned = graph.regions.owner.tolist(), graph.owned_regions
    seen_into = _operations(graph, (*_CALLS, *LOOPS) if carries else _CALLS)
    handed_on = _handed_on(graph, seen_into)
    given = _given(graph, seen_into)
    holders = {owner[regions[argument]] for argument in given}
    made_inside = _made_inside(graph, seen_into)
    around = {result for results in (*handed_on.values(), *made_inside.values()) for result in results}
    leaving = _leaving(graph, around)
    opaque = _opaque_regions(graph, leaving)
    waiting = np.flatnonzero((kind == RESULT) & (graph.nodes.region == 0)).tolist()
    waiting += np.flatnonzero((kind == OPERATION) & np.isin(graph.nodes.op, acting)).tolist()
    while waiting:
        node = waiting.pop()
        if needed[node]:
            continue
        needed[node] = True
        if regions[node] and not needed[owner[regions[node]]]:
            waiting.append(owner[regions[node]])
        for region in owned.get(node, ()):
            waiting += leaving.get(region, ()) if region not in opaque else opaque[region]
        waiting += handed_on.get(node, ())
        read = given.get(node, ()) if node in given or node in holders else operands[first[node] : first[node + 1]]
        made = [value for value in read if value >= 0]
        waiting += [maker[value] for value in made if not needed[maker[value]]]
        if made_inside:
            waiting += chain.from_iterable(made_inside.get(value, ()) for value in made)
    return np.array(needed, np.int32)


def is_acting(graph: Graph, node: int) -> bool:
    """Whether an operation does something besides making values."""
    return bool(graph.nodes.kind[node] == OPERATION) and _acts(graph.tables.strings[graph.nodes.op[node]])


def _acts(op: str) -> bool:
    return op not in _PURE and any(part in op for part in _ACTING)


def _handed_on(graph: Graph, ops: Sequence[int]) -> dict[int, list[int]]:
    """For each argument of the body of a loop among these operations the results that become it in the next turn."""
    return _into_bodies(graph, ops, graph.bindings.kind == CARRY)


def _given(graph: Graph, ops: Sequence[int]) -> dict[int, list[int]]:
    """For each argument of the body of one of these operations the values outside that it is at first."""
    return _into_bodies(graph, ops, graph.bindings.kind <= SLICE)


def _into_bodies(graph: Graph, ops: Sequence[int], chosen: NDArray[np.bool_]) -> dict[int, list[int]]:
    """Of the chosen bindings that end at arguments of the bodies of these operations, the starts by these arguments."""
    found: dict[int, list[int]] = {}
    end = np.where(chosen, graph.bindings.end, 0)
    region = graph.nodes.region[end]
    rows = chosen & (region > 0) & np.isin(graph.nodes.op[graph.regions.owner[region]], ops)
    for argument, node in zip(end[rows].tolist(), graph.bindings.start[rows].tolist(), strict=True):
        found.setdefault(argument, []).append(node)
    return found


def _made_inside(graph: Graph, ops: Sequence[int]) -> dict[int, list[int]]:
    """For each value that one of these operations makes the results of its body that it consists of."""
    bindings = graph.bindings
    rows = np.flatnonzero((bindings.kind == LEAVE) | (bindings.kind == STACK))
    rows = rows[np.isin(graph.nodes.op[graph.value_node[bindings.end[rows]]], ops)]
    found: dict[int, list[int]] = {}
    for value, result in zip(bindings.end[rows].tolist(), bindings.start[rows].tolist(), strict=True):
        found.setdefault(value, []).append(result)
    return found


def _operations(graph: Graph, names: Iterable[str]) -> list[int]:
    return [number for op in names if (number := graph.tables.find_string(op)) is not None]


def _leaving(graph: Graph, around: set[int]) -> dict[int, list[int]]:
    """The results of each region whose values go somewhere; but for those of `around`, which go by their readers."""
    found: dict[int, list[int]] = {}
    bindings = graph.bindings
    used = np.bincount(graph.operands.source[graph.operands.source >= 0], minlength=len(graph.values.type)) > 0
    for kind, start, end in zip(bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist(), strict=True):
        if start not in around and (kind == CARRY or (kind in (LEAVE, STACK) and used[end])):
            found.setdefault(int(graph.nodes.region[start]), []).append(start)
    return found


def _opaque_regions(graph: Graph, leaving: dict[int, list[int]]) -> dict[int, list[int]]:
    """Regions of which nobody says what leaves them: all that they give is needed."""
    bound = set(graph.nodes.region[graph.bindings.start[graph.bindings.kind >= LEAVE]].tolist())
    results = np.flatnonzero(graph.nodes.kind == RESULT)
    opaque: dict[int, list[int]] = {}
    for node in results.tolist():
        region = int(graph.nodes.region[node])
        if region and region not in bound:
            opaque.setdefault(region, []).append(node)
    return opaque
