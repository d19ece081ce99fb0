"""The regions of an operation of MLIR: what they are called, and how values cross their borders."""

from __future__ import annotations

from collections.abc import Sequence

from jaxviz.graph import ARGUMENT, CARRY, INIT, LEAVE, SLICE
from jaxviz.read.blocks import Part
from jaxviz.read.bodies import Join, enter, leave


def region_names(kind: str, count: int) -> list[str]:
    """What the regions of an owner are called, by the last part of its name."""
    if kind == "while" and count == 2:
        return ["cond", "body"]
    if kind == "if" and count == 2:
        return ["if true", "if false"]
    if kind == "case":
        return ["if false", "if true"] if count == 2 else [f"case {number}" for number in range(count)]
    return ["" if count == 1 else str(number) for number in range(count)]


def region_kind(kind: str, name: str) -> str:
    """What kind a region of that name is of."""
    if kind == "while":
        return f"while {name}"
    return "branch" if kind in ("if", "case") else kind


def joins_of(kind: str, parts: Sequence[Part], operands: int, outer: int, results: int) -> list[Join]:
    """How values cross the borders of the regions of an owner. Captured values are the last operands, and the first
    arguments of each region."""
    own = operands - outer
    captured = [join for body in range(len(parts)) for join in enter(body, outer, start=own)]
    joins = _own_joins(kind, parts, own, outer, results)
    arguments = [part.block.kind.count(ARGUMENT) for part in parts]
    made = [part.block.result_count for part in parts]
    # Other dialects have a `while` and an `if` too, whose bodies hand on their values in other ways.
    return captured + joins if all(_exists(join, arguments, made, own, results) for join in joins) else captured


def _exists(join: Join, arguments: Sequence[int], made: Sequence[int], own: int, results: int) -> bool:
    """Whether there is something at both ends: operands and results of the owner, or what its bodies have."""
    sources = made[join.body] if join.kind > SLICE else own
    targets = results if join.kind == LEAVE else arguments[join.to_body if join.kind == CARRY else join.body]
    return join.start < sources and join.end < targets


def _own_joins(kind: str, parts: Sequence[Part], own: int, outer: int, results: int) -> list[Join]:
    joins: list[Join] = []
    if kind == "while" and len(parts) == 2:
        for body in range(2):
            joins += enter(body, own, end=outer, kind=INIT)
            joins += (Join(CARRY, 1, number, outer + number, body) for number in range(own))
        joins += leave(1, results)
    elif kind in ("if", "case"):
        for body in range(len(parts)):
            joins += leave(body, results)
    elif kind == "manual_computation":
        joins += enter(0, own, end=outer)
        joins += leave(0, results)
    elif kind == "reduce" and len(parts) == 1:
        pairs = own // 2
        joins += enter(0, pairs, start=pairs, end=outer, kind=INIT)
        joins += enter(0, pairs, end=outer + pairs, kind=SLICE)
        joins += (Join(CARRY, 0, number, outer + number, 0) for number in range(results))
        joins += leave(0, results)
    return joins
