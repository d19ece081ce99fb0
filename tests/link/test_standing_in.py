"""What took the place of an equation holds what that held: checked with the numbers of real runs."""

from __future__ import annotations

import math
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import pytest
from programs import CORPUS, useless_loop

import jaxviz as jv


def stand_ins(ex: jv.Exploration) -> Iterator[tuple[str, str, bool]]:
    """For each equation in whose place another one stands, outside of bodies: both operations, and whether the least
    and the greatest numbers of both agree."""
    known = {value.node: value for value in ex.values(every=True)}
    for fate in ex.fates:
        one, other = known.get(fate.node), known.get(fate.by)
        if one is not None and other is not None:
            pairs = (one.least, other.least), (one.most, other.most)
            same = all(math.isclose(*pair, rel_tol=1e-5, abs_tol=1e-6) for pair in pairs)
            yield ex.jaxpr.node(fate.node).op, ex.jaxpr.node(fate.by).op, same


@pytest.mark.parametrize("name", ["xor_train", "random_numbers", "custom_vjp", "remat", "redundant"])
def test_what_took_the_place_of_an_equation_holds_the_same_numbers(name):
    if name == "xor_train":
        pytest.importorskip("optax")
    function, arguments = CORPUS[name]()
    ex = jv.explore(function, *arguments)
    found = [*stand_ins(ex)]
    assert [pair for pair in found if not pair[2]] == []


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        # The factors are multiplied with each other, and none of them does the work of two.
        (lambda x: useless_loop(8)[0](jnp.sin(x)), set()),
        # A cube holds a square, and gives a cube.
        (lambda x: jax.lax.integer_pow(x, 3) + jax.lax.integer_pow(x, 2) * 3.0, set()),
        # A number that is computed of numbers leaves a product as it is, or does not.
        (lambda x: jnp.tanh(jnp.sin(x) * jnp.float32(jax.lax.sub(3.0, 2.0))), {("mul", "sin")}),
        (lambda x: jnp.tanh(jnp.sin(x) * jnp.float32(jax.lax.sub(3.0, 1.0))), set()),
        (lambda x: jnp.tanh(jax.lax.neg(jax.lax.neg(jnp.sin(x)))), {("neg", "sin")}),
        (lambda x: jnp.tanh(jnp.sin(x).reshape(4, 1).sum(axis=1)), {("reduce_sum", "sin")}),
    ],
    ids=["factors", "cube", "one", "two", "undone", "summed"],
)
def test_what_took_the_place_is_said_only_where_it_is_the_same_value(function, wanted):
    found = {*stand_ins(jv.explore(function, jnp.linspace(0.5, 1.5, 4)))}
    assert all(same for _, _, same in found)
    assert {(one, other) for one, other, _ in found} <= wanted
