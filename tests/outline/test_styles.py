"""What a person reads in the outlines of programs that are written in other styles."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from outline.outlines import boxes, check, names_inside, outline_of, row_named, rows_named, shown
from styles import STYLES

_X = jnp.ones((4, 8))


def outline_of_style(name):
    fn, arguments = STYLES[name]()
    return outline_of(fn, *arguments)


@pytest.mark.parametrize("name", STYLES)
def test_every_style_has_a_sound_outline_with_names_of_the_person(name):
    outline = outline_of_style(name)
    check(outline)
    found = boxes(outline)
    named = [row for row in found if row.kind in ("expression", "module", "call")]
    assert len(named) >= 0.9 * len(found)


def test_two_gradients_in_one_step_each_hold_their_phases():
    outline = outline_of_style("two_models")
    assert names_inside(outline, 0) == [
        "normal", "generator",
        "value_and_grad(discriminator_loss)", "discriminator_optimizer.update", "apply_updates",
        "value_and_grad(generator_loss)", "generator_optimizer.update", "apply_updates",
    ]  # fmt: skip
    for name in ("value_and_grad(discriminator_loss)", "value_and_grad(generator_loss)"):
        forward, backward = shown(outline, row_named(outline, name, "call").index)
        assert (forward.name, backward.name) == ("forward", "backward")
        assert forward.twin == backward.index


def test_what_a_checkpoint_runs_forward_stands_where_it_was_called():
    outline = outline_of_style("decorators")
    forward, inner, backward, inner_backward = rows_named(outline, "mix", "call")
    assert (forward.twin, inner.twin) == (backward.index, inner_backward.index)
    # The function that the decorator wraps, and what the decorator adds.
    assert names_inside(outline, forward.index) == ["mix", "add"]
    assert names_inside(outline, inner.index) == ["matmul", "tanh", "matmul"]


@pytest.mark.skipif(jax.__version_info__ < (0, 7), reason="JAX 0.6 keeps the call stack of the first call for all")
def test_two_calls_of_a_checkpointed_function_are_told_apart():
    @jax.checkpoint
    def block(w, x):
        return jnp.sin(jnp.tanh(x @ w))

    def loss(w, x):
        first = block(w, x)
        scaled = first * 2
        second = block(w, scaled)
        return second.sum()

    outline = outline_of(jax.grad(loss), jnp.eye(8), _X)
    forward = row_named(outline, "forward")
    calls = [row for row in shown(outline, forward.index) if row.name == "block"]
    assert [call.detail for call in calls] == ["first = block(w, x)", "second = block(w, scaled)"]


def test_lambdas_that_only_pass_on_are_seen_through_and_others_are_their_text():
    outline = outline_of_style("lambdas")
    assert names_inside(outline, row_named(outline, "network").index) == [
        "matmul", "silu", "x * s / (1 + jnp.abs(x))", "matmul",
        "x - x.max(-1, keepdims=True)", "jnp.exp(x) / jnp.exp(x).sum(-1, keepdims=True)",
    ]  # fmt: skip


def test_what_is_mapped_over_a_tree_is_named_by_what_is_done_to_each_leaf():
    outline = outline_of_style("own_optimizer")
    assert names_inside(outline, row_named(outline, "adam").index) == [
        "m = b1 * m + (1 - b1) * g x6", "v = b2 * v + (1 - b2) * g ** 2 x6", "learning_rate", "update x6"
    ]  # fmt: skip
    assert rows_named(outline, "divide")


def test_a_function_that_is_a_loop_says_so_and_does_not_look_as_if_it_ran_often():
    outline = outline_of_style("sharded_step")
    loops = rows_named(outline, "forward: for block in params")
    assert [(row.count, row.detail) for row in loops] == [(3, 'forward(params, batch["x"])')] * 2
    assert names_inside(outline, outline.children[loops[0].index][0]) == ["attention", "add", "feed_forward", "add"]


def test_loops_are_named_by_the_function_that_they_repeat():
    outline = outline_of_style("nested_scans")
    assert [row.kind for row in rows_named(outline, "scan(epoch)")] == ["loop"]
    assert [row.kind for row in rows_named(outline, "scan(batch_step)")] == ["loop"]
    assert len(rows_named(outline, "scan(cell)")) == 2


def test_an_index_by_constants_is_part_of_the_operation_that_it_is_for():
    def f(x):
        difference = x[1:] - x[:-1]
        y = jnp.where(x > 0, x[:, 0:1], jnp.sin(x))
        return difference, y, x[0]

    outline = outline_of(f, _X)
    # Of `where`, the index comes before what else is computed for it.
    assert names_inside(outline, 0) == ["subtract", "greater", "x[:, 0:1]", "sin", "where", "x[0]"]
    subtract = row_named(outline, "subtract")
    assert (subtract.equations, subtract.closed) == (3, True)
    assert names_inside(outline, subtract.index) == ["x[1:]", "x[:-1]"]


def test_an_index_by_values_stands_by_itself():
    outline = outline_of(lambda x, i: x[i] + 1.0, _X, np.int32(1))
    assert names_inside(outline, 0) == ["x[i]", "add"]


def test_what_taking_a_gradient_does_itself_has_no_box_of_its_own():
    outline = outline_of_style("nested_scans")
    assert not rows_named(outline, "value_and_grad(loss)")


def test_a_stack_of_modules_is_called_alike_forward_and_backward():
    eqx = pytest.importorskip("equinox", reason="it is not in the environments of the oldest and the newest JAX")

    class Mix(eqx.Module):
        rows: eqx.nn.Linear
        columns: eqx.nn.Linear

        def __call__(self, y):
            y = y + jax.nn.relu(jax.vmap(self.rows)(y))
            return y + jax.vmap(self.columns)(y.T).T

    class Mixer(eqx.Module):
        mixes: list

        def __call__(self, y):
            for mix in self.mixes:
                y = mix(y)
            return y

    def loss(model, x):
        return (jax.vmap(model)(x) ** 2).mean()

    key = jax.random.key(0)
    mixer = Mixer([Mix(eqx.nn.Linear(8, 8, key=key), eqx.nn.Linear(4, 4, key=key)) for _ in range(3)])
    forward, backward = rows_named(outline_of(jax.grad(loss), mixer, jnp.ones((3, 4, 8))), "mix")
    assert forward.twin == backward.index
    assert forward.count == backward.count == 3
