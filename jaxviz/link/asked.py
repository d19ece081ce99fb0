"""Exchanges between devices that an annotation of the program asks for.

XLA puts an exchange in where a value is made or read, and names it by the equation there. Where the program says close
behind how the value shall lie, with `with_sharding_constraint` or `reshard`, the exchange is what that line asks for.
Since 0.12 it is named by what made the value also where what reads that needs all of it, as a running sum does.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

import numpy as np

from jaxviz.graph import ENTER, OPERATION, Graph
from jaxviz.link.links import PLUMBING, Found
from jaxviz.link.makers import MOVING
from jaxviz.link.reading import Inside, Reading
from jaxviz.link.snapshots import ONLY_MOVE
from jaxviz.read.communication import is_collective
from jaxviz.read.sharding import part_of

#: Primitives by which the program says how a value shall lie, and what people write for them.
ANNOTATIONS = {"sharding_constraint": "with_sharding_constraint", "reshard": "reshard", "device_put": "device_put"}
# Operations whose pieces are not those of what they read: what they need is not for what reads them.
_OTHERWISE = ("dot_general", "conv", "reduce", "arg", "gather", "scatter", "sort", "cum")
# Those that bring values to and fro by themselves.
_AROUND = ("gather", "scatter", "sort", "cum")
_TURNING = frozenset(MOVING) - {"reshape"}
# So many operations behind where a value is made an annotation is for it.
_NEAR = 3
# What brings values elsewhere and computes none: sums and the like are exchanged for what adds up.
_MOVING = ("all-gather", "all-to-all", "collective-permute", "collective-broadcast")
# What stands in HLO between what makes a value and its exchange.
_IDLE = ONLY_MOVE | PLUMBING | {"fusion", "call", "partition-id"}
# So many instructions are looked at on the way back.
_STEPS = 50


def with_asked(jaxpr: Graph, graph: Graph, tagged: Sequence[Found]) -> tuple[Sequence[Found], frozenset[int]]:
    """The tags of a stage, those exchanges with what asks for them in place of what made the value; and which these
    are."""
    strings = graph.tables.strings
    moving = [op for op in np.unique(graph.nodes.op).tolist() if strings[op].startswith(_MOVING)]
    exchanges = np.flatnonzero(np.isin(graph.nodes.op, moving) & (graph.nodes.kind == OPERATION)).tolist()
    readers = _first_readers(graph, tagged, [node for node in exchanges if not tagged[node]])
    changed: dict[int, Found] = {}
    for node in exchanges:
        named = tagged[node] or readers.get(node, ())
        if len(named) != 1:
            continue
        asking = _asked_next(jaxpr, graph, node, named[0]) or annotations_behind(jaxpr, named)
        # What only turns a value needs no exchange itself; to be cut otherwise, it may.
        turned = jaxpr.tables.strings[jaxpr.nodes.op[named[0]]] in _TURNING
        if not asking and tagged[node] and (turned or _is_behind(graph, node, tagged)):
            asking = _annotations_of(jaxpr, named[0]) or _needing(jaxpr, named[0])
        if asking:
            changed[node] = asking
    found = [changed.get(node, known) for node, known in enumerate(tagged)] if changed else tagged
    return found, frozenset(changed)


def _asked_next(jaxpr: Graph, graph: Graph, node: int, equation: int) -> tuple[int, ...]:
    """The annotations of what an annotation gives, where an exchange has the name of that and begins with what it asks
    for: since 0.12 it is named by what it brings away from."""
    if jaxpr.tables.strings[jaxpr.nodes.op[equation]] not in ANNOTATIONS:
        return ()
    value = int(jaxpr.first_value[equation])
    part = part_of(_dims(jaxpr, value), jaxpr.attribute(equation, "sharding"))
    first, end = graph.first_operand[node : node + 2].tolist()
    given = {_dims(graph, source) for source in graph.operands.source[first:end].tolist() if source >= 0}
    made = {_dims(graph, one) for one in range(*graph.first_value[node : node + 2].tolist())}
    return _annotations_of(jaxpr, equation) if given == {part} and part not in made else ()


def _dims(graph: Graph, value: int) -> tuple[int, ...]:
    return tuple(graph.tables.types.dims[graph.values.type[value]])


def annotations_behind(jaxpr: Graph, nodes: Iterable[int]) -> tuple[int, ...]:
    """The equations that ask for the sharding that an exchange gives to what comes of some nodes: from there it goes
    back to what is computed entry by entry."""
    strings, op = jaxpr.tables.strings, jaxpr.nodes.op
    near, found = set(nodes), set[int]()
    for _ in range(_NEAR):
        found |= {node for node in near if strings[op[node]] in ANNOTATIONS}
        near = _readers(jaxpr, [node for node in near - found if not strings[op[node]].startswith(_OTHERWISE)])
    return tuple(sorted(found))


def _annotations_of(jaxpr: Graph, node: int) -> tuple[int, ...]:
    """The equations that say how what a node makes shall lie."""
    strings, op = jaxpr.tables.strings, jaxpr.nodes.op
    return tuple(sorted(one for one in _readers(jaxpr, [node]) if strings[op[one]] in ANNOTATIONS))


def _needing(jaxpr: Graph, node: int) -> tuple[int, ...]:
    """The one equation that needs other pieces of what a node makes than lie there; none where several do."""
    strings, op, bindings = jaxpr.tables.strings, jaxpr.nodes.op, jaxpr.bindings
    near, found = {node}, set[int]()
    if strings[op[node]].startswith(_AROUND):
        return ()
    for _ in range(_NEAR):
        values = [value for one in near for value in range(*jaxpr.first_value[one : one + 2].tolist())]
        readers = set(jaxpr.operand_node[np.isin(jaxpr.operands.source, values)].tolist())
        found |= {one for one in readers if strings[op[one]].startswith(_OTHERWISE)}
        # What a call is handed is read in it.
        entered = (bindings.kind == ENTER) & np.isin(bindings.start, values)
        near = {one for one in readers if strings[op[one]] in MOVING} | set(bindings.end[entered].tolist())
    return tuple(found) if len(found) == 1 else ()


def _readers(jaxpr: Graph, nodes: Iterable[int]) -> set[int]:
    """What reads the first value of nodes."""
    made = [int(jaxpr.first_value[node]) for node in nodes if jaxpr.nodes.outputs[node]]
    return set(jaxpr.operand_node[np.isin(jaxpr.operands.source, made)].tolist())


def _first_readers(graph: Graph, tagged: Sequence[Found], nodes: Sequence[int]) -> dict[int, Found]:
    """The tags of what first reads what exchanges bring that have none: those of arguments have the name of these since
    0.12."""
    if not nodes:
        return {}
    reading = Reading(graph)
    inside = Inside(graph, reading, range(len(graph)))
    found: dict[int, Found] = {}
    for node in nodes:
        waiting, seen = deque([node]), {node}
        while waiting and len(seen) < _STEPS and node not in found:
            at = waiting.popleft()
            (beside,) = reading.of([at])
            behind = [one for one in inside.readers(at) or beside if one not in seen]
            seen.update(behind)
            waiting += [one for one in behind if not tagged[one]]
            told = next((tagged[one] for one in behind if tagged[one]), ())
            if told:
                found[node] = told
    return found


def _is_behind(graph: Graph, node: int, tagged: Sequence[Found]) -> bool:
    """Whether what is exchanged was made by the equation that the exchange is named by, and is not what that reads."""
    strings, (equation,) = graph.tables.strings, tagged[node]
    waiting, seen = list(_read(graph, node)), {node}
    while waiting and len(seen) < _STEPS:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        inside = [at, *_inside(graph, at)]
        ops = {strings[graph.nodes.op[one]] for one in inside if equation in tagged[one]}
        if any(op not in _IDLE and not is_collective(op) for op in ops):
            return True
        if set(chain.from_iterable(tagged[one] for one in inside)) <= {equation}:
            waiting += _read(graph, at)
    return False


def _read(graph: Graph, node: int) -> Iterator[int]:
    first, end = graph.first_operand[node : node + 2].tolist()
    return (int(graph.value_node[source]) for source in graph.operands.source[first:end].tolist() if source >= 0)


def _inside(graph: Graph, node: int) -> Iterator[int]:
    start, end = graph.region_intervals
    regions = graph.owned_regions.get(node, ())
    return chain.from_iterable(range(int(start[region]), int(end[region])) for region in regions)
