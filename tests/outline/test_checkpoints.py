"""A checkpoint, whose callers JAX does not know forward, is told as the call that it is of, both ways."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import boxes, check, names_inside, outline_of, row_named, shown


def light(p, x):
    h = jnp.tanh(x @ p)
    return h @ p


def heavy(p, x):
    q = jnp.sin(x @ p)
    return jnp.cos(q) @ p


def residual(fn):
    def wrapped(p, x):
        return x + fn(p, x)

    return wrapped


_PARAMETERS, _X = jnp.ones((8, 8)), jnp.ones((4, 8))


@pytest.fixture(scope="module")
def decorated():
    a, b = residual(light), jax.checkpoint(residual(heavy))

    def loss(p, x):
        h = a(p, x)
        h = b(p, h)
        return jnp.mean(h**2)

    return outline_of(jax.grad(loss), _PARAMETERS, _X)


@pytest.mark.smoke
def test_a_checkpoint_under_a_decorator_is_not_told_as_another_call_under_it(decorated):
    check(decorated)
    forward = row_named(decorated, "forward")
    calls = [row for row in shown(decorated, forward.index) if row.name == "residual"]
    assert [names_inside(decorated, row.index) for row in calls] == [["light", "add"], ["heavy", "add"]]


def test_a_checkpoint_has_the_name_on_the_way_back_that_it_has_forward(decorated):
    backward = row_named(decorated, "backward")
    assert [row.name for row in shown(decorated, backward.index) if row.kind == "call"] == ["residual"] * 2
    assert all(row.twin >= 0 for row in shown(decorated, backward.index) if row.name == "residual")


@pytest.mark.skipif(jax.__version_info__ < (0, 7), reason="JAX 0.6 keeps the call stack of the first call for all")
def test_checkpoints_that_follow_each_other_are_each_in_their_own_call():
    step = jax.checkpoint(heavy)

    def loss(first, second, x):
        x = jax.checkpoint(lambda x: jnp.exp(x) * 2)(x)
        x = jax.checkpoint(lambda x: jnp.log(x) + 2)(x)
        x = step(first, x)
        x = step(second, x)
        return x.sum()

    outline = outline_of(jax.grad(loss, (0, 1, 2)), _PARAMETERS, _PARAMETERS, _X)
    check(outline)
    forward = [names_inside(outline, row.index) for row in shown(outline, row_named(outline, "forward").index)]
    assert forward[:2] == [["exp", "multiply"], ["log", "add"]]
    steps = shown(outline, row_named(outline, "forward").index)[2:4]
    assert [outline.row(row.twin).detail for row in steps] == ["x = step(first, x)", "x = step(second, x)"]


@pytest.mark.smoke
def test_turns_of_a_checkpoint_that_share_parameters_are_one_stack_both_ways():
    step = jax.checkpoint(heavy)

    def loss(p, x):
        for _ in range(4):
            x = step(p, x)
        return x.sum()

    outline = outline_of(jax.grad(loss), _PARAMETERS, _X)
    check(outline)
    forward, backward = (row_named(outline, name) for name in ("forward", "backward"))
    there, back = (next(row for row in shown(outline, one.index) if row.count > 1) for one in (forward, backward))
    assert (there.count, back.count, back.twin) == (4, 4, there.index)
    assert not any(row.name == "add derivatives" for row in boxes(outline))
