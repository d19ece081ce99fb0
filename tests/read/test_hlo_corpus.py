"""Every program of the corpus, compiled for this machine, from its text and from its protocol buffer."""

from __future__ import annotations

from functools import cache
from typing import Any

import jax
import numpy as np
import pytest
from programs import CORPUS
from read.hlo_walk import assert_same_flow

from jaxviz.graph import columns_of
from jaxviz.program.program import Program
from jaxviz.read.frames import OWN_FOLDER
from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.proto import parse_hlo_proto
from jaxviz.read.hlo.table import table_of
from jaxviz.read.hlo.text import parse_hlo_text
from jaxviz.read.jaxpr import read_jaxpr
from jaxviz.tables import Tables

_NEEDS = {"mlp_train": "optax", "xor_train": "optax", "flax_block_forward": "flax", "flax_block_train": "flax"}
# Until 0.7, text has only the innermost line of each instruction.
_FEW_FRAMES = jax.__version_info__ < (0, 8)
_PARTS = ("nodes", "values", "operands", "literals", "regions", "bindings", "attributes")


@pytest.fixture(scope="module", autouse=True)
def _lowered_anew():
    """JAX keeps what it lowered of its own functions, with the lines of whoever called them first."""
    jax.clear_caches()


@cache
def compiled(name: str) -> tuple[Program, Any]:
    if name in _NEEDS:
        pytest.importorskip(_NEEDS[name])
    program = Program(*CORPUS[name]())
    # Lowered from a file of jaxviz, as it is when a person explores it.
    lowering: dict[str, Any] = {}
    exec(compile("def lower(traced): return traced.lower()", OWN_FOLDER + "lowering.py", "exec"), lowering)
    return program, lowering["lower"](program.traced).compile().runtime_executable().hlo_modules()[0]


@pytest.mark.parametrize("name", CORPUS)
def test_text_and_protocol_buffer_give_equal_graphs(name):
    module = compiled(name)[1]
    tables = Tables()
    of_text = read_hlo(parse_hlo_text(module.to_string()), tables)
    strings = len(tables.strings)
    of_proto = read_hlo(parse_hlo_proto(module.as_serialized_hlo_module_proto()), tables)
    assert _FEW_FRAMES or tables.strings[strings:] == []
    assert of_text.instruction == of_proto.instruction
    for part in _PARTS:
        for column, expected in columns_of(getattr(of_text.graph, part)).items():
            if _FEW_FRAMES and column == "stack":
                continue
            assert np.array_equal(columns_of(getattr(of_proto.graph, part))[column], expected), (part, column)


@pytest.mark.parametrize("name", ["scan_rnn", "cond", "linear_algebra", "flax_block_train"])
def test_the_table_of_a_protocol_buffer_says_what_its_computations_say(name):
    module = parse_hlo_proto(compiled(name)[1].as_serialized_hlo_module_proto())
    table = module.table
    assert table is not None
    module.table = None
    other = table_of(module)
    for column in ("opcodes", "shapes", "op_names", "attributes"):
        one, two = getattr(table, column), getattr(other, column)
        assert [one.different[at] for at in one.number] == [two.different[at] for at in two.number]
    assert (table.names, table.calls) == (other.names, other.calls)
    for column in ("bounds", "numbers", "operand_counts", "operands"):
        assert np.array_equal(getattr(table, column), getattr(other, column))
    some = [number for number in range(len(module.computations)) if number % 2]
    half, wanted = table.only(some), [module.computations[number] for number in some]
    assert half.names == [name for each in wanted for name in each.names]
    assert half.opcodes.part(slice(None)) == [opcode for each in wanted for opcode in each.opcodes]
    assert half.operands.tolist() == [place for each in wanted for read in each.operands for place in read]
    assert list(half.calls.values()) == [calls for each in wanted for calls in each.calls if calls]


@pytest.mark.parametrize("name", CORPUS)
def test_every_instruction_is_there_and_reads_what_it_reads(name):
    pytest.importorskip("jaxlib._hlo")
    module = compiled(name)[1]
    parsed = parse_hlo_text(module.to_string())
    assert assert_same_flow(read_hlo(parsed), module) == len(parsed)


@pytest.mark.parametrize("name", CORPUS)
def test_call_stacks_are_those_of_the_jaxpr(name):
    if _FEW_FRAMES:
        pytest.skip("until JAX 0.8 the text of HLO has the innermost line alone")
    program, module = compiled(name)
    tables = Tables()
    jaxpr = read_jaxpr(program.jaxpr, tables)
    graph = read_hlo(parse_hlo_text(module.to_string()), tables).graph

    def own(node: Any) -> tuple[Any, ...]:
        # Flax asks JAX to leave its own frames out.
        return tuple(frame for frame in node.frames if not frame.library)

    assert {own(node) for node in graph if node.frames} <= {own(node) for node in jaxpr}
    operations = [node for node in graph if node.kind == "operation" and node.scope]
    assert sum(bool(node.line) for node in operations) >= 0.9 * len(operations)


@pytest.mark.parametrize("excerpts", [False, True])
def test_source_files_are_looked_for_only_where_asked(excerpts):
    module = compiled("fori")[1]
    tables = Tables()
    read_hlo(parse_hlo_proto(module.as_serialized_hlo_module_proto()), tables, excerpts=excerpts)
    (text,) = [
        text
        for text, label in zip(tables.files.text, tables.files.label, strict=True)
        if tables.strings[label] == "programs.py"
    ]
    assert ("lax.fori_loop(0, 10" in text) == excerpts
