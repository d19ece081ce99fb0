"""Read a jaxpr, with all the jaxprs inside it, as a graph.

Every equation becomes one node for each way to reach it: a body that is called twice is there twice, each time below its
own call. A shared body is read once (`blocks.py`). Where sharing would blow the graph up, because shared bodies call
shared bodies, later calls stay closed once `REPEATED_NODES` have been spent; the node then says so in the attribute `body`.

The loop over equations is the one place here where a microsecond counts: it appends to plain lists of numbers, looks
everything up by identity or value in dictionaries, and leaves the arithmetic to numpy.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from operator import add
from typing import Any

import numpy as np

from jaxviz import compat
from jaxviz.graph import ARGUMENT, CARRY, CONSTANT, OPERATION, RESULT, Graph
from jaxviz.read.blocks import Block, Call, CallPlace, Part, assemble, place_joins
from jaxviz.read.bodies import Body, bodies_of, jaxprs_in
from jaxviz.read.frames import FrameReader
from jaxviz.read.parameters import parameter_text
from jaxviz.read.values import add_type, scalar_text
from jaxviz.tables import Tables

#: How many nodes of bodies that were shown before a graph may repeat.
REPEATED_NODES = 2_000_000

# Bodies of up to so many nodes of their own are compared with others that were read.
_COMPARED_NODES = 64

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
    with _no_collections():
        _drive(reader.read(Body(jaxpr, "", ""), (), argument_names, result_names))
        reader.frames.write_excerpts()
        function = compat.function_of(jaxpr)
        literals = reader.literal_texts, reader.literal_types
        name = tables.string(function.name if function is not None else "")
        return assemble(reader.blocks, literals, tables, tables.string("program"), name)


@contextmanager
def _no_collections() -> Iterator[None]:
    """Hold back the cyclic collector: it would walk all of JAX's equations, again and again, and find nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


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
        self._calls: dict[tuple[Any, ...], Call] = {}
        self._blocks: dict[Any, Block] = {}
        self._equal_calls: dict[Any, Call] = {}
        self._closed_calls: dict[int, Call] = {}
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

        ops, scopes, calls = block.op, block.scope, block.calls
        stacks, outputs, operands = block.stack, block.outputs, block.operands
        value_types, sources = block.value_type, block.operand_source
        attribute_nodes = block.attribute_node
        attribute_keys, attribute_values = block.attribute_key, block.attribute_value
        known_ops, known_types, known_scopes = self._ops, self._types, self._scopes
        known_attributes, owning, known_calls = self._attributes, self._owning, self._calls
        stack_of: dict[Any, int] = {None: -1}
        literal_class = compat.Literal
        # Numbered as in an instance: with the nodes and values of the calls so far.
        node, value = len(ops), len(value_types)

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
            node += 1
            if not owns:
                continue

            identity = (primitive, *map(id, params.values()))
            call = known_calls.get(identity)
            if call is None:
                call, again = yield from self._make_calls(equation, self._frames_of_owner(block, stack, around))
                known_calls[identity] = again
            elif call.size[0] > self._repeated_nodes:
                call = self._closed(call)
            else:
                self._repeated_nodes -= call.size[0]
            calls.append(CallPlace(call, len(ops), len(value_types), len(sources), len(attribute_nodes)))
            node += call.size[0]
            value += call.size[1]

        self._read_results(block, jaxpr, body, result_names, value_of, node, value)
        return self._shared(block)

    def _shared(self, block: Block) -> Block:
        """An equal block that was read before, if there is one: JAX makes a new body for each call of a custom rule."""
        if len(block.op) > _COMPARED_NODES:
            self.blocks.append(block)
            return block
        known = self._blocks.setdefault(block.key(), block)
        if known is block:
            self.blocks.append(block)
        return known

    def _frames_of_owner(self, block: Block, stack: int, around: tuple[int, ...]) -> tuple[int, ...]:
        if stack < 0:
            return around
        found = block.stacks[stack]
        return found.frames if found.absolute else around + found.frames

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
        equations = len(block.op) - len(block.kind)
        block.kind += [OPERATION] * equations
        # Owners are named by their calls.
        block.name += [0] * equations
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
        inside = [0] * 6
        for place in block.calls:
            inside = list(map(add, inside, place.call.size))
        block.size = (
            nodes + len(results),
            values,
            len(block.operand_source) + inside[2],
            1 + inside[3],
            inside[4],
            len(block.attribute_node) + inside[5],
        )

    # Equations with bodies.

    def _make_calls(self, equation: Any, frames: tuple[int, ...]) -> Generator[Any, Block, tuple[Call, Call]]:
        """Read the bodies of an equation that were not read before; give this call and how a later one looks."""
        tables = self.tables
        found = bodies_of(equation)
        parts, closed = [], []
        for body in found.bodies:
            constants = compat.constants_of(body.jaxpr)
            identity = id(body.jaxpr if constants else compat.open_jaxpr(body.jaxpr)), body.references
            block = self._read.get(identity)
            if block is None:
                block = yield self.read(body, frames)
                self._read[identity] = block
                closed.append(False)
            else:
                closed.append(block.size[0] > self._repeated_nodes)
                self._repeated_nodes -= 0 if closed[-1] else block.size[0]
            parts.append(Part(block, tables.string(body.kind), tables.string(body.name)))
        name = parts[0].name if len(parts) == 1 else 0
        attributes = []
        for key, parameter in equation.params.items():
            attribute = self._add_attribute(equation.primitive, key, parameter)
            named = key == "name" and attribute[1] == name
            if attribute is not _BODY and attribute is not _NOTHING and not named:
                attributes.append(attribute)
        ends = len(equation.invars), len(equation.outvars)
        again = Call(name, *ends, attributes, parts, place_joins(parts, found.joins))
        again = self._equal_calls.setdefault(again.key(), again)
        if not any(closed):
            return again, again
        kept = [part for part, shut in zip(parts, closed, strict=True) if not shut]
        numbers = {number: sum(not shut for shut in closed[:number]) for number, shut in enumerate(closed) if not shut}
        joins = [
            join._replace(body=numbers[join.body], to_body=numbers.get(join.to_body, -1))
            for join in found.joins
            if join.body in numbers and (join.kind != CARRY or join.to_body in numbers)
        ]
        texts = [self._closed_text(part) for part, shut in zip(parts, closed, strict=True) if shut]
        return Call(name, *ends, attributes + texts, kept, place_joins(kept, joins)), again

    def _closed(self, call: Call) -> Call:
        """The same call without its bodies."""
        known = self._closed_calls.get(id(call))
        if known is None:
            attributes = call.attributes + [self._closed_text(part) for part in call.parts]
            known = Call(call.name, call.operands, call.outputs, attributes, [], [])
            self._closed_calls[id(call)] = known
        return known

    def _closed_text(self, part: Part) -> tuple[int, int]:
        block = part.block
        text = f"same as the first call of {block.label}: {block.size[0]} nodes, not repeated here"
        return self.tables.string("body"), self.tables.string(text)

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
