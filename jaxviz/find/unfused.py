"""Large values that one kernel writes to memory for another to read, and the fact that kept the two apart.

What only computes entry by entry, XLA could have kept in one kernel. What a product or a reduction reads or writes has
to be in memory; that is told only where it is many times as large as what it is made of and what is made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jaxviz.costs.between import Between, between_kernels
from jaxviz.costs.kernels import trip_counts
from jaxviz.costs.swelling import Swelling, swellings_of
from jaxviz.costs.traffic import traffic_of
from jaxviz.find.finding import NOTE, Compiled, Finding, Subject, bytes_text, plural

# How much of all traffic such values must be, and how many are named.
_SHARE, _NAMED = 0.2, 3


def find(subject: Subject) -> Iterator[Finding]:
    compiled = subject.compiled
    if compiled is None:
        return
    values = between_kernels(compiled.graph)
    swellings = list(swellings_of(compiled.graph, values))
    yield from (_swollen(subject, compiled, swelling) for swelling in swellings)
    told = {value.node for swelling in swellings for value in swelling.values}
    found = [value for value in values if not value.whole and value.node not in told]
    if found:
        yield from _apart(subject, compiled, found)


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
    # Each is written once, and read by each of its users, in each turn of a loop.
    times = trip_counts(compiled.graph)
    moved = sum(value.bytes * (1 + len(value.readers)) * times[value.node] for value in found)
    traffic = sum((kernel.bytes_in + kernel.bytes_out) * times[kernel.node] for kernel in traffic_of(compiled.graph))
    if moved < _SHARE * traffic:
        return
    size = sum(value.bytes for value in found)
    yield subject.told(
        kind="unfused",
        severity=NOTE,
        title=f"{plural(len(found), 'large value')} ({bytes_text(size)}) written to memory between kernels",
        text=(
            f"Writing and reading them is {moved / traffic:.0%} of all that the program moves, "
            f"{bytes_text(traffic)}. What kept them apart: {_said(found)}."
        ),
        remedy="Where a value has several users, computing it again in each may be faster than keeping it; "
        "a copy for layout goes where both sides agree on the order of axes.",
        nodes=compiled.sources(value.node for value in found).tolist(),
        figures={"values": len(found), "bytes": size, "traffic": traffic},
    )
