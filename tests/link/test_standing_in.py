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
        (lambda x: jnp.tanh(jnp.sin(x).reshape(4, 1).sum(axis=1)), {("reduce_sum", "sin"), ("reshape", "sin")}),
    ],
    ids=["factors", "cube", "one", "two", "undone", "summed"],
)
def test_what_took_the_place_is_said_only_where_it_is_the_same_value(function, wanted):
    found = {*stand_ins(jv.explore(function, jnp.linspace(0.5, 1.5, 4)))}
    assert all(same for _, _, same in found)
    assert {(one, other) for one, other, _ in found} <= wanted


@pytest.mark.smoke
def test_what_gives_what_it_reads_as_it_is_says_what_holds_that():
    def f(x):
        power = jax.lax.integer_pow(jnp.sin(x), 1)
        return jnp.tanh(jax.lax.pad(jax.lax.slice(power, (0,), (4,)), jnp.float32(0), [(0, 0, 0)]))

    ex = jv.explore(f, jnp.linspace(0.5, 1.5, 4))
    (sine,) = ex.jaxpr.find("sin")
    # JAX leaves some of these out itself.
    fates = [fate for fate in ex.fates if ex.jaxpr.node(fate.node).op in ("integer_pow", "slice", "pad")]
    assert fates
    assert all(fate.by == sine.index for fate in fates)


@pytest.mark.smoke
def test_what_only_hands_a_value_on_says_what_holds_it():
    """Each of these steps is gone by itself, and no reader of them is left that would tell."""

    @jax.jit
    def in_turn(x):
        return jnp.expand_dims(x, 0) + 0.0

    def f(x):
        return jax.nn.softmax(x - in_turn(jnp.mean(x, axis=0)))

    ex = jv.explore(f, jnp.linspace(0.5, 1.5, 12).reshape(3, 4))
    assert all(same for _, _, same in stand_ins(ex))
    gone = [fate for fate in ex.fates if fate.kind in ("simplified", "imported", "unlowered", "moved")]
    assert {ex.jaxpr.node(fate.node).op for fate in gone} >= {"max", "broadcast_in_dim", "stop_gradient"}
    named = {(ex.jaxpr.node(fate.node).op, ex.jaxpr.node(fate.by).op) for fate in gone if fate.by >= 0}
    assert named >= {("max", "reduce_max"), ("stop_gradient", "reduce_max"), ("broadcast_in_dim", "reduce_sum")}
    assert not [ex.jaxpr.node(fate.node) for fate in gone if fate.by < 0]


def test_of_what_only_handed_on_what_goes_round_a_loop_that_holds_it():
    def f(x):
        return jax.lax.fori_loop(0, 5, lambda _, at: jnp.sin(at[:, None] - at[None]).sum(0), x)

    ex = jv.explore(f, jnp.linspace(0.0, 1.0, 8))
    fates = [fate for fate in ex.fates if ex.jaxpr.node(fate.node).op == "broadcast_in_dim" and not fate.alive]
    assert fates
    for fate in fates:
        assert ex.jaxpr.node(fate.by).kind == "argument"
        assert ex.jaxpr.node(fate.by).region == ex.jaxpr.node(fate.node).region
