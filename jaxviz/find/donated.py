"""Donation: arguments that results could take the memory of, and arguments that were donated for nothing.

JAX gives a donated argument's memory to a result of the same type; which one, it decides by type alone. What is worth
donating is the old state of a step: a tree of arrays of which the step gives a new one.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxviz.find.finding import ADVICE, NOTE, Finding, Subject
from jaxviz.find.flow import SAME
from jaxviz.graph import ARGUMENT, CARRY, INIT, LEAVE, RESULT
from jaxviz.units import bytes_text

# Bytes of state from which donation is worth a word, and a good one.
_LARGE, _HUGE = 1_000_000, 100_000_000
_NAME = re.compile(r"^[\w ]+")


class _Border(NamedTuple):
    """An argument or a result of the program."""

    node: int
    name: str
    type: tuple[object, ...]


def find(subject: Subject) -> Iterator[Finding]:
    arguments = _borders(subject, ARGUMENT)
    results = _borders(subject, RESULT)
    donated = _donated(subject, arguments)
    # Donated arguments take the results of their types first.
    left = Counter(type_ for _, _, type_ in results)
    useless = []
    for node, _, type_ in arguments:
        if node in donated:
            if left[type_] > 0:
                left[type_] -= 1
            else:
                useless.append(node)
    if useless:
        yield _useless(subject, useless)
    yield from _possible(subject, arguments, results, donated, left)


def _borders(subject: Subject, kind: int) -> list[_Border]:
    """The arguments or results of the program: node, name, type."""
    graph = subject.graph
    found = []
    for node in np.flatnonzero((graph.nodes.kind == kind) & (graph.nodes.region == 0)).tolist():
        source = int(graph.first_value[node]) if kind == ARGUMENT else subject.flow.operands(node)[0]
        name = graph.tables.strings[graph.nodes.name[node]]
        found.append(_Border(node, name, _type(subject, source)))
    return found


def _donated(subject: Subject, arguments: list[_Border]) -> set[int]:
    graph = subject.graph
    key = graph.tables.find_string("donated")
    marked = set(graph.attributes.node[graph.attributes.key == key].tolist()) if key is not None else set()
    return {node for node, _, _ in arguments if node in marked}


def _useless(subject: Subject, nodes: list[int]) -> Finding:
    graph = subject.graph
    names = [f"`{graph.tables.strings[graph.nodes.name[node]]}`" for node in nodes]
    few = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    size = sum(graph.tables.types.bytes[int(graph.values.type[graph.first_value[node]])] for node in nodes)
    return Finding(
        kind="donated",
        severity=ADVICE,
        title=f"{few} ({bytes_text(size)}) {'is' if len(names) == 1 else 'are'} donated, but no result can use that",
        text="A result takes the memory of a donated argument of its own shape and type. There is none left of that.",
        remedy="Donate only what the function gives back in a new version, such as parameters and optimizer state.",
        nodes=np.array(nodes, np.int32),
        figures={"arguments": len(nodes), "bytes": size},
    )


def _possible(
    subject: Subject,
    arguments: list[_Border],
    results: list[_Border],
    donated: set[int],
    left: Counter[tuple[object, ...]],
) -> Iterator[Finding]:
    """Whole arguments, of several arrays, of all of which the program gives new ones that it computes from them."""
    graph = subject.graph
    groups: dict[str, list[tuple[int, tuple[object, ...]]]] = {}
    for node, name, type_ in arguments:
        match = _NAME.match(name)
        if match and node not in donated:
            groups.setdefault(match[0], []).append((node, type_))
    names, nodes, size = [], [], 0.0
    renewed: set[int] | None = None
    for name, members in groups.items():
        wanted = Counter(type_ for _, type_ in members)
        if any(left[type_] < count for type_, count in wanted.items()):
            continue
        alone = members[0][0] if len(members) == 1 else -1
        if alone >= 0 and not _is_state(subject, alone, arguments, results):
            continue
        renewed = _renewed(subject, results) if renewed is None else renewed
        if not renewed.issuperset(node for node, _ in members):
            continue
        left -= wanted
        names.append(f"`{name}`")
        nodes += [node for node, _ in members]
        size += sum(graph.tables.types.bytes[int(graph.values.type[graph.first_value[node]])] for node, _ in members)
    if size < _LARGE:
        return
    few = " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"
    quoted = ", ".join(f'"{name[1:-1]}"' for name in names)
    yield Finding(
        kind="donated",
        severity=ADVICE if size >= _HUGE else NOTE,
        title=f"{few} ({bytes_text(size)}) could be donated",
        text=(
            f"The function gives back new arrays of the same types as {few}. While it runs, the old ones and the new "
            f"ones are both in memory: {bytes_text(size)} that are not needed if the old ones are not read afterwards."
        ),
        remedy=f"jax.jit(f, donate_argnames=({quoted},)), and do not use the old ones again.",
        nodes=np.array(sorted(nodes), np.int32),
        figures={"arguments": len(nodes), "bytes": size},
    )


def _is_state(subject: Subject, member: int, arguments: list[_Border], results: list[_Border]) -> bool:
    """Whether one array is plainly a state of which a result is the next version."""
    return (
        _is_written_into(subject, member, results)
        or _is_stepped(subject, member, results)
        or _goes_round(subject, member, results)
        or (len(arguments) == len(results) == 1 and _is_added_to(subject, member, results[0]))
    )


def _goes_round(subject: Subject, member: int, results: list[_Border]) -> bool:
    """Whether a result is what a loop that begins with the argument has made of it."""
    graph, flow = subject.graph, subject.flow
    first = int(graph.first_value[member])
    if graph.tables.types.bytes[int(graph.values.type[first])] < _LARGE:
        return False
    left: dict[int, set[int]] = {}  # Of each value that leaves a body, what it is there.
    begun, turns = set[int](), list[tuple[int, int]]()
    columns = graph.bindings.kind.tolist(), graph.bindings.start.tolist(), graph.bindings.end.tolist()
    for kind, start, end in zip(*columns, strict=True):
        if kind == LEAVE:
            left.setdefault(end, set()).add(start)
        elif kind == CARRY:
            turns.append((start, end))
        elif kind == INIT and flow.origin(start) == first:
            begun.add(end)
    handed_on = {start for start, end in turns if end in begun}
    return any(left.get(flow.back(flow.operands(node)[0]), set()) & handed_on for node, _, _ in results)


def _is_added_to(subject: Subject, member: int, result: _Border) -> bool:
    """Whether a result is a sum of the argument, which may be scaled, and of what is made of it: a step in time, where
    there is no other argument that the array could be an input beside."""
    flow, old = subject.flow, int(subject.graph.first_value[member])
    terms = [term for term, _ in _terms(subject, flow.operands(result.node)[0])]
    others = [term for term in terms if _unscaled(subject, term) != old]
    # A mean or a maximum of the array that is taken off brings it to a scale: that is no step.
    steps = (one for one in others if flow.dims(one) == flow.dims(old) or flow.number(one) is not None)
    return len(others) < len(terms) and any(steps)


def _is_written_into(subject: Subject, member: int, results: list[_Border]) -> bool:
    """Whether a result is the argument with something written into it, such as a cache: plainly its next version."""
    flow = subject.flow
    for node, _, _ in results:
        source = flow.origin(flow.operands(node)[0])
        maker = int(subject.graph.value_node[source]) if source >= 0 else -1
        if maker >= 0 and (flow.op(maker).startswith("scatter") or flow.op(maker) == "dynamic_update_slice"):
            before = _unrolled(subject, flow.origin(flow.operands(maker)[0]))
            if before >= 0 and int(subject.graph.value_node[before]) == member:
                return True
    return False


def _unrolled(subject: Subject, source: int) -> int:
    """A value before it was rolled: what is put together anew of pieces of one value of its type."""
    flow = subject.flow
    source = flow.back(source)
    maker = int(subject.graph.value_node[source]) if source >= 0 else -1
    if maker < 0 or flow.op(maker) != "concatenate":
        return source
    wholes = {flow.origin(piece, SAME | {"slice"}) for piece in flow.operands(maker)}
    whole = wholes.pop()
    return whole if not wholes and whole >= 0 and _type(subject, whole) == _type(subject, source) else source


# Operations that are looked at between a step of descent and the gradient, and behind that.
_NEAR, _FAR = 12, 500


def _is_stepped(subject: Subject, member: int, results: list[_Border]) -> bool:
    """Whether a result is the argument after a step down a gradient, which JAX made or which is written out as a
    product: plainly its next version. One array that something is computed of need not be a state."""
    flow, graph = subject.flow, subject.graph
    old = int(graph.first_value[member])
    for node, _, type_ in results:
        if type_ != _type(subject, old):
            continue
        terms = list(_terms(subject, flow.operands(node)[0]))
        if old not in [_unscaled(subject, term) for term, _ in terms]:
            continue
        for term, is_taken_off in terms:
            step = _unscaled(subject, term)
            if step in (-1, old) or flow.dims(step) != flow.dims(old):
                continue
            if any(subject.derivatives.order[one] > 0 for one in _made_of(subject, step, _NEAR)):
                return True
            written_out = is_taken_off and step != term and flow.op(int(graph.value_node[step])) == "dot_general"
            if written_out and member in _made_of(subject, step, _FAR):
                return True
    return False


def _terms(subject: Subject, source: int, is_taken_off: bool = False, depth: int = 4) -> Iterator[tuple[int, bool]]:
    """The terms of a sum, each with whether it is subtracted."""
    flow = subject.flow
    source = flow.origin(source)
    maker = int(subject.graph.value_node[source]) if source >= 0 else -1
    op = flow.op(maker) if maker >= 0 else ""
    if not depth or op not in ("add", "sub", "add_any"):
        yield source, is_taken_off
        return
    one, other = flow.operands(maker)
    yield from _terms(subject, one, is_taken_off, depth - 1)
    yield from _terms(subject, other, is_taken_off != (op == "sub"), depth - 1)


def _unscaled(subject: Subject, source: int) -> int:
    """A value without the single numbers that it is multiplied with or divided by; -1 where it is one of these."""
    flow, graph = subject.flow, subject.graph
    for _ in range(_STEPS):
        maker = int(graph.value_node[source]) if source >= 0 else -1
        if maker < 0 or flow.op(maker) not in ("mul", "div"):
            break
        sides = [flow.origin(operand) for operand in flow.operands(maker)]
        arrays = [side for side in sides if side >= 0 and flow.dims(side)]
        if len(arrays) != 1:
            break
        source = arrays[0]
    return max(source, -1)


def _made_of(subject: Subject, source: int, most: int) -> set[int]:
    """The nodes that a value is made by, the nearest first, up to so many."""
    flow, graph = subject.flow, subject.graph
    waiting, found = deque([source]), set[int]()
    while waiting and len(found) < most:
        value = flow.back(waiting.popleft())
        node = int(graph.value_node[value]) if value >= 0 else -1
        if node >= 0 and node not in found:
            found.add(node)
            waiting.extend(flow.operands(node))
    return found


# So many steps before a result is the old value looked for: `0.9 * old + 0.1 * gradient` takes two.
_STEPS = 4


def _renewed(subject: Subject, results: list[_Border]) -> set[int]:
    """The nodes that are read where a result of their type is made: the last steps before it read the old value."""
    graph, flow = subject.graph, subject.flow
    found: set[int] = set()
    for node, _, type_ in results:
        sources = {flow.back(flow.operands(node)[0])}
        for _ in range(_STEPS):
            makers = {int(graph.value_node[source]) for source in sources if source >= 0}
            read = {_unrolled(subject, operand) for maker in makers for operand in flow.operands(maker)}
            alike = {operand for operand in read if operand >= 0 and _type(subject, operand) == type_}
            found |= {int(graph.value_node[operand]) for operand in alike}
            sources = alike
    return found


def _type(subject: Subject, source: int) -> tuple[object, ...]:
    return subject.flow.dtype(source), subject.flow.dims(source)
