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
