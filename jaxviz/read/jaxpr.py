"""Read a jaxpr, with all the jaxprs inside it, as a graph.

Every equation becomes one node for each way to reach it: a body that is called twice is there twice, each time below
its own call. A shared body is read once (`blocks.py`). Where sharing would blow the graph up, because shared bodies
call shared bodies, later calls stay closed once `REPEATED_NODES` have been spent; the node then says so in the
attribute `body`.

The loop over equations is the one place here where a microsecond counts: it appends to plain lists of numbers, looks
everything up by identity or value in dictionaries, and leaves the arithmetic to numpy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any

from jaxviz import compat
from jaxviz.compat import high as compat_high
from jaxviz.graph import ARGUMENT, CONSTANT, OPERATION, RESULT, Graph
from jaxviz.read.blocks import Block, Call, Part, assemble, place_joins
from jaxviz.read.bodies import Body, bodies_of
from jaxviz.read.drive import Reading, drive
from jaxviz.read.frames import CallingLine, FrameReader
from jaxviz.read.garbage import without_collections
from jaxviz.read.parts import names_of_parts
from jaxviz.read.rows import BODY, NOTHING, Rows
from jaxviz.read.sharing import Sharing
from jaxviz.read.values import entries_text, scalar_text
from jaxviz.tables import Tables

#: How many nodes of bodies that were shown before a graph may repeat.
REPEATED_NODES = 50_000


@without_collections
def read_jaxpr(
    jaxpr: Any,
    tables: Tables | None = None,
    *,
    argument_names: Sequence[str] | None = None,
    result_names: Sequence[str] | None = None,
    result_variables: Sequence[str] = (),
    constant_name: Callable[[Any], str] = lambda constant: "",
    constant_scope: Callable[[Any], str] = lambda constant: "",
    donated: Sequence[bool] = (),
    calling: CallingLine | None = None,
    repeated_nodes: int = REPEATED_NODES,
) -> Graph:
    """The graph of a closed jaxpr, as `jax.jit(f).trace(x).jaxpr` or `jax.make_jaxpr(f)(x)` give it.

    Names are those that JAX knows unless given; of constants it knows none. `tables` receives the strings, types and
    frames; graphs of one document share them. Arguments that are `donated` say so in an attribute, and results that the
    function keeps in `result_variables` say which. What comes from no
    line of the person's own comes from the one that is `calling`.
    """
    tables = Tables() if tables is None else tables
    rows = Rows(tables)
    frames = FrameReader(tables, calling)
    reader = _Reader(rows, Sharing(rows, repeated_nodes), frames, constant_name, constant_scope)
    drive(reader.read(Body(jaxpr, "", ""), (), argument_names, result_names, donated, result_variables))
    frames.write_excerpts()
    function = compat.function_of(jaxpr)
    literals = rows.literal_texts, rows.literal_types
    name = tables.string(function.name if function is not None else "")
    return assemble(reader.sharing.blocks, literals, tables, tables.string("program"), name)


class _Reader:
    """Reads the bodies of one program."""

    def __init__(
        self,
        rows: Rows,
        sharing: Sharing,
        frames: FrameReader,
        constant_name: Callable[[Any], str],
        constant_scope: Callable[[Any], str],
    ) -> None:
        self.tables = rows.tables
        self.rows = rows
        self.sharing = sharing
        self.frames = frames
        self._constant_name = constant_name
        self._constant_scope = constant_scope
        # Primitives whose equations have bodies, and their calls by the identity of their parameters, which the jaxpr
        # that is being read keeps alive.
        self._owning: set[Any] = set()
        self._calls: dict[tuple[Any, ...], Call] = {}

    def read(
        self,
        body: Body,
        around: tuple[int, ...],
        argument_names: Sequence[str] | None = None,
        result_names: Sequence[str] | None = None,
        donated: Sequence[bool] = (),
        result_variables: Sequence[str] = (),
    ) -> Reading:
        """Read one jaxpr; `around` are the frames of the call through which it was reached."""
        jaxpr = compat.open_jaxpr(body.jaxpr)
        function = compat.function_of(jaxpr)
        block = Block(label=body.name or body.kind)
        value_of: dict[Any, int] = {}
        self._read_constants(block, jaxpr, compat.constants_of(body.jaxpr), value_of)
        self._read_arguments(block, jaxpr, argument_names, value_of)
        self._mark_arguments(block, function, donated)

        ops, scopes = block.op, block.scope
        stacks, outputs, operands = block.stack, block.outputs, block.operands
        value_types, sources = block.value_type, block.operand_source
        attribute_rows = block.attribute_row
        attribute_keys, attribute_values = block.attribute_key, block.attribute_value
        rows, sharing = self.rows, self.sharing
        known_ops, known_types, known_scopes = rows.ops, rows.types, rows.scopes
        known_attributes, owning, known_calls = rows.attributes, self._owning, self._calls
        calls, call_numbers, call_owners = block.calls, block.call_number, block.call_owner
        stack_of: dict[Any, int] = {}
        literal_class = compat.Literal
        last_owner: Any = None
        last_params: Any = None
        last_call: Any = None
        # Values are numbered as in an instance: with those of the calls so far.
        value = len(value_types)

        for row, equation in enumerate(jaxpr.eqns, len(ops)):
            primitive = equation.primitive
            op = known_ops.get(primitive)
            if op is None:
                op = rows.add_op(primitive)
            source_info = equation.source_info
            traceback = source_info.traceback
            stack = stack_of.get(traceback)
            if stack is None:
                stack = stack_of[traceback] = len(block.stacks)
                block.stacks.append(self.frames.stack(traceback, function, around))
            scope = known_scopes.get(id(source_info.name_stack))
            if scope is None:
                scope = rows.add_scope(source_info.name_stack)
            ops.append(op)
            stacks.append(stack)
            scopes.append(scope)

            invars, outvars = equation.invars, equation.outvars
            operands.append(len(invars))
            outputs.append(len(outvars))
            for variable in invars:
                if variable.__class__ is literal_class:
                    sources.append(rows.add_literal(variable))
                else:
                    sources.append(value_of[variable])
            for variable in outvars:
                value_of[variable] = value
                value += 1
                aval = variable.aval
                try:
                    value_types.append(known_types[aval])
                except (KeyError, TypeError):
                    value_types.append(rows.add_type(aval))

            params = equation.params
            owns = primitive in owning
            if not owns and params:
                for key, parameter in params.items():
                    if parameter is None or parameter is False:
                        continue
                    try:
                        attribute = known_attributes[primitive, key, parameter.__class__, parameter]
                    except (KeyError, TypeError):
                        attribute = rows.add_attribute(primitive, key, parameter)
                    if attribute is BODY:
                        owns = True
                        owning.add(primitive)
                    elif attribute is not NOTHING and not owns:
                        attribute_rows.append(row)
                        attribute_keys.append(attribute[0])
                        attribute_values.append(attribute[1])
                if owns:
                    while attribute_rows and attribute_rows[-1] == row:
                        attribute_rows.pop()
                        attribute_keys.pop()
                        attribute_values.pop()
            if not owns:
                continue

            if primitive is last_owner and _same(params, last_params):
                call = sharing.once_more(last_call)
            else:
                identity = (primitive, *map(id, params.values()))
                last_call = known_calls.get(identity)
                if last_call is None:
                    frames = self._frames_of_owner(block, stack, around)
                    call, last_call = yield from self._make_calls(equation, frames)
                    known_calls[identity] = last_call
                else:
                    call = sharing.once_more(last_call)
                last_owner, last_params = primitive, params
            call_numbers.append(calls.setdefault(call, len(calls)))
            call_owners.append(row)
            value += call.size[1]

        self._read_results(block, jaxpr, body, result_names, result_variables, value_of, value)
        return sharing.add(block)

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
            known = number < len(constants)
            name = self.tables.string(self._constant_name(constants[number])) if known else 0
            self._add_border(block, CONSTANT, op, name, variable.aval)
            texts = {
                "value": scalar_text(constants[number]) if known else None,
                "scope": self._constant_scope(constants[number]) if name else None,
            }
            entries = entries_text(constants[number]) if known else None
            for key, text in (*texts.items(), *([entries] if entries else [])):
                if text:
                    block.attribute_row.append(number)
                    block.attribute_key.append(self.tables.string(key))
                    block.attribute_value.append(self.tables.string(text))

    def _read_arguments(self, block: Block, jaxpr: Any, names: Sequence[str] | None, value_of: dict[Any, int]) -> None:
        block.argument_start = len(block.kind)
        op = self.tables.string("argument")
        if names is None or len(names) != len(jaxpr.invars):
            names = compat.argument_names_of(jaxpr)
        for variable, name in zip(jaxpr.invars, names, strict=True):
            value_of[variable] = len(block.value_type)
            self._add_border(block, ARGUMENT, op, self.tables.string(name), variable.aval)

    def _mark_arguments(self, block: Block, function: compat.Function | None, donated: Sequence[bool]) -> None:
        """Says of arguments which are donated, and what the function calls those that are parts of others."""
        string, strings = self.tables.string, self.tables.strings
        paths = [strings[name] for name in block.name[block.argument_start :]]
        for number, variable in enumerate(names_of_parts(function, paths)):
            marks = {"donated": "True" if number < len(donated) and donated[number] else "", "variable": variable}
            for key, text in marks.items():
                if text:
                    block.attribute_row.append(block.argument_start + number)
                    block.attribute_key.append(string(key))
                    block.attribute_value.append(string(text))

    def _add_border(self, block: Block, kind: int, op: int, name: int, aval: Any) -> None:
        block.kind.append(kind)
        block.op.append(op)
        block.name.append(name)
        block.stack.append(-1)
        block.scope.append(0)
        block.outputs.append(1)
        block.operands.append(0)
        block.value_type.append(self.rows.add_type(aval))

    def _read_results(
        self,
        block: Block,
        jaxpr: Any,
        body: Body,
        names: Sequence[str] | None,
        variables: Sequence[str],
        value_of: dict[Any, int],
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
        for number, called in enumerate(variables):
            if called:
                block.attribute_row.append(len(block.op) + number)
                block.attribute_key.append(self.tables.string("variable"))
                block.attribute_value.append(self.tables.string(called))
        for variable, name in zip(results, names, strict=True):
            block.kind.append(RESULT)
            block.op.append(op)
            block.name.append(self.tables.string(name))
            block.stack.append(-1)
            block.scope.append(0)
            block.outputs.append(0)
            block.operands.append(1)
            literal = variable.__class__ is compat.Literal
            block.operand_source.append(self.rows.add_literal(variable) if literal else value_of[variable])
        block.result_count = len(results)
        inside = [0] * 6
        counts = Counter(block.call_number) if block.calls else {}
        for call, number in block.calls.items():
            inside = [total + counts[number] * size for total, size in zip(inside, call.size, strict=True)]
        block.size = (
            len(block.op) + inside[0],
            values,
            len(block.operand_source) + inside[2],
            1 + inside[3],
            inside[4],
            len(block.attribute_row) + inside[5],
        )

    # Equations with bodies.

    def _make_calls(self, equation: Any, frames: tuple[int, ...]) -> Generator[Any, Block, tuple[Call, Call]]:
        """Read the bodies of an equation that were not read before; give this call and how a later one looks."""
        tables, sharing = self.tables, self.sharing
        found = bodies_of(equation)
        parts, new = [], []
        for body in found.bodies:
            keys, block = sharing.find(body, frames)
            new.append(block is None)
            if block is None:
                block = yield self.read(body, frames)
            sharing.remember(keys, block)
            parts.append(Part(block, tables.string(body.kind), tables.string(body.name)))
        name = parts[0].name if len(parts) == 1 else 0
        attributes = []
        for key, parameter in equation.params.items():
            if parameter is None or parameter is False:
                continue
            attribute = self.rows.add_attribute(equation.primitive, key, parameter)
            named = key == "name" and attribute[1] == name
            if attribute is not BODY and attribute is not NOTHING and not named:
                attributes.append(attribute)
        bindings = place_joins(parts, found.joins)
        call = Call(name, len(equation.invars), len(equation.outvars), attributes, parts, bindings)
        return sharing.call(call, found.joins, new)


def _same(params: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    """Whether parameters are equal. Mostly they are the very same objects, and then this is fast."""
    if compat_high.OBJECT in params:
        return params[compat_high.OBJECT] is others.get(compat_high.OBJECT)
    try:
        return params == others
    except Exception:  # An array among them has no truth.
        return False
