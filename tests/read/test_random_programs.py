"""Random programs of nested calls, loops and branches: read whole, and the same after a round trip through a
document.
"""

from __future__ import annotations

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax
from read.walk import assert_same

import jaxviz.graph
from jaxviz.document import Document, ProgramEntry, StageEntry
from jaxviz.read.jaxpr import read_jaxpr

_X = jax.ShapeDtypeStruct((4,), jnp.float32)
_SCHEMA = json.loads((Path(__file__).parents[2] / "schema" / "document.schema.json").read_text())


def _unrolled(inner):
    return lambda x: inner(inner(x))


_WRAPS = {
    "jit": jax.jit,
    "twice": _unrolled,
    "shared": lambda inner: _unrolled(jax.jit(inner)),
    "remat": jax.checkpoint,
    "scan": lambda inner: lambda x: lax.scan(lambda c, _: (inner(c), c.sum()), x, None, length=3)[0],
    "fori": lambda inner: lambda x: lax.fori_loop(0, 3, lambda i, c: inner(c) + i, x),
    "while": lambda inner: lambda x: lax.while_loop(lambda c: c.sum() < 9.0, inner, x),
    "cond": lambda inner: lambda x: lax.cond(x.sum() > 0, inner, lambda x: -x, x),
    "switch": lambda inner: lambda x: lax.switch(1, [inner, jnp.cos, jnp.tan], x),
    "vmap": lambda inner: lambda x: jax.vmap(inner)(jnp.stack([x, x])).sum(0),
    "grad": lambda inner: lambda x: jax.grad(lambda x: inner(jnp.tanh(x)).sum())(x),
    "dead": lambda inner: lambda x: (inner(x), x)[1] * 2.0,
}
# A while loop has no reverse derivative, and a static switch picks its branch while tracing.
_LEAVES = {"sin": jnp.sin, "relu": jax.nn.relu, "same": lambda x: x, "constant": lambda x: x * 0 + jnp.arange(4.0)}


@st.composite
def programs(draw):
    wraps = draw(st.lists(st.sampled_from(sorted(_WRAPS)), max_size=4))
    if "grad" in wraps:
        wraps = [wrap for wrap in wraps if wrap not in ("while",)]
    function = _LEAVES[draw(st.sampled_from(sorted(_LEAVES)))]
    for wrap in wraps:
        function = _WRAPS[wrap](function)
    return function


@pytest.mark.smoke
@settings(max_examples=40)
@given(programs())
def test_any_program_is_read_whole_and_comes_back_the_same(function):
    jaxpr = jax.jit(lambda x: function(x)).trace(_X).jaxpr
    graph = read_jaxpr(jaxpr)
    assert_same(graph, jaxpr)
    entry = ProgramEntry("f", "f(f32[4])", -1, 0, (StageEntry("jaxpr", 0, {"trace": 0.5}),))
    document = Document(graph.tables, (graph,), (entry,))
    plain = document.to_json(packed=False)
    jsonschema.validate(plain, _SCHEMA)
    assert Document.from_json(plain).to_json(packed=False) == plain
    assert Document.from_json(document.to_json(packed=True)).to_json(packed=False) == plain


@settings(max_examples=15)
@given(programs(), st.integers(0, 60))
def test_whatever_the_limit_the_graph_is_sound_and_small(function, limit):
    jaxpr = jax.jit(lambda x: function(x)).trace(_X).jaxpr
    assert jaxviz.graph.CHECK
    whole = read_jaxpr(jaxpr)
    part = read_jaxpr(jaxpr, repeated_nodes=limit)
    once = read_jaxpr(jaxpr, repeated_nodes=0)
    assert len(once) <= len(part) <= min(len(whole), len(once) + limit)
