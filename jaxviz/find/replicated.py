"""Arguments that lie whole on every device: memory that each device pays for where others are cut into parts, and work
that each does again where none is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

import numpy as np

from jaxviz.costs.traffic import value_bytes
from jaxviz.find.finding import ADVICE, NOTE, Compiled, Finding, Subject
from jaxviz.find.placement import Cut, Placed, placements, spec
from jaxviz.graph import ARGUMENT
from jaxviz.read.communication import is_collective
from jaxviz.units import bytes_text, plural

# Bytes on each device that are worth a word, and a look. Small parameters are best where they are needed.
_LARGE, _HUGE = 10_000_000, 1_000_000_000
# Of the largest, so many are named.
_NAMED = 3
# Operations that are worth sharing, products and what libraries do, and those that say which device it is.
_WORK = frozenset({"dot", "convolution", "custom-call", "fft", "sort", "cholesky", "triangular-solve"})
_WHICH_DEVICE = frozenset({"partition-id", "replica-id"})


def find(subject: Subject) -> Iterator[Finding]:
    compiled = subject.compiled
    if compiled is None:
        return
    graph = compiled.graph
    arguments = np.flatnonzero((graph.nodes.kind == ARGUMENT) & (graph.nodes.region == 0)).tolist()
    sizes = {node: value_bytes(graph, int(graph.first_value[node])) for node in arguments}
    if sum(sizes.values()) < _LARGE:
        return
    placed = placements(compiled)
    if any(one.cuts for one in placed.values()):
        yield from _beside_cut(compiled, sizes, placed)
    else:
        yield from _all_whole(compiled, sizes, placed)


def _beside_cut(compiled: Compiled, sizes: Mapping[int, float], placed: Mapping[str, Placed]) -> Iterator[Finding]:
    graph = compiled.graph
    cut = [cut for one in placed.values() for cut in one.cuts.values()]
    names = {node: graph.tables.strings[graph.nodes.name[node]] for node in sizes}
    whole = [node for node in sizes if names[node] in placed and not placed[names[node]].cuts]
    size = sum(sizes[node] for node in whole)
    if size < _LARGE:
        return
    parts = max(prod(cut.parts for cut in one.cuts.values()) for one in placed.values())
    largest = sorted(whole, key=lambda node: -sizes[node])[:_NAMED]
    told = ", ".join(f"`{names[node]}` ({bytes_text(sizes[node])})" for node in largest)
    yield Finding(
        kind="replicated",
        severity=ADVICE if size >= _HUGE else NOTE,
        title=f"{bytes_text(size)} of arguments lie whole on each device",
        text=f"{plural(len(whole), 'argument')} {'is' if len(whole) == 1 else 'are'} not cut, while others are, into "
        f"{parts} parts; the largest: {told}. Each device holds and updates all of it.",
        remedy=_remedy(placed[names[largest[0]]], max(cut, key=lambda one: one.parts)),
        nodes=compiled.sources(whole),
        figures={"bytes": size, "arguments": len(whole), "parts": parts},
    )


def _all_whole(compiled: Compiled, sizes: Mapping[int, float], placed: Mapping[str, Placed]) -> Iterator[Finding]:
    """Of a program whose arguments are all whole, that all devices do the same work, if there is any to share."""
    graph = compiled.graph
    ops = {graph.tables.strings[op] for op in np.unique(graph.nodes.op).tolist()}
    devices = max((one.devices for one in placed.values()), default=1)
    known = all(graph.tables.strings[graph.nodes.name[node]] in placed for node in sizes)
    # What a device does can depend on which one it is by these alone.
    apart = any(op in _WHICH_DEVICE or is_collective(op) for op in ops)
    if devices < 2 or not known or apart or not ops & _WORK:
        return
    size = sum(sizes.values())
    yield Finding(
        kind="replicated",
        severity=ADVICE,
        title=f"all {devices} devices compute the same",
        text=f"No argument is cut: {bytes_text(size)} lie whole on each device, and nothing in the program depends on "
        "which device it is. Each does all of the work.",
        remedy="Cut what is a batch, along its first axis, and each device does its part: jax.device_put(batch, "
        "jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(mesh.axis_names))), or the same in in_shardings "
        "of jax.jit. Parameters may lie whole.",
        nodes=compiled.sources(sizes),
        figures={"bytes": size, "arguments": len(sizes), "devices": devices},
    )


def _remedy(largest: Placed, cut: Cut) -> str:
    axis = next((axis for axis, size in enumerate(largest.shape) if size and not size % cut.parts), None)
    if axis is None:
        return (
            "Cut them along an axis of the mesh too (jax.sharding.NamedSharding); XLA gathers them where they are "
            "needed whole."
        )
    code = spec({axis: cut}, len(largest.shape))
    return (
        f"Where that is too much for a device, cut them too: `{largest.name}` as {code}, in in_shardings of jax.jit or "
        f"with jax.device_put, is 1/{cut.parts} of it on each; XLA gathers it where it is needed whole."
    )
