"""Large values that one kernel writes to memory for another to read, and the fact that kept the two apart.

What only computes entry by entry, XLA could have kept in one kernel. What a reduction or a sort needs whole has to be
in memory; that is told where it is a large part of what moves. What a product reads or writes is told only where it
is many times as large as what it is made of and what is made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jaxviz.costs.between import Between, between_kernels
from jaxviz.costs.kernels import trip_counts
from jaxviz.costs.swelling import Swelling, swellings_of
from jaxviz.costs.traffic import traffic_of
from jaxviz.find.finding import NOTE, Compiled, Finding, Subject
from jaxviz.graph import CONSTANT, OPERATION, Graph
from jaxviz.units import bytes_text, plural

# How much of all traffic such values must be, and how many are named.
_SHARE, _NAMED = 0.2, 3
# The same for what a kernel needs whole, and from how many bytes such a value counts: smaller ones stay in a cache.
_WHOLE_SHARE, _WHOLE_BYTES = 0.4, 10_000_000
# So many nodes are looked at to find out whether a value is made of arguments.
_MOST_MAKERS = 100


def find(subject: Subject) -> Iterator[Finding]:
    compiled = subject.compiled
    if compiled is None:
        return
    graph = compiled.graph
    values = between_kernels(graph)
    swellings = list(swellings_of(graph, values))
    for swelling in swellings:
        if not all(_is_constant(graph, value.node) for value in swelling.values):
            yield _swollen(subject, compiled, swelling)
    told = {value.node for swelling in swellings for value in swelling.values}
    left = [value for value in values if value.node not in told and not _is_constant(graph, value.node)]
    yield from _apart(subject, compiled, [value for value in left if not value.whole])
    whole = [value for value in left if value.whole and value.fusible and value.bytes >= _WHOLE_BYTES]
    # Of one that is read once, nothing can be saved.
    if sum(len(value.readers) for value in whole) > 1:
        yield from _needed_whole(subject, compiled, whole)


def _is_constant(graph: Graph, node: int) -> bool:
    """Whether a kernel makes the same in each run: it reads no argument, nor what is made of one."""
    waiting, known = [node], {node}
    while waiting:
        node = waiting.pop()
        if graph.nodes.kind[node] not in (OPERATION, CONSTANT):
            return False
        rows = slice(int(graph.first_operand[node]), int(graph.first_operand[node + 1]))
        makers = {int(graph.value_node[source]) for source in graph.operands.source[rows].tolist() if source >= 0}
        waiting += makers - known
        known |= makers
        if len(known) > _MOST_MAKERS:
            return False
    return True


def _swollen(subject: Subject, compiled: Compiled, swelling: Swelling) -> Finding:
    values = swelling.values
    size = sum(value.bytes for value in values)
    return subject.told(
        kind="unfused",
        severity=NOTE,
        title=f"{bytes_text(size)} between kernels that read and give {bytes_text(swelling.outside)}",
        text=(
            f"What goes in and comes out is much less than what is written to memory in between, and read again: "
            f"{_said(values)}."
        ),
        remedy="Work on a part at a time: jax.lax.map(..., batch_size=...) over rows, or jax.lax.scan over blocks; for "
        "attention there is jax.nn.dot_product_attention, and in place of a product with one-hot rows, indexing.",
        nodes=compiled.sources(value.node for value in values).tolist(),
        figures={"values": len(values), "bytes": size, "outside": swelling.outside},
    )


def _said(values: Sequence[Between]) -> str:
    """The largest of some values, each with what keeps it in memory."""
    largest = sorted(values, key=lambda value: -value.bytes)[:_NAMED]
    return "; ".join(f"{value.name} ({bytes_text(value.bytes)}): {value.fact}" for value in largest)


def _apart(subject: Subject, compiled: Compiled, found: list[Between]) -> Iterator[Finding]:
    yield from _moved(
        subject,
        compiled,
        found,
        _SHARE,
        "What kept them apart",
        "Where a value has several users, computing it again in each may be faster than keeping it; "
        "a copy for layout goes where both sides agree on the order of axes.",
    )


def _needed_whole(subject: Subject, compiled: Compiled, found: list[Between]) -> Iterator[Finding]:
    yield from _moved(
        subject,
        compiled,
        found,
        _WHOLE_SHARE,
        "What keeps them there",
        "Each sort, transform and reduction goes over all of its value once more. Fewer passes move less: reduce once "
        "what is reduced twice, and where rows do not need each other, work on a part of them at a time with "
        "jax.lax.map(..., batch_size=...).",
    )


def _moved(
    subject: Subject, compiled: Compiled, found: list[Between], least: float, why: str, remedy: str
) -> Iterator[Finding]:
    """Of values between kernels, where moving them is at least such a share of all that the program moves."""
    if not found:
        return
    # Each is written once, and read by each of its users, in each turn of a loop.
    times = trip_counts(compiled.graph)
    moved = sum(value.bytes * (1 + len(value.readers)) * times[value.node] for value in found)
    traffic = sum((kernel.bytes_in + kernel.bytes_out) * times[kernel.node] for kernel in traffic_of(compiled.graph))
    if moved <= least * traffic:
        return
    size = sum(value.bytes for value in found)
    yield subject.told(
        kind="unfused",
        severity=NOTE,
        title=f"{plural(len(found), 'large value')} ({bytes_text(size)}) written to memory between kernels",
        text=(
            f"Writing and reading them is {moved / traffic:.0%} of all that the program moves, "
            f"{bytes_text(traffic)}. {why}: {_said(found)}."
        ),
        remedy=remedy,
        nodes=compiled.sources(value.node for value in found).tolist(),
        figures={"values": len(found), "bytes": size, "traffic": traffic},
    )
