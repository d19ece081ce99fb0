"""Real numbers in the stages after the jaxpr have no more digits than there."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jaxviz as jv
from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.text import parse_hlo_text
from jaxviz.read.shortest import shortened, shortest

WRITTEN = {
    "as MLIR writes": ("9.99999977E-3", "f32", "0.01"),
    "as HLO writes": ("0.00999999977", "f32", "0.01"),
    "whole": ("1", "f32", "1.0"),
    "a list": ("{ { 1, 0.2 }, {-inf, nan} }", "f32", "{ { 1.0, 0.2 }, {-inf, nan} }"),
    "complex": ("(0.00999999977, -1)", "c64", "(0.01, -1.0)"),
    "complex of MLIR": ("(9.99999977E-3,-1.000000e+00)", "complex<f32>", "(0.01,-1.0)"),
    "narrow": ("0.0100098", "bf16", "0.01"),
    "half": ("0.010002", "f16", "0.01"),
    "narrowest": ("9.765630e-03", "f8E5M2", "0.01"),
    "wide": ("0.10000000000000001", "f64", "0.1"),
    "by its bits": ("0xFF800000", "f32", "-inf"),
    "by its few bits": ("0x7FC0", "bf16", "nan"),
    "left out": ("{...}", "f32", "{...}"),
    "no real number": ("{16777217, 2}", "s32", "{16777217, 2}"),
}


@pytest.mark.parametrize(("text", "element", "wanted"), WRITTEN.values(), ids=WRITTEN)
def test_a_number_has_the_fewest_digits_of_its_type(text, element, wanted):
    assert shortened(text, element) == wanted


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
@given(data=st.data())
def test_the_short_text_gives_the_same_number(dtype, data):
    bits = np.dtype(dtype).itemsize * 8
    number = np.array(data.draw(st.integers(0, 2**bits - 1)), f"u{bits // 8}").view(dtype)[()]
    again = np.float64(shortest(number)).astype(dtype)
    assert again == number or (again != again and number != number)


def scaled(x):
    return jnp.where(x > 0, -jnp.inf, x * 0.01)


def values(graph):
    """What is written of the constants and literals of a graph."""
    strings = graph.tables.strings
    return {node.attributes["value"] for node in graph if "value" in node.attributes} | {
        strings[text] for text in graph.literals.text
    }


def test_each_stage_writes_literals_as_the_jaxpr_does():
    explored = jv.explore(scaled, jax.ShapeDtypeStruct((3,), jnp.float32))
    assert {"0.01", "-inf"} <= values(explored.jaxpr)
    assert {"0.01", "-inf"} <= values(explored.stablehlo)
    assert {"0.01", "-inf"} <= values(explored.hlo)


def test_equal_texts_of_constants_are_written_by_their_own_types():
    text = """HloModule m
ENTRY e {
  a = f32[] constant(0.00999999977)
  b = f64[] constant(0.00999999977)
  c = s32[] constant(1)
  d = f32[] constant(1)
  ROOT r = (f32[], f64[], s32[], f32[]) tuple(a, b, c, d)
}"""
    graph = read_hlo(parse_hlo_text(text)).graph
    written = [node.attributes["value"] for node in graph if node.op == "constant"]
    assert written == [
        "0.01",
        "0.00999999977",
        "1",
        "1.0",
    ]
