"""Branches and classes that are asked for and are not there: `switch` takes the nearest, `one_hot` gives zeros."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxviz.find.finding import WARNING, Finding, Subject
from jaxviz.find.known_numbers import KnownNumbers, Numbers


def find(subject: Subject) -> Iterator[Finding]:
    flow = subject.flow
    nodes, compared = flow.nodes("cond"), flow.nodes("eq")
    if not nodes and not compared:
        return
    known = KnownNumbers(flow)
    yield from _branches(subject, known, nodes)
    yield from _classes(subject, known, compared)


def _branches(subject: Subject, known: KnownNumbers, nodes: list[int]) -> Iterator[Finding]:
    """`switch` brings its index into bounds before it takes the branch of that number."""
    flow, graph = subject.flow, subject.graph
    for node in nodes:
        source = flow.back(flow.operands(node)[0])
        maker = int(graph.value_node[source]) if source >= 0 else -1
        if maker < 0 or flow.op(maker) != "clamp" or graph.nodes.stack[maker] != graph.nodes.stack[node]:
            continue
        low, index, high = flow.operands(maker)
        last, numbers = flow.number(high), known.of(index)
        if flow.number(low) != 0 or not isinstance(last, int) or numbers is None:
            continue
        wrong = (numbers.values < 0) | (numbers.values > last)
        if not wrong.any() or not subject.is_own(node):
            continue
        first = _first(numbers, wrong)
        text = f"the nearest branch is run, {'the first' if first < 0 else 'the last'}."
        yield _told(
            subject,
            node,
            first,
            int(last) + 1,
            f"`switch` is given {first}, and has {int(last) + 1:,} branches",
            f"{text} Numbers below 0 are not counted from the end.",
            f"Give a number from 0 to {last}.",
        )


def _classes(subject: Subject, known: KnownNumbers, nodes: list[int]) -> Iterator[Finding]:
    """`one_hot` compares each number with all classes; -1 is often meant to be none of them."""
    flow, graph = subject.flow, subject.graph
    for node in nodes:
        if not _is_in_one_hot(subject, node):
            continue
        for one, other in (flow.operands(node), flow.operands(node)[::-1]):
            source = flow.origin(other)
            maker = int(graph.value_node[source]) if source >= 0 else -1
            numbers = known.of(one)
            if maker < 0 or flow.op(maker) != "iota" or numbers is None:
                continue
            classes = max(flow.dims(source), default=0)
            wrong = numbers.values >= classes
            owner = _own_call(subject, node)
            if not wrong.any() or not subject.is_own(owner):
                continue
            first = _first(numbers, wrong)
            yield _told(
                subject,
                owner,
                first,
                classes,
                f"`one_hot` is given {first}, and has {classes:,} classes",
                "such a number gives a row of zeros.",
                f"Give numbers from 0 to {classes - 1}, or -1 where a row of zeros is meant.",
            )
            break


def _told(subject: Subject, node: int, index: int, size: int, title: str, instead: str, remedy: str) -> Finding:
    return subject.told(
        kind="indexing",
        severity=WARNING,
        title=title,
        text=f"JAX does not raise an error for this: {instead}",
        remedy=remedy,
        nodes=[node],
        figures={"index": index, "size": size},
    )


def _first(numbers: Numbers, wrong: np.ndarray) -> int:
    return int(np.asarray(numbers.values).ravel()[int(np.argmax(wrong))])


def _is_in_one_hot(subject: Subject, node: int) -> bool:
    graph = subject.graph
    region = int(graph.nodes.region[node])
    owner = int(graph.regions.owner[region]) if region > 0 else -1
    return owner >= 0 and graph.tables.strings[graph.nodes.name[owner]] == "_one_hot"


def _own_call(subject: Subject, node: int) -> int:
    """The call of `one_hot` around what it does."""
    return int(subject.graph.regions.owner[int(subject.graph.nodes.region[node])])
