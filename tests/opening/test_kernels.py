"""Kernels that a program calls, and has in it as bytes, are opened beside it."""

from __future__ import annotations

import base64
import io
import json
import linecache

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl
from jaxlib.mlir import ir

import jaxviz as jv
from jaxviz.compat.mlir import mlir_context

KERNEL = """module @halve {
  func.func @halve(%x: f32) -> f32 {
    %half = arith.constant 0.5 : f32
    %y = arith.mulf %x, %half : f32 loc("body/mul")
    return %y : f32
  }
  func.func @transform_0(%i: i32) -> i32 {
    return %i : i32
  }
}
"""
HLO = """HloModule m
ENTRY e {
  p = f32[8]{0} parameter(0)
  k = f32[8]{0} custom-call(p), custom_call_target="kernel", backend_config=%s
  ROOT l = f32[8]{0} custom-call(k), custom_call_target="kernel", backend_config=%s
}
"""
MLIR = """func.func public @main(%%x: tensor<8xf32>) -> tensor<8xf32> {
  %%0 = stablehlo.custom_call @kernel(%%x) {
    mhlo.backend_config = {grid_x = 4 : i32, ir = "%s"}
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %%0 : tensor<8xf32>
}
"""


@pytest.fixture(scope="module")
def bytecode():
    written = io.BytesIO()
    ir.Module.parse(KERNEL, mlir_context()).operation.write_bytecode(written)
    return written.getvalue()


def escaped(data: bytes) -> str:
    """As MLIR prints bytes in quotes."""
    return "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in data)


def is_halve(kernel: jv.Graph) -> bool:
    return [node.op for node in kernel if node.kind == "operation"] == ["arith.constant", "arith.mulf"]


@pytest.mark.smoke
def test_a_kernel_of_pallas_for_a_tpu_is_opened_from_a_machine_without_one():
    def kernel(x_ref, y_ref, out_ref):
        out_ref[...] = jnp.maximum(x_ref[...] + y_ref[...], 0.0)

    def clip(x, y):
        return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), name="clip")(x, y) * 2

    shape = jax.ShapeDtypeStruct((16, 128), jnp.float32)
    opened = jv.open(jax.jit(clip).trace(shape, shape).lower(lowering_platforms=("tpu",)))
    assert (opened.names[0], len(opened.names)) == ("clip", 2)
    assert not opened.left_out
    inside = opened[opened.names[1]]
    assert inside.names[1].startswith("kernel")
    (added,) = inside.stablehlo.find("arith.addf")
    made_by = [inside.stablehlo.node(int(inside.stablehlo.value_node[value])) for value in added.operands]
    assert [node.op for node in made_by] == ["vector.load", "vector.load"]
    assert [node.types for node in (added, *made_by)] == [("f32[16,128]",)] * 3
    assert inside.view("stablehlo").boxes


@pytest.mark.smoke
def test_operations_of_a_kernel_have_the_lines_that_wrote_them():
    def kernel(x_ref, out_ref):
        @pl.when(pl.program_id(0) == 0)
        def _():
            out_ref[...] = x_ref[...] + 1.5

        def turn(number, kept):
            return kept * x_ref[...]

        out_ref[...] = jax.lax.fori_loop(0, 3, turn, x_ref[...]) - 2.5

    def power(x):
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return pl.pallas_call(kernel, out_shape=shape, grid=(2,), name="power")(x)

    shape = jax.ShapeDtypeStruct((16, 128), jnp.float32)
    opened = jv.open(jax.jit(power).trace(shape).lower(lowering_platforms=("tpu",)))
    inside = opened[next(name for name in opened.names if name.startswith("kernel"))].stablehlo
    for op, written in (("arith.addf", "+ 1.5"), ("arith.mulf", "kept *"), ("arith.subf", "- 2.5")):
        lines = {linecache.getline(node.frames[-1].file, node.frames[-1].line).strip() for node in inside.find(op)}
        assert lines
        assert all(written in line for line in lines)


@pytest.mark.parametrize("is_text", [True, False])
@pytest.mark.parametrize("is_json", [True, False])
def test_a_kernel_in_hlo_is_opened_once(is_text, is_json, bytecode, tmp_path):
    if is_json:
        config = json.dumps({"custom_call_config": {"body": base64.b64encode(bytecode).decode(), "layout": True}})
    else:
        config = json.dumps(f'{{grid_x = 4 : i32, ir = "{escaped(bytecode)}"}}')
    text = HLO % (config, config)
    (tmp_path / "m").write_text(text)
    if not is_text:
        hlo = pytest.importorskip("jaxlib._hlo")
        (tmp_path / "m").write_bytes(hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto())
    opened = jv.open(tmp_path / "m")
    assert (opened.names, opened.left_out) == (("m", "kernel halve"), ())
    assert is_halve(opened["kernel halve"].stablehlo)


def test_a_kernel_in_stablehlo_is_opened_and_one_that_is_damaged_is_told(bytecode, tmp_path):
    (tmp_path / "m.mlir").write_text(MLIR % escaped(bytecode))
    opened = jv.open(tmp_path / "m.mlir")
    assert opened.names == ("module", "kernel halve")
    assert is_halve(opened["kernel halve"].stablehlo)
    (tmp_path / "m.mlir").write_text(MLIR % escaped(bytecode[:-20]))
    damaged = jv.open(tmp_path / "m.mlir")
    assert damaged.names == ("module",)
    assert "a kernel, which the version of JAX that wrote it may read: byte 0" in damaged.left_out[0]


def test_kernels_of_a_dump_are_beside_their_modules(bytecode, tmp_path):
    config = json.dumps({"body": base64.b64encode(bytecode).decode()})
    (tmp_path / "module_0001.jit_f.tpu_after_optimizations.txt").write_text(HLO % (config, config))
    opened = jv.open(tmp_path)
    assert opened.names == ("m", "kernel halve")
    assert opened["kernel halve"].view("stablehlo").boxes


def test_what_pallas_wrote_is_not_found_fault_with(tmp_path):
    turns = "".join(f'    %y{turn + 1} = math.sin %y{turn} : f32 loc("body"("k.py":3:4))\n' for turn in range(60))
    written = io.BytesIO()
    text = f"func.func @k(%y0: f32) -> f32 {{\n{turns}    return %y60 : f32\n}}\n"
    ir.Module.parse(text, mlir_context()).operation.write_bytecode(written)
    config = json.dumps({"body": base64.b64encode(written.getvalue()).decode()})
    opened = jv.open(HLO % (config, config))
    kernel = opened["kernel k"]
    assert len(kernel.stablehlo.find("math.sin")) == 60
    assert kernel.findings == ()
    # The same is told of what a person wrote.
    assert [finding.kind for finding in jv.open(text).findings] == ["unrolled"]
