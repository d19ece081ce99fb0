"""Asynchronous calls in a protocol buffer, as HLO text has them."""

from __future__ import annotations

from jaxviz.read.hlo.module import HloModule
from jaxviz.read.hlo.table import table_of


def expand_asynchronous(module: HloModule) -> None:
    """Write `fusion-start` in place of `async-start` of a computation that holds a single instruction."""
    if not any(opcode.startswith("async-") for opcode in table_of(module).opcodes.different):
        return
    # It has the columns as they were.
    module.table = None
    wrapped = {
        number
        for number, computation in enumerate(module.computations)
        if computation.opcodes[computation.root] not in ("parameter", "tuple")
        and all(opcode == "parameter" or index == computation.root for index, opcode in enumerate(computation.opcodes))
    }
    for computation in module.computations:
        # What each instruction began: an update and an end name only the instruction before them.
        begun: dict[int, int] = {}
        for index, opcode in enumerate(computation.opcodes):
            if not opcode.startswith("async-"):
                continue
            calls, operands = computation.calls[index], computation.operands[index]
            callee = calls[0][1] if calls else begun.get(operands[0], -1) if operands else -1
            if callee not in wrapped:
                continue
            begun[index] = callee
            inner = module.computations[callee]
            computation.opcodes[index] = inner.opcodes[inner.root] + opcode.removeprefix("async")
            starts = opcode == "async-start"
            computation.calls[index] = inner.calls[inner.root] if starts else ()
            if starts:
                computation.attributes[index] = inner.attributes[inner.root] + computation.attributes[index]
