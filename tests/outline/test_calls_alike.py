"""What a call holds beside another one is told so on the way back too, where nothing else of it is left."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import check, names_inside, outline_of, row_named, rows_named

W, X = jnp.eye(3), jnp.ones(3)


def layer(w, x):
    hidden = jnp.tanh(x @ w)
    return hidden @ w


@pytest.mark.smoke
def test_a_call_in_a_decorator_is_in_it_on_the_way_back_too():
    def residual(fn):
        def wrapped(w, x):
            return x + fn(w, x)

        return wrapped

    def loss(w, x):
        y = residual(layer)(w, x)
        return jnp.sum(y**2)

    outline = outline_of(jax.grad(loss), W, X)
    check(outline)
    forward, backward = rows_named(outline, "residual")
    assert names_inside(outline, forward.index) == ["layer", "add"]
    assert names_inside(outline, backward.index) == ["layer"]
    inner, inner_backward = rows_named(outline, "layer")
    assert inner.twin == inner_backward.index


def test_a_loop_beside_what_its_call_does_before_it_is_that_loop_on_the_way_back():
    def solve(w, x, times):
        steps = times[1:] - times[:-1]
        return jax.lax.scan(lambda x, step: (layer(w, x) * step, x), x, steps)[0]

    def loss(w, x, times):
        return jnp.sum(solve(w, x, times) ** 2)

    outline = outline_of(jax.grad(loss), W, X, jnp.ones(5))
    check(outline)
    forward, backward = (row for row in outline if row.kind == "loop")
    assert forward.twin == backward.index
    assert row_named(outline, "backward").index < outline.twin[rows_named(outline, "solve")[0].index]
