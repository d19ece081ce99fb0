"""Values that a compiled function moves to another memory while it runs; moves to a device, which it does not make."""

from __future__ import annotations

from collections.abc import Iterator

from jaxviz.find.finding import NOTE, Finding, Subject
from jaxviz.units import bytes_text, plural


def find(subject: Subject) -> Iterator[Finding]:
    graph, flow = subject.graph, subject.flow
    own = [node for node in flow.nodes("device_put") if subject.is_own(node)]
    places = {node: graph.node(node).attributes.get("devices", "").strip("() ,") for node in own}
    # Where nothing goes to the memory of the host, nothing comes back from there.
    moved = list(places) if any(map(_is_host, places.values())) else []
    moved = [node for node in moved if _is_host(places[node]) or _is_memory(places[node])]
    if moved:
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
    idle = [node for node, place in places.items() if place not in ("", "None") and not _is_sharding(place)]
    if idle:
        yield subject.told(
            kind="transfer",
            severity=NOTE,
            title="`device_put` to a device moves nothing inside of a compiled function",
            text="A compiled function runs where its arguments are, and what is computed in it stays there.",
            remedy="Leave it out, or move the arguments before the call: f(jax.device_put(x, device)).",
            nodes=idle,
            figures={"values": len(idle)},
        )


def _is_host(place: str) -> bool:
    """Whether a place is the memory of the host; for a CPU that is its own."""
    return "host" in place.lower() and not ("CpuDevice" in place and "unpinned_host" in place)


def _is_memory(place: str) -> bool:
    return "memory_kind=" in place or "Space" in place


def _is_sharding(place: str) -> bool:
    return "Sharding" in place or "None" in place or _is_memory(place)
