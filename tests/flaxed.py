"""Programs of Flax's NNX, apart from the tests of them: it is not there beside every JAX that is tested."""

from __future__ import annotations

import jax.numpy as jnp
import optax
from flax import nnx


class Network(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(3, 4, rngs=rngs)
        self.norm = nnx.BatchNorm(4, rngs=rngs)
        self.out = nnx.Linear(4, 2, rngs=rngs)

    def __call__(self, x):
        return self.out(nnx.relu(self.norm(self.hidden(x))))

    @nnx.jit
    def predict(self, x):
        return self(x)


def network():
    return Network(nnx.Rngs(0))


def optimizer(model):
    return nnx.Optimizer(model, optax.adam(1e-2), wrt=nnx.Param)


def learn(model, optimizer, x):
    loss, gradient = nnx.value_and_grad(lambda model: jnp.mean(model(x) ** 2))(model)
    optimizer.update(model, gradient)
    return loss


step = nnx.jit(learn)
