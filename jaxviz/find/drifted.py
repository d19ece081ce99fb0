"""Whole numbers that become floats because of a Python number with a point, though they are still taken as whole.

Most code means it: pixels are scaled, counts are divided, steps go into a rate. It is told where the number has nothing
behind the point and what comes of it is made whole again, compared with whole numbers or given back as it is; and where
a state is given back with floats in place of its whole numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from jaxviz.find.finding import ADVICE, NOTE, Finding, Subject
from jaxviz.graph import ARGUMENT, OPERATION, RESULT

# Smaller ones are pixels and flags, and all of them have a float of their own.
_WHOLE = re.compile(r"u?int(?:32|64)")
# Operations after which whole numbers with a whole number are whole; the first operand of a choice only chooses.
_STEPPING = frozenset({"add", "sub"})
_KEEPING = _STEPPING | {"mul", "max", "min", "select_n"}
# What moves entries of its first operand, and changes none.
_MOVES = frozenset({"reshape", "squeeze", "expand_dims", "broadcast_in_dim", "transpose", "rev", "slice", "copy"})
_MOVES |= {"gather", "dynamic_slice"}
_COMPARES = ("eq", "ne", "lt", "le", "gt", "ge")
# Whole numbers up to here have a float of their own.
_EXACT = {"float32": 2**24, "float64": 2**53}
# So many nodes are looked at behind what is taken as whole.
_MOST = 40
# Where the path of an argument goes into a tree.
_INSIDE = re.compile(r"[\[.].*")


def find(subject: Subject) -> Iterator[Finding]:
    flow, graph = subject.flow, subject.graph
    # What comes of an array and a Python number is weakly typed, as hardly anything else is.
    weak = np.array(graph.tables.types.weak, bool)
    steps = [node for node in flow.nodes(*_KEEPING) if weak[graph.values.type[graph.first_value[node]]]]
    mixed = {node: number for node in steps if (number := _mixed(subject, node)) is not None}
    if not mixed:
        return
    whole = {node for node, number in mixed.items() if float(number).is_integer()}
    through = _behind(subject, _taken_as_whole(subject)) & whole
    states = _stepped(subject, mixed) - through
    yield from _told(subject, through, states, _given_back(subject, whole) - through - states, mixed)


def _mixed(subject: Subject, node: int) -> float | None:
    """The Python number that makes whole numbers of an argument floats in an operation, where there is one."""
    flow = subject.flow
    if not subject.is_own(node) or subject.is_derived(node):
        return None
    operands = flow.operands(node)[flow.op(node) == "select_n" :]
    numbers = [flow.number(operand) for operand in operands]
    whole = [operand for operand, number in zip(operands, numbers, strict=True) if number is None]
    number = next((number for number in numbers if number is not None), None)
    if len(whole) != 1 or number is None or not np.isfinite(number):
        return None
    return number if _is_given(subject, _unconverted(subject, whole[0])) else None


def _unconverted(subject: Subject, source: int) -> int:
    """The whole numbers that a value was before it met a Python number with a point; -1 of every other value."""
    graph, flow = subject.graph, subject.flow
    made = flow.back(source)
    node = int(graph.value_node[made]) if made >= 0 else -1
    if node < 0 or flow.op(node) != "convert_element_type" or flow.dtype(made) not in _EXACT:
        return -1
    before, weak = flow.operands(node)[0], graph.tables.types.weak
    if before < 0 or not weak[graph.values.type[made]] or weak[graph.values.type[before]]:
        return -1
    return before if _WHOLE.fullmatch(flow.dtype(before)) else -1


def _is_given(subject: Subject, source: int) -> bool:
    """Whether it is an argument of the program or what a loop carries, or some of its entries."""
    graph, flow = subject.graph, subject.flow
    origin = flow.origin(source, _MOVES) if source >= 0 else -1
    return origin >= 0 and bool(graph.nodes.kind[graph.value_node[origin]] == ARGUMENT)


def _taken_as_whole(subject: Subject) -> list[int]:
    """Floats that are made whole, or compared with what are whole numbers otherwise."""
    flow, graph = subject.flow, subject.graph
    found = []
    for node in flow.nodes("convert_element_type", *_COMPARES):
        operands = flow.operands(node)
        if flow.op(node) != "convert_element_type":
            found += [one for one, other in (operands, operands[::-1]) if _unconverted(subject, other) >= 0]
        elif _WHOLE.fullmatch(flow.dtype(int(graph.first_value[node]))) and flow.dtype(operands[0]) in _EXACT:
            found.append(operands[0])
    return found


def _behind(subject: Subject, sources: Iterable[int]) -> set[int]:
    """The operations that values come from, of which entries are moved, or reckoned with whole numbers."""
    graph, flow = subject.graph, subject.flow
    found: set[int] = set()
    for first in sources:
        waiting, seen = [first], set[int]()
        while waiting and len(seen) < _MOST:
            made = flow.back(waiting.pop())
            node = int(graph.value_node[made]) if made >= 0 else -1
            if node < 0 or node in seen or graph.nodes.kind[node] != OPERATION:
                continue
            seen.add(node)
            op, operands = flow.op(node), flow.operands(node)
            if op in _MOVES:
                waiting.append(operands[0])
            elif op in _KEEPING:
                rest = operands[op == "select_n" :]
                numbers = [flow.number(operand) for operand in rest]
                if all(number is None or float(number).is_integer() for number in numbers):
                    found.add(node)
                    waiting += [one for one, number in zip(rest, numbers, strict=True) if number is None]
    return found


def _stepped(subject: Subject, mixed: Iterable[int]) -> set[int]:
    """Sums that make of whole numbers of a state the floats that are given back in their place."""
    flow, graph = subject.flow, subject.graph
    arguments, results = _borders(subject, ARGUMENT), _borders(subject, RESULT)
    found = set()
    for node in mixed:
        made = int(graph.first_value[node])
        wholes = {flow.back(_unconverted(subject, one)) for one in flow.operands(node)} - {-1}
        if flow.op(node) not in _STEPPING:
            continue
        for name, result in results.items():
            old = next((old for old in arguments if result == made and arguments[old] in wholes), "")
            if old and _is_next(subject, old, name, arguments, results):
                found.add(node)
    return found


def _is_next(subject: Subject, old: str, new: str, arguments: dict[str, int], results: dict[str, int]) -> bool:
    """Whether a result stands in a tree where the argument stands in one that is alike but for it."""
    inside = _INSIDE.search(old)
    if inside is None or not new.endswith(inside[0]):
        return False
    before, after = old[: inside.start()], new.removesuffix(inside[0])
    rest = [name.removeprefix(before) for name in arguments if name != old and _INSIDE.split(name)[0] == before]
    return bool(rest) and all(
        after + path in results and _type(subject, results[after + path]) == _type(subject, arguments[before + path])
        for path in rest
    )


def _borders(subject: Subject, kind: int) -> dict[str, int]:
    """The arguments or results of the program: by its path, the value that each is."""
    flow, graph = subject.flow, subject.graph
    nodes = np.flatnonzero((graph.nodes.kind == kind) & (graph.nodes.region == 0)).tolist()
    return {
        graph.tables.strings[graph.nodes.name[node]]: int(graph.first_value[node])
        if kind == ARGUMENT
        else flow.back(flow.operands(node)[0])
        for node in nodes
    }


def _type(subject: Subject, source: int) -> tuple[object, ...]:
    return subject.flow.dtype(source), subject.flow.dims(source)


def _given_back(subject: Subject, mixed: Iterable[int]) -> set[int]:
    """Choices between whole numbers and a Python number that are results as they are, and are read by nothing else."""
    flow, graph = subject.flow, subject.graph
    chosen = {node for node in mixed if flow.op(node) == "select_n"}
    if not chosen:
        return set()
    results = {flow.origin(source, _MOVES) for source in _borders(subject, RESULT).values()}
    made = {int(graph.first_value[node]): node for node in chosen}
    reckons = np.array([graph.tables.strings[op] not in _MOVES for op in graph.nodes.op[graph.operand_node]])
    inside = (graph.nodes.kind[graph.operand_node] == OPERATION) & reckons
    inside &= ~np.isin(graph.operand_node, list(graph.owned_regions))
    read = {flow.origin(source, _MOVES) for source in np.unique(graph.operands.source[inside]).tolist()}
    return {node for value, node in made.items() if value in results and value not in read}


def _told(
    subject: Subject, through: set[int], states: set[int], given: set[int], mixed: dict[int, float]
) -> Iterator[Finding]:
    flow, graph = subject.flow, subject.graph
    for nodes, severity, title, text in (
        (
            through,
            ADVICE,
            "whole numbers are taken through floats",
            "What comes of it is made whole again, or compared with whole numbers. Those beyond {exact:,} are rounded "
            "on the way, so that two that differ may come out alike.",
        ),
        (
            states,
            ADVICE,
            "whole numbers of a state come back as floats",
            "The rest of the state keeps its types. Given to the function again, it is compiled again for the new "
            "type; as what a loop carries, it is an error; and from {exact:,} on, adding one changes nothing.",
        ),
        (
            given,
            NOTE,
            "whole numbers are given back as floats",
            "Nothing but this number asks for floats: what reads the result as indices fails, and numbers beyond "
            "{exact:,} are rounded.",
        ),
    ):
        if not nodes:
            continue
        first = min(nodes)
        wide = flow.dtype(int(graph.first_value[first]))
        number = mixed[first]
        if number == int(number):
            remedy = f"Write {int(number)} in place of {float(number)}; or, where floats are meant, x.astype('{wide}')."
        else:
            remedy = f"Begin with floats, jnp.zeros((), '{wide}'), or step by whole numbers."
        yield subject.told(
            kind="precision",
            severity=severity,
            title=f"{title} because of {float(number)}",
            text=text.format(exact=_EXACT[wide]),
            remedy=remedy,
            nodes=nodes,
            figures={"operations": len(nodes)},
        )
