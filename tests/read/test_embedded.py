"""Kernels that programs carry as bytes are said, in each of the forms in which a program is written."""

from __future__ import annotations

import base64

import jaxviz as jv

KERNEL = b"ML\xefR\x01MLIR23.0.0git\x00" + bytes(range(1, 90))
HLO = """HloModule m
ENTRY e {
  p = f32[8]{0} parameter(0)
  ROOT k = f32[8]{0} custom-call(p), custom_call_target="tpu_custom_call", backend_config=%s
}
"""
MLIR = """func.func public @main(%%x: tensor<8xf32>) -> tensor<8xf32> {
  %%0 = stablehlo.custom_call @kernel(%%x) {%s} : (tensor<8xf32>) -> tensor<8xf32>
  return %%0 : tensor<8xf32>
}
"""


def test_a_kernel_in_base64_is_said_by_its_size(tmp_path):
    body = base64.b64encode(KERNEL).decode()
    quoted = rf'backend_config = "{{\22custom_call_config\22: {{\22body\22: \22{body}\22, \22layout\22: true}}}}"'
    for written in (HLO % f'{{"custom_call_config":{{"body":"{body}","layout":true}}}}', MLIR % quoted):
        (tmp_path / "m").write_text(written)
        opened = jv.open(tmp_path / "m")
        graph = opened.hlo if opened.kinds == ("hlo",) else opened.stablehlo
        (call,) = (node for node in graph if node.kind == "operation")
        said = call.attributes["backend_config"]
        assert f"{len(KERNEL)} bytes of MLIR" in said
        assert "layout" in said
        assert "\\" not in said


def test_a_kernel_of_escaped_bytes_is_said(tmp_path):
    written = "".join(chr(byte) if 48 <= byte < 91 else f"\\{byte:02X}" for byte in KERNEL)
    (tmp_path / "m").write_text(MLIR % f'mhlo.backend_config = {{code = "{written}", warps = 4 : i32}}')
    (call,) = jv.open(tmp_path / "m").stablehlo.find("custom_call")
    assert call.attributes["mhlo.backend_config"] == '{code = "MLIR as bytes", warps = 4 : i32}'
