"""Why an exchange that XLA put in is needed: the operation of a line goes along a dimension of an argument that an axis
of the mesh cuts. And how that argument should come in for the operation to have all that it needs on each device."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxviz.find.finding import Subject
from jaxviz.find.placement import Cut, Placed, placements, spec
from jaxviz.find.resharding import annotation

# Attributes that say along which dimensions of its first operand an operation goes.
_ALONG = ("axes", "axis", "dimension")
_SCANNED = ("reduce_", "arg", "cum", "sort", "top_k")
# What the line does with that dimension, where it is not to go along it.
_HOW = {"dot_general": "over which the product sums", "gather": "which the indices count along"}
_NUMBERS = re.compile(r"\d+")
_CONTRACTED = re.compile(r"\(\(\(([\d, ]*)\), \(([\d, ]*)\)\)")
_INDEXED = re.compile(r"start_index_map=\(([\d, ]*)\)")


class _Going(NamedTuple):
    """An operation that goes along a dimension of an argument which is cut."""

    op: str
    placed: Placed
    axis: int
    cut: Cut
    #: All dimensions that it goes along.
    along: tuple[int, ...]


def cause(subject: Subject, exchanges: list[int], nodes: list[int]) -> tuple[str, str]:
    """Why exchanges of optimized HLO are needed, which come from some nodes of the jaxpr, and the cure for that; both
    empty where that is not known."""
    assert subject.compiled is not None  # it was compiled, else nothing is exchanged
    placed = placements(subject.compiled)
    going = [one for node in nodes for one in _going(subject, node, placed)]
    movable = next((one for one in going if one.op != "dot_general" and _free(one) is not None), None)
    if movable is not None:
        return _told(movable)
    if alone := next(filter(None, (annotation(subject, node) for node in exchanges)), ""):
        return "", alone
    if going:
        return _told(going[0])
    # An exchange may count to what makes the value, or to the product that reads it.
    products = [node for node in (*nodes, *_readers(subject, nodes)) if subject.flow.op(node) == "dot_general"]
    return next(filter(None, (_beside(subject, node, placed) for node in products)), ("", ""))


def _readers(subject: Subject, nodes: list[int]) -> list[int]:
    graph = subject.graph
    made = [value for node in nodes for value in range(graph.first_value[node], graph.first_value[node + 1])]
    return sorted(set(graph.operand_node[np.isin(graph.operands.source, made)].tolist()))


def _told(going: _Going) -> tuple[str, str]:
    one, cut = going.placed, going.cut
    how = _HOW.get(going.op, "along which the line goes")
    why = f" `{one.name}` comes in as {one.spec}: dimension {going.axis}, {how}, is cut{_named(cut)}."
    if going.op == "dot_general":
        return why, (
            "Adding up is the price of cutting what a product sums over, such as the batch of a gradient. Where each "
            "device needs only a part of the sum, jax.lax.with_sharding_constraint with an axis of the mesh on the "
            "result makes the exchange smaller."
        )
    if len(going.along) == len(one.shape):
        return why, "However it is cut, each device gives what its part comes to: less cannot be exchanged."
    free = _free(going)
    if free is None:
        return why, ""
    cuts = {axis: other for axis, other in one.cuts.items() if axis != going.axis} | {free: cut}
    return why, (
        f"As {spec(cuts, len(one.shape))}, in in_shardings of jax.jit or with jax.device_put, each device has all that "
        "the line goes along, and nothing is exchanged for it."
    )


def _free(going: _Going) -> int | None:
    """Another dimension of the argument that can be cut in its place."""
    one = going.placed
    free = (
        axis
        for axis, size in enumerate(one.shape)
        if axis not in going.along and axis not in one.cuts and size and not size % going.cut.parts
    )
    return next(free, None)


def _going(subject: Subject, node: int, placed: dict[str, Placed]) -> Iterator[_Going]:
    op = subject.flow.op(node)
    for operand, axes in zip(subject.flow.operands(node), _dimensions(subject, node), strict=False):
        one = _argument(subject, operand, placed)
        for axis in axes if one is not None else ():
            if one is not None and axis in one.cuts:
                yield _Going(op, one, axis, one.cuts[axis], tuple(axes))


def _dimensions(subject: Subject, node: int) -> list[list[int]]:
    """The dimensions of each operand that an operation goes along."""
    op, attributes = subject.flow.op(node), subject.graph.node(node).attributes
    if op == "dot_general":
        found = _CONTRACTED.match(attributes.get("dimension_numbers", ""))
        return [_numbers(text) for text in found.groups()] if found else []
    if op == "gather":
        found = _INDEXED.search(attributes.get("dimension_numbers", ""))
        return [_numbers(found[1])] if found else []
    if op.startswith(_SCANNED):
        return [_numbers(next((attributes[key] for key in _ALONG if key in attributes), ""))]
    return []


def _beside(subject: Subject, node: int, placed: dict[str, Placed]) -> tuple[str, str] | None:
    """Of a product with an argument that is cut in a dimension which it keeps: how it should be cut instead."""
    for operand, contracted in zip(subject.flow.operands(node), _dimensions(subject, node), strict=False):
        one = _argument(subject, operand, placed)
        kept = [axis for axis in one.cuts if axis not in contracted] if one is not None else []
        if one is None or len(kept) != 1 or len(contracted) != 1:
            continue
        (axis,), cut = contracted, one.cuts[kept[0]]
        if axis in one.cuts or one.shape[axis] % cut.parts:
            continue
        return (
            f" `{one.name}` comes in as {one.spec}, and what it is multiplied with has to be whole along dimension "
            f"{axis}, over which the product sums.",
            f"As {spec({axis: cut}, len(one.shape))}, where what it is multiplied with is cut{_named(cut)} too, each "
            "device multiplies its own part, and only the result is added up.",
        )
    return None


def _argument(subject: Subject, source: int, placed: dict[str, Placed]) -> Placed | None:
    """The argument that a value is, or is only another type of."""
    flow, graph = subject.flow, subject.graph
    origin = flow.origin(source, ("convert_element_type", "copy", "stop_gradient"))
    if not flow.is_argument(origin):
        return None
    return placed.get(graph.tables.strings[graph.nodes.name[int(graph.value_node[origin])]])


def _named(cut: Cut) -> str:
    return f" along {' and '.join(f'`{name}`' for name in cut.along)}" if cut.along else ""


def _numbers(text: str) -> list[int]:
    return [int(number) for number in _NUMBERS.findall(text)]
