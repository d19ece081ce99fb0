"""Donated arguments and the results that take their memory, in HLO as it is compiled, printed and stored."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz.read.hlo.aliases import aliases_in_text
from jaxviz.read.hlo.graph import read_hlo
from jaxviz.read.hlo.proto import parse_hlo_proto
from jaxviz.read.hlo.text import parse_hlo_text


def swap(x, y, z):
    return y + z.sum(), x.at[2].set(1.0), z * 2


ARGUMENTS = jnp.zeros(1000), jnp.ones(3), jnp.ones(5)
DONATED = {
    "x": "its memory becomes that of result 1",
    "y": "its memory becomes that of result 0",
}
MEMORY = ["that of y, which is donated", "that of x, which is donated", ""]


def shared(graph):
    own = [node for node in graph if node.region == 0]
    donated = {node.name: node.attributes["donated"] for node in own if "donated" in node.attributes}
    return donated, [node.attributes.get("memory", "") for node in own if node.kind == "result"]


def test_hlo_says_which_result_has_the_memory_of_which_argument():
    assert shared(jv.explore(jax.jit(swap, donate_argnums=(0, 1)), *ARGUMENTS).hlo) == (DONATED, MEMORY)


def test_nothing_is_said_without_donation():
    assert shared(jv.explore(swap, *ARGUMENTS).hlo) == ({}, [""] * 3)


def test_text_and_proto_say_the_same():
    compiled = jax.jit(swap, donate_argnums=(0, 1)).lower(*ARGUMENTS).compile()
    (module,) = compiled.runtime_executable().hlo_modules()
    for read in (
        parse_hlo_text(compiled.as_text()),
        parse_hlo_proto(module.as_serialized_hlo_module_proto()),
    ):
        assert sorted(read.aliases) == [(0, 1), (1, 0)]
        assert shared(read_hlo(read).graph) == (DONATED, MEMORY)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("{ {}: (3, {}, must-alias) }", [(0, 3)]),
        ("{ {1}: (0, {}, may-alias), {12}: (7, {}, may-alias) }", [(1, 0), (12, 7)]),
        # Parts of arguments that are tuples have no node of their own to speak of.
        ("{ {0}: (0, {1}, may-alias) }", []),
        ("{ {0, 1}: (0, {}, may-alias) }", []),
    ],
)
def test_the_header_is_read(text, expected):
    assert aliases_in_text(text) == expected


def test_numbers_that_no_node_has_are_left_out():
    text = "HloModule m, input_output_alias={ {4}: (0, {}, may-alias), {0}: (9, {}, may-alias) }\nENTRY e {\n"
    module = parse_hlo_text(text + "  p = f32[2] parameter(0)\n  ROOT n = f32[2] negate(p)\n}")
    assert shared(read_hlo(module).graph) == ({}, [""])
