"""The corpus: small programs that between them use all common kinds of region. Name -> () -> (function, arguments)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

Case = tuple[Callable[..., Any], tuple[Any, ...]]


def useless_loop(turns: int = 1000) -> Case:
    def useless(x):
        for _ in range(turns):
            x = x * 1.0001
        return x

    return useless, (jnp.arange(16.0),)


def fori() -> Case:
    def f(x):
        return lax.fori_loop(0, 10, lambda i, c: jnp.sin(c) * 1.01 + i, x)

    return f, (jnp.arange(16.0),)


def while_loop() -> Case:
    def f(x):
        def cond(c):
            return jnp.sum(c) < 1000.0

        def body(c):
            return jnp.cos(c) + c * 2.0

        return lax.while_loop(cond, body, x)

    return f, (jnp.arange(16.0),)


def cond() -> Case:
    def f(p, x):
        return lax.cond(p > 0, lambda x: jnp.sin(x) * 2, lambda x: jnp.cos(x) + x.sum(), x)

    return f, (jnp.float32(1.0), jnp.arange(16.0))


def switch() -> Case:
    def f(i, x):
        return lax.switch(i, [lambda x: x + 1, lambda x: jnp.exp(x), lambda x: jnp.tanh(x) * x], x)

    return f, (jnp.int32(1), jnp.arange(16.0))


def _mlp_params() -> list[dict[str, jax.Array]]:
    key = jax.random.key(0)
    params = []
    for rows, columns in ((64, 128), (128, 128), (128, 10)):
        key, own = jax.random.split(key)
        params.append({"w": jax.random.normal(own, (rows, columns)) * 0.1, "b": jnp.zeros((columns,))})
    return params


def _mlp(params, x):
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ params[-1]["w"] + params[-1]["b"]


def _mlp_loss(params, x, y):
    log_probability = jax.nn.log_softmax(_mlp(params, x))
    return -jnp.mean(jnp.sum(log_probability * jax.nn.one_hot(y, 10), axis=-1))


def mlp_forward() -> Case:
    return _mlp, (_mlp_params(), jnp.ones((32, 64)))


def mlp_grad() -> Case:
    def f(params, x, y):
        return jax.value_and_grad(_mlp_loss)(params, x, y)

    return f, (_mlp_params(), jnp.ones((32, 64)), jnp.zeros((32,), jnp.int32))


def mlp_train() -> Case:
    import optax

    optimizer = optax.adam(1e-3)

    def step(params, state, x, y):
        loss, gradient = jax.value_and_grad(_mlp_loss)(params, x, y)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, loss

    params = _mlp_params()
    return step, (params, optimizer.init(params), jnp.ones((32, 64)), jnp.zeros((32,), jnp.int32))


def vmap() -> Case:
    def one(w, x):
        h = jnp.tanh(w @ x)
        return jnp.dot(h, h) / (1.0 + jnp.linalg.norm(x))

    def f(w, xs):
        return jax.vmap(one, in_axes=(None, 0))(w, xs)

    return f, (jnp.ones((8, 8)), jnp.ones((32, 8)))


def xor_train() -> Case:
    import optax

    optimizer = optax.sgd(0.1, momentum=0.9)

    def net(params, x):
        h = jnp.tanh(x @ params["w1"] + params["b1"])
        return jax.nn.sigmoid(h @ params["w2"] + params["b2"])

    def loss(params, x, y):
        p = net(params, x)[:, 0]
        return -jnp.mean(y * jnp.log(p + 1e-7) + (1 - y) * jnp.log(1 - p + 1e-7))

    def step(params, state, x, y):
        value, gradient = jax.value_and_grad(loss)(params, x, y)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    key = jax.random.key(0)
    params = {
        "w1": jax.random.normal(key, (2, 8)),
        "b1": jnp.zeros(8),
        "w2": jax.random.normal(key, (8, 1)),
        "b2": jnp.zeros(1),
    }
    x = jnp.array([[0.0, 0], [0, 1], [1, 0], [1, 1]])
    return step, (params, optimizer.init(params), x, jnp.array([0.0, 1, 1, 0]))


def flax_block(train: bool = True, layers: int = 1, *, shapes: bool = False) -> Case:
    """A transformer of `layers` blocks: its forward pass or its training step; with `shapes`, for shapes alone.

    To compile what fills the parameters of 64 blocks takes minutes.
    """
    import flax.linen as nn
    import optax

    width, heads, length, batch, words = 64, 4, 16, 4, 100

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x):
            h = nn.LayerNorm()(x)
            mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
            x = x + nn.MultiHeadDotProductAttention(num_heads=heads)(h, h, mask=mask)
            h = nn.gelu(nn.Dense(4 * width)(nn.LayerNorm()(x)))
            return x + nn.Dense(width)(h)

    class Model(nn.Module):
        @nn.compact
        def __call__(self, tokens):
            x = nn.Embed(words, width)(tokens)
            x = x + self.param("position", nn.initializers.normal(0.02), (length, width))
            for _ in range(layers):
                x = Block()(x)
            return nn.Dense(words)(nn.LayerNorm()(x))

    model = Model()
    tokens = jnp.zeros((batch, length), jnp.int32)
    made = jax.eval_shape if shapes else _compiled_and_run
    params = made(model.init, jax.random.key(0), tokens)
    optimizer = optax.adam(1e-3)

    def loss(params, tokens):
        logits = model.apply(params, tokens)
        return optax.softmax_cross_entropy_with_integer_labels(logits[:, :-1], tokens[:, 1:]).mean()

    def step(params, state, tokens):
        value, gradient = jax.value_and_grad(loss)(params, tokens)
        updates, state = optimizer.update(gradient, state, params)
        return optax.apply_updates(params, updates), state, value

    def forward(params, tokens):
        return model.apply(params, tokens)

    return (step, (params, made(optimizer.init, params), tokens)) if train else (forward, (params, tokens))


def _compiled_and_run(fn, *args):
    return jax.jit(fn)(*args)


def random_numbers() -> Case:
    def f(key, x):
        k1, k2, k3 = jax.random.split(key, 3)
        a = jax.random.normal(k1, (64,))
        b = jax.random.uniform(k2, (64,))
        c = jax.random.bernoulli(k3, 0.5, (64,))
        i = jax.random.randint(k1, (64,), 0, 10)
        return jnp.where(c, a * x, b) + jnp.sort(i)

    return f, (jax.random.key(0), jnp.ones(64))


def scan_rnn(turns: int = 32) -> Case:
    def cell(params, h, x):
        h = jnp.tanh(h @ params["wh"] + x @ params["wx"] + params["b"])
        return h, h

    def run(params, xs):
        h0 = jnp.zeros((xs.shape[1], 32))
        _, hs = lax.scan(functools.partial(cell, params), h0, xs)
        return jnp.mean(hs**2)

    def f(params, xs):
        return jax.value_and_grad(run)(params, xs)

    key = jax.random.key(0)
    params = {
        "wh": jax.random.normal(key, (32, 32)) * 0.1,
        "wx": jax.random.normal(key, (8, 32)) * 0.1,
        "b": jnp.zeros(32),
    }
    return f, (params, jnp.ones((turns, 4, 8)))


def custom_vjp() -> Case:
    @jax.custom_vjp
    def clip(x):
        return jnp.clip(x, -1, 1) * 2

    def forward(x):
        return clip(x), (x,)

    def backward(residuals, g):
        (x,) = residuals
        return (jnp.where(jnp.abs(x) < 1, g * 2, 0.1 * g),)

    clip.defvjp(forward, backward)

    def f(x):
        return clip(x), jax.grad(lambda x: jnp.sum(clip(jnp.sin(x)) ** 2))(x)

    return f, (jnp.arange(16.0) / 8,)


def remat() -> Case:
    @jax.checkpoint
    def block(w, x):
        return jnp.sin(jnp.tanh(x @ w)) * x

    def f(ws, x):
        for w in ws:
            x = block(w, x)
        return x.sum()

    return jax.grad(f), ([jnp.eye(16)] * 3, jnp.ones((4, 16)))


def convolution() -> Case:
    def f(ws, x):
        for w in ws:
            x = lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            x = jax.nn.relu(x)
            x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return x.mean()

    return jax.value_and_grad(f), ([jnp.ones((3, 3, 3, 8)), jnp.ones((3, 3, 8, 16))], jnp.ones((2, 16, 16, 3)))


def linear_algebra() -> Case:
    def f(a):
        q, r = jnp.linalg.qr(a)
        lower = jnp.linalg.cholesky(a @ a.T + jnp.eye(8))
        s = jnp.linalg.solve(lower, q)
        return jnp.linalg.svd(s)[1].sum() + jnp.fft.fft(r[0]).real.sum()

    return f, (jnp.eye(8) + 0.1,)


def redundant() -> Case:
    """Equations that are dead, common, foldable or simple."""

    def f(x):
        _dead = jnp.exp(x) * 3
        a = jnp.sin(x)
        b = jnp.sin(x)
        c = (x + 0.0) * 1.0
        k = jnp.arange(16.0) * 2 + 1
        t = (c.reshape(4, 4).T).T.reshape(16)
        return a + b + t + k

    return f, (jnp.arange(16.0),)


CORPUS: dict[str, Callable[[], Case]] = {
    "useless_loop": useless_loop,
    "fori": fori,
    "while_loop": while_loop,
    "cond": cond,
    "switch": switch,
    "mlp_forward": mlp_forward,
    "mlp_grad": mlp_grad,
    "mlp_train": mlp_train,
    "vmap": vmap,
    "xor_train": xor_train,
    "flax_block_forward": functools.partial(flax_block, train=False),
    "flax_block_train": flax_block,
    "random_numbers": random_numbers,
    "scan_rnn": scan_rnn,
    "custom_vjp": custom_vjp,
    "remat": remat,
    "convolution": convolution,
    "linear_algebra": linear_algebra,
    "redundant": redundant,
}
