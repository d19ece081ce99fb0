"""Read a jaxpr, with all the jaxprs inside it, as a graph.

Every equation becomes one node for each way to reach it: a body that is called twice is there twice, each time below its
own call. A shared body is read once (`blocks.py`). Where sharing would blow the graph up, because shared bodies call
shared bodies, later calls stay closed once `REPEATED_NODES` have been spent; the node then says so in the attribute `body`.

The loop over equations is the one place here where a microsecond counts: it appends to plain lists of numbers, looks
everything up by identity or value in dictionaries, and leaves the arithmetic to numpy.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxviz import compat
from jaxviz.graph import ARGUMENT, CARRY, CONSTANT, OPERATION, RESULT, SLICE, Graph
from jaxviz.read.blocks import Block, assemble
from jaxviz.read.bodies import Body, Join, bodies_of, jaxprs_in
from jaxviz.read.frames import FrameReader
from jaxviz.read.parameters import parameter_text
from jaxviz.read.values import add_type, scalar_text
from jaxviz.tables import Tables

#: How many nodes of bodies that were shown before a graph may repeat.
REPEATED_NODES = 2_000_000

# Elements of an array that are written out where it is a literal.
_WRITTEN_ELEMENTS = 8


def read_jaxpr(
    jaxpr: Any,
    tables: Tables | None = None,
    *,
    argument_names: Sequence[str] | None = None,
    result_names: Sequence[str] | None = None,
    repeated_nodes: int = REPEATED_NODES,
) -> Graph:
    """The graph of a closed jaxpr, as `jax.jit(f).trace(x).jaxpr` or `jax.make_jaxpr(f)(x)` give it.

    Names are those that JAX knows unless given. `tables` receives the strings, types and frames; graphs of one document
    share them.
    """
    tables = Tables() if tables is None else tables
    reader = _Reader(tables, repeated_nodes)
    _drive(reader.read(Body(jaxpr, "", ""), (), argument_names, result_names))
    reader.frames.write_excerpts()
    function = compat.function_of(jaxpr)
    literals = reader.literal_texts, reader.literal_types
    name = tables.string(function.name if function is not None else "")
    return assemble(reader.blocks, literals, tables, tables.string("program"), name)


# A reading asks for the reading of a body by yielding it; so nesting, however deep, is no Python recursion.
_Reading = Generator[Any, Block, Block]


def _drive(reading: _Reading) -> Block:
    waiting = [reading]
    answer: Any = None
    while True:
        try:
            request = waiting[-1].send(answer)
        except StopIteration as stop:
            waiting.pop()
            answer = stop.value
            if not waiting:
                return answer
        else:
            waiting.append(request)
            answer = None


class _Part(NamedTuple):
    block: Block
    kind: int
    name: int


class _Plan(NamedTuple):
    """What equations with these very parameters have in common: their name, attributes and bodies."""

    name: int
    attributes: list[tuple[int, int]]
    parts: list[_Part]
    joins: list[Join]


# In place of the text of a parameter that holds a body.
_BODY = (-1, -1)
_NOTHING = (0, 0)


class _Reader:
    """What is known across the bodies of one program."""

    def __init__(self, tables: Tables, repeated_nodes: int) -> None:
        self.tables = tables
        self.frames = FrameReader(tables)
        self.blocks: list[Block] = []
        self.literal_texts: list[int] = []
        self.literal_types: list[int] = []
        self._literals: dict[Any, int] = {}
        self._repeated_nodes = repeated_nodes
        self._read: dict[Any, Block] = {}
        self._ops: dict[Any, int] = {}
        self._types: dict[Any, int] = {}
        # By id: the jaxpr that is being read keeps its name stacks and parameters alive.
        self._scopes: dict[int, int] = {}
        self._plans: dict[tuple[Any, ...], _Plan] = {}
        self._owning: set[Any] = set()
        self._attributes: dict[Any, tuple[int, int]] = {}

    def read(
        self,
        body: Body,
        around: tuple[int, ...],
        argument_names: Sequence[str] | None = None,
        result_names: Sequence[str] | None = None,
    ) -> _Reading:
        """Read one jaxpr; `around` are the frames of the call through which it was reached."""
        jaxpr = compat.open_jaxpr(body.jaxpr)
        function = compat.function_of(jaxpr)
        block = Block(label=body.name or body.kind)
        value_of: dict[Any, int] = {}
        self._read_constants(block, jaxpr, compat.constants_of(body.jaxpr), value_of)
        self._read_arguments(block, jaxpr, argument_names, value_of)

        kinds, ops, names, scopes = block.kind, block.op, block.name, block.scope
        stacks, outputs, operands = block.stack, block.outputs, block.operands
        value_types, sources = block.value_type, block.operand_source
        attribute_nodes = block.attribute_node
        attribute_keys, attribute_values = block.attribute_key, block.attribute_value
        known_ops, known_types, known_scopes = self._ops, self._types, self._scopes
        known_attributes, owning, plans = self._attributes, self._owning, self._plans
        stack_of: dict[Any, int] = {None: -1}
        literal_class = compat.Literal
        # Numbered as in an instance: with the nodes and values of the calls so far.
        node, value = len(kinds), len(value_types)

        for equation in jaxpr.eqns:
            primitive = equation.primitive
            op = known_ops.get(primitive)
            if op is None:
                op = known_ops[primitive] = self.tables.string(primitive.name)
            source_info = equation.source_info
            traceback = source_info.traceback
            stack = stack_of.get(traceback)
            if stack is None:
                stack = stack_of[traceback] = len(block.stacks)
                block.stacks.append(self.frames.stack(traceback, function, around))
            scope = known_scopes.get(id(source_info.name_stack))
            if scope is None:
                scope = self._add_scope(source_info.name_stack)
            kinds.append(OPERATION)
            ops.append(op)
            stacks.append(stack)
            scopes.append(scope)

            invars, outvars = equation.invars, equation.outvars
            operands.append(len(invars))
            outputs.append(len(outvars))
            for variable in invars:
                if variable.__class__ is literal_class:
                    sources.append(self._add_literal(variable))
                else:
                    sources.append(value_of[variable])
            first_value = value
            for variable in outvars:
                value_of[variable] = value
                value += 1
                aval = variable.aval
                try:
                    value_types.append(known_types[aval])
                except (KeyError, TypeError):
                    value_types.append(self._add_type(aval))

            params = equation.params
            owns = primitive in owning
            if not owns and params:
                for key, parameter in params.items():
                    if parameter is None or parameter is False:
                        continue
                    try:
                        attribute = known_attributes[primitive, key, parameter.__class__, parameter]
                    except (KeyError, TypeError):
                        attribute = self._add_attribute(primitive, key, parameter)
                    if attribute is _BODY:
                        owns = True
                        owning.add(primitive)
                    elif attribute is not _NOTHING and not owns:
                        attribute_nodes.append(node)
                        attribute_keys.append(attribute[0])
                        attribute_values.append(attribute[1])
                if owns:
                    while attribute_nodes and attribute_nodes[-1] == node:
                        attribute_nodes.pop()
                        attribute_keys.pop()
                        attribute_values.pop()
            if not owns:
                names.append(0)
                node += 1
                continue

            identity = (primitive, *map(id, params.values()))
            plan = plans.get(identity)
            fresh: tuple[bool, ...] = ()
            if plan is None:
                owner_stack = block.stacks[stack] if stack >= 0 else None
                frames = around
                if owner_stack is not None:
                    frames = owner_stack.frames if owner_stack.absolute else around + owner_stack.frames
                plan, fresh = yield from self._make_plan(equation, frames)
                plans[identity] = plan
            names.append(plan.name)
            for key_text, text in plan.attributes:
                attribute_nodes.append(node)
                attribute_keys.append(key_text)
                attribute_values.append(text)
            if plan.parts:
                node, value = self._add_calls(block, plan, fresh, node, first_value, value)
            else:
                node += 1

        self._read_results(block, jaxpr, body, result_names, value_of, node, value)
        self.blocks.append(block)
        return block

    # The ends of a body.

    def _read_constants(self, block: Block, jaxpr: Any, constants: Sequence[Any], value_of: dict[Any, int]) -> None:
        op = self.tables.string("constant")
        for number, variable in enumerate(jaxpr.constvars):
            value_of[variable] = len(block.value_type)
            self._add_border(block, CONSTANT, op, 0, variable.aval)
            text = scalar_text(constants[number]) if number < len(constants) else None
            if text is not None:
                block.attribute_node.append(number)
                block.attribute_key.append(self.tables.string("value"))
                block.attribute_value.append(self.tables.string(text))

    def _read_arguments(self, block: Block, jaxpr: Any, names: Sequence[str] | None, value_of: dict[Any, int]) -> None:
        block.argument_start = len(block.kind)
        op = self.tables.string("argument")
        if names is None or len(names) != len(jaxpr.invars):
            names = compat.argument_names_of(jaxpr)
        for variable, name in zip(jaxpr.invars, names):
            value_of[variable] = len(block.value_type)
            self._add_border(block, ARGUMENT, op, self.tables.string(name), variable.aval)

    def _add_border(self, block: Block, kind: int, op: int, name: int, aval: Any) -> None:
        block.kind.append(kind)
        block.op.append(op)
        block.name.append(name)
        block.stack.append(-1)
        block.scope.append(0)
        block.outputs.append(1)
        block.operands.append(0)
        block.value_type.append(self._add_type(aval))

    def _read_results(
        self,
        block: Block,
        jaxpr: Any,
        body: Body,
        names: Sequence[str] | None,
        value_of: dict[Any, int],
        nodes: int,
        values: int,
    ) -> None:
        if names is None or len(names) != len(jaxpr.outvars):
            names = compat.result_names_of(jaxpr)
        references = [jaxpr.invars[number] for number in body.references]
        results = [*jaxpr.outvars, *references]
        names = [*names, *("" for _ in references)]
        op = self.tables.string("result")
        for variable, name in zip(results, names):
            block.kind.append(RESULT)
            block.op.append(op)
            block.name.append(self.tables.string(name))
            block.stack.append(-1)
            block.scope.append(0)
            block.outputs.append(0)
            block.operands.append(1)
            literal = variable.__class__ is compat.Literal
            block.operand_source.append(self._add_literal(variable) if literal else value_of[variable])
        block.result_count = len(results)
        inside = [callee.size for callee in block.calls]
        block.size = (
            nodes + len(results),
            values,
            len(block.operand_source) + sum(size[2] for size in inside),
            1 + sum(size[3] for size in inside),
            len(block.binding_kind) + sum(size[4] for size in inside),
            len(block.attribute_node) + sum(size[5] for size in inside),
        )

    # Equations with bodies.

    def _make_plan(
        self, equation: Any, frames: tuple[int, ...]
    ) -> Generator[Any, Block, tuple[_Plan, tuple[bool, ...]]]:
        """Read the bodies of an equation, those that were not read before, and say which are new."""
        tables = self.tables
        found = bodies_of(equation)
        parts, fresh = [], []
        for body in found.bodies:
            constants = compat.constants_of(body.jaxpr)
            identity = id(body.jaxpr if constants else compat.open_jaxpr(body.jaxpr)), body.references
            block = self._read.get(identity)
            fresh.append(block is None)
            if block is None:
                block = yield self.read(body, frames)
                self._read[identity] = block
            parts.append(_Part(block, tables.string(body.kind), tables.string(body.name)))
        attributes = []
        for key, parameter in equation.params.items():
            attribute = self._add_attribute(equation.primitive, key, parameter)
            if attribute is not _BODY and attribute is not _NOTHING:
                attributes.append(attribute)
        name = parts[0].name if len(parts) == 1 else 0
        return _Plan(name, attributes, parts, found.joins), tuple(fresh)

    def _add_calls(
        self,
        block: Block,
        plan: _Plan,
        fresh: tuple[bool, ...],
        owner: int,
        first_value: int,
        value: int,
    ) -> tuple[int, int]:
        """Place the bodies of an owner right after it; give the next node and the next value."""
        before = (
            len(block.kind),
            len(block.value_type),
            len(block.operand_source),
            len(block.attribute_node),
        )
        node = owner + 1
        starts: list[int] = []
        for number, (callee, kind, name) in enumerate(plan.parts):
            size = callee.size
            if not (fresh and fresh[number]):
                if size[0] > self._repeated_nodes:
                    self._close(block, owner, callee)
                    starts.append(-1)
                    before = (*before[:3], len(block.attribute_node))
                    continue
                self._repeated_nodes -= size[0]
            starts.append(node)
            block.calls.append(callee)
            block.call_before.append(before)
            block.region_owner.append(owner)
            block.region_kind.append(kind)
            block.region_name.append(name)
            node += size[0]
            value += size[1]

        first_operand = len(block.operand_source) - block.operands[-1]
        for kind, part, start, end, to_part in plan.joins:
            at = starts[part]
            if at < 0:
                continue
            callee = plan.parts[part].block
            if kind <= SLICE:
                origin = block.operand_source[first_operand + start]
                target = at + callee.argument_start + end
            elif kind == CARRY:
                if starts[to_part] < 0:
                    continue
                origin = at + callee.result_start + start
                target = starts[to_part] + plan.parts[to_part].block.argument_start + end
            else:
                origin = at + callee.result_start + start
                target = first_value + end
            block.binding_kind.append(kind)
            block.binding_start.append(origin)
            block.binding_end.append(target)
        return node, value

    def _close(self, block: Block, owner: int, callee: Block) -> None:
        text = f"same as the first call of {callee.label}: {callee.size[0]} nodes, not repeated here"
        block.attribute_node.append(owner)
        block.attribute_key.append(self.tables.string("body"))
        block.attribute_value.append(self.tables.string(text))

    # Rows of the tables.

    def _add_scope(self, name_stack: Any) -> int:
        scope = self._scopes[id(name_stack)] = self.tables.string(str(name_stack))
        return scope

    def _add_type(self, aval: Any) -> int:
        try:
            known = self._types.get(aval)
        except TypeError:
            return add_type(self.tables, aval)
        if known is None:
            known = self._types[aval] = add_type(self.tables, aval)
        return known

    def _add_attribute(self, primitive: Any, key: str, parameter: Any) -> tuple[int, int]:
        # The class is a part of the key because 1 == 1.0 == True.
        identity = (primitive, key, parameter.__class__, parameter)
        try:
            known = self._attributes.get(identity)
        except TypeError:
            return self._attribute(key, parameter)
        if known is None:
            known = self._attributes[identity] = self._attribute(key, parameter)
        return known

    def _attribute(self, key: str, parameter: Any) -> tuple[int, int]:
        if jaxprs_in(parameter):
            return _BODY
        text = parameter_text(key, parameter)
        return (self.tables.string(key), self.tables.string(text)) if text else _NOTHING

    def _add_literal(self, literal: Any) -> int:
        """The operand source of a literal: -1 - i for literal i."""
        value = literal.val
        type_ = self._add_type(literal.aval)
        array = getattr(value, "val", value)  # a TypedNdArray, from 0.8 on
        identity: tuple[Any, ...]
        if isinstance(array, np.ndarray) and array.nbytes <= 1024:
            identity = (type_, array.tobytes())
        elif isinstance(array, (bool, int, float, complex)):
            identity = (type_, repr(array))
        else:
            identity = (type_, id(value))
        source = self._literals.get(identity)
        if source is None:
            source = self._literals[identity] = -1 - len(self.literal_texts)
            self.literal_texts.append(self.tables.string(_literal_text(array)))
            self.literal_types.append(type_)
        return source


def _literal_text(value: Any) -> str:
    text = scalar_text(value)
    if text is not None:
        return text
    if isinstance(value, np.ndarray) and value.size <= _WRITTEN_ELEMENTS:
        return np.array2string(value, separator=", ").replace("\n", "")
    return "array"
