"""Every program of the corpus, read and compared with a second walk over JAX's own jaxpr."""

from __future__ import annotations

import jax
import pytest
from programs import CORPUS
from read.walk import assert_same

from jaxviz.document import Document
from jaxviz.read.jaxpr import read_jaxpr

_NEEDS = {"flax_block_forward": "flax", "flax_block_train": "flax", "xor_train": "optax", "mlp_train": "optax"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.smoke] if name in ("cond", "scan_rnn") else []) for name in CORPUS]
)
def test_every_equation_is_a_node_once_for_each_call_path(name):
    if name in _NEEDS:
        pytest.importorskip(_NEEDS[name])
    function, arguments = CORPUS[name]()
    jaxpr = jax.jit(function).trace(*arguments).jaxpr
    graph = read_jaxpr(jaxpr)
    count = assert_same(graph, jaxpr)
    assert count == sum(node.kind == "operation" for node in graph)
    with_line = sum(node.kind == "operation" and node.line > 0 for node in graph)
    assert with_line >= 0.95 * count
    again = Document.from_json(Document(graph.tables, (graph,), ()).to_json(packed=True)).graphs[0]
    assert [str(node) for node in again] == [str(node) for node in graph]
