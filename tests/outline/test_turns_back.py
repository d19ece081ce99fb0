"""A turn of a Python loop that is a call and what is done with what it gives holds that call on the way back, too."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import check, names_inside, outline_of, rows_named

PARAMS = [(jnp.ones((3, 3)), jnp.ones(3)) for _ in range(4)]
X = jnp.ones((2, 3))


def coupling(p, x):
    w, b = p
    scale = jnp.tanh(x @ w)
    return x * jnp.exp(scale) + b, scale.sum()


def flow(params, x):
    total = 0.0
    for p in params:
        x, one = coupling(p, x)
        total = total + one
    return x, total


def likelihood(params, x):
    total = 0.0
    for p in params:
        x, one = coupling(p, x)
        total = total + one
    return total - jnp.sum(jnp.square(x))


def of_flow(params, x):
    y, total = flow(params, x)
    return total - jnp.sum(jnp.square(y))


def by_residuals(params, x):
    for p in params:
        x = x + coupling(p, x)[0]
    return jnp.sum(jnp.square(x))


@pytest.mark.parametrize("loss", [of_flow, likelihood, by_residuals])
def test_a_turn_on_the_way_back_is_the_call_that_it_is_forward(loss):
    outline = outline_of(jax.grad(loss), PARAMS, X)
    check(outline)
    forward, backward = (row for row in outline if row.count == len(PARAMS))
    assert forward.name == backward.name != "coupling"
    assert outline.twin[forward.index] == backward.index
    turns = [outline.children[row.index] for row in (forward, backward)]
    assert names_inside(outline, turns[0][0]) == ["coupling", "add"]
    for turn in turns[1]:
        assert names_inside(outline, turn) == ["coupling"]
    calls = rows_named(outline, "coupling", "call")
    assert len(calls) == 2 * len(PARAMS)
    assert outline.twin[calls[0].index] == calls[len(PARAMS)].index
    inside = names_inside(outline, calls[-1].index)
    assert inside[-1] == "matmul"
    assert len(inside) > 2


def normed(w, x):
    scaled = x / jnp.sqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-6)
    up = jnp.tanh(scaled @ w)
    gate, value = jnp.split(up, 2, axis=-1)
    return x + jnp.concatenate([jnp.exp(gate), value * gate], axis=-1) @ w


def of_layers(ws, x):
    for w in ws:
        x = normed(w, x)
    return jnp.sum(x)


@pytest.mark.smoke
@pytest.mark.parametrize("layers", [2, 3])
def test_the_turns_on_the_way_back_are_told_apart_where_the_last_of_them_has_no_gradient_of_its_input(layers):
    outline = outline_of(jax.grad(of_layers), [jnp.eye(4)] * layers, jnp.ones((2, 4)))
    check(outline)
    forward, backward = (row for row in outline if row.count > 1)
    assert (forward.name, forward.count) == (backward.name, backward.count) == ("normed", layers)
    assert outline.twin[forward.index] == backward.index


def layer(w, x):
    hidden = jnp.tanh(x @ w)
    return hidden @ w


def by_a_step(params, x):
    def squares(params):
        y = x
        for w in params:
            y = y + layer(w, y)
        return jnp.sum(y**2)

    return squares(jax.tree.map(lambda w, slope: w - 0.1 * slope, params, jax.grad(squares)(params)))


@pytest.mark.smoke
def test_what_undoes_a_way_back_goes_through_the_turns_as_the_way_forward_does_and_what_undoes_the_latter_ends_in_one():
    outline = outline_of(jax.grad(by_a_step), [jnp.eye(3)] * 4, X)
    check(outline)
    undone = rows_named(outline, "grad(squares)", "call")[1]
    backward, forward = outline.children[undone.index]
    # The last turn lacks the sum that the others begin with.
    assert names_inside(outline, backward) == ["y = y + layer(w, y) x4", "power"]
    assert names_inside(outline, forward) == ["power", "y = y + layer(w, y) x4"]
