"""Values that a compiled function moves to another memory or device while it runs."""

from __future__ import annotations

from collections.abc import Iterator

from jaxviz.find.finding import NOTE, Finding, Subject
from jaxviz.units import bytes_text, plural


def find(subject: Subject) -> Iterator[Finding]:
    graph, flow = subject.graph, subject.flow
    moved = []
    for node in flow.nodes("device_put"):
        places = graph.node(node).attributes.get("devices", "").strip("() ").split(",")
        if subject.is_own(node) and any(place.strip() not in ("", "None") for place in places):
            moved.append(node)
    if not moved:
        return
    types = graph.values.type[graph.first_value[moved]].tolist()
    size = sum(max(graph.tables.types.bytes[type_], 0) for type_ in types)
    yield subject.told(
        kind="transfer",
        severity=NOTE,
        title=f"{plural(len(moved), 'value')} ({bytes_text(size)}) moved to another memory in each run",
        text="The move is part of the compiled function and is made again in each run; what reads the value waits.",
        remedy="Move it once, before the function is called, unless it is moved to make room on the device.",
        nodes=moved,
        figures={"bytes": size, "values": len(moved)},
    )
