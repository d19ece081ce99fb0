"""What a loop costs over its number of turns, as a loop and unrolled."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxviz as jv
from jaxviz.loops import curve
from jaxviz.loops.cost import Cost
from jaxviz.loops.curve import Curve, Point, curve_of


def cell(carry, x):
    w, h = carry
    h = jnp.tanh(w @ h + x)
    return (w, h), h.sum()


def rnn(w, xs):
    return lax.scan(cell, (w, jnp.zeros(4)), xs)


def loop_of(function, *arguments):
    jaxpr = jax.make_jaxpr(function)(*arguments)
    return curve._Loop(curve._largest_loop(jaxpr))


@pytest.mark.parametrize("reverse", [False, True])
def test_unrolled_and_loop_compute_the_same(reverse):
    loop = loop_of(lambda w, xs: lax.scan(cell, (w, jnp.zeros(4)), xs, reverse=reverse), jnp.eye(4), jnp.ones((5, 4)))
    arguments = [np.random.default_rng(0).normal(size=shape.shape).astype(shape.dtype) for shape in loop.shapes(3)]
    one = jax.tree_util.tree_leaves(loop.as_loop(3)(*arguments))
    other = jax.tree_util.tree_leaves(loop.unrolled(3)(*arguments))
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


@pytest.mark.smoke
def test_the_curve_has_the_own_number_of_turns_and_less(monkeypatch):
    monkeypatch.setattr(curve, "TURNS", (1, 3, 100))
    found = curve_of(jax.make_jaxpr(rnn)(jnp.eye(4), jnp.ones((12, 4))))
    assert [point.turns for point in found.points] == [1, 3, 12]
    assert found.own == 12
    assert "cell" in found.name
    equations = [point.unrolled.equations for point in found.points if point.unrolled]
    # The body again and again against one body whatever the number.
    assert equations[2] > 3 * equations[1] / 1.5 > equations[0]
    assert len({point.loop.equations for point in found.points}) == 1
    assert all(point.loop.run and point.loop.compile for point in found.points)


def test_the_largest_loop_is_taken_also_from_inside_of_others():
    @jax.jit
    def f(x):
        x = lax.fori_loop(0, 3, lambda _, x: x + 1.0, x)
        return lax.fori_loop(0, 50, lambda _, x: jnp.sin(jnp.cos(x)), x)

    assert loop_of(lambda x: f(x) * 2.0, jnp.ones(3)).length == 50


def test_without_a_loop_it_says_so():
    with pytest.raises(ValueError, match="no loop with a fixed number of turns"):
        curve_of(jax.make_jaxpr(jnp.sin)(1.0))


def test_a_program_without_a_loop_has_its_cost_without_a_curve():
    cost = jv.explore(jnp.sin, jnp.ones(3)).compile_cost(curve=True)
    assert cost.curve is None
    assert any("no loop with a fixed number" in note for note in cost.notes)


def test_what_takes_too_long_is_not_written_out(monkeypatch):
    monkeypatch.setattr(curve, "TURNS", (2,))
    monkeypatch.setattr(curve, "_MOST_EQUATIONS", 20)
    found = curve_of(jax.make_jaxpr(rnn)(jnp.eye(4), jnp.ones((40, 4))))
    assert [point.unrolled is None for point in found.points] == [False, True]
    assert "not tried" in repr(found)


def cost(ready, run):
    return Cost(1, ready / 2, ready / 2, run)


def test_the_words_say_where_the_loop_begins_to_win():
    points = [
        Point(1, cost(0.2, 1e-3), cost(0.1, 1e-3)),
        Point(10, cost(0.2, 3e-3), cost(0.2, 1e-3)),
        Point(100, cost(0.2, 1e-2), cost(4.0, 1e-2)),
        Point(1000, cost(0.2, 1e-1), None),
    ]
    found = Curve("scan over cell", 1000, tuple(points))
    assert found.crossing == 100
    assert found.lines() == [
        "scan over cell: with 100 turns it is ready in 200 ms as a loop, and in 4 s unrolled",
        "up to 10 turns, unrolled is ready as soon",
        "unrolled, it runs faster with 10 of them",
    ]


def test_an_unrolled_loop_has_the_curve_of_what_it_is_rebuilt_as(monkeypatch):
    monkeypatch.setattr(curve, "TURNS", (2,))

    def steps(x):
        for _ in range(60):
            x = jnp.sin(x) * 1.01
        return x

    ex = jv.explore(steps, jnp.ones(4))
    cost = ex.compile_cost(curve=True)
    assert cost.curve is not None
    assert cost.curve.name == f"the loop in line {steps.__code__.co_firstlineno + 1}"
    assert [point.turns for point in cost.curve.points] == [2, 60]
    assert any("as a loop, and in" in line for line in cost.lines())
    assert ex.document().to_json(packed=False)["compiling"][0]["curve"]["turns"] == [2, 60]
