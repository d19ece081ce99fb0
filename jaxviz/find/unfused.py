"""Large values that one kernel writes to memory for another to read, though both only compute entry by entry.

What a product or a reduction reads or writes has to be in memory; that is not told. Told is what XLA could have kept in
one kernel, and the fact that kept it apart, where there is one.
"""

from __future__ import annotations

from collections.abc import Iterator

from jaxviz.costs.between import between_kernels
from jaxviz.costs.kernels import trip_counts
from jaxviz.costs.traffic import traffic_of
from jaxviz.find.finding import NOTE, Finding, Subject, bytes_text, plural

# How much of all traffic such values must be, and how many are named.
_SHARE, _NAMED = 0.2, 3


def find(subject: Subject) -> Iterator[Finding]:
    compiled = subject.compiled
    if compiled is None:
        return
    found = [value for value in between_kernels(compiled.graph) if not value.whole]
    if not found:
        return
    # Each is written once, and read by each of its users, in each turn of a loop.
    times = trip_counts(compiled.graph)
    moved = sum(value.bytes * (1 + len(value.readers)) * times[value.node] for value in found)
    traffic = sum((kernel.bytes_in + kernel.bytes_out) * times[kernel.node] for kernel in traffic_of(compiled.graph))
    if moved < _SHARE * traffic:
        return
    size = sum(value.bytes for value in found)
    largest = sorted(found, key=lambda value: -value.bytes)[:_NAMED]
    said = "; ".join(f"{value.name} ({bytes_text(value.bytes)}): {value.fact}" for value in largest)
    yield subject.told(
        kind="unfused",
        severity=NOTE,
        title=f"{plural(len(found), 'large value')} ({bytes_text(size)}) written to memory between kernels",
        text=(
            f"Writing and reading them is {moved / traffic:.0%} of all that the program moves, "
            f"{bytes_text(traffic)}. What kept them apart: {said}."
        ),
        remedy="Where a value has several users, computing it again in each may be faster than keeping it; "
        "a copy for layout goes where both sides agree on the order of axes.",
        nodes=compiled.sources(value.node for value in found).tolist(),
        figures={"values": len(found), "bytes": size, "traffic": traffic},
    )
