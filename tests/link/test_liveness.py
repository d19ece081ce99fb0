"""What is needed of a program is found once, however many ask."""

from __future__ import annotations

import gc
import weakref
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxviz.exploration import explore
from jaxviz.graph import OPERATION
from jaxviz.link.liveness import needed_nodes

X = jnp.ones(4)


def half_used(x):
    unused = jnp.sin(x)
    return jnp.cos(x), unused.shape[0]


def test_what_is_needed_is_found_once_for_each_graph():
    graph = explore(half_used, X).jaxpr
    needed = needed_nodes(graph)
    assert needed[graph.nodes.kind == OPERATION].tolist() == [0, 1]
    assert needed_nodes(graph) is needed
    assert needed_nodes(graph, unread=np.zeros(len(graph.operands.source), bool)) is needed
    assert not needed.flags.writeable


def test_what_nobody_reads_is_asked_anew():
    graph = explore(half_used, X).jaxpr
    assert needed_nodes(graph)[graph.nodes.kind == OPERATION].tolist() == [0, 1]
    unread = np.ones(len(graph.operands.source), bool)
    assert needed_nodes(graph, unread=unread)[graph.nodes.kind == OPERATION].tolist() == [0, 0]


@pytest.mark.smoke
def test_what_goes_into_a_call_and_out_of_it_is_needed_where_it_is_read():
    """JAX leaves these out when it lowers the program: to no result they are of use."""

    @jax.jit
    def pair(a, b):
        return jnp.sin(a), jnp.exp(a) + b

    @jax.jit
    def first(a, b):
        return a * 2.0

    @jax.checkpoint
    def read_by_none(a, b):
        return jnp.sinh(a), jnp.cosh(b)

    def f(x):
        used, other = pair(x, jnp.cos(x))
        again, _ = read_by_none(used, jnp.log(x))
        return first(again, jnp.tan(other))

    ex = explore(f, X)
    kinds = {ex.jaxpr.node(fate.node).op: fate.kind for fate in ex.fates}
    assert {op for op, kind in kinds.items() if kind == "dead"} == {"exp", "add", "cos", "tan", "log", "cosh"}
    assert {op for op, kind in kinds.items() if kind in ("alone", "fused", "both")} >= {"sin", "sinh", "mul"}


def test_a_graph_that_nobody_has_any_more_is_not_kept():
    graph = replace(explore(half_used, X).jaxpr)
    needed_nodes(graph)
    kept = weakref.ref(graph)
    del graph
    gc.collect()
    assert kept() is None
