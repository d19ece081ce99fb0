"""Numbers in the shape of what they meet that the compiler wrote anew, and left without a name.

Of `x * 0.9`, the jaxpr or StableHLO says whose number 0.9 is: an equation reads it, or an operation of that does. Where
all that reads it in a later stage has the names of equations that read it before, it is of these and of no others; or
of what filled the array with it that they read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import isclose, isnan

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, CONSTANT, ENTER, OPERATION, Column, Graph
from jaxviz.link.flow import Flow
from jaxviz.link.folded import Folded
from jaxviz.link.given import given_nodes
from jaxviz.link.links import Found
from jaxviz.link.reading import Beyond, Inside, Reading
from jaxviz.read.bodies import PLAIN_CALLS

# What holds equations, and computes nothing itself.
_CALLS = (*PLAIN_CALLS, "cond")
# What a number goes through until something computes with it.
_SHAPING = ("broadcast", "bitcast", "convert", "copy", "reshape")

_Read = dict[int, dict[float, int]]


@dataclass(frozen=True, eq=False)
class Numbers:
    """What the jaxpr and StableHLO say of numbers."""

    #: Those that equations read, each with the equation whose number it is: that one, or what fills an array with it.
    read: _Read
    #: Which equations are given no number by another one: whatever else they compute with is their own.
    alone: NDArray[np.bool_]
    #: The equations that only hold others.
    calls: frozenset[int]


def numbers_of(jaxpr: Graph, lowered: Graph | None = None, tagged: Sequence[Found] = ()) -> Numbers:
    """The numbers that each equation reads, in the jaxpr or by its operations in StableHLO, where that is there."""
    found: _Read = {}
    source, reader = jaxpr.operands.source, jaxpr.operand_node
    literals = (source < 0) & (jaxpr.nodes.kind[reader] == OPERATION)
    for node, one in zip(reader[literals].tolist(), source[literals].tolist(), strict=True):
        _add(found, (node,), jaxpr.source_text(one))
    if lowered is not None:
        _add_lowered(found, lowered, tagged)
    return Numbers(_with_filled(jaxpr, found), _given_none(jaxpr), frozenset(_calls(jaxpr)))


def _given_none(jaxpr: Graph) -> NDArray[np.bool_]:
    given = np.zeros(len(jaxpr), bool)
    given[list(given_nodes(jaxpr))] = True
    made_by = jaxpr.operand_maker
    alone: NDArray[np.bool_] = jaxpr.nodes.kind == OPERATION
    alone[jaxpr.operand_node[(made_by >= 0) & given[made_by]]] = False
    return alone


def _add_lowered(found: _Read, lowered: Graph, tagged: Sequence[Found]) -> None:
    made_by, reader = lowered.operand_maker, lowered.operand_node
    values = _constants(lowered)
    rows = (made_by >= 0) & np.isin(made_by, [*values])
    for node, maker in zip(reader[rows].tolist(), made_by[rows].tolist(), strict=True):
        _add(found, tagged[node], values[maker])


def _with_filled(jaxpr: Graph, found: _Read) -> _Read:
    """With the numbers of which arrays are full that an equation reads."""
    made_by, reader = jaxpr.operand_maker, jaxpr.operand_node
    fills = jaxpr.nodes.op == jaxpr.tables.find_string("broadcast_in_dim")
    rows = (made_by >= 0) & fills[made_by]
    for node, fill in zip(reader[rows].tolist(), made_by[rows].tolist(), strict=True):
        if len(own := found.get(fill, {})) == 1:
            found.setdefault(node, {}).setdefault(next(iter(own)), fill)
    return found


def with_numbers(
    graph: Graph,
    tagged: Sequence[Found],
    numbers: Numbers,
    unsure: Collection[int],
    flow: Flow,
    begins: Callable[[int, float], list[Found]],
    folded: Folded,
) -> Sequence[Found]:
    """The tags of a stage, with the equations whose numbers those without a tag are.

    What the tags of `unsure` nodes say is not told by the compiler; `begins` says what is known of a number that loops
    begin with, `folded` of one that the compiler made of several. A number that has the name of a call alone has none
    of its own: where a call is put in place, what has no name gets that of the call, and of equal numbers one is left.
    """
    number = _numbers_in(graph, flow)
    tagged = folded.within(graph, tagged, number, unsure)
    skipped = {node for node in number if graph.nodes.kind[node] == ARGUMENT} | graph.owned_regions.keys()
    nodes = [node for node in number if numbers.calls.issuperset(tagged[node]) and node not in skipped]
    if not nodes:
        return tagged
    reading = Reading(graph)
    inside, beyond = Inside(graph, reading, nodes), Beyond(graph, reading, nodes)
    fusions = _fusions(graph)
    found = list(tagged)
    for node in nodes:
        found[node] = ()
    told: dict[tuple[float, Found], Found] = {}

    def that_read(number: float, equations: Found) -> Found:
        known = told.get((number, equations))
        if known is None:
            known = told[number, equations] = _that_read(number, equations, numbers)
        return known

    # What reads a number stands behind it.
    nodes.reverse()
    for node, beside in zip(nodes, reading.of(nodes), strict=True):
        readers = [one for one in beside if one not in fusions]
        if len(readers) < len(beside):
            readers += [*inside.readers(node), *beyond.readers(node)]
        theirs = begins(node, number[node])
        if theirs:
            # What hands it to the loop says less.
            readers = [one for one in readers if one not in graph.owned_regions]
        theirs += [that_read(number[node], found[one]) if one not in unsure else () for one in readers]
        if theirs and all(theirs):
            found[node] = tuple(sorted({equation for equations in theirs for equation in equations}))
    return found


def _that_read(number: float, equations: Iterable[int], numbers: Numbers) -> Found:
    """Whose number it is that equations read: of one that something is divided by it may be the reciprocal, of one that
    is taken away the negative. One that nothing says is of what the compiler writes a function as, such as a
    polynomial."""
    found = tuple(
        owner
        for equation in equations
        for one, owner in numbers.read.get(equation, {}).items()
        if _same(number, one) or (owner == equation and (_same(number, -one) or (one and _same(number, 1 / one))))
    )
    return found or tuple(equation for equation in equations if numbers.alone[equation])


def _same(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=1e-6) or (isnan(one) and isnan(other))


def _numbers_in(graph: Graph, flow: Flow) -> dict[int, float]:
    """The nodes that are one number in any shape, and which."""
    found: dict[int, float] = {}
    for node, text in _constants(graph).items():
        number = _number(text)
        if number is not None:
            found[node] = number
    ops = [op for name in _SHAPING if (op := graph.tables.find_string(name)) is not None]
    rows = np.flatnonzero(np.isin(graph.nodes.op, ops) & (graph.nodes.operands == 1))
    entered = graph.bindings.kind == ENTER
    nodes = np.concatenate([rows, graph.bindings.end[entered]])
    sources = np.concatenate([graph.operands.source[graph.first_operand[rows]], graph.bindings.start[entered]])
    # What is handed to a body stands before it.
    order = np.argsort(nodes, kind="stable")
    for node, source in zip(nodes[order].tolist(), sources[order].tolist(), strict=True):
        # What leaves a fusion was made there.
        source = flow.source(source) if source in flow.left else source
        maker = int(graph.value_node[source]) if source >= 0 else -1
        if maker in found:
            found[node] = found[maker]
    return dict(sorted(found.items()))


def _constants(graph: Graph) -> dict[int, str]:
    """The constants of which the graph says the value, with its text."""
    strings, marks = graph.tables.strings, graph.attributes
    op, key = graph.tables.find_string("constant"), graph.tables.find_string("value")
    is_constant = (graph.nodes.kind == CONSTANT) | (graph.nodes.op == (-1 if op is None else op))
    rows: Column = np.flatnonzero((marks.key == (-1 if key is None else key)) & is_constant[marks.node]).astype(
        np.int32
    )
    return {
        node: strings[value] for node, value in zip(marks.node[rows].tolist(), marks.value[rows].tolist(), strict=True)
    }


def _calls(jaxpr: Graph) -> set[int]:
    ops = [op for name in _CALLS if (op := jaxpr.tables.find_string(name)) is not None]
    return set(np.flatnonzero(np.isin(jaxpr.nodes.op, ops)).tolist()).intersection(jaxpr.owned_regions)


def _fusions(graph: Graph) -> set[int]:
    fusion = graph.tables.find_string("fusion")
    return {owner for owner in graph.owned_regions if graph.nodes.op[owner] == fusion}


def _add(numbers: _Read, equations: Iterable[int], text: str) -> None:
    number = _number(text)
    if number is not None:
        for equation in equations:
            numbers.setdefault(equation, {})[number] = equation


def _number(text: str) -> float | None:
    if text in ("True", "true", "False", "false"):
        return float(text in ("True", "true"))
    try:
        return float(text)
    except ValueError:
        return None
