"""Programs of Equinox, apart from the tests of them: it is not there beside every JAX that is tested."""

from __future__ import annotations

import equinox
import jax
import jax.numpy as jnp


def perceptron():
    return equinox.nn.MLP(3, 2, 8, depth=1, key=jax.random.key(0))


@equinox.filter_jit
def predict(model, x):
    return jax.vmap(model)(x)


@equinox.filter_value_and_grad
def loss(model, x, y):
    return jnp.mean((jax.vmap(model)(x) - y) ** 2)


@equinox.filter_jit
def step(model, x, y):
    value, gradient = loss(model, x, y)
    return equinox.apply_updates(model, jax.tree.map(lambda one: -0.1 * one, gradient)), value


def apply(model, x):
    return jax.vmap(model)(x)


class Model(equinox.Module):
    weight: jax.Array

    @equinox.filter_jit
    def __call__(self, x, scale=1):
        return x @ self.weight * scale
