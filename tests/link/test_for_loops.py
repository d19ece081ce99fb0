"""What the compiler writes for a loop without a name, and where the numbers are that a loop begins with."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz.link.links import EXACT


@pytest.fixture(scope="module")
def exploration() -> jv.Exploration:
    def smoothed(first, xs):
        def step(carry, x):
            mean, seen = carry
            return (mean * 0.9 + x, seen + mean * x), mean.sum()

        return jax.lax.scan(step, (first, jnp.zeros(7)), xs)

    return jv.explore(smoothed, jnp.ones(7), jnp.ones((5, 7)))


def _linked(ex: jv.Exploration, op: str) -> list[tuple[str, set[str], bool]]:
    """Of the instructions of a kind: the type, the equations that each is linked to, and whether for certain."""
    links, graph = ex.links("hlo"), ex.hlo
    exact = set(links.target[links.kind == EXACT].tolist())
    return [
        (node.types[0], {ex.jaxpr.node(one).op for one in links.sources(node.index)}, node.index in exact)
        for node in graph.find(op)
    ]


@pytest.mark.smoke
def test_copies_that_a_loop_needs_are_of_the_loop(exploration):
    copies = _linked(exploration, "copy")
    assert copies
    assert [copy for copy in copies if copy[1:] != ({"scan"}, True)] == []


@pytest.mark.smoke
def test_an_array_of_zeros_that_a_loop_begins_with_is_alive(exploration):
    (zeros,) = exploration.jaxpr.find("broadcast_in_dim")
    (fate,) = (one for one in exploration.fates if one.node == zeros.index)
    assert fate.alive
    assert ("f32[7]", {"broadcast_in_dim"}, True) in _linked(exploration, "broadcast")


@pytest.mark.smoke
def test_what_a_loop_fills_by_itself_is_of_the_loop(exploration):
    filled = [one for one in _linked(exploration, "broadcast") if one[0] == "f32[5]"]
    assert filled == [("f32[5]", {"scan"}, True)]


@pytest.mark.smoke
def test_of_arrays_of_one_number_that_several_loops_begin_with_none_is_folded():
    def summed(x, places):
        return jax.ops.segment_sum(x, places, 5) / jax.ops.segment_sum(x * x, places, 5)

    ex = jv.explore(summed, jnp.ones(30), jnp.zeros(30, int))
    zeros = {node.index for node in ex.jaxpr.find("broadcast_in_dim") if node.types == ("f32[5]",)}
    assert len(zeros) == 2
    assert all(fate.alive or fate.by in zeros for fate in ex.fates if fate.node in zeros)
