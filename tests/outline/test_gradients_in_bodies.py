"""A gradient in a loop, a branch or a function is a step among others, unless all of that is a step of training."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from outline.outlines import names_inside, outline_of, row_named

X, XS = jnp.ones(4), jnp.ones((3, 4))


def energy(x):
    return jnp.sum(jnp.sin(x) ** 2)


def in_a_statement(x):
    return lax.fori_loop(0, 10, lambda i, x: x - 0.1 * jax.grad(energy)(x / (1 + i)), x)


def of_no_parameters(x):
    def body(carry):
        x, turn = carry
        step = jnp.cos(x) * 2
        slope = jax.grad(energy)(x + step)
        return jnp.roll(slope, 1) * 3 + step, turn + 1

    return lax.while_loop(lambda carry: carry[1] < 9, body, (x, 0))[0]


def in_a_branch(x):
    return lax.cond(x.sum() > 0, lambda x: jnp.cos(x) * jax.grad(energy)(x + 1), lambda x: x, x)


def force(x):
    return -jax.grad(energy)(x)


def of_a_function(x):
    return x + 0.1 * force(x)


def minimized(x):
    def body(x, _):
        width = jnp.sqrt(jnp.abs(x).sum() + jnp.log(2 + x @ x)) / jnp.cosh(x).max()
        there = x - jnp.exp(width) * jnp.tanh(x) + jnp.floor(x) * jnp.arctan(x) - jnp.square(x).mean()
        slope = jax.grad(energy)(there)
        return x - width * slope, None

    return lax.scan(body, x, length=3)[0]


@pytest.mark.smoke
@pytest.mark.parametrize("fn", [in_a_statement, of_no_parameters, in_a_branch, of_a_function, minimized])
def test_a_gradient_that_is_one_step_among_others_is_one_box(fn):
    outline = outline_of(fn, X)
    assert [row.name for row in outline if row.kind == "phase"] == ["forward", "backward"]
    assert names_inside(outline, row_named(outline, "grad(energy)").index) == ["forward", "backward"]


def loss(weights, x):
    return jnp.mean(jnp.tanh(x * weights["w"] + weights["b"]) ** 2)


def trained(weights, xs):
    def body(carry, x):
        weights, mean = carry
        value, slopes = jax.value_and_grad(loss)(weights, x)
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, slopes)
        return (jax.tree.map(lambda w, m: w - 0.1 * m / (1 + jnp.abs(m)), weights, mean), mean), value

    return lax.scan(body, (weights, weights), xs)


def summed(weights, xs):
    def body(total, x):
        slopes = jax.grad(loss)(weights, x)
        return jax.tree.map(jnp.add, total, slopes), None

    return lax.scan(body, weights, xs)[0]


def one_step(weights, xs):
    slopes = jax.grad(loss)(weights, xs)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, slopes)


def of_a_step(weights, xs):
    return jax.tree.map(jnp.cos, one_step(weights, jnp.sin(xs)))


@pytest.mark.parametrize(("fn", "last"), [(trained, "update"), (summed, "add"), (of_a_step, "w - 0.1 * g x2")])
def test_the_update_of_a_step_of_training_follows_its_gradient(fn, last):
    outline = outline_of(fn, {"w": X, "b": X}, XS)
    around = outline.row(row_named(outline, "forward").parent)
    assert around.name in ("scan", "one_step")
    assert names_inside(outline, around.index) == ["forward", "backward", last]


def gradients(x):
    return jax.grad(energy)(x)


def test_a_function_that_does_nothing_but_take_a_gradient_is_known_by_its_own_name():
    outline = outline_of(lambda x: jnp.cos(gradients(x)) * 2, X)
    assert names_inside(outline, row_named(outline, "gradients").index) == ["forward", "backward"]
