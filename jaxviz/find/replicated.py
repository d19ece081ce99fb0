"""Arguments that lie whole on every device, beside others that are cut into parts: memory that each device pays for."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from jaxviz.costs.traffic import value_bytes
from jaxviz.find.finding import ADVICE, NOTE, Finding, Subject, bytes_text, plural
from jaxviz.graph import ARGUMENT

_WHOLE = "whole on every device"
_PARTS = re.compile(r"in (\d+) parts")
# Bytes on each device that are worth a word, and a look. Small parameters are best where they are needed.
_LARGE, _HUGE = 100_000_000, 1_000_000_000


def find(subject: Subject) -> Iterator[Finding]:
    compiled = subject.compiled
    if compiled is None:
        return
    graph, whole, parts = compiled.graph, [], 1
    for node in np.flatnonzero((graph.nodes.kind == ARGUMENT) & (graph.nodes.region == 0)).tolist():
        sharding = graph.node(node).attributes.get("sharding", "")
        cut = _PARTS.findall(sharding)
        parts = max(parts, int(np.prod([int(count) for count in cut], dtype=np.int64)) if cut else 1)
        if sharding == _WHOLE:
            whole.append(node)
    sizes = {node: value_bytes(graph, int(graph.first_value[node])) for node in whole}
    size = sum(sizes.values())
    if parts == 1 or size < _LARGE:
        return
    largest = sorted(whole, key=lambda node: -sizes[node])[:3]
    told = ", ".join(
        f"`{graph.tables.strings[graph.nodes.name[node]]}` ({bytes_text(sizes[node])})" for node in largest
    )
    yield Finding(
        kind="replicated",
        severity=ADVICE if size >= _HUGE else NOTE,
        title=f"{bytes_text(size)} of arguments lie whole on each device",
        text=f"{plural(len(whole), 'argument')} {'is' if len(whole) == 1 else 'are'} not cut, while others are, into "
        f"{parts} parts; the largest: {told}. Each device holds and updates all of it.",
        remedy="Cut them along an axis of the mesh too (jax.sharding.NamedSharding); XLA gathers them where they are "
        "needed whole.",
        nodes=compiled.sources(whole),
        figures={"bytes": size, "arguments": len(whole), "parts": parts},
    )
