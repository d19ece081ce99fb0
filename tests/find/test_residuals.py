"""What is kept for the backward pass is counted, told with its lines, and beside what checkpoints would keep."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from find.found import found, line_numbers, the

from jaxviz.exploration import explore

WEIGHTS = [jnp.ones((1024, 1024))] * 3
X = jnp.ones((2048, 1024))
SIZE = 2048 * 1024 * 4


def network(weights, x):
    for w in weights:
        x = jnp.tanh(x @ w)
    return x.sum()


def test_residuals_are_told_with_their_line():
    finding = the("residuals", jax.grad(network), WEIGHTS, X)
    assert line_numbers(finding, network) == [2]
    # The result of each tanh: for its own derivative and as what the next product was given.
    assert finding.figures["bytes"] % SIZE == 0
    assert finding.figures["bytes"] >= 3 * SIZE
    assert finding.figures["nothing_saveable"] == 0
    assert finding.figures["dots_saveable"] == 3 * SIZE
    assert "jax.checkpoint" in finding.remedy


def test_each_policy_says_what_it_computes_again():
    policies = {one.name: one for one in explore(jax.grad(network), WEIGHTS, X).residuals.policies}
    nothing, dots = policies["nothing_saveable"], policies["dots_saveable"]
    assert nothing.equations > dots.equations
    # Three products less.
    assert nothing.flops - dots.flops == 3 * 2 * 2048 * 1024 * 1024


def batched(w, x):
    return jnp.tanh(jnp.einsum("bij,bjk->bik", x, w)).sum()


def test_products_of_batches_are_not_kept_by_the_policy_without_them():
    batch = jnp.ones((8, 512, 512)), jnp.ones((8, 512, 512))
    policies = {one.name: one for one in explore(jax.grad(batched), *batch).residuals.policies}
    assert policies["dots_with_no_batch_dims_saveable"].bytes == 0
    assert policies["dots_saveable"].bytes == 8 * 512 * 512 * 4


def test_a_checkpoint_leaves_less_to_keep():
    plain = explore(jax.grad(network), WEIGHTS, X).residuals.bytes
    layer = jax.checkpoint(lambda w, x: jnp.tanh(x @ w))

    def saving(weights, x):
        for w in weights:
            x = layer(w, x)
        return x.sum()

    assert explore(jax.grad(saving), WEIGHTS, X).residuals.bytes < plain


INNOCENT = {
    "no gradient": (network, (WEIGHTS, X)),
    "a small one": (jax.grad(network), ([jnp.ones((8, 8))] * 3, jnp.ones((4, 8)))),
    "a sum": (jax.grad(lambda x: x.sum()), (X,)),
    "a linear function": (jax.grad(lambda w: (X @ w).sum()), (WEIGHTS[0],)),
    "an argument": (jax.grad(lambda w, x: (x @ w).sum()), (WEIGHTS[0], X)),
    "a forward derivative": (lambda x: jax.jvp(jnp.tanh, (x,), (x,)), (X,)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_little_that_is_kept_is_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert found("residuals", fn, *arguments) == []
