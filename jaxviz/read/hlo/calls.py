"""How values cross the borders of the computations that an HLO instruction calls.

One function for each kind of operation; values of tuples are taken element by element. An operation that is not known
here shows its computations without a word on what they exchange.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import CARRY, ENTER, INIT, LEAVE, SLICE, STACK
from jaxviz.read.hlo.module import HloComputation, HloModule
from jaxviz.read.hlo.table import InstructionTable

Array = NDArray[np.int64]
Binding = tuple[int, int, int]


class Body(NamedTuple):
    """A region that was written: its role, its arguments and results as nodes."""

    role: str
    arguments: list[int]
    results: list[int]


def simple_names(table: InstructionTable, roots: Array) -> dict[int, str]:
    """Of the computations that apply a single operation to their two parameters: its name."""
    row = np.flatnonzero((np.diff(table.bounds) == 3) & (table.operand_counts[roots] == 2))
    root = roots[row]
    operands = table.operands[table.operand_bounds[root] + np.arange(2)[:, None]] + table.bounds[row]
    first, second = table.numbers[operands]
    simple = table.opcodes.where(["parameter"])[operands].all(axis=0)
    simple &= (np.minimum(first, second) == 0) & (np.maximum(first, second) == 1)
    # What another computation is called for is more than a word.
    simple &= ~np.isin(root, list(table.calls))
    row, root, swapped = row[simple], root[simple], (first == 1)[simple]
    columns = row, table.opcodes.number[root], table.attributes.number[root], swapped
    names: dict[tuple[int, int, bool], str] = {}
    found = {}
    for computation, *key in zip(*(column.tolist() for column in columns), strict=True):
        opcode, pairs, other = key
        name = names.get((opcode, pairs, other))
        if name is None:
            direction = dict(table.attributes.different[pairs]).get("direction", "")
            name = f"{table.opcodes.different[opcode]} {direction}".rstrip()
            name = names[opcode, pairs, other] = f"{name} (swapped)" if other else name
        found[computation] = name
    return found


def may_be_simple(opcode: str) -> bool:
    """Whether an instruction may say what it calls in a word."""
    return opcode not in _STRICT and not (opcode.endswith("-start") and opcode in _KINDS)


def regions_of(
    opcode: str, computation: HloComputation, index: int, callees: Sequence[tuple[str, int]], module: HloModule
) -> list[tuple[str, str]]:
    """The kind and the name of the region for each computation that an instruction, an `opcode`, calls."""
    found = []
    for role, callee in callees:
        name = module.computations[callee].name
        if opcode == "while":
            found.append(("while cond" if role == "condition" else "while body", name))
        elif opcode == "conditional":
            branches = len(computation.calls[index])
            operands = computation.operands[index]
            of_truth = bool(operands) and computation.shapes[operands[0]].startswith("pred")
            word, _, number_text = role.partition(" ")
            if word != "branch":
                expected = "expected branch_computations={...}, or true_computation= and false_computation="
                raise module.error(computation, index, expected)
            number = int(number_text)
            # The first branch is taken where a truth value is true, the branch of that number for a number.
            name = ("if true", "if false")[number] if of_truth and branches == 2 > number else f"case {number}"
            found.append(("branch", name))
        else:
            found.append((opcode if role in ("calls", "to_apply") else role, name))
    return found


def joins_of(
    computation: HloComputation,
    index: int,
    operands: list[tuple[int, ...]],
    outputs: tuple[int, ...],
    bodies: Sequence[Body],
    module: HloModule,
) -> list[Binding]:
    """The bindings of an instruction with its regions, whose operands and outputs are values."""
    opcode = computation.opcodes[index]
    join = _KINDS.get(opcode)
    if join is None:
        return []
    try:
        return join(operands, outputs, bodies)
    except ValueError as error:
        if opcode not in _STRICT:
            return []
        expected = "expected as many operands and outputs as the computations that it calls have"
        raise module.error(computation, index, expected) from error


Operands = list[tuple[int, ...]]


def _flat(operands: Operands) -> list[int]:
    return [value for operand in operands for value in operand]


def _pairs(kind: int, start: Sequence[int], end: Sequence[int]) -> list[Binding]:
    return [(kind, one, other) for one, other in zip(start, end, strict=True)]


def _call(operands: Operands, outputs: tuple[int, ...], bodies: Sequence[Body]) -> list[Binding]:
    (body,) = bodies
    return _pairs(ENTER, _flat(operands), body.arguments) + _pairs(LEAVE, body.results, outputs)


def _start(operands: Operands, outputs: tuple[int, ...], bodies: Sequence[Body]) -> list[Binding]:
    """Begins a call: its outputs are the operands, then the results, and after them what the end waits for."""
    (body,) = bodies
    values = _flat(operands)
    first = len(values)
    results = outputs[first : first + len(body.results)]
    return _pairs(ENTER, values, body.arguments) + _pairs(LEAVE, body.results, results)


def _while(operands: Operands, outputs: tuple[int, ...], bodies: Sequence[Body]) -> list[Binding]:
    joins = []
    state = _flat(operands)
    for body in bodies:
        joins += _pairs(INIT, state, body.arguments)
    for maker in bodies:
        if maker.role == "body":
            for body in bodies:
                joins += _pairs(CARRY, maker.results, body.arguments)
            joins += _pairs(LEAVE, maker.results, outputs)
    return joins


def _conditional(operands: Operands, outputs: tuple[int, ...], bodies: Sequence[Body]) -> list[Binding]:
    joins = []
    for body in bodies:
        number = 1 + int(body.role.rpartition(" ")[2])
        if number >= len(operands):
            raise ValueError(number)
        joins += _pairs(ENTER, operands[number], body.arguments)
        joins += _pairs(LEAVE, body.results, outputs)
    return joins


def _reduce(operands: Operands, outputs: tuple[int, ...], bodies: Sequence[Body]) -> list[Binding]:
    """Arguments: what was reduced so far, then one more element of each array. Operands: arrays, then first values."""
    (body,) = bodies
    values = _flat(operands)
    count = len(outputs)
    return (
        _pairs(INIT, values[count:], body.arguments[:count])
        + _pairs(SLICE, values[:count], body.arguments[count:])
        + _pairs(CARRY, body.results, body.arguments[:count])
        + _pairs(LEAVE, body.results, outputs)
    )


def _map(operands: Operands, outputs: tuple[int, ...], bodies: Sequence[Body]) -> list[Binding]:
    (body,) = bodies
    return _pairs(SLICE, _flat(operands), body.arguments) + _pairs(STACK, body.results, outputs)


def _scatter(operands: Operands, outputs: tuple[int, ...], bodies: Sequence[Body]) -> list[Binding]:
    """Arguments: elements of the arrays that are written to, then of the updates; between them stand the indices."""
    (body,) = bodies
    values = _flat(operands)
    count = len(outputs)
    sources = values[:count] + values[count + 1 :]
    return _pairs(SLICE, sources, body.arguments) + _pairs(STACK, body.results, outputs)


def _sort(operands: Operands, outputs: tuple[int, ...], bodies: Sequence[Body]) -> list[Binding]:
    """Arguments: two elements of each array, which are compared."""
    (body,) = bodies
    return _pairs(SLICE, [value for value in _flat(operands) for _ in range(2)], body.arguments)


_KINDS: dict[str, Callable[[Operands, tuple[int, ...], Sequence[Body]], list[Binding]]] = {
    "fusion": _call,
    "call": _call,
    "async-start": _start,
    "call-start": _start,
    "fusion-start": _start,
    "while": _while,
    "conditional": _conditional,
    "reduce": _reduce,
    "reduce-window": _reduce,
    "map": _map,
    "scatter": _scatter,
    "sort": _sort,
}

# Operations whose computations must fit; of the others, versions of XLA differ.
_STRICT = {"fusion", "call", "while", "conditional"}
