"""Several programs in one file of MLIR, and operations that JAX does not write."""

from __future__ import annotations

from time import process_time

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz.read.bytecode import BytecodeError
from jaxviz.read.mlir import MlirError, parse_mlir

ONE = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.sine %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
TWO = ONE.replace("sine", "cosine").replace("  return", "  %1 = stablehlo.add %0, %x : tensor<4xf32>\n  return")
MARK = "\n// -----\n\n"


def opened_of(folder, text):
    (folder / "m.mlir").write_text(text)
    return jv.open(folder / "m.mlir")


def test_a_function_that_is_called_as_its_module_is_a_program(tmp_path):
    (tmp_path / "m").write_text(f"module @step {{\n{ONE.replace('@main', '@step')}{TWO.replace('@main', '@eval')}}}\n")
    assert set(jv.open(tmp_path / "m").names) == {"step", "eval"}


def test_modules_that_a_mark_parts_are_programs(tmp_path):
    opened = opened_of(
        tmp_path, f"// RUN: opt\n{MARK}module @jit_step {{\n{ONE}}}{MARK}{TWO}{MARK}// The end.\n{MARK}module {{}}"
    )
    assert opened.names == ("module", "step")
    assert [bool(opened[name].stablehlo.find("cosine")) for name in opened.names] == [True, False]
    assert len(opened.with_others().programs) == 2
    assert opened.left_out == ()


def test_of_several_modules_those_that_cannot_be_read_are_listed_with_their_lines(tmp_path):
    opened = opened_of(tmp_path, ONE + MARK + TWO.replace("add %0", "add %none") + MARK + TWO)
    assert opened.names == ("module (2)", "module")
    (reason,) = opened.left_out
    assert "m.mlir: line 10:22: expected MLIR, but use of undeclared SSA value name" in reason
    assert "left out: " in repr(opened)
    with pytest.raises(jv.OpenError, match=r"line 2:\d+: expected"):
        opened_of(tmp_path, MARK.join([ONE.replace("%x :", "%none :")] * 2))


def test_a_mark_that_parts_no_modules_is_a_comment(tmp_path):
    first, last = "!four = tensor<4xf32>", "func.func private @g(%x: !four)"
    assert opened_of(tmp_path, f"{first}{MARK}{ONE}{MARK}{last}").names == ("module",)


def test_modules_in_a_module_and_functions_that_nothing_calls_are_programs(tmp_path):
    both = f"module @jit_step {{\n{ONE}}}\nmodule @jit_eval {{\n{TWO}}}\n"
    assert opened_of(tmp_path, both).names == ("eval", "step")
    served = (
        TWO.replace("@main", "@serve")
        .replace("%1 = stablehlo.add %0, %x", "%1 = func.call @inner(%0)")
        .replace(
            "%1 = func.call @inner(%0) : tensor<4xf32>", "%1 = func.call @inner(%0) : (tensor<4xf32>) -> tensor<4xf32>"
        )
    )
    inner, train = ONE.replace("@main", "@inner"), ONE.replace("@main", "@train")
    opened = opened_of(tmp_path, f"// CHECK-LABEL: @train\n{inner}{served}{train}")
    assert opened.names == ("serve", "train")
    assert opened["serve"].stablehlo.find("sine")
    unused = train.replace("func.func", "func.func private")
    assert opened_of(tmp_path, ONE + unused).names == ("module",)


def test_what_jax_lowers_is_one_program(tmp_path):
    def step(x):
        return jax.lax.scan(lambda carry, _: (jnp.tanh(carry) + jax.nn.softmax(carry), None), x, length=3)[0]

    lowered = jax.jit(step).lower(jnp.ones(4))
    assert opened_of(tmp_path, lowered.as_text(debug_info=True)).names == ("step",)


STRUCTURED = """func.func @main(%x: tensor<4xf32>, %p: i1, %n: i32) -> (tensor<4xf32>, i32) {
  %0 = scf.if %p -> (tensor<4xf32>) {
    %2 = stablehlo.sine %x : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } else {
    scf.yield %x : tensor<4xf32>
  }
  scf.if %p {
    %3 = stablehlo.cosine %x : tensor<4xf32>
  }
  %1 = scf.while (%i = %n) : (i32) -> i32 {
    scf.condition(%p) %i : i32
  } do {
  ^bb0(%j: i32):
    scf.yield %j : i32
  }
  return %0, %1 : tensor<4xf32>, i32
}
"""


def test_conditions_and_loops_of_other_dialects_open(tmp_path):
    opened = opened_of(tmp_path, STRUCTURED)
    graph = opened.stablehlo
    graph.check()
    condition, other = graph.find("scf.if")
    assert len(condition.regions) == len(other.regions) == 2
    (sine,) = graph.find("sine")
    assert graph.node(graph.value_node[condition.values[0]]) == condition
    assert sine.region == condition.regions[0]
    # What the branches hand on leaves them.
    assert not graph.find("scf.yield")
    assert opened.document().graphs[0] is not None
    assert "read line by line" not in repr(opened)


# On some versions of jaxlib, to check this ends the process.
KERNEL = """module attributes {gpu.container_module} {
  func.func @main(%c: index, %x: memref<4xf32>) {
    "other.guard"() ({
      gpu.launch_func @kernels::@add blocks in (%c, %c, %c) threads in (%c, %c, %c) args(%x : memref<4xf32>)
      "other.yield"() : () -> ()
    }) : () -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @add(%x: memref<4xf32>) kernel {
      gpu.return
    }
  }
}
"""


def test_text_that_ends_its_parser_is_read_by_its_lines(tmp_path, monkeypatch):
    assert opened_of(tmp_path, KERNEL).stablehlo.find("gpu.launch_func")

    def ends(text):
        raise BytecodeError("expected MLIR, but reading it ended the parser")

    monkeypatch.setattr("jaxviz.read.mlir.try_text", ends)
    # Some checks of MHLO end a parser, too.
    for text in (KERNEL, ONE.replace("stablehlo", "mhlo")):
        assert "read line by line, without what its operations mean: line 1:1" in repr(opened_of(tmp_path, text))
    # What JAX writes is not tried elsewhere first.
    assert "read line by line" not in repr(opened_of(tmp_path, ONE))


def test_an_error_of_a_part_far_down_in_a_file_is_found_at_once():
    start = process_time()
    with pytest.raises(MlirError, match="line 60001:1: expected MLIR, but"):
        parse_mlir("\n" * 60_000 + "wrong {")
    assert process_time() - start < 2


def test_bodies_in_lines_of_their_own_cannot_read_what_their_owner_makes(tmp_path):
    loop = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = other.loop %x : tensor<4xf32>
  cond {
    %1 = other.add %0, %x : tensor<4xf32>
    other.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
"""
    graph = opened_of(tmp_path, loop).stablehlo
    (add,) = graph.find("other.add")
    assert len(add.operands) == 1


def test_attributes_of_other_dialects_may_end_anywhere_in_a_line(tmp_path):
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "other.slice"(%x) {
    begin = 1 : i32, names = {
      a = 1 : i32 }, end = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = other.add %0, %x {tiles = [{
    size = 4 }]} : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""
    graph = opened_of(tmp_path, text).stablehlo
    ((add,), (cut,)) = graph.find("other.add"), graph.find("other.slice")
    assert add.operands[0] == cut.values[0]
    assert graph.node(len(graph) - 1).operands == add.values


def test_what_jaxlib_cannot_read_in_other_dialects_is_read_by_its_lines(tmp_path):
    text = """func.func @main(%x: memref<4xf32, #other.space>) {
  scf.execute_region {
    scf.yield
  }
  return
}
"""
    assert opened_of(tmp_path, text).stablehlo.find("scf.execute_region")


def test_a_function_that_never_comes_back_gives_nothing(tmp_path):
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @stops(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @stops(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}
"""
    opened = opened_of(tmp_path, text)
    opened.stablehlo.check()
    assert opened.view("stablehlo").boxes


def test_what_a_text_begins_with_may_be_an_alias_or_an_operation_of_any_dialect(tmp_path):
    for first in ("!four  = tensor<4xf32>\n", "other.made.here @g\n", "llvm.mlir.global external @g(0 : i32) : i32\n"):
        assert opened_of(tmp_path, first + ONE).stablehlo.find("sine")


@pytest.mark.parametrize("called", ["main", "other"])
def test_functions_that_call_themselves_are_shown_once(tmp_path, called):
    text = TWO.replace(
        "stablehlo.cosine %x : tensor<4xf32>", f"func.call @{called}(%x) : (tensor<4xf32>) -> tensor<4xf32>"
    )
    other = text.replace("@main", "@other").replace(f"call @{called}", "call @main")
    opened = opened_of(tmp_path, text + other)
    calls = opened.stablehlo.find("call")
    assert [bool(call.regions) for call in calls] == ([False] if called == "main" else [True, False])
    assert "not repeated here" in calls[-1].attributes["body"]


HLO = """HloModule {name}

ENTRY e {{
  p = f32[8]{{0}} parameter(0)
  ROOT r = f32[8]{{0}} negate(p)
}}
"""


@pytest.mark.parametrize("between", ["\n", "\n// -----\n\n"])
def test_several_modules_of_hlo_in_one_text_are_programs_each(tmp_path, between):
    path = tmp_path / "both.hlo"
    path.write_text(between.join([HLO.format(name="one"), HLO.format(name="other")]))
    assert sorted(jv.open(path).names) == ["one", "other"]
    # One of them that cannot be read is left out, with its line.
    path.write_text(between.join([HLO.format(name="one"), HLO.format(name="other").replace("negate(p)", "negate(q)")]))
    opened = jv.open(path)
    assert opened.names == ("one",)
    (reason,) = opened.left_out
    line = path.read_text().splitlines().index("  ROOT r = f32[8]{0} negate(q)") + 1
    assert f"line {line}:" in reason


def test_hlo_without_its_first_line_is_known_by_its_body(tmp_path):
    path = tmp_path / "entry.txt"
    path.write_text(HLO.partition("\n\n")[2].format())
    opened = jv.open(path)
    assert opened.kinds == ("hlo",)
    assert [node.op for node in opened.hlo] == ["argument", "negate", "result"]


def test_hlo_without_types_says_which_are_not_known(tmp_path):
    path = tmp_path / "untyped.hlo"
    path.write_text(
        "ENTRY e {\n  p = (f32[8]) parameter(0)\n  x = get-tuple-element(p), index=0\n"
        '  pair = custom-call(x), custom_call_target="f"\n  b = get-tuple-element(pair), index=1\n'
        "  ROOT r = tuple(x, b)\n}\n"
    )
    opened = jv.open(path)
    told = "types that the text leaves out and that follow from nothing"
    assert f"{told}: pair (custom-call), b (get-tuple-element), r (tuple)" in repr(opened)
    assert [str(node) for node in opened.hlo][:2] == ["%0:f32[8] = argument[p]", "%1:?, %2:? = custom-call[pair] %0"]


def test_hlo_that_marks_no_entry_says_what_is_shown(tmp_path):
    path = tmp_path / "last.hlo"
    path.write_text(HLO.format(name="one").replace("ENTRY e", "last"))
    opened = jv.open(path)
    assert "no computation is marked ENTRY: shown is the last one, last" in repr(opened)
