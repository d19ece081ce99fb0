"""The example of `jaxviz demo`: a loop that Python unrolls, and its gradient."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from jaxviz.exploration import Exploration, explore


def settle(weights: jax.Array, x: jax.Array) -> jax.Array:
    """Ten steps towards a fixed point, each with the same weights."""
    for _ in range(10):
        x = jnp.tanh(weights @ x + 0.1)
    return jnp.sum(x**2)


def exploration() -> Exploration:
    """The example, explored."""
    return explore(jax.value_and_grad(settle), jnp.ones((8, 8)), jnp.ones(8))
