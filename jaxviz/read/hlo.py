"""Read an HLO module as a graph.

Every instruction becomes a node, but for those that only pack and unpack tuples: values flow element by element, into
bodies and out of them too. A computation that is called becomes a region of its caller, each call its own copy; one
that applies a single operation, such as the sum of a reduction, is an attribute. Where copies of copies would blow the
graph up, later calls stay closed once `REPEATED_NODES` have been spent; the node then says so in the attribute `body`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from jaxviz.graph import (
    ARGUMENT,
    CONSTANT,
    OPERATION,
    RESULT,
    Attributes,
    Bindings,
    Column,
    Graph,
    Literals,
    Nodes,
    Operands,
    Regions,
    Values,
)
from jaxviz.read.communication import with_communication
from jaxviz.read.garbage import no_collections
from jaxviz.read.hlo_attributes import AttributeReader
from jaxviz.read.hlo_calls import Body, joins_of, regions_of, simple_name
from jaxviz.read.hlo_frames import HloFrames
from jaxviz.read.hlo_module import HloComputation, HloError, HloModule
from jaxviz.read.hlo_order import Order, order_of
from jaxviz.read.hlo_shapes import Shapes
from jaxviz.read.tag_text import without_tags
from jaxviz.tables import Tables

#: Tuples of tuples, each read again and again, could fill any memory.
MOST_OPERANDS = 10_000_000

#: How many nodes of computations that were shown before a graph may repeat.
REPEATED_NODES = 50_000

# The values that an instruction makes, elements of tuples one by one.
Flow = tuple[int, ...]

# The place of the scope among the columns of nodes.
_SCOPE = 5


@dataclass(frozen=True, eq=False, repr=False)
class HloGraph:
    """The graph of a module, and which instruction each node was."""

    graph: Graph
    module: HloModule
    #: The name of the instruction of each node; empty for results. Elements of one tuple share it.
    instruction: list[str]
    #: The name stack of each node as the metadata has it, with tags, as a row of `names`.
    names: list[str]
    name: Column

    def __repr__(self) -> str:
        return f"<HloGraph of {self.module!r}: {self.graph!r}>"

    @cached_property
    def node_of(self) -> dict[str, tuple[int, ...]]:
        """The nodes of each instruction: several where its computation is called several times, or for an argument
        that is a tuple, and none where it only packs or unpacks one."""
        nodes: dict[str, list[int]] = {}
        for node, name in enumerate(self.instruction):
            if name:
                nodes.setdefault(name, []).append(node)
        return {name: tuple(found) for name, found in nodes.items()}


def read_hlo(
    module: HloModule,
    tables: Tables | None = None,
    *,
    frames: bool = True,
    excerpts: bool = False,
    repeated_nodes: int = REPEATED_NODES,
) -> HloGraph:
    """The graph of a module as `parse_hlo_text` or `parse_hlo_proto` give it; `HloError` for one that is wrong.

    Without `frames` the call stacks in the module are left alone: a jaxpr says them better. `excerpts` looks for the
    source files on this machine: for a program of this process, not for any file that was opened, which could name any
    other.

    >>> from jaxviz.read.hlo_text import parse_hlo_text
    >>> text = "HloModule m\\nENTRY e {\\n  p = f32[2] parameter(0)\\n  ROOT n = f32[2] negate(p)\\n}"
    >>> [node.op for node in read_hlo(parse_hlo_text(text)).graph]
    ['argument', 'negate', 'result']
    """
    tables = Tables() if tables is None else tables
    with no_collections():
        writer = _Writer(module, tables, repeated_nodes, frames)
        writer.write_program()
        if excerpts:
            writer.frames.write_excerpts()
        return writer.hlo_graph()


class _Writer:
    """Writes the rows of a graph, computation by computation, in the order in which its nodes stand."""

    def __init__(self, module: HloModule, tables: Tables, repeated_nodes: int, frames: bool) -> None:
        self.module = module
        self.tables = tables
        self.shapes = Shapes(tables)
        self.frames = HloFrames(module, tables, wanted=frames)
        self.attributes = AttributeReader(tables)
        self.orders: list[Order] = order_of(module)
        self.repeated_nodes = repeated_nodes
        self.shown: set[int] = set()
        self.instruction: list[str] = []
        self.name_of: dict[str, int] = {"": 0}
        self.node_rows: tuple[list[int], ...] = tuple([] for _ in range(8))
        self.value_types: list[int] = []
        self.sources: list[int] = []
        self.region_rows: list[tuple[int, int, int]] = []
        self.binding_rows: list[tuple[int, int, int]] = []
        self.attribute_rows: list[tuple[int, int, int]] = []

    def write_program(self) -> None:
        module, tables = self.module, self.tables
        if not 0 <= module.entry < len(module.computations):
            raise HloError(f"{module.unit} 0: expected an entry computation")
        self.region_rows.append((-1, tables.string("program"), tables.string(module.name)))
        self.shown.add(module.entry)
        self._write(module.entry, 0)

    def hlo_graph(self) -> HloGraph:
        names = list(self.name_of)
        clean = np.array([self.tables.string(without_tags(name)) for name in names], np.int32)
        name = np.array(self.node_rows[_SCOPE], np.int32)
        self.node_rows[_SCOPE][:] = clean[name].tolist()
        return HloGraph(with_communication(self.graph()), self.module, self.instruction, names, name)

    def graph(self) -> Graph:
        def columns(rows: list[tuple[int, int, int]]) -> list[np.ndarray[tuple[int], np.dtype[np.int32]]]:
            return list(np.array(rows, np.int32).reshape(-1, 3).T.copy())

        none = np.zeros(0, np.int32)
        return Graph(
            nodes=Nodes(*(np.array(column, np.int32) for column in self.node_rows)),
            values=Values(np.array(self.value_types, np.int32)),
            operands=Operands(np.array(self.sources, np.int32)),
            literals=Literals(none, none),
            regions=Regions(*columns(self.region_rows)),
            bindings=Bindings(*columns(self.binding_rows)),
            attributes=Attributes(*columns(self.attribute_rows)),
            tables=self.tables,
        )

    # Computations.

    def _write(self, number: int, region: int) -> tuple[list[int], list[int]]:
        """Write a computation into a region; give its arguments and results."""
        computation = self.module.computations[number]
        order = self.orders[number]
        flows: list[Flow] = [()] * len(computation)
        arguments = self._write_arguments(computation, order, region, flows)
        names, opcodes, operands_of = computation.names, computation.opcodes, computation.operands
        shapes, frames, tables = self.shapes, self.frames, self.tables
        kinds, ops, name_rows, region_rows, stacks, scopes, outputs, operand_counts = self.node_rows
        value_types, sources, instruction = self.value_types, self.sources, self.instruction
        attribute_rows, attributes = self.attribute_rows, self.attributes
        for index in order.instructions:
            opcode = opcodes[index]
            if opcode == "tuple":
                flows[index] = self._pack(computation, index, flows)
                continue
            if opcode == "get-tuple-element":
                flows[index] = self._unpack(computation, index, flows)
                continue
            node = len(kinds)
            types = shapes.types(computation, index, self.module)
            constant = opcode == "constant" and len(types) == 1
            kinds.append(CONSTANT if constant else OPERATION)
            ops.append(tables.string(opcode))
            name_rows.append(tables.string(names[index]))
            region_rows.append(region)
            stacks.append(frames.stack(computation.frames[index]))
            scopes.append(self._scope(computation.op_names[index]))
            instruction.append(names[index])
            read = 0
            if not constant:
                for operand in operands_of[index]:
                    flow = flows[operand]
                    sources.extend(flow)
                    read += len(flow)
            operand_counts.append(read)
            if len(sources) > MOST_OPERANDS:
                raise self.module.error(computation, index, f"expected at most {MOST_OPERANDS:,} operands in all")
            outputs.append(len(types))
            value = len(value_types)
            value_types.extend(types)
            flows[index] = tuple(range(value, value + len(types)))
            for key, text in attributes.rows(computation, index):
                attribute_rows.append((node, key, text))
            if computation.calls[index]:
                self._write_calls(computation, index, node, flows)
        return arguments, self._write_results(flows[computation.root], region)

    def _write_arguments(self, computation: HloComputation, order: Order, region: int, flows: list[Flow]) -> list[int]:
        arguments: list[int] = []
        for index in order.parameters:
            name = computation.names[index]
            scope = computation.op_names[index]
            if region == 0 and scope:
                name, scope = scope, ""
            types = self.shapes.types(computation, index, self.module)
            value = len(self.value_types)
            for element, type_ in enumerate(types):
                self._add_border(
                    ARGUMENT,
                    "argument",
                    name if len(types) == 1 else f"{name}[{element}]",
                    region,
                    self.frames.stack(computation.frames[index]),
                    self._scope(scope),
                )
                self.instruction[-1] = computation.names[index]
                arguments.append(len(self.instruction) - 1)
                self.value_types.append(type_)
                if element == 0:
                    for key, text in self.attributes.rows(computation, index):
                        self.attribute_rows.append((arguments[-1], key, text))
            flows[index] = tuple(range(value, value + len(types)))
        return arguments

    def _write_results(self, flow: Flow, region: int) -> list[int]:
        results = []
        for value in flow:
            self._add_border(RESULT, "result", "", region, -1, 0)
            self.sources.append(value)
            results.append(len(self.instruction) - 1)
        return results

    def _scope(self, name: str) -> int:
        """The row of a name stack in `names`; in the graph it goes without tags."""
        row = self.name_of.get(name)
        if row is None:
            row = self.name_of[name] = len(self.name_of)
        return row

    def _add_border(self, kind: int, op: str, name: str, region: int, stack: int, scope: int) -> None:
        tables = self.tables
        row = (
            kind,
            tables.string(op),
            tables.string(name),
            region,
            stack,
            scope,
            int(kind == ARGUMENT),
            int(kind == RESULT),
        )
        for column, entry in zip(self.node_rows, row, strict=True):
            column.append(entry)
        self.instruction.append("")

    # Tuples.

    def _pack(self, computation: HloComputation, index: int, flows: list[Flow]) -> Flow:
        operands = computation.operands[index]
        if sum(len(flows[operand]) for operand in operands) != len(self.shapes.types(computation, index, self.module)):
            raise self.module.error(computation, index, f"expected the elements of {computation.shapes[index][:100]}")
        return tuple(value for operand in operands for value in flows[operand])

    def _unpack(self, computation: HloComputation, index: int, flows: list[Flow]) -> Flow:
        operands, number = computation.operands[index], computation.numbers[index]
        if len(operands) != 1:
            raise self.module.error(computation, index, "expected one operand")
        starts = self.shapes.elements(computation, operands[0], self.module)
        if not starts:
            raise self.module.error(computation, index, "expected a tuple as its operand")
        if not 0 <= number < len(starts) - 1:
            raise self.module.error(computation, index, f"expected the index of an element, below {len(starts) - 1}")
        return flows[operands[0]][starts[number] : starts[number + 1]]

    # Calls.

    def _write_calls(self, computation: HloComputation, index: int, node: int, flows: list[Flow]) -> None:
        module, tables = self.module, self.tables
        callees = []
        for role, callee in computation.calls[index]:
            simple = simple_name(module.computations[callee], computation.opcodes[index])
            if simple:
                self.attribute_rows.append((node, tables.string(role.partition(" ")[0]), tables.string(simple)))
            elif self._may_show(callee):
                callees.append((role, callee))
            else:
                text = f"same as the first call of {module.computations[callee].name}, not repeated here"
                self.attribute_rows.append((node, tables.string("body"), tables.string(text)))
        if not callees:
            return
        borders = []
        for (role, callee), (kind, name) in zip(callees, regions_of(computation, index, callees, module), strict=True):
            region = len(self.region_rows)
            self.region_rows.append((node, tables.string(kind), tables.string(name)))
            borders.append(Body(role, *self._write(callee, region)))
        operands = [flows[operand] for operand in computation.operands[index]]
        self.binding_rows += joins_of(computation, index, operands, flows[index], borders, module)

    def _may_show(self, callee: int) -> bool:
        if callee not in self.shown:
            self.shown.add(callee)
            return True
        size = self.orders[callee].size
        if size > self.repeated_nodes:
            return False
        self.repeated_nodes -= size
        return True
