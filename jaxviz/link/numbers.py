"""Numbers in the shape of what they meet that the compiler wrote anew, and left without a name.

Of `x * 0.9`, the jaxpr or StableHLO says whose number 0.9 is: an equation reads it, or an operation of that does. Where
all that reads it in a later stage has the names of equations that read it before, it is of these and of no others; or
of what filled the array with it that they read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from math import isclose, isnan, nan

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
# What fills an array with a number, or gives it another type.
_FILLING = ("broadcast_in_dim", "convert_element_type")
# What a number goes through until something computes with it.
_SHAPING = ("broadcast", "bitcast", "convert", "copy", "reshape")

_Read = dict[int, dict[float, int]]


@dataclass(frozen=True, eq=False)
class Numbers:
    """What the jaxpr and StableHLO say of numbers."""

    #: Those that equations read, each with the equation whose number it is: that one, or what fills an array with it.
    read: _Read
    #: Which equations are given no number by another one but those that are said: all else they compute with is theirs.
    alone: NDArray[np.bool_]
    #: What is computed of numbers alone.
    given: frozenset[int]
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
    said = _add_filled(jaxpr, found)
    return Numbers(found, _given_none(jaxpr, said), given_nodes(jaxpr), frozenset(_calls(jaxpr)))


def _given_none(jaxpr: Graph, said: Collection[int]) -> NDArray[np.bool_]:
    given = np.zeros(len(jaxpr), bool)
    given[list(given_nodes(jaxpr))] = True
    given[list(said)] = False
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


def _add_filled(jaxpr: Graph, found: _Read) -> Collection[int]:
    """Add the numbers of which arrays are full that an equation reads, or that a call is handed; and which nodes these
    arrays and arguments are."""
    made_by, reader, bindings = jaxpr.operand_maker, jaxpr.operand_node, jaxpr.bindings
    entered = bindings.kind == ENTER
    ends, starts = bindings.end[entered], bindings.start[entered]
    # By node the number, and the equation whose it is: -1 for what reads it.
    said: dict[int, tuple[float, int]] = {}
    for node, one in zip(ends[starts < 0].tolist(), starts[starts < 0].tolist(), strict=True):
        if (handed := _number(jaxpr.source_text(one))) is not None:
            said[node] = handed, -1
    makers = np.where(starts >= 0, jaxpr.value_node[starts], -1)
    while (further := np.isin(makers, [*said]) & ~np.isin(ends, [*said])).any():
        said.update(zip(ends[further].tolist(), map(said.__getitem__, makers[further].tolist()), strict=True))
    ops = [op for name in _FILLING if (op := jaxpr.tables.find_string(name)) is not None]
    fills = np.flatnonzero(np.isin(jaxpr.nodes.op, ops) & (jaxpr.nodes.operands == 1))
    for node, maker in zip(fills.tolist(), made_by[jaxpr.first_operand[fills]].tolist(), strict=True):
        own = found.get(node, {})
        number = next(iter(own)) if len(own) == 1 else said[maker][0] if maker in said and not own else None
        if number is not None:
            said[node] = number, node
    rows = np.isin(made_by, [*said]) & (jaxpr.nodes.kind[reader] == OPERATION)
    for node, maker in zip(reader[rows].tolist(), made_by[rows].tolist(), strict=True):
        number, owner = said[maker]
        found.setdefault(node, {}).setdefault(number, owner if owner >= 0 else node)
    return said


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
    lent, calls = _lent(graph, tagged, number, numbers, unsure), numbers.calls
    nodes = [node for node in number if (calls.issuperset(tagged[node]) or node in lent) and node not in skipped]
    if not nodes:
        return tagged
    reading = Reading(graph)
    inside, beyond = Inside(graph, reading, nodes), Beyond(graph, reading, nodes)
    fusions = _fusions(graph)
    found = list(tagged)
    for node in nodes:
        found[node] = ()
    told: dict[tuple[float, Found, bool], Found] = {}

    def that_read(number: float, equations: Found, shared: bool) -> Found:
        known = told.get((number, equations, shared))
        if known is None:
            known = _that_read(number, equations, numbers) or (() if shared else _alone(equations, numbers))
            told[number, equations, shared] = known
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
        shared = lent.get(node, False)
        theirs += [that_read(number[node], found[one], shared) if one not in unsure else () for one in readers]
        if theirs and all(theirs):
            found[node] = tuple(sorted({equation for equations in theirs for equation in equations}))
        elif node in lent:
            found[node] = tagged[node]
    return found


def _lent(
    graph: Graph, tagged: Sequence[Found], number: Mapping[int, float], numbers: Numbers, unsure: Collection[int]
) -> dict[int, bool]:
    """The numbers that have the name of an equation which does its work elsewhere, and is none of those that read them:
    of equal numbers the compiler keeps one. Each with whether that equation reads such a number too."""
    made_by, reader, owned = graph.operand_maker, graph.operand_node, graph.owned_regions
    named = [node for node in number if tagged[node] and node not in unsure]
    is_named = np.zeros(len(graph), bool)
    is_named[named] = True
    rows = np.flatnonzero((made_by >= 0) & is_named[made_by])
    # What reads a number stands behind it.
    rows = rows[np.argsort(-made_by[rows], kind="stable")]
    own: set[int] = set()
    for node, one in zip(made_by[rows].tolist(), reader[rows].tolist(), strict=True):
        theirs = tagged[one]
        if one in number:
            is_own = one in own or theirs != tagged[node]
        else:
            is_own = not theirs or one in owned or theirs[0] in tagged[node] or not {*theirs}.isdisjoint(tagged[node])
        if is_own:
            own.add(node)
    lent = [node for node in named if node not in own and numbers.given.isdisjoint(tagged[node])]
    if not lent:
        return {}
    works = graph.nodes.kind == OPERATION
    works[[*number]] = False
    working = set(chain.from_iterable(compress(tagged, works.tolist())))
    return {
        node: bool(_that_read(number[node], tagged[node], numbers)) for node in lent if working.issuperset(tagged[node])
    }


def _that_read(number: float, equations: Iterable[int], numbers: Numbers) -> Found:
    """Whose number it is that equations read: of one that something is divided by it may be the reciprocal, of one that
    is taken away the negative."""
    return tuple(
        owner
        for equation in equations
        for one, owner in numbers.read.get(equation, {}).items()
        if _same(number, one) or (owner == equation and (_same(number, -one) or (one and _same(number, 1 / one))))
    )


def _alone(equations: Iterable[int], numbers: Numbers) -> Found:
    """Whose number it is that equations read and nothing says: of what the compiler writes a function as, such as a
    polynomial, or of a division by two that is a shift."""
    return tuple(equation for equation in equations if numbers.alone[equation])


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
        number = float(text)
    except ValueError:
        return None
    # One that equals itself where it is a key.
    return nan if isnan(number) else number
