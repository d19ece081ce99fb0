"""Sums over devices that need not be: of what all devices have alike already, and two that could be one.

Who sums what was summed before gets it times the number of devices. The gradient of what is the same on all devices is
such a case: JAX sums it on the way back by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxviz.costs.traffic import value_bytes
from jaxviz.find.finding import ADVICE, NOTE, WARNING, Finding, Subject, lines_text
from jaxviz.find.spread import Spread
from jaxviz.units import bytes_text

_SUMS = frozenset({"psum", "psum_invariant", "psum2"})
_REDUCING = _SUMS | {"pmax", "pmin"}
# What a sum goes through on its way into another one, with numbers beside it.
_LINEAR = frozenset({"mul", "div", "neg", "convert_element_type", "pvary", "pcast", "reshape", "broadcast_in_dim"})


def find(subject: Subject) -> Iterator[Finding]:
    nodes = subject.flow.nodes(*_REDUCING)
    if not nodes:
        return
    walk = Spread(subject.graph)
    for node in nodes:
        home = walk.home(node)
        value = walk.operands(node)[0]
        if home < 0 or value < 0 or subject.is_backward(node) or subject.flow.number(value) is not None:
            continue
        for axis in walk.axes_of(node):
            varies, before = walk.made_of(value, home, axis)
            if not varies:
                yield _needless(subject, walk, node, axis, before)
                break
    yield from _two(subject, walk)


def _needless(subject: Subject, walk: Spread, node: int, axis: str, before: list[int]) -> Finding:
    name = "psum" if walk.op(node) in _SUMS else walk.op(node)
    size = value_bytes(subject.graph, walk.operands(node)[0])
    is_mean = name == "psum" and _is_divided(subject, walk, node)
    multiplies = name == "psum" and not is_mean
    called = "pmean" if is_mean else name
    if not before:
        why = f"Nothing that it is made of differs along the axis `{axis}`"
    elif any(subject.is_backward(one) for one in before):
        why = (
            "It is the gradient of what all devices have alike, and JAX sums such a gradient over "
            f"`{axis}` on the way back by itself"
        )
    else:
        lines = subject.lines(np.array(before))
        why = (
            f"All devices along `{axis}` have the same since {lines_text(lines)}"
            if lines
            else f"Along `{axis}`, all devices have the same already"
        )
    effect = "gives it times the number of devices" if multiplies else "gives it as it is"
    axis_size = f"jax.lax.axis_size({axis!r})"
    remedy = "Leave it out."
    if is_mean and before:
        remedy = f"Leave it out, or where the mean of what was summed is meant, divide by {axis_size} instead."
    elif multiplies:
        remedy = f"Leave it out, or where that is meant, multiply by {axis_size}, which sends nothing."
    return subject.told(
        kind="collective",
        severity=WARNING if multiplies or any(subject.is_backward(one) for one in before) else ADVICE,
        title=f"{called} of what is the same on all devices",
        text=f"{why}. So this sends {bytes_text(size)} and {effect}.",
        remedy=remedy,
        nodes=[node],
        figures={"bytes": size, "count": 1},
    )


def _is_divided(subject: Subject, walk: Spread, node: int) -> bool:
    """Whether what a sum gives is only divided by a number, as a mean is."""
    readers = walk.readers(int(subject.graph.first_value[node]))
    return bool(readers) and all(
        walk.op(reader) == "div" and subject.flow.number(walk.operands(reader)[1]) is not None for reader in readers
    )


def _two(subject: Subject, walk: Spread) -> Iterator[Finding]:
    """Sums of which each is read by nothing but one addition."""
    for node in subject.flow.nodes("add", "add_any", "sub"):
        sums = [_sum_behind(subject, walk, source) for source in walk.operands(node)]
        if len(sums) != 2 or -1 in sums or sums[0] == sums[1] or not subject.is_own(node):
            continue
        one, other = sums
        if not walk.axes_of(one) or walk.axes_of(one) != walk.axes_of(other):
            continue
        size = value_bytes(subject.graph, walk.operands(other)[0])
        axes = walk.axes_of(one)
        axis = repr(axes[0]) if len(axes) == 1 else repr(tuple(axes))
        yield subject.told(
            kind="collective",
            severity=NOTE,
            title="two sums over devices could be one",
            text="What they give is only added up. A sum of sums is the sum of what was added on each device before: "
            f"that sends {bytes_text(size)} less.",
            remedy=f"jax.lax.psum(a + b, {axis}) in place of jax.lax.psum(a, {axis}) + jax.lax.psum(b, {axis}).",
            nodes=[one, other, node],
            figures={"bytes": size, "count": 2},
        )


def _sum_behind(subject: Subject, walk: Spread, source: int) -> int:
    """The sum that a value is, but for numbers that it is multiplied by; -1 where something else reads it too."""
    graph = subject.graph
    while source >= 0:
        node = int(graph.value_node[source])
        if len(walk.readers(source)) != 1:
            return -1
        if walk.op(node) in _SUMS:
            return node
        if walk.op(node) not in _LINEAR:
            return -1
        inner = [one for one in walk.operands(node) if one >= 0 and subject.flow.number(one) is None]
        source = inner[0] if len(inner) == 1 else -1
    return -1
