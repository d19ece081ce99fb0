"""MLIR that jaxlib cannot parse is read by its lines: dialects that it lacks, and what a newer compiler wrote."""

from __future__ import annotations

import re

import pytest

import jaxviz as jv

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


@pytest.mark.parametrize(("cut", "message"), [(LOOP[:-2], "as often as there is {"), (LOOP + "}\n", "{ before this }")])
def test_lines_whose_bodies_do_not_end_are_an_error(tmp_path, cut, message):
    (tmp_path / "m").write_text(cut)
    with pytest.raises(jv.OpenError, match=r"line \d+:1: expected .*" + re.escape(message)):
        jv.open(tmp_path / "m")
