"""Cells that several tests run."""

from __future__ import annotations

AFFINE = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
def affine(w, b, x):
    return jnp.tanh(w @ x + b)
%jaxviz affine(jnp.ones((4, 8)), jnp.ones(4), jnp.ones(8))"""

LOOP = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
def loop(x):
    def cell(h, _):
        h = jnp.sin(h) * 1.01
        return h, h.sum()
    return jax.lax.scan(cell, jnp.cos(x), None, length=32)
%jaxviz loop(jnp.ones(16))"""

STEP = """\
import jax, jax.numpy as jnp
%load_ext jaxviz
def mlp(params, x):
    for w, b in params:
        x = jax.nn.relu(x @ w + b)
    return x
def step(params, x):
    value, grads = jax.value_and_grad(lambda p: mlp(p, x).mean())(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value
sizes = [64, 128, 128, 10]
params = [(jnp.ones((m, n)), jnp.ones(n)) for m, n in zip(sizes, sizes[1:])]
%jaxviz step(params, jnp.ones((32, 64)))"""
