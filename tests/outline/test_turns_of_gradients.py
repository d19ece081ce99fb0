"""A Python loop that takes a gradient in every turn holds its turns, and nothing that stands around it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import check, names_inside, outline_of, rows_named, shown

W, XS = jnp.ones(3), jnp.ones((4, 3))


def loss(w, x):
    return jnp.mean(jnp.tanh(w * x) ** 2)


def accumulated(w, xs):
    total = jnp.zeros_like(w)
    for i in range(4):
        total = total + jax.grad(loss)(w, xs[i])
    clipped = total / jnp.maximum(jnp.linalg.norm(total), 1.0)
    return w - 0.1 * clipped


def noisy(w, xs):
    key = jax.random.key(0)
    for x in xs:
        key, one = jax.random.split(key)
        w = w - 0.1 * jax.grad(loss)(w, x) + jax.random.normal(one, w.shape)
    return loss(w, xs[0])


def step(w, x):
    x = jnp.sin(x)
    g = jax.grad(loss)(w, x)
    return w - 0.1 * g


def by_steps(w, xs):
    for i in range(4):
        w = step(w, xs[i])
    return jnp.cos(w) / 2


def epochs(w, xs):
    for _epoch in range(2):
        for i in range(4):
            w = w - 0.1 * jax.grad(loss)(w, xs[i])
        w = w / jnp.linalg.norm(w)
    for i in range(4):
        w = jnp.cosh(w) + xs[i]
    return w


def inside(outline, stack):
    """What is shown of the first turn of a loop."""
    return names_inside(outline, outline.children[stack.index][0])


def test_what_follows_a_loop_of_gradients_stands_after_it():
    outline = outline_of(accumulated, W, XS)
    loop, *after = shown(outline, 0)
    assert (loop.name, loop.count) == ("for i in range(4)", 4)
    assert inside(outline, loop) == ["xs[i]", "forward", "backward", "add"]
    assert [row.name for row in after] == ["norm", "maximum", "divide", "multiply", "subtract"]


def test_the_head_of_a_turn_stands_before_its_gradient():
    outline = outline_of(noisy, W, XS)
    (loop,) = rows_named(outline, "for x in xs", "stack")
    assert inside(outline, loop)[-4:] == ["split", "forward", "backward", "update"]
    assert names_inside(outline, 0)[-1] == "loss"


def test_a_step_that_is_called_in_every_turn_holds_its_update_alone():
    outline = outline_of(by_steps, W, XS)
    assert names_inside(outline, 0)[-2:] == ["cos", "divide"]
    (update, *_) = rows_named(outline, "update", "phase")
    assert names_inside(outline, update.index) == ["multiply", "subtract"]


def test_loops_around_a_loop_of_gradients_keep_what_is_theirs():
    outline = outline_of(epochs, W, XS)
    first, second = shown(outline, 0)
    assert (first.name, first.count) == ("for _epoch in range(2)", 2)
    assert inside(outline, first) == ["for i in range(4) x4", "norm", "divide"]
    assert (second.name, second.count) == ("w = jnp.cosh(w) + xs[i]", 4)


@pytest.mark.parametrize("fn", [accumulated, noisy, by_steps, epochs])
def test_each_equation_of_a_turn_has_a_counterpart_in_the_turn_that_is_shown(fn):
    outline = outline_of(fn, W, XS)
    for row in outline:
        around = [outline.row(index) for index in outline.paths[row.index][:-1]]
        if any(one.copy > 0 for one in around) and not any(one.closed for one in around):
            assert row.like >= 0, f"{row} stands in a copy alone\n{outline}"


def test_beside_the_call_of_a_function_that_takes_a_gradient_nothing_is_a_phase_of_it():
    def force(position):
        return -jax.grad(lambda position: jnp.sum(jnp.cos(position) ** 3))(position)

    def move(state, _):
        position, speed = state
        speed = speed + 0.5 * force(position)
        position = (position + 0.1 * speed) % 2.0
        return (position, speed), jnp.sum(speed**2)

    outline = outline_of(lambda *state: jax.lax.scan(move, state, None, length=9), W, W)
    assert [row.name for row in outline if row.kind == "phase"] == ["forward", "backward"]
    (loop,) = rows_named(outline, "scan(move)", "loop")
    assert names_inside(outline, loop.index)[-3:] == ["mod", "power", "sum"]


@pytest.mark.smoke
def test_where_the_first_turn_backward_lacks_something_the_others_are_cut_where_turns_begin():
    def pull(x):
        return jnp.sum(jnp.tanh(x[None] - x[:, None]), 1)

    def simulate(x, v):
        for _ in range(5):
            v = v + 0.1 * pull(x)
            x = x + 0.2 * v
            v = v + 0.3 * pull(x)
        return x

    outline = outline_of(jax.grad(lambda v, x: jnp.sum(simulate(x, v) ** 2)), W, W)
    check(outline)
    turns = rows_named(outline, "simulate: for _ in range(5)")[-1]
    assert turns.count == 5
    # The velocity of the last turn is not read: what comes first backward is the rest of that turn.
    lacking, first, *_, last = outline.children[turns.index]
    assert names_inside(outline, lacking) == ["multiply", "multiply", "pull"]
    assert names_inside(outline, first) == ["multiply", "pull", "multiply", "multiply", "pull"]
    assert names_inside(outline, last) == ["multiply", "pull", "multiply"]
    # What it lacks is shown beside it, and mirrors its part forward as all else does.
    forward = rows_named(outline, "pull", "call")[:2]
    assert [outline.row(row.twin).parent for row in forward] == [
        row.index for row in outline if row.kind == "statement" and row.like < 0 and row.first >= turns.first
    ]
