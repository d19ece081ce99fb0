"""A graph: reading it in words, what follows from its columns, and what `check` finds wrong with it."""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxviz.graph import Graph
from jaxviz.graph_check import GraphError
from jaxviz.read.jaxpr import read_jaxpr


def scale(x, factor):
    return jax.lax.fori_loop(0, 3, lambda i, c: c * factor, x) + 1.0


@pytest.fixture
def graph() -> Graph:
    return read_jaxpr(jax.jit(scale).trace(jnp.ones(4), jnp.float32(2.0)).jaxpr)


@pytest.mark.smoke
def test_nodes_can_be_read_one_by_one(graph):
    assert len(graph) == len(list(graph))
    node = graph.find("mul")[0]
    assert (node.kind, node.op, node.types) == ("operation", "mul", ("f32[4]",))
    assert graph.node(node.index) == node
    assert graph.region(node.region).kind == "scan"
    assert node.frames[-1].function == "<lambda>"
    assert graph.node(-1).kind == "result"
    assert graph.find("no such operation") == []
    with pytest.raises(IndexError, match=f"no node {len(graph)}: the graph has {len(graph)}"):
        graph.node(len(graph))


def test_one_attribute_is_what_the_node_in_words_has(graph):
    for node in graph:
        for key, value in node.attributes.items():
            assert graph.attribute(node.index, key) == value
        assert graph.attribute(node.index, "no such attribute") == ""


def test_repr_counts_what_is_there(graph):
    assert repr(graph) == "<Graph: 4 operations in 1 region, 2 arguments, 1 result>"


def test_a_node_reads_as_an_assignment(graph):
    add = graph.find("add")[-1]
    (scan,) = graph.find("scan")
    assert str(add) == f"%{add.values[0]}:f32[4] = add %{scan.values[-1]} 1.0"


def branches_in_loops(x):
    def turn(carry, _):
        return jax.lax.cond(carry.sum() > 0, lambda c: jax.lax.fori_loop(0, carry.size, step, c), jnp.cos, carry), None

    def step(number, carry):
        return jnp.sin(carry) * number

    x = jax.lax.scan(turn, x, None, length=3)[0]
    return jax.lax.while_loop(lambda c: c.sum() > 1.0, lambda c: jax.jit(jnp.tanh)(c), x)


def test_regions_hold_their_own_nodes_and_those_of_the_regions_in_them():
    graph = read_jaxpr(jax.make_jaxpr(branches_in_loops)(jnp.ones(4)))
    owner = graph.regions.owner.tolist()
    around = [[region] for region in range(len(owner))]
    for region in range(1, len(owner)):
        around[region] += around[graph.nodes.region[owner[region]]]
    assert graph.region_depth.tolist() == [len(regions) - 1 for regions in around]
    assert max(graph.region_depth) == 3
    for region, (start, end) in enumerate(zip(*graph.region_intervals, strict=True)):
        held = [node for node in range(len(graph)) if region in around[graph.nodes.region[node]]]
        assert held == list(range(start, end))


def test_what_follows_from_the_columns(graph):
    start, end = graph.region_intervals
    (scan,) = graph.find("scan")
    assert (start[0], end[0]) == (0, len(graph))
    assert start[1] == scan.index + 1
    assert set(graph.nodes.region[start[1] : end[1]]) == {1}
    assert graph.owned_regions == {scan.index: (1,)}
    for node in graph:
        assert all(graph.value_node[value] == node.index for value in node.values)
    assert graph.first_operand[-1] == len(graph.operands.source)
    for value in range(len(graph.values.type)):
        readers = [node.index for node in graph for operand in node.operands if operand == value]
        assert graph.readers(value) == readers
    assert all(
        column.dtype == np.int32 for part in ("nodes", "bindings") for column in vars(getattr(graph, part)).values()
    )


def broken(graph: Graph, part: str, column: str, index: int, value: int) -> Graph:
    columns = getattr(graph, part)
    changed = getattr(columns, column).copy()
    changed[index] = value
    return replace(graph, **{part: replace(columns, **{column: changed})})


@pytest.mark.parametrize(
    ("part", "column", "index", "value", "message"),
    [
        ("nodes", "op", 0, 10_000, r"nodes.op\[0\] is 10000"),
        ("nodes", "kind", 0, 7, r"nodes.kind\[0\] is 7"),
        ("nodes", "kind", 0, 2, "of one operand and no output"),
        ("nodes", "outputs", 0, 3, "nodes.outputs add up to"),
        ("nodes", "region", 0, 1, "region"),
        ("regions", "owner", 0, 3, "region 0 must be the program"),
        ("regions", "owner", 1, 0, "nodes.region"),
        ("operands", "source", 0, 99, "operands.source"),
        ("operands", "source", -1, -99, "operands.source"),
        ("bindings", "end", 0, 0, "bindings.to"),
        ("bindings", "kind", 0, 5, "bindings.from|a carry"),
        ("values", "type", 0, 999, "values.type"),
        ("attributes", "node", 0, 999, "attributes.node"),
    ],
)
def test_what_is_wrong_is_named(graph, part, column, index, value, message):
    with pytest.raises(GraphError, match=message):
        broken(graph, part, column, index, value).check()


def test_an_operand_must_be_visible_to_its_reader(graph):
    inside = graph.find("mul")[0].values[0]
    last = len(graph.operands.source) - 1
    with pytest.raises(GraphError, match="in the reader's region or one around it"):
        broken(graph, "operands", "source", last, inside).check()
