"""Graphs for networkx and Graphviz have the same nodes and edges."""

from __future__ import annotations

import re
import shutil
import subprocess

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxviz as jv


def looped(x):
    return lax.fori_loop(0, 3, lambda _, y: jnp.sin(y) * 2, x)


@pytest.fixture(scope="module")
def exploration():
    return jv.explore(jax.grad(lambda x: looped(x).sum()), jnp.ones(3))


def edges_of(graph):
    return [(int(graph.value_node[value]), node.index) for node in graph for value in node.operands if value >= 0]


@pytest.mark.parametrize("stage", ["jaxpr", "stablehlo", "hlo"])
def test_dot_has_every_node_every_edge_and_every_region(exploration, stage):
    graph = getattr(exploration, stage)
    text = exploration.to_dot(stage=stage)
    assert len(re.findall(r"^ *n\d+ \[label=", text, re.MULTILINE)) == len(graph)
    found = sorted((int(a), int(b)) for a, b in re.findall(r"n(\d+) -> n(\d+);", text))
    assert found == sorted(edges_of(graph))
    assert text.count("subgraph cluster_") == len(graph.regions.owner) - 1
    assert text.count("{") == text.count("}")


def test_dot_keeps_what_a_name_holds_in_its_quotes(tmp_path):
    def named(x):
        with jax.named_scope('a "quoted" name\\'):
            return jnp.sin(x)

    exploration = jv.explore(named, jnp.ones(3))
    exploration.call = 'f("\\")'
    text = exploration.to_dot(tmp_path / "named.dot")
    assert (tmp_path / "named.dot").read_text() == text
    assert r'label="f(\"\\\")"' in text
    dot = shutil.which("dot")
    if dot is not None:
        assert subprocess.run([dot, "-Tsvg"], input=text, capture_output=True, text=True).returncode == 0


def test_networkx_has_every_node_and_every_edge(exploration):
    import networkx

    graph = exploration.jaxpr
    made = exploration.to_networkx()
    assert made.number_of_nodes() == len(graph)
    assert sorted((a, b) for a, b, _ in made.edges(keys=True)) == sorted(edges_of(graph))
    (sine, *_) = graph.find("sin")
    assert made.nodes[sine.index]["op"] == "sin"
    assert made.nodes[sine.index]["line"] == sine.line
    assert networkx.is_directed_acyclic_graph(made)
