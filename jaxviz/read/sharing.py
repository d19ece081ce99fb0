"""Which bodies and calls are the same, so that they are read and placed once, and how often they may be repeated.

JAX hands out the same jaxpr for every call of a jitted function, but a new one, equal to the last, for every call of a
function with a custom rule. And shared bodies that call shared bodies can stand for more nodes than any machine holds:
past a limit, later calls stay closed.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from jaxviz import compat
from jaxviz.graph import CARRY
from jaxviz.read.blocks import Block, Call, place_joins
from jaxviz.read.bodies import Body, Join
from jaxviz.read.rows import Attribute, Rows

# Bodies of up to so many equations are looked at before they are read, and of so many own nodes after.
_LOOKED_AT_EQUATIONS = 4
_COMPARED_NODES = 64


class Sharing:
    """The blocks of one program, each after those that it calls, and what is known of its calls."""

    def __init__(self, rows: Rows, repeated_nodes: int) -> None:
        self.blocks: list[Block] = []
        self._rows = rows
        # How many nodes of bodies that were shown before may still be repeated.
        self._nodes_left = repeated_nodes
        self._read: dict[Hashable, Block] = {}
        self._equal_blocks: dict[Hashable, Block] = {}
        self._equal_calls: dict[Hashable, Call] = {}
        self._closed_calls: dict[int, Call] = {}

    # Bodies.

    def find(self, body: Body, frames: tuple[int, ...]) -> tuple[tuple[Hashable, Hashable], Block | None]:
        """The block of a body called from `frames`, if it was read; with the keys by which to `add` it otherwise."""
        jaxpr = compat.open_jaxpr(body.jaxpr)
        identity = id(body.jaxpr if jaxpr.constvars else jaxpr), body.references
        block = self._read.get(identity)
        looks = None
        if block is None and len(jaxpr.eqns) <= _LOOKED_AT_EQUATIONS and not jaxpr.constvars and not body.references:
            looks = _looks(jaxpr, frames, self._rows)
            block = self._read.get(looks)
        return (identity, looks), block

    def add(self, block: Block) -> Block:
        """Keep a block that was read; where it is equal to an earlier one, that one is given."""
        if len(block.op) <= _COMPARED_NODES:
            known = self._equal_blocks.setdefault(block.key(), block)
            if known is not block:
                return known
        self.blocks.append(block)
        return block

    def remember(self, keys: tuple[Hashable, Hashable], block: Block) -> None:
        """So that `find` gives it."""
        for key in keys:
            if key is not None:
                self._read[key] = block

    # Calls.

    def call(self, owner: Call, joins: Sequence[Join], new: Sequence[bool]) -> tuple[Call, Call]:
        """A call whose bodies are partly new; what to place here, and what to place where it is made once more."""
        again = self._equal_calls.setdefault(owner.key(), owner)
        closed = [not is_new and not self._spend(part.block) for part, is_new in zip(owner.parts, new, strict=True)]
        if not any(closed):
            return again, again
        kept = [part for part, shut in zip(owner.parts, closed, strict=True) if not shut]
        numbers = {number: sum(not shut for shut in closed[:number]) for number, shut in enumerate(closed) if not shut}
        kept_joins = [
            join._replace(body=numbers[join.body], to_body=numbers.get(join.to_body, -1))
            for join in joins
            if join.body in numbers and (join.kind != CARRY or join.to_body in numbers)
        ]
        texts = [self._text(part.block) for part, shut in zip(owner.parts, closed, strict=True) if shut]
        attributes = owner.attributes + texts
        here = Call(owner.name, owner.operands, owner.outputs, attributes, kept, place_joins(kept, kept_joins))
        return here, again

    def once_more(self, call: Call) -> Call:
        """The same call with its bodies, or, past the limit, without."""
        nodes = call.size[0]
        if nodes <= self._nodes_left:
            self._nodes_left -= nodes
            return call
        known = self._closed_calls.get(id(call))
        if known is None:
            attributes = call.attributes + [self._text(part.block) for part in call.parts]
            known = Call(call.name, call.operands, call.outputs, attributes, [], [])
            self._closed_calls[id(call)] = known
        return known

    def _spend(self, block: Block) -> bool:
        if block.size[0] > self._nodes_left:
            return False
        self._nodes_left -= block.size[0]
        return True

    def _text(self, block: Block) -> Attribute:
        tables = self._rows.tables
        text = f"same as the first call of {block.label}: {block.size[0]} nodes, not repeated here"
        return tables.string("body"), tables.string(text)


def _looks(jaxpr: Any, frames: tuple[int, ...], rows: Rows) -> Hashable:
    """Equal for two bodies without constants that would be read the same; it may differ though they would.

    Parameters are told apart by their identity, which is cheap, and enough for bodies that wrap one call.
    """
    numbers = {variable: number for number, variable in enumerate(jaxpr.invars)}
    rows_of_equations: list[Hashable] = []
    literal_class = compat.Literal
    for equation in jaxpr.eqns:
        source_info = equation.source_info
        operands = [rows.add_literal(v) if v.__class__ is literal_class else numbers[v] for v in equation.invars]
        for variable in equation.outvars:
            numbers[variable] = len(numbers)
        rows_of_equations.append(
            (
                equation.primitive,
                source_info.traceback,
                rows.scopes.get(id(source_info.name_stack)) or rows.add_scope(source_info.name_stack),
                *map(id, equation.params.values()),
                *operands,
                *[variable.aval for variable in equation.outvars],
            )
        )
    results = [rows.add_literal(v) if v.__class__ is literal_class else numbers[v] for v in jaxpr.outvars]
    names = compat.argument_names_of(jaxpr), compat.result_names_of(jaxpr), compat.function_of(jaxpr)
    types = [variable.aval for variable in jaxpr.invars]
    return (frames, *names, *types, *rows_of_equations, *results)
