"""Programs with unrolled loops, and what is to be known of each when it is rebuilt."""

from __future__ import annotations

import jax
import jax.numpy as jnp


def settle(x):
    for _ in range(200):
        x = x * 1.01 + 0.1
    return x


def layers(x, weights):
    for weight in weights:
        x = jnp.tanh(x @ weight) + x
    return x.sum()


def nested(x):
    for i in range(6):
        for _ in range(20):
            x = jnp.sin(x) * (i + 1)
        x = x / 2
    return x


def sliced(x):
    total = 0.0
    for i in range(16):
        total = total * 0.9 + jnp.tanh(x[i])
    return total


def two_back(x):
    older = x * 2
    for _ in range(40):
        x, older = jnp.sin(x) + older, x
    return x


def collected(x):
    found = []
    for _ in range(30):
        x = jnp.sin(x) * 1.1
        found.append(x * 2)
    return jnp.stack(found), x


def gated(params, xs):
    h = c = jnp.zeros(8)
    for t in range(12):
        z = xs[t] @ params["w"] + h @ params["u"] + params["b"]
        i, f, g, o = jnp.split(z, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * c
    return (h**2).sum()


def noisy(key, x):
    for _ in range(20):
        key, now = jax.random.split(key)
        x = x * 0.9 + jax.random.normal(now, x.shape)
    return x


def counted(x):
    """Whole numbers that are other in each turn."""
    for i in range(24):
        x = jnp.where(x > i, x - 1, x * 2) + i
    return x


def in_a_jit(x):
    return jax.jit(settle)(x) + 1


def in_a_scan(x):
    def body(carry, _):
        for i in range(32):
            carry = jnp.sin(carry) * i + carry
        return carry, None

    return jax.lax.scan(body, x, None, length=3)[0]


def in_a_branch(x):
    return jax.lax.cond(x.sum() > 0, settle, lambda x: x, x)


def over_rows(xs):
    total = jnp.zeros(xs.shape[1])
    for x in xs:
        total = jnp.tanh(total + x) * x + total * 0.5
    return total


X = jnp.linspace(0.1, 1.0, 4)
WEIGHTS = [jnp.eye(4) * 0.05 * (i + 1) for i in range(24)]
PARAMS = {"w": jnp.ones((4, 32)) * 0.1, "u": jnp.ones((8, 32)) * 0.1, "b": jnp.zeros(32)}

#: Name -> function, arguments, equations of one turn at most.
LOOPS = {
    "a carry": (settle, (X,)),
    "layers": (layers, (jnp.eye(4), WEIGHTS)),
    "layers, backward": (jax.grad(layers), (jnp.eye(4), WEIGHTS)),
    "layers and their weights, backward": (jax.value_and_grad(layers, argnums=(0, 1)), (jnp.eye(4), WEIGHTS)),
    "nested": (nested, (0.5,)),
    "nested, backward": (jax.grad(nested), (0.5,)),
    "slices": (sliced, (jnp.linspace(0, 1, 16),)),
    "two turns back": (two_back, (0.3,)),
    "results of each turn": (collected, (X,)),
    "a recurrent network": (gated, (PARAMS, jnp.ones((12, 4)))),
    "a recurrent network, backward": (jax.value_and_grad(gated), (PARAMS, jnp.linspace(0, 1, 48).reshape(12, 4))),
    "random keys": (noisy, (jax.random.key(0), X)),
    "numbers": (counted, (jnp.arange(4),)),
    "in a jitted function": (in_a_jit, (X,)),
    "in the body of a loop": (in_a_scan, (X,)),
    "in a branch": (in_a_branch, (X,)),
    "rows of an array": (over_rows, (jnp.linspace(0, 1, 120).reshape(30, 4),)),
}
