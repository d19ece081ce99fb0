"""What devices tell each other: each collective with its bytes and line, and whether the program asked for it.

One that the program names (`psum`, `all_gather`) is meant. One that the partitioner put in comes of shardings that do
not fit: another annotation may avoid it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from jaxviz.costs.kernels import trip_counts
from jaxviz.costs.traffic import RENAMING, value_bytes
from jaxviz.find.along import cause
from jaxviz.find.annotated import as_asked
from jaxviz.find.finding import ADVICE, NOTE, Finding, Line, Subject, lines_text
from jaxviz.graph import OPERATION, RESULT, Graph
from jaxviz.link.asked import ANNOTATIONS, annotations_behind
from jaxviz.read.communication import is_collective
from jaxviz.units import bytes_text, plural

# Primitives that ask for one, by the beginning of their names.
_ASKED = (
    "psum",
    "pmax",
    "pmin",
    "pmean",
    "all_gather",
    "all_to_all",
    "ppermute",
    "reduce_scatter",
    "psum_scatter",
    "pgather",
)
# Operations that hand a value on, as a result that leaves in another layout.
_PASSING = RENAMING | {"copy"}
# Groups of one device, in words: nothing is sent.
_ALONE = re.compile(r"(all|\d+ groups of) 1\b")
# Bytes from which an operation between devices that nobody asked for should be looked at.
_LARGE = 1_000_000
_GENERAL = (
    "Another sharding of what this line reads or gives may avoid it: jax.lax.with_sharding_constraint, or "
    "in_shardings and out_shardings of jax.jit, say which."
)
_WHY = {
    "all-reduce": "Each device has what its part comes to, and all need what the whole does.",
    "all-gather": "Each device has a piece, and the whole is needed.",
    "reduce-scatter": "Each device has a part of the sum, and needs a piece of the whole.",
    "all-to-all": "The pieces are cut along another axis than an operation needs.",
    "collective-permute": "The pieces lie on other devices than an operation needs.",
}


def find(subject: Subject) -> Iterator[Finding]:
    compiled = subject.compiled
    if compiled is None:
        return
    graph, strings = compiled.graph, compiled.graph.tables.strings
    ops = [op for op in np.unique(graph.nodes.op).tolist() if is_collective(strings[op])]
    turns = trip_counts(graph)
    found: dict[tuple[str, bool, tuple[Line, ...]], list[int]] = {}
    for node in np.flatnonzero(np.isin(graph.nodes.op, ops) & (graph.nodes.kind == OPERATION)).tolist():
        if _ALONE.match(graph.node(node).attributes.get("devices", "")):
            continue
        sources = compiled.sources([node])
        asked = _is_asked(subject, node, sources.tolist())
        name = strings[graph.nodes.op[node]].removesuffix("-start")
        found.setdefault((name, asked, subject.lines(sources)), []).append(node)
    for (name, asked, lines), nodes in found.items():
        # In a loop, it is done in each turn.
        often = [float(turns[node]) for node in nodes]
        size = sum(_bytes(subject, node) * times for node, times in zip(nodes, often, strict=True))
        most = max(often)
        looped = f", {'up to ' * (min(often) < most)}{most:,.0f} times in each run" if most > 1 else ""
        where = f" ({lines_text(lines)})" if lines else ""
        times = f"{plural(len(nodes), name)}" if len(nodes) > 1 else name
        sources = compiled.sources(nodes)
        why, remedy = _asked_for(nodes, most > 1) if asked else _put_in(subject, nodes, sources.tolist())
        yield Finding(
            kind="collective",
            severity=ADVICE if not asked and name != "all-reduce" and size >= _LARGE else NOTE,
            title=f"{times} of {bytes_text(size)} between devices{looped}{where}",
            text=_WHY.get(name, "") + why,
            remedy=remedy,
            nodes=sources,
            lines=lines,
            figures={"bytes": size, "count": len(nodes), "times": most},
        )


def _put_in(subject: Subject, nodes: list[int], sources: list[int]) -> tuple[str, str]:
    """Why XLA put exchanges in, and what to do."""
    annotations = annotations_behind(subject.graph, sources)
    if not annotations and (results := _for_results(subject, nodes)):
        names = " and ".join(f"`{name}`" for name in results)
        return (
            f" XLA put it in for {names}, to lie whole on each device, as out_shardings of jax.jit asks.",
            "Leave it out of out_shardings, or ask there for the sharding that it has already: then nothing is "
            "exchanged, and each device keeps its piece.",
        )
    if not annotations:
        why, cure = cause(subject, nodes, sources)
        return f" XLA put it in, so that the shardings fit.{why}", cure or _GENERAL
    names = " and ".join(sorted({f"`{ANNOTATIONS[subject.flow.op(node)]}`" for node in annotations}))
    lines = subject.lines(np.array(annotations, np.int32))
    where = f" ({lines_text(lines)})" if lines else ""
    leave = "Where the value need not lie so, leave the annotation out, or ask for the sharding that it has already"
    # Of several, what suits the one is against the other.
    cure = as_asked(subject, annotations[0]) if len(annotations) == 1 else ""
    return (
        f" XLA put it in for the sharding that {names} asks for{where}.",
        f"{leave}. Where it must: {cure}"
        if cure
        else f"{leave}; where it must, have what it is computed of come in so, with in_shardings of jax.jit or "
        "jax.device_put.",
    )


def _for_results(subject: Subject, nodes: list[int]) -> list[str]:
    """The results of the program that exchanges are for alone; none where anything else reads what they give."""
    assert subject.compiled is not None  # it was compiled, else there is none
    graph = subject.compiled.graph
    if not all(graph.tables.strings[graph.nodes.op[node]].startswith("all-gather") for node in nodes):
        return []  # What is added up has to be exchanged in any case.
    names, waiting = [], [value for node in nodes for end in _ends(graph, node) for value in _values(graph, end)]
    while waiting:
        for reader in graph.readers(waiting.pop()):
            if graph.nodes.kind[reader] == RESULT and graph.nodes.region[reader] == 0:
                names.append(graph.tables.strings[graph.nodes.name[reader]])
            elif graph.tables.strings[graph.nodes.op[reader]] in _PASSING:
                waiting += _values(graph, reader)
            else:
                return []
    return list(dict.fromkeys(names))


def _asked_for(nodes: list[int], in_loop: bool) -> tuple[str, str]:
    """Of exchanges that the program asks for, that it does, and what to do about many."""
    remedy = ""  # One that the program asks for is as it is meant.
    if in_loop:
        remedy = (
            "All devices wait for each other in each turn. Where the turns only add up what it gives, add up on each "
            "device and exchange once after the loop."
        )
    elif len(nodes) > 1:
        remedy = "Several small ones are slower than one that carries all: gather them in one tree."
    return " The program asks for it.", remedy


def _is_asked(subject: Subject, node: int, sources: list[int]) -> bool:
    """Whether the program names it: an equation that it comes from, or else the name that JAX gave the instruction."""
    assert subject.compiled is not None  # it was compiled, else there is none
    graph = subject.compiled.graph
    name = graph.tables.strings[graph.nodes.scope[node]].rpartition("/")[2]
    return name.startswith(_ASKED) or any(subject.flow.op(source).startswith(_ASKED) for source in sources)


def _bytes(subject: Subject, node: int) -> float:
    assert subject.compiled is not None  # it was compiled, else there is none
    graph = subject.compiled.graph
    return sum(value_bytes(graph, value) for end in _ends(graph, node) for value in _values(graph, end))


def _ends(graph: Graph, node: int) -> list[int]:
    """The nodes that give what an exchange gives: one that is only started hands on what it was given, too."""
    strings = graph.tables.strings
    if not strings[graph.nodes.op[node]].endswith("-start"):
        return [node]
    readers = np.unique(graph.operand_node[np.isin(graph.operands.source, _values(graph, node))]).tolist()
    return [reader for reader in readers if strings[graph.nodes.op[reader]].endswith("-done")] or [node]


def _values(graph: Graph, node: int) -> range:
    return range(int(graph.first_value[node]), int(graph.first_value[node + 1]))
