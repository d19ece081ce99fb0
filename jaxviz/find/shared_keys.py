"""Random numbers that are drawn once where each should have its own: for all elements of a `vmap`, on all devices.

A key that is not mapped gives one set of numbers, whatever is mapped beside it. That is told where these numbers meet
what is another for each element or device, entry by entry, as noise and masks do; what is multiplied as a matrix, or
never meets such a thing, is the same for all on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from jaxviz.find.finding import ADVICE, Finding, Subject
from jaxviz.find.meetings import DRAWING, meetings
from jaxviz.find.spread import Spread

_MAPPED = "vmap("


def find(subject: Subject) -> Iterator[Finding]:
    draws = [node for node in subject.flow.nodes(*DRAWING) if not subject.is_backward(node)]
    if not draws:
        return
    walk = Spread(subject.graph)
    mapped, alike = [], []
    for node in draws:
        home = walk.home(node)
        key = walk.operands(node)[0]
        if home >= 0 and key >= 0 and not walk.varies(key, home) and _meets(walk, node, home):
            alike.append((node, home))
        elif key >= 0 and not walk.dims(key) and _is_mapped(walk, node) and _meets(walk, node, -1):
            mapped.append(node)
    if mapped:
        yield _of_elements(subject, mapped)
    if alike:
        yield _of_devices(subject, walk, alike)


def _of_elements(subject: Subject, nodes: list[int]) -> Finding:
    return subject.told(
        kind="key",
        severity=ADVICE,
        title="all elements of a vmap get the same random numbers",
        text="The key is not mapped, so what is drawn with it is drawn once, and each element gets the same.",
        remedy="keys = jax.random.split(key, n) with one for each element, and map over them too: "
        "jax.vmap(f, in_axes=(0, 0))(keys, x). Leave it where all should share them.",
        nodes=nodes,
        figures={"uses": len(nodes)},
    )


def _of_devices(subject: Subject, walk: Spread, draws: list[tuple[int, int]]) -> Finding:
    axes = walk.axes(draws[0][1])
    index = repr(axes[0]) if len(axes) == 1 else f"({', '.join(map(repr, axes))})" if axes else "'devices'"
    return subject.told(
        kind="key",
        severity=ADVICE,
        title="all devices draw the same random numbers",
        text="The key is the same on each device, so each draws the same numbers for its own part of the data.",
        remedy=f"Inside of the mapped function, key = jax.random.fold_in(key, jax.lax.axis_index({index})). Leave it "
        "where all devices should share them.",
        nodes=[node for node, _ in draws],
        figures={"uses": len(draws)},
    )


def _is_mapped(walk: Spread, node: int) -> bool:
    """Whether a `vmap` is around it: its name stack says so, or that of what it stands in."""
    graph = walk.graph
    while _MAPPED not in graph.tables.strings[graph.nodes.scope[node]]:
        region = int(graph.nodes.region[node])
        if not region:
            return False
        node = int(graph.regions.owner[region])
    return True


def _meets(walk: Spread, draw: int, home: int) -> bool:
    """Whether what is drawn meets, entry by entry, what is another for each: of more entries, under a `vmap`; or
    another on each device, in the body `home`."""
    first = int(walk.graph.first_value[draw])
    size = prod(walk.dims(first))
    return any(_is_each(walk, other, home, size) for other in meetings(walk, first))


def _is_each(walk: Spread, value: int, home: int, size: int) -> bool:
    return walk.varies(value, home) if home >= 0 else prod(walk.dims(value)) > size
