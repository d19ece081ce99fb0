"""Differences of numbers without a sign: what would be below zero comes back from the largest number, in silence.

That is meant where bits are mixed, as in a hash. It is told where the program itself says the numbers; where a
difference is asked whether it is below zero, or made positive, which it always is; and where that of two small types
becomes a wider type, which keeps what came back.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Set

from jaxviz.find.finding import ADVICE, WARNING, Finding, Subject
from jaxviz.find.flow import SAME
from jaxviz.find.known_numbers import KnownNumbers
from jaxviz.find.wrapped import NARROW
from jaxviz.graph import OPERATION

# How the distance of two numbers is written.
_ABS = re.compile(r"(?:\w+\.)*f?abs(?:olute)?")
# What goes on with the bits of a difference, so that coming back from the largest number may be meant.
_CIRCULAR = frozenset({"add", "sub", "and", "or", "xor", "not", "population_count", "clz", "threefry2x32"})
_CIRCULAR |= {"shift_left", "shift_right_logical", "shift_right_arithmetic", "random_wrap", "bitcast_convert_type"}
# Comparisons with zero that nothing without a sign changes, by the side on which it stands.
_ASKING = {"lt": 0, "ge": 0, "gt": 1, "le": 1}
# What a difference goes through on its way to a wider type.
_ON_THE_WAY = SAME | {"mul", "integer_pow", "square", "abs", "transpose", "slice", "rev"}
# What gives one of two numbers that it knows to be the larger or the smaller.
_ORDERING = frozenset({"max", "min", "reduce_max", "reduce_min", "sort", "cummax", "cummin", "clamp"})
# So many nodes are looked at to find out what a value is made of.
_MOST_MAKERS = 200


def find(subject: Subject) -> Iterator[Finding]:
    flow = subject.flow
    every = {
        node
        for node in flow.nodes("sub")
        if flow.dtype(_made(subject, node)).startswith("uint") and subject.is_own(node)
    }
    if not every:
        return
    differences = {node for node in every if not _is_mixed(subject, node)}
    certain = sorted(_certain(subject, differences))
    asked = sorted(_asked(subject, differences) - set(certain))
    kept = sorted(_kept_wide(subject, differences) - {*certain, *asked})
    distances = sorted(_distances(subject, every) - {*certain, *asked, *kept})
    for nodes, severity, title, text in (
        (certain, WARNING, "a difference of numbers without a sign is below zero", "It is so for all arguments. "),
        (asked, WARNING, "a difference of numbers without a sign is asked whether it is below zero", "It never is. "),
        (kept, ADVICE, "a difference of numbers without a sign is used as a number", ""),
        (distances, WARNING, "a difference of numbers without a sign is given to abs", "It never is below zero. "),
    ):
        if nodes:
            yield _finding(subject, nodes, severity, title, text)


def _finding(subject: Subject, nodes: list[int], severity: str, title: str, text: str) -> Finding:
    types = sorted({subject.flow.dtype(_made(subject, node)) for node in nodes})
    most = 2 ** int(types[0].removeprefix("uint")) - 1
    return subject.told(
        kind="precision",
        severity=severity,
        title=title,
        text=f"{text}Where the second is larger, {types[0]} goes on at its largest number, {most}, with no error.",
        remedy="Give both a type with a sign before: a.astype('int32') - b.astype('int32'). For the distance of two, "
        "jnp.maximum(a, b) - jnp.minimum(a, b).",
        nodes=nodes,
        figures={"differences": len(nodes)},
    )


def _made(subject: Subject, node: int) -> int:
    return int(subject.graph.first_value[node])


def _is_mixed(subject: Subject, node: int) -> bool:
    """Whether all that is done with a difference is done with its bits, or it is one of two to choose from."""
    graph, flow = subject.graph, subject.flow
    readers = graph.readers(_made(subject, node))
    chosen = (one for one in readers if flow.op(one) in ("jit", "pjit") and graph.node(one).name in ("_where", "where"))
    left = set(readers) - {one for one in readers if flow.op(one) in _CIRCULAR or flow.op(one) == "select_n"}
    return bool(readers) and not left - set(chosen)


def _certain(subject: Subject, differences: set[int]) -> set[int]:
    """The differences that the program says to be below zero, or of which it says that an entry or a turn is."""
    flow, known = subject.flow, KnownNumbers(subject.flow)
    found = set()
    for node in differences:
        operands = [known.of(one) for one in flow.operands(node)]
        made = known.of(_made(subject, node))
        # What came back before is not the number that it is taken for here.
        if made is not None and all(one is not None and (one.values >= 0).all() for one in operands):
            found |= {node} if (made.values < 0).any() else set()
    return found


def _distances(subject: Subject, differences: set[int]) -> set[int]:
    """The differences that are written as distances, which only the source says: without a sign, JAX makes nothing of
    abs. Not those of which the larger number is known."""
    found = set()
    for node in differences:
        difference, statement = subject.expression(node)[0], subject.statement(node)[0]
        calls = (one for one in ast.walk(statement) if isinstance(one, ast.Call)) if statement is not None else ()
        written = any(call.args[:1] == [difference] and _ABS.fullmatch(ast.unparse(call.func)) for call in calls)
        operands = subject.flow.operands(node)
        if written and not any(_is_ordered(subject, _made_of(subject, one)) for one in operands):
            found.add(node)
    return found


def _asked(subject: Subject, differences: set[int]) -> set[int]:
    """The differences that are compared with zero as what may be below it, or of which the larger one is taken."""
    flow, found = subject.flow, set()
    for node in flow.nodes(*_ASKING, "max", "clamp"):
        operands = flow.operands(node)
        sides = [_ASKING[flow.op(node)]] if flow.op(node) in _ASKING else [1] if flow.op(node) == "clamp" else [0, 1]
        for side in sides:
            maker = _maker(subject, flow.origin(operands[side], SAME - {"convert_element_type"}))
            if maker in differences and flow.number(operands[1 - min(side, 1)]) == 0:
                found.add(maker)
    return found


def _kept_wide(subject: Subject, differences: set[int]) -> set[int]:
    """The differences of small types that become wider ones, if with what is computed of them, where neither number is
    known, nor made to be larger than the other."""
    flow, found = subject.flow, set()
    for node in flow.nodes("convert_element_type"):
        operand = flow.operands(node)[0]
        if flow.dtype(operand) not in NARROW or flow.dtype(_made(subject, node)) in NARROW:
            continue
        maker = _maker(subject, flow.origin(operand, _ON_THE_WAY))
        if maker in differences and _are_apart(subject, maker):
            found.add(maker)
    return found


def _are_apart(subject: Subject, node: int) -> bool:
    """Whether two numbers have nothing in common, so that either may be the larger one."""
    flow = subject.flow
    one, other = (_made_of(subject, operand) for operand in flow.operands(node))
    if not one or not other or one & other:
        return False
    return not _is_ordered(subject, one | other)


def _is_ordered(subject: Subject, makers: Set[int]) -> bool:
    return any(subject.flow.op(maker) in _ORDERING for maker in makers)


def _made_of(subject: Subject, source: int) -> set[int]:
    """The nodes that a source is made of; none where that is a number, or made of too many."""
    flow, graph = subject.flow, subject.graph
    if flow.number(source) is not None:
        return set()
    found: set[int] = set()
    waiting = [source]
    while waiting:
        maker = _maker(subject, flow.back(waiting.pop()))
        if maker < 0 or maker in found:
            continue
        found.add(maker)
        waiting += flow.operands(maker) if graph.nodes.kind[maker] == OPERATION else []
        if len(found) > _MOST_MAKERS:
            return set()
    return found


def _maker(subject: Subject, source: int) -> int:
    return int(subject.graph.value_node[source]) if source >= 0 else -1
