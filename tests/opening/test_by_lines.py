"""MLIR that jaxlib cannot parse is read by its lines: dialects that it lacks, and what a newer compiler wrote."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz.compat.mlir import location_name, location_part
from jaxviz.read.mlir_lines import read_lines

LOOP = """module {
  tt.func public @kernel(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i32) attributes {name = "a { %b"} {
    %0 = tt.get_program_id x : i32
    %1 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %2:2 = scf.for %i = %0 to %arg1 step %arg1 iter_args(%acc = %1, %q = %1) -> (tensor<64xi32>, tensor<64xf32>) {
      %3 = tt.addptr %acc, %i : tensor<64xi32>  // a comment }
      scf.yield %3, %q : tensor<64xi32>, tensor<64xi32>
    }
    tt.store %2#1, %2#0 : tensor<64xi32>
    tt.return
  }
}
"""


def test_dialects_that_jaxlib_cannot_parse_are_read_by_their_lines(tmp_path):
    (tmp_path / "m").write_text(LOOP)
    opened = jv.open(tmp_path / "m")
    graph = opened.stablehlo
    (loop,) = graph.find("scf.for")
    assert loop.types == ("i32[64]", "f32[64]")
    (inside,) = graph.find("tt.addptr")
    assert inside.region == loop.regions[0]
    (store,) = graph.find("tt.store")
    assert store.operands == (loop.values[1], loop.values[0])
    assert "read line by line" in repr(opened)
    assert opened.view("stablehlo").boxes


def test_functions_whose_names_are_in_quotes_have_them(tmp_path):
    text = """module @"a module of-one" {
  other.func @"a fusion-kernel"(%a: i32) -> i32 {
    %0 = other.use %a : i32
    %1 = func.call @"a helper.1"(%0) : (i32) -> i32
    other.return %1 : i32
  }
  other.func private @"a helper.1"(%a: i32) -> i32 {
    %0 = other.twice %a : i32
    other.return %0 : i32
  }
  other.func private @ {
  }
}
"""
    (tmp_path / "m").write_text(text)
    opened = jv.open(tmp_path / "m")
    assert opened.names == ("a module of-one",)
    (inside,) = opened.stablehlo.find("other.twice")
    assert opened.stablehlo.region(inside.region).name == "a helper.1"


def test_types_of_arguments_are_whole_where_they_have_parts(tmp_path):
    given = "%a: memref<8x128xf32, #tpu.memory_space<vmem>>, %b: tt.new<1 : i32>, %s: tensor<4x!q<i8:f32, {1.0, 2.0}>>"
    (tmp_path / "m").write_text(f"other.func @f({given}, %n: i32) {{\n  other.use %a, %s : i32\n}}\n")
    types = [node.types[0] for node in jv.open(tmp_path / "m").stablehlo if node.kind == "argument"]
    assert types == ["f32[8,128]", "tt.new<1 : i32>", "!q<i8:f32, {1.0, 2.0}>[4]", "i32"]


QUANTIZED = """// A model of eight bits: what {
#encoding = #sparse.encoding<{
  map = (d0) -> (d0 : dense)
}>
module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 2.0:-1>>, %n: tensor<i32>) -> tensor<4xf32> {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %0:2 = stablehlo.while(%i = %one, %carry = %x) : tensor<i32>, tensor<4x!quant.uniform<i8:f32, 2.0:-1>>
    cond {
      %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %carry : tensor<i32>, tensor<4x!quant.uniform<i8:f32, 2.0:-1>>
    }
    %1 = "stablehlo.uniform_dequantize"(%0#1) {
      names = {
        a = 1 : i32
      }
    } : (tensor<4x!quant.uniform<i8:f32, 2.0:-1>>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
"""


def test_loops_and_quantized_types_are_read_by_their_lines(tmp_path):
    (tmp_path / "m").write_text(QUANTIZED)
    opened = jv.open(tmp_path / "m")
    graph = opened.stablehlo
    loop, add, last = (graph.find(op)[0] for op in ("stablehlo while", "add", "uniform_dequantize"))
    assert loop.types == ("i32[]", "quant<i8:f32>[4]")
    assert len(loop.regions) == 2
    assert add.region == loop.regions[1]
    counter = graph.value_node[add.operands[0]]
    assert graph.node(counter).kind == "argument"
    assert graph.node(counter).types == ("i32[]",)
    assert last.operands == (loop.values[1],)
    assert last.region == 0
    assert opened.document().graphs[0] is not None


def test_functions_in_the_module_of_a_device_are_programs(tmp_path):
    path = tmp_path / "device.mlir"
    path.write_text(
        "module @m {\n  other.device_module {\n    builtin.module @m attributes {other.meshes = 1} {\n"
        "      func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        '        %0 = "other.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>\n'
        "        return %0 : tensor<4xf32>\n      }\n    }\n  }\n}\n"
    )
    opened = jv.open(path)
    assert [node.op for node in opened.stablehlo] == ["argument", "other.tanh", "result"]


def test_nothing_is_found_in_operations_of_which_it_is_not_known_what_they_mean(tmp_path):
    text = "func.func @f(%x: tensor<2xf32>) {\n  %y = other.thing %x : tensor<2xf32>\n"
    (tmp_path / "m").write_text(text + "  %z = stablehlo.divide %none, %y : tensor<2xf32>\n  return\n}\n")
    opened = jv.open(tmp_path / "m")
    assert opened.stablehlo.find("divide")
    assert opened.findings == ()


def test_operations_that_a_newer_compiler_has_are_read_by_their_lines(tmp_path):
    text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.of_tomorrow %x : tensor<4xf32>\n"
    generic = '  %1 = "stablehlo.of_tomorrow"(%0) : (tensor<4xf32>) -> tensor<4xf32>\n  return %1 : tensor<4xf32>\n}\n'
    for written in (text + generic, text.replace("stablehlo.of_tomorrow %x", "stablehlo.negate %x") + generic):
        (tmp_path / "m").write_text(written)
        assert jv.open(tmp_path / "m").stablehlo.find("of_tomorrow")


def test_words_that_a_newer_compiler_has_for_an_attribute_are_read_by_their_lines(tmp_path):
    text = (
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = {} tensor<4xf32>\n  return %x : tensor<4xf32>\n}"
    )
    compared = "stablehlo.compare NEARLY, %x, %x : (tensor<4xf32>, tensor<4xf32>) ->"
    precise = "stablehlo.dot %x, %x, precision = [LATER, DEFAULT] : (tensor<4xf32>, tensor<4xf32>) ->"
    for written in (compared, precise):
        (tmp_path / "m").write_text(text.replace("{}", written))
        opened = jv.open(tmp_path / "m")
        assert opened.stablehlo.find(written.split()[0].removeprefix("stablehlo."))
        assert "read line by line" in repr(opened)


def test_attributes_and_types_that_a_newer_compiler_has_leave_the_rest_of_the_program_as_it_is(tmp_path):
    text = jax.jit(lambda x: jnp.exp(x @ x)).lower(jnp.ones((3, 3))).as_text()
    for old, new in (
        ("exponential %", "exponential fast<#stablehlo.fast_math approx> %"),
        ("contracting_dims", "sparsity = <2:4>, contracting_dims"),
        ("tensor<3x3xf32>", "tensor<3x3xf7E3M3>"),
    ):
        assert old in text
        (tmp_path / "m").write_text(text.replace(old, new))
        opened = jv.open(tmp_path / "m")
        assert "read line by line" in repr(opened)
        assert [len(opened.stablehlo.find(op)) for op in ("dot_general", "exponential")] == [1, 1]


def test_what_is_said_of_an_operation_is_kept_as_it_is_written(tmp_path):
    (tmp_path / "m").write_text(LOOP)
    graph = jv.open(tmp_path / "m").stablehlo
    (made,) = graph.find("tt.make_range")
    assert made.attributes == {"text": "{end = 64 : i32, start = 0 : i32}"}
    (program,) = graph.find("tt.get_program_id")
    assert program.attributes == {"text": "x"}
    (added,) = graph.find("tt.addptr")
    assert added.attributes == {}


@pytest.mark.parametrize("debug_info", [False, True])
def test_functions_of_a_text_in_which_all_operations_are_written_alike_have_their_names(tmp_path, debug_info):
    lowered = jax.jit(_two_layers).lower(jnp.ones((4, 3)), jnp.ones((3, 3)), jnp.ones((3, 2)))
    operation = lowered.compiler_ir("stablehlo").operation
    text = operation.get_asm(print_generic_op_form=True, enable_debug_info=debug_info)
    (tmp_path / "m").write_text(text.replace('"stablehlo.tanh"', '"stablehlo.of_tomorrow"'))
    opened = jv.open(tmp_path / "m")
    assert opened.call == "_two_layers"
    graph = opened.stablehlo
    assert "read line by line" in repr(opened)
    assert [node.types[0] for node in graph if node.kind == "argument" and not node.region] == [
        "f32[4,3]",
        "f32[3,3]",
        "f32[3,2]",
    ]
    assert len(graph.find("of_tomorrow")) == 2


@pytest.mark.parametrize(("cut", "message"), [(LOOP[:-2], "as often as there is {"), (LOOP + "}\n", "{ before this }")])
def test_lines_whose_bodies_do_not_end_are_an_error(tmp_path, cut, message):
    (tmp_path / "m").write_text(cut)
    with pytest.raises(jv.OpenError, match=r"line \d+:1: expected .*" + re.escape(message)):
        jv.open(tmp_path / "m")


def _layer(x, w):
    return jnp.tanh(x @ w)


def _two_layers(x, first, second):
    return _layer(_layer(x, first), second).sum()


@pytest.mark.parametrize("unknown", ["stablehlo.of_tomorrow<3>", "sdy.of_tomorrow<3>"])
def test_what_is_read_by_lines_says_where_it_is_from_as_it_does_elsewhere(tmp_path, unknown):
    lowered = jax.jit(_two_layers).lower(jnp.ones((4, 3)), jnp.ones((3, 3)), jnp.ones((3, 2)))
    text = lowered.as_text(debug_info=True)
    (tmp_path / "known").write_text(text)
    changed = re.sub(r"(stablehlo\.tanh %\d+) :", rf"\1 {{new = #{unknown}}} :", text)
    assert changed != text
    (tmp_path / "unknown").write_text(changed)
    known, opened = jv.open(tmp_path / "known"), jv.open(tmp_path / "unknown")
    line = next(number for number, line in enumerate(changed.split("\n"), 1) if "{new = " in line)
    assert f"without what its operations mean: line {line}:" in repr(opened)
    assert opened.call == known.call == "_two_layers"
    # What a result is called is no location.
    rows = [
        [(str(node), node.scope, node.frames) for node in one.stablehlo if node.kind != "result"]
        for one in (opened, known)
    ]
    assert rows[0] == rows[1]
    boxes = [[box.name for box in one.view("stablehlo").boxes if box.kind != "result"] for one in (opened, known)]
    assert boxes[0] == boxes[1]
    assert "_layer" in boxes[0]


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ('"sin"("f.py":3:4 to :9)', ("sin", (("f.py", 3, 9),))),
        (
            '"jit(f)/sin"(callsite("g"("f.py":3:4 to 5:6) at "h"("g.py":7:1)))',
            ("jit(f)/sin", (("g.py", 7, 1), ("f.py", 3, 6))),
        ),
        ('fused<"x">["a"("f.py":1:2), "b"("g.py":1:2)]', ("", (("f.py", 1, 2),))),
        ('"a \\"b\\" \\C3\\A4)"("f.py":1:2)', ('a "b" ä)', (("f.py", 1, 2),))),
        ("#loc1", ("a", (("f.py", 1, 2),))),
        ("#loc2", ("b", ())),
        ("#loc3", ("", ())),
        ("unknown", ("", ())),
        ('"a"()', ("a", ())),
        ("callsite(" * 90 + ")" * 90, ("", ())),
    ],
)
def test_locations_are_read_as_they_are_written(tmp_path, location, said):
    text = (
        f"func.func @f(%x: f32) {{\n  %y = other.thing %x : f32 loc({location})\n  return %y : f32\n}}\n"
        '#loc1 = loc("a"("f.py":1:2))\n#loc2 = loc("b"(#loc2))\n'
    )
    (operation, _) = read_lines(text).body.operations[0].regions[0].blocks[0].operations
    assert [result.type for result in operation.results] == ["f32"]
    name, files = location_name(operation.location), []
    waiting = [operation.location]
    for _ in range(40):
        part = location_part(waiting.pop()) if waiting else None
        if part is not None:
            files += [(part.text, part.place[0], part.place[3])] if part.kind == "file" else []
            waiting += part.inside[::-1]
    assert (name, tuple(sorted(files, key=str))) == (said[0], tuple(sorted(said[1], key=str)))
