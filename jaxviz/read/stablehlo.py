"""Read a StableHLO module, as JAX lowers a program to, as a graph.

Each operation becomes a node, the function that a call names a region below it, once for each call. Regions of MLIR see
the values around them; here these come in as operands of the owner and arguments of the region, as in a jaxpr. A
reducer of one operation is an attribute of its owner: `reducer=add`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from jaxviz.compat import mlir as compat_mlir
from jaxviz.graph import ARGUMENT, OPERATION, RESULT, Column, Graph
from jaxviz.read.blocks import Block, Call, Part, place, place_joins
from jaxviz.read.bodies import enter, leave
from jaxviz.read.communication import with_communication
from jaxviz.read.drive import Reading, drive
from jaxviz.read.garbage import without_collections
from jaxviz.read.mlir_bodies import joins_of, region_kind, region_names
from jaxviz.read.mlir_frames import MlirFrames
from jaxviz.read.mlir_text import TEXT_LENGTH, attribute_text, constant_text, type_row
from jaxviz.read.sharding import Mesh, mesh_of, sharding_words
from jaxviz.read.tag_text import MARK, with_applied, without_tags
from jaxviz.tables import Tables

#: The most nodes that calls of functions that were shown before may repeat.
REPEATED_NODES = 50_000

_CALLS = ("func.call", "stablehlo.composite", "tt.call")
# What functions are in dialects of kernels too, as in that of programs: tt.func, llvm.func.
_FUNCTION = ".func"
_OUTERMOST = ("builtin.module", _FUNCTION)
# What hands on what a body makes, in whichever dialect, and the row of its name.
_RETURNS = ("return", "yield")
_ENDS_BODY = -1
_SHARDINGS = ("sdy.sharding", "mhlo.sharding")
_SYMBOLS = frozenset({"callee", "sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs"})


class Located(NamedTuple):
    """A graph, and the name of the location of each node: the name stack, as a row of `names`."""

    graph: Graph
    names: list[str]
    name: Column


@without_collections
def read_stablehlo(
    module: Any,
    tables: Tables | None = None,
    *,
    frames: MlirFrames | None = None,
    scopes: Sequence[str] = (),
    entry: str = "main",
) -> Located:
    """The graph of an MLIR module with a function `main`, as `lowered.compiler_ir("stablehlo")` gives it.

    Without `frames` the call stacks in its locations are left alone: a jaxpr says them better. What has no function
    is read as it stands in the module. `scopes` are what tags stand for. Where there is no function `entry`, the
    program begins with the first.
    """
    tables = Tables() if tables is None else tables
    reader = _Reader(tables, frames)
    reader.functions = functions = functions_of(module)
    reader.meshes = _meshes_of(module)
    if functions:
        drive(reader.function(entry if entry in functions else next(iter(functions))))
    else:
        drive(reader.region(module.operation.regions[0], "", ()))
    columns = place(reader.blocks, tables, tables.string("program"), tables.string(_program_name(module)))
    name = columns.scope.copy()
    said = [reader.applying.get(row, name) for row, name in enumerate(reader.names)]
    clean = np.array(tables.strings_of(without_tags(said, scopes)), np.int32)
    columns.scope[:] = clean[name]
    return Located(with_communication(columns.graph(([], []), tables), reader.meshes), reader.names, name)


def _argument_name(name: str, region: Any) -> str:
    """The name of an argument; empty where its location says only in which operation it stands."""
    if not name or MARK in name or name.endswith(")"):
        return ""
    owner = getattr(region, "owner", None)
    owner = getattr(owner, "operation", owner)
    if owner is None or owner.name.endswith(_FUNCTION):
        return name
    around = compat_mlir.location_name(owner.location).rpartition("/")[2]
    return "" if name in (around, owner.name.rpartition(".")[2]) else name


def functions_of(module: Any) -> dict[str, Any]:
    """The functions with a body by name, those of modules inside of the module too; of one that has none, as where a
    device has a module of its own, those of modules inside of its operations."""
    functions: dict[str, Any] = {}
    waiting = list(module.body.operations)
    holding: list[Any] = []
    while waiting and not functions:
        for operation in waiting:
            operation = operation.operation
            if operation.name.endswith(_FUNCTION) and len(operation.regions[0].blocks):
                functions.setdefault(compat_mlir.symbol_text(operation.attributes["sym_name"]), operation)
            elif operation.name == "builtin.module":
                waiting.extend(operation.regions[0].blocks[0].operations)
            elif len(operation.regions) == 1 and len(operation.regions[0].blocks) == 1:
                holding.append(operation.regions[0].blocks[0].operations)
        inside = (inner.operation for operations in holding for inner in operations)
        waiting, holding = [inner for inner in inside if inner.name.endswith(_OUTERMOST)], []
    return functions


def _meshes_of(module: Any) -> dict[str, Mesh]:
    """The meshes of devices that a module names."""
    found = [operation.operation for operation in module.body.operations if operation.operation.name == "sdy.mesh"]
    return {
        compat_mlir.symbol_text(mesh.attributes["sym_name"]): mesh_of(compat_mlir.symbol_text(mesh.attributes["mesh"]))
        for mesh in found
    }


def _program_name(module: Any) -> str:
    attributes = module.operation.attributes
    name = compat_mlir.symbol_text(attributes["sym_name"]) if "sym_name" in attributes else ""
    return name.removeprefix("jit_")


class _Reader:
    def __init__(self, tables: Tables, frames: MlirFrames | None) -> None:
        self.tables = tables
        self.frames = frames
        self.functions: dict[str, Any] = {}
        self.meshes: dict[str, Mesh] = {}
        self.blocks: list[Block] = []
        self.names: list[str] = [""]
        self._name_of: dict[str, int] = {"": 0}
        #: Names that say what a reducer applies too, by their rows: the name without that.
        self.applying: dict[int, str] = {}
        self._function_blocks: dict[str, Block] = {}
        # What calls itself has no end.
        self._being_read: set[str] = set()
        self._ops: dict[str, int] = {}
        self._types: dict[Any, int] = {}
        self._attributes: dict[tuple[str, Any], tuple[int, int] | None] = {}
        self._calls: dict[str, Call] = {}
        self._nodes_left = REPEATED_NODES

    def function(self, name: str, call: Any = None) -> Reading:
        """The block of a function, read once, where it is called first."""
        known = self._function_blocks.get(name)
        if known is not None:
            return known
        operation = self.functions[name]
        results = _result_names(operation)
        shardings = self._border_shardings(operation, "arg_attrs"), self._border_shardings(operation, "res_attrs")
        frames = self.frames if call is not None else None
        if frames is not None:
            frames.enter(name, call)
        self._being_read.add(name)
        block = yield self.region(operation.regions[0], name, (), results, shardings)
        self._being_read.remove(name)
        for number, constant in enumerate(_constant_names(operation)):
            block.name[number] = block.name[number] or self.tables.string(constant)
        if frames is not None:
            frames.leave()
        self._function_blocks[name] = block
        return block

    def region(
        self,
        region: Any,
        label: str,
        captured: Sequence[Any],
        result_names: Sequence[str] = (),
        shardings: tuple[Sequence[str], Sequence[str]] = ((), ()),
    ) -> Reading:
        tables = self.tables
        block = Block(label=label)
        value_of: dict[Any, int] = {}
        argument = tables.string("argument")
        # Of what branches to other blocks, the first alone is straight.
        body = region.blocks[0] if len(region.blocks) else None
        for value in (*captured, *(body.arguments if body is not None else ())):
            value_of[value] = len(block.value_type)
            own = len(block.value_type) >= len(captured)
            name = _argument_name(compat_mlir.location_name(value.location), region) if own else ""
            self._add_border(block, ARGUMENT, argument, tables.string(name), 1, 0)
            block.value_type.append(self._type(value.type))
        for number, text in enumerate(shardings[0]):
            if text:
                self._add_attribute(block, number, "sharding", text)
        value = len(block.value_type)
        returned: Sequence[Any] = ()

        ops, scopes, outputs, counts = block.op, block.scope, block.outputs, block.operands
        sources, value_types, stacks = block.operand_source, block.value_type, block.stack
        known_ops, known_types, known_names, frames = self._ops, self._types, self._name_of, self.frames
        location_name, results_of = compat_mlir.location_name, compat_mlir.results_of
        # Each turn costs microseconds: what was seen before is looked up right here.
        for row, operation in enumerate(compat_mlir.operations_in(region), len(ops)):
            kind = operation.name
            op = known_ops.get(kind)
            if op is None:
                op = self._op(kind)
            if op == _ENDS_BODY:
                returned = list(operation.operands)
                break
            operands = list(operation.operands)
            regions = list(operation.regions) if len(operation.regions) else []
            reducer = _reducer(regions) if regions else None
            outer: list[Any] = []
            if regions and reducer is None:
                outer = _captured(regions)
                operands += outer
            results = results_of(operation)
            ops.append(op)
            stacks.append(-1 if frames is None else frames.place(block, operation))
            name = location_name(operation.location)
            if reducer is not None:
                name = self._applying(name, location_name(reducer.location))
            scope = known_names.get(name)
            scopes.append(self._add_name(name) if scope is None else scope)
            outputs.append(len(results))
            counts.append(len(operands))
            sources += [value_of[operand] for operand in operands]
            for result in results:
                value_of[result] = value
                value += 1
                type_ = result.type
                known = known_types.get(type_)
                value_types.append(self._type(type_) if known is None else known)
            is_call = kind in _CALLS
            if not is_call and (not regions or reducer is not None):
                for attribute in self._attribute_rows(operation):
                    block.attribute_row.append(row)
                    block.attribute_key.append(attribute[0])
                    block.attribute_value.append(attribute[1])
                if reducer is not None:
                    self._add_attribute(block, row, "reducer", reducer.name.rpartition(".")[2])
                continue
            if is_call:
                name = _callee(operation)
                call = yield from self._call(name, len(operands), len(results), operation)
            else:
                call = yield from self._owner(operation, regions, outer, len(operands), len(results))
            block.call_number.append(block.calls.setdefault(call, len(block.calls)))
            block.call_owner.append(row)
            value += call.size[1]

        equations = len(ops) - len(block.kind)
        block.name += [0] * equations
        block.kind += [OPERATION] * equations
        result = tables.string("result")
        for number, item in enumerate(returned):
            name = result_names[number] if number < len(result_names) else ""
            self._add_border(block, RESULT, result, tables.string(name), 0, 1)
            block.operand_source.append(value_of[item])
        for number, text in enumerate(shardings[1][: len(returned)]):
            if text:
                self._add_attribute(block, len(block.op) - len(returned) + number, "sharding", text)
        block.result_count = len(returned)
        self._measure(block, value)
        self.blocks.append(block)
        return block

    def _add_border(self, block: Block, kind: int, op: int, name: int, outputs: int, operands: int) -> None:
        block.kind.append(kind)
        block.op.append(op)
        block.name.append(name)
        block.stack.append(-1)
        block.scope.append(0)
        block.outputs.append(outputs)
        block.operands.append(operands)

    def _measure(self, block: Block, values: int) -> None:
        inside = np.zeros(6, np.int64)
        if block.calls:
            sizes = np.array([call.size for call in block.calls], np.int64)
            inside = sizes[np.array(block.call_number)].sum(axis=0)
        block.size = (
            len(block.op) + int(inside[0]),
            values,
            len(block.operand_source) + int(inside[2]),
            1 + int(inside[3]),
            int(inside[4]),
            len(block.attribute_row) + int(inside[5]),
        )

    # Operations with bodies.

    def _call(self, name: str, operands: int, results: int, operation: Any) -> Generator[Any, Block, Call]:
        known = self._calls.get(name)
        if known is not None and self._spend(known.size[0]):
            return known
        if name not in self.functions or known is not None or name in self._being_read:
            text = self.tables.string("body"), self.tables.string(f"function {name}, not repeated here")
            return Call(self.tables.string(name), operands, results, [text], [], [])
        block = yield self.function(name, operation)
        part = Part(block, self.tables.string("call"), self.tables.string(name))
        # Of a function that branches, or never comes back, it is not known what it gives.
        joins = [*enter(0, operands), *leave(0, min(results, block.result_count))]
        call = Call(self.tables.string(name), operands, results, [], [part], place_joins([part], joins))
        self._calls[name] = call
        return call

    def _spend(self, nodes: int) -> bool:
        if nodes > self._nodes_left:
            return False
        self._nodes_left -= nodes
        return True

    def _owner(
        self, operation: Any, regions: list[Any], outer: list[Any], operands: int, results: int
    ) -> Generator[Any, Block, Call]:
        kind = operation.name.rpartition(".")[2]
        names = region_names(kind, len(regions))
        parts = []
        for region, name in zip(regions, names, strict=True):
            block = yield self.region(region, name, outer)
            parts.append(Part(block, self.tables.string(region_kind(kind, name)), self.tables.string(name)))
        joins = joins_of(kind, parts, operands, len(outer), results)
        return Call(0, operands, results, self._attribute_rows(operation), parts, place_joins(parts, joins))

    # Rows of the tables.

    def _op(self, kind: str) -> int:
        if kind.rpartition(".")[2] in _RETURNS:
            row = _ENDS_BODY
        else:
            row = self.tables.string(kind.removeprefix("stablehlo.").removeprefix("func.").removeprefix("mhlo."))
        self._ops[kind] = row
        return row

    def _type(self, type_: Any) -> int:
        known = self._types.get(type_)
        if known is None:
            known = self._types[type_] = self.tables.type(*type_row(str(type_)))
        return known

    def _add_name(self, name: str) -> int:
        self._name_of[name] = len(self.names)
        self.names.append(name)
        return len(self.names) - 1

    def _applying(self, name: str, applied: str) -> str:
        joined = with_applied(name, applied)
        if joined != name and joined not in self._name_of:
            self.applying[self._add_name(joined)] = name
        return joined

    def _add_attribute(self, block: Block, row: int, key: str, text: str) -> None:
        block.attribute_row.append(row)
        block.attribute_key.append(self.tables.string(key))
        block.attribute_value.append(self.tables.string(text))

    def _sharding(self, attribute: Any) -> str:
        return sharding_words(str(attribute).strip('"'), self.meshes)[:TEXT_LENGTH]

    def _border_shardings(self, function: Any, key: str) -> list[str]:
        """The sharding of each argument (`arg_attrs`) or result (`res_attrs`), empty where there is none."""
        attributes = function.attributes
        if key not in attributes:
            return []
        found = []
        for row in attributes[key]:
            named = (compat_mlir.attribute_of(row, name) for name in _SHARDINGS)
            sharding = next((attribute for attribute in named if attribute is not None), None)
            found.append(self._sharding(sharding) if sharding is not None else "")
        return found

    def _attribute_rows(self, operation: Any) -> list[tuple[int, int]]:
        known = self._attributes
        found: list[tuple[int, int]] = []
        for identity in compat_mlir.attributes_of(operation):
            if identity[0] in _SYMBOLS:
                continue
            try:
                row = known[identity]
            except KeyError:
                row = known[identity] = self._attribute_row(operation, *identity)
            if row is not None:
                found.append(row)
        return found

    def _attribute_row(self, operation: Any, key: str, attribute: Any) -> tuple[int, int] | None:
        is_constant = key == "value" and operation.name.endswith(".constant")
        text = constant_text(attribute) if is_constant else attribute_text(attribute)
        if key.endswith(("sharding", "shardings")):
            key, text = key.rpartition(".")[2], self._sharding(attribute)
        return (self.tables.string(key), self.tables.string(text)) if text else None


def _callee(operation: Any) -> str:
    attributes = operation.attributes
    key = "callee" if "callee" in attributes else "decomposition"
    return compat_mlir.symbol_text(attributes[key])


def _constant_names(function: Any) -> list[str]:
    """What JAX gives a function beside its own arguments: on which platform it runs, the lengths that are open."""
    attributes = function.attributes
    if "arg_attrs" not in attributes:
        return []
    named = (compat_mlir.attribute_of(row, "jax.global_constant") for row in attributes["arg_attrs"])
    return [compat_mlir.symbol_text(name).lstrip("_") if name is not None else "" for name in named]


def _result_names(function: Any) -> list[str]:
    attributes = function.attributes
    if "res_attrs" not in attributes:
        return []
    named = (compat_mlir.attribute_of(row, "jax.result_info") for row in attributes["res_attrs"])
    return [compat_mlir.symbol_text(name) if name is not None else "" for name in named]


def _reducer(regions: list[Any]) -> Any | None:
    """The operation of a region that only combines its two arguments: add, maximum, minimum, or, ..."""
    if len(regions) != 1 or len(regions[0].blocks) != 1:
        return None
    body = regions[0].blocks[0]
    operations = [operation.operation for operation in body.operations]
    if len(operations) != 2 or len(body.arguments) != 2 or len(operations[0].results) != 1:
        return None
    first, last = operations
    if set(first.operands) != set(body.arguments) or list(last.operands) != list(first.results):
        return None
    # What a function is called for is more than a word.
    return None if first.name in _CALLS or len(first.regions) else first


def _captured(regions: Iterable[Any]) -> list[Any]:
    """The values that regions, or regions inside them, read from around them, each once."""
    inside: set[Any] = set()
    read: dict[Any, None] = {}
    waiting = list(regions)
    while waiting:
        for body in waiting.pop().blocks:
            inside.update(body.arguments)
            for operation in body.operations:
                operation = operation.operation
                inside.update(operation.results)
                read.update(dict.fromkeys(operation.operands))
                waiting.extend(operation.regions)
    return [value for value in read if value not in inside]
