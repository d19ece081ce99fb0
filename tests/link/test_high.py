"""Operations that JAX takes apart only when it lowers them (0.12), which older versions trace as calls."""

from __future__ import annotations

import importlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxviz as jv
from jaxviz.graph import Graph
from jaxviz.link.links import LINK_KINDS

try:
    HiPrim: Any = importlib.import_module("jax.experimental.hijax").HiPrim
except (ImportError, AttributeError):
    HiPrim = None
needs_high = pytest.mark.skipif(HiPrim is None, reason="HiPrim came with JAX 0.12")

X = jnp.linspace(-1.0, 1.0, 8)


def found_where(x):
    return jnp.searchsorted(x, 2.0 * x)


def large(x):
    return jnp.nonzero(x > 0.5, size=3)[0]


def root(a):
    def step(f, y):
        return lax.fori_loop(0, 8, lambda _, y: y - f(y) / (2.0 * y), y)

    return lax.custom_root(lambda y: y**2 - a, 1.0, step, lambda g, y: y / g(1.0))


def inside(graph: Graph) -> list[Any]:
    """The operations in the call that most of a program is in."""
    starts, ends = graph.region_intervals
    region = max(range(1, len(starts)), key=lambda one: ends[one] - starts[one])
    return [node for node in graph if starts[region] <= node.index < ends[region] and node.kind == "operation"]


@pytest.mark.smoke
@pytest.mark.parametrize("fn", [found_where, large, root])
def test_what_it_stands_for_is_in_the_graph_and_linked(fn):
    ex = jv.explore(fn, 2.0 if fn is root else X)
    operations = inside(ex.jaxpr)
    assert len(operations) > 4
    links = ex.links("stablehlo")
    exact = {int(one) for one, kind in zip(links.source, links.kind, strict=True) if LINK_KINDS[kind] == "exact"}
    assert len(exact & {node.index for node in operations}) > 2
    assert all(node.line for node in operations)
    assert ex.document().links[0].shares["exact"] > 0.9


@pytest.mark.smoke
@pytest.mark.parametrize("fn", [found_where, large, root])
def test_what_is_lowered_is_the_persons_own_program(fn):
    ex = jv.explore(fn, 2.0 if fn is root else X)
    own = jax.jit(fn).lower(2.0 if fn is root else X)
    shown = ex._capture._lowered
    assert shown.as_text() == own.as_text()


@pytest.mark.smoke
@needs_high
def test_one_of_the_persons_own_is_a_call_of_its_name():
    class Squash(HiPrim):
        def __init__(self, aval, power):
            self.in_avals, self.out_aval = (aval,), aval
            self.params = {"power": power}
            super().__init__()

        def expand(self, x):
            return jnp.tanh(x) ** self.power

    def step(x):
        return Squash(jax.typeof(x), 3)(x) + Squash(jax.typeof(x[:2]), 3)(x[:2]).sum()

    ex = jv.explore(step, X)
    calls = [node for node in ex.jaxpr if node.op == "call_hi_primitive"]
    assert [node.name for node in calls] == ["Squash", "Squash"]
    # They are equal to each other, and of other shapes.
    tanhs = ex.jaxpr.find("tanh")
    assert [tanh.types for tanh in tanhs] == [("f32[8]",), ("f32[2]",)]
    lines = {frame.function for tanh in tanhs for frame in tanh.frames}
    assert {"Squash.expand", "step"} <= lines
    of_tanhs = np.isin(ex.links("hlo").source, [tanh.index for tanh in tanhs])
    assert of_tanhs.sum() >= 2


@pytest.mark.smoke
@needs_high
def test_one_that_cannot_be_traced_is_an_operation():
    class Refusing(HiPrim):
        asked = 0

        def __init__(self, aval):
            self.in_avals, self.out_aval, self.params = (aval,), aval, {}
            super().__init__()

        def expand(self, x):
            raise TypeError("not now")

    (node,) = [one for one in jv.explore(lambda x: Refusing(jax.typeof(x))(x), X).jaxpr if one.kind == "operation"]
    assert (node.op, node.regions) == ("call_hi_primitive", ())
