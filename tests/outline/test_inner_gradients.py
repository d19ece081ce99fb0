"""A gradient that is taken within what is differentiated has phases of its own, on the way forward and back."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import names_inside, outline_of, rows_named
from outline.test_derivatives import W, X, back_over_back, loss, penalized


def adapted(w, x):
    def after_steps(w):
        for _ in range(2):
            w = w - 0.1 * jax.grad(loss)(w, x)
        return loss(w, x)

    value, slope = jax.value_and_grad(after_steps)(w)
    return value, w - 0.5 * slope


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("fn", "arguments", "steps"),
    [
        (back_over_back, (X, X), ["grad(energy)", "vdot"]),
        (penalized, (W, X), ["loss", "grad(loss)", "power", "sum", "add"]),
        (adapted, (W, X), ["w = w - 0.1 * jax.grad(loss)(w, x) x2", "loss"]),
    ],
)
def test_a_gradient_within_what_is_differentiated_is_a_step_of_the_pass_forward(fn, arguments, steps):
    outline = outline_of(fn, *arguments)
    forward, backward = (rows_named(outline, name, "phase") for name in ("forward", "backward"))
    assert names_inside(outline, forward[0].index) == steps
    taken = outline.row(forward[1].parent)
    assert names_inside(outline, taken.index) == ["forward", "backward"]
    # So has what undoes it, the other way round.
    whole = outline.row(forward[0].twin)
    assert whole in backward
    undone = outline.row(taken.twin)
    assert undone.name == taken.name
    assert whole.first <= undone.first < undone.end <= whole.end
    assert names_inside(outline, undone.index) == ["backward", "forward"]
    inside = [outline.row(row.twin) for row in (backward[0], forward[1])]
    assert [(row.name, row.parent) for row in inside] == [("backward", undone.index), ("forward", undone.index)]


def adapted_in_a_loop(w, x):
    def turn(w, x):
        return w - 0.1 * jax.grad(loss)(w, x), jnp.sum(w)

    def after_steps(w):
        w, sizes = jax.lax.scan(turn, w, x)
        return loss(w, x[0]) + jnp.sum(sizes)

    return jax.grad(after_steps)(w)


@pytest.mark.smoke
def test_a_gradient_in_a_loop_that_is_differentiated_has_phases_on_both_ways():
    outline = outline_of(adapted_in_a_loop, W, jnp.ones((3, 4)))
    forward, backward = rows_named(outline, "grad(loss)", "call")
    assert forward.twin == backward.index
    assert names_inside(outline, forward.index) == ["forward", "backward"]
    assert names_inside(outline, backward.index) == ["backward", "forward"]
