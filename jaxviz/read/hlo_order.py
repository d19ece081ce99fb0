"""The order in which the instructions of each computation stand in a graph, and what a call of it costs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np

from jaxviz.read.hlo_module import HloComputation, HloModule

#: How deep calls may be nested. XLA's own are less than ten deep.
DEEPEST = 100


@dataclass(slots=True)
class Order:
    """Parameters by their number; the other instructions, operands before those that read them.

    `size` is about how many nodes and values one copy has, with those of the computations that it calls.
    """

    parameters: list[int]
    instructions: list[int]
    size: int = 0


def order_of(module: HloModule) -> list[Order]:
    """The order in each computation; `HloError` where instructions or calls go round in a circle."""
    tangled = _tangled(module)
    orders = [
        Order(_parameters(module, each), _instructions(module, each, number in tangled))
        for number, each in enumerate(module.computations)
    ]
    _measure(module, orders)
    return orders


def _tangled(module: HloModule) -> set[int]:
    """The computations in which an instruction stands before one that it reads."""
    computations = module.computations
    operands = list(chain.from_iterable(each.operands for each in computations))
    sizes = np.array(list(map(len, computations)), np.int64)
    index = np.arange(len(operands)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    counts = np.fromiter(map(len, operands), np.int64, len(operands))
    read = np.fromiter(chain.from_iterable(operands), np.int64, int(counts.sum()))
    wrong = np.repeat(np.repeat(np.arange(len(sizes)), sizes), counts)[read >= np.repeat(index, counts)]
    return set(wrong.tolist())


def _parameters(module: HloModule, computation: HloComputation) -> list[int]:
    numbers = computation.numbers
    indexes = [index for index, opcode in enumerate(computation.opcodes) if opcode == "parameter"]
    found: dict[int, int] = {}
    for index in indexes:
        if found.setdefault(numbers[index], index) != index:
            raise module.error(computation, index, "expected one instruction for each parameter")
    for number in range(len(found)):
        if number not in found:
            raise module.error(computation, max(found.values()), f"expected parameter {number} as well")
    return [found[number] for number in range(len(found))]


def _instructions(module: HloModule, computation: HloComputation, tangled: bool) -> list[int]:
    opcodes, operands = computation.opcodes, computation.operands
    if not tangled:
        return [index for index, opcode in enumerate(opcodes) if opcode != "parameter"]
    # Text may give operands after those that read them: depth first, so that the order stays where it can.
    ordered: list[int] = []
    state = [0] * len(opcodes)
    for start in range(len(opcodes)):
        waiting = [start]
        while waiting:
            index = waiting[-1]
            if state[index] == 0:
                state[index] = 1
                for operand in reversed(operands[index]):
                    if state[operand] == 1:
                        raise module.error(computation, operand, "expected operands that do not depend on itself")
                    if state[operand] == 0:
                        waiting.append(operand)
            else:
                waiting.pop()
                if state[index] == 1:
                    state[index] = 2
                    if opcodes[index] != "parameter":
                        ordered.append(index)
    return ordered


def _own_size(computation: HloComputation) -> int:
    """A shape takes at least four characters for each element of a tuple."""
    return len(computation) + sum(map(len, computation.shapes)) // 16


def _measure(module: HloModule, orders: list[Order]) -> None:
    """Set the sizes, from the computations that call nothing to those that call them."""
    computations = module.computations
    callees = [[callee for calls in each.calls for _, callee in calls] for each in computations]
    depth = [0] * len(computations)
    state = [0] * len(computations)
    for start in range(len(computations)):
        waiting = [start]
        while waiting:
            number = waiting[-1]
            if state[number] == 0:
                state[number] = 1
                for callee in callees[number]:
                    if state[callee] == 1:
                        raise module.error(computations[callee], 0, "expected calls that end, not of itself")
                    if state[callee] == 0:
                        waiting.append(callee)
            else:
                waiting.pop()
                if state[number] == 1:
                    state[number] = 2
                    depth[number] = 1 + max((depth[callee] for callee in callees[number]), default=0)
                    inside = sum(orders[each].size for each in callees[number])
                    orders[number].size = min(_own_size(computations[number]) + inside, 2**62)
    if max(depth, default=0) > DEEPEST:
        deepest = computations[depth.index(max(depth))]
        raise module.error(deepest, 0, f"expected calls nested at most {DEEPEST} deep")
