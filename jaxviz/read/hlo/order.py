"""The order in which the instructions of each computation stand in a graph, and what a call of it costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaxviz.read.hlo.module import HloComputation, HloModule
from jaxviz.read.hlo.table import InstructionTable

#: How deep calls may be nested. XLA's own are less than ten deep.
DEEPEST = 100

Array = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Orders:
    """How the instructions of all computations stand: parameters by their number, then the other instructions,
    operands before those that read them."""

    #: Which instruction of its computation comes next, computation by computation.
    instruction: Array
    #: Of each computation: about how many nodes and values one copy has, with those of the computations that it calls.
    size: list[int]
    #: Of each computation that calls others: these, as often as it does.
    callees: dict[int, list[int]]


def order_of(module: HloModule, table: InstructionTable) -> Orders:
    """The order in each computation; `HloError` where instructions or calls go round in a circle."""
    computations = module.computations
    lengths = np.diff(table.bounds)
    first = table.bounds[:-1]
    computation = np.repeat(np.arange(len(computations)), lengths)
    local = np.arange(len(computation)) - first[computation]
    callers: dict[int, list[int]] = {}
    for number, row in zip(computation[list(table.calls)].tolist(), table.calls, strict=True):
        callers.setdefault(number, []).append(row)
    callees = {number: [callee for row in rows for _, callee in table.calls[row]] for number, rows in callers.items()}
    order = _parameters_first(module, table, computation, local)
    for number in _tangled(table, computation, local):
        place = slice(first[number], first[number] + lengths[number])
        order[place] = _untangled(module, computations[number], order[place].tolist())
    # A shape takes at least four characters for each element of a tuple.
    shapes = np.array(list(map(len, table.shapes.different)), np.int64)[table.shapes.number]
    own = lengths + np.bincount(computation, weights=shapes, minlength=len(lengths)).astype(np.int64) // 16
    return Orders(order, _sizes(module, own.tolist(), callees), callees)


def _parameters_first(module: HloModule, table: InstructionTable, computation: Array, local: Array) -> Array:
    """Which instruction of its computation comes next; `HloError` where parameters are not counted up."""
    parameter = table.opcodes.where(["parameter"])
    most = int(local.max(initial=-1)) + 1
    # Parameters stand where their numbers say, all others behind them.
    own = table.numbers
    place = np.where(parameter, np.where((own >= 0) & (own < most), own, most), local + most)
    order = np.argsort(computation * (2 * most + 1) + place, kind="stable")
    counted = local[parameter[order]]
    for row in order[parameter[order]][place[order][parameter[order]] != counted][:1].tolist():
        _complain(module, module.computations[computation[row]])
    found: Array = local[order]
    return found


def _complain(module: HloModule, computation: HloComputation) -> None:
    """Raise what is wrong with the parameters of a computation."""
    numbers = computation.numbers
    indexes = [index for index, opcode in enumerate(computation.opcodes) if opcode == "parameter"]
    found: dict[int, int] = {}
    for index in indexes:
        if found.setdefault(numbers[index], index) != index:
            raise module.error(computation, index, "expected one instruction for each parameter")
    missing = next(number for number in range(len(found) + 1) if number not in found)
    raise module.error(computation, max(found.values()), f"expected parameter {missing} as well")


def _tangled(table: InstructionTable, computation: Array, local: Array) -> list[int]:
    """The computations in which an instruction stands before one that it reads."""
    counts = table.operand_counts
    wrong: list[int] = np.unique(np.repeat(computation, counts)[table.operands >= np.repeat(local, counts)]).tolist()
    return wrong


def _untangled(module: HloModule, computation: HloComputation, order: list[int]) -> list[int]:
    """Text may give operands after those that read them: depth first, so that the order stays where it can."""
    opcodes, operands = computation.opcodes, computation.operands
    ordered = [index for index in order if opcodes[index] == "parameter"]
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


def _sizes(module: HloModule, own: list[int], callees: dict[int, list[int]]) -> list[int]:
    """The sizes of computations with those that they call, from these to their callers."""
    computations = module.computations
    size = own
    depth = [1] * len(computations)
    state = [0] * len(computations)
    for start in callees:
        waiting = [start]
        while waiting:
            number = waiting[-1]
            if state[number] == 0:
                state[number] = 1
                for callee in callees.get(number, ()):
                    if state[callee] == 1:
                        raise module.error(computations[callee], 0, "expected calls that end, not of itself")
                    if state[callee] == 0:
                        waiting.append(callee)
            else:
                waiting.pop()
                if state[number] == 1:
                    state[number] = 2
                    inner = callees.get(number)
                    if inner:
                        depth[number] = 1 + max(depth[callee] for callee in inner)
                        size[number] = min(own[number] + sum(size[callee] for callee in inner), 2**62)
    if max(depth, default=0) > DEEPEST:
        deepest = computations[depth.index(max(depth))]
        raise module.error(deepest, 0, f"expected calls nested at most {DEEPEST} deep")
    return size
