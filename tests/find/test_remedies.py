"""What a finding says to do cures it: the program that was told of, and the same as the remedy has it."""

from __future__ import annotations

import functools
import random
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found
from jax import lax

X = jnp.linspace(0.1, 1.0, 8)
N = jnp.arange(5)
MATRIX = jnp.ones((512, 512))
HALF = jnp.ones((64, 64), jnp.bfloat16)
FULL = jnp.ones((64, 64))
WEIGHTS = [jnp.ones((1024, 1024))] * 3
ROWS = jnp.ones((2048, 1024))
rate = 0.125


def settle(x):
    for _ in range(200):
        x = x * 1.01 + 0.1
    return x


def layers(x, weights):
    for weight in weights:
        x = jnp.tanh(x @ weight) + x
    return x


def scanned(x, weights):
    return lax.scan(lambda x, weight: (jnp.tanh(x @ weight) + x, None), x, jnp.stack(weights))[0]


def each(xs):
    return jnp.stack([jnp.tanh(x) * 2 + jnp.sin(x) * x for x in xs])


def wasteful(x):
    unused = jnp.sin(x) * jnp.cos(x) + 1
    del unused
    return x * 2


def step(params, x):
    return jax.tree.map(lambda p: p - 0.1 * x.sum() * p, params)


def drawn_twice(key):
    return jax.random.normal(key) + jax.random.uniform(key)


def drawn_apart(key):
    one, other = jax.random.split(key)
    return jax.random.normal(one) + jax.random.uniform(other)


def called_in_a_loop(x):
    shape = jax.ShapeDtypeStruct((), jnp.float32)
    return lax.fori_loop(0, 4, lambda i, c: jax.pure_callback(np.sin, shape, c), x)


def masked_late(x):
    return jnp.where(x > 0, jnp.log(x), 0.0).sum()


def masked_before(x):
    ok = x > 0
    safe = jnp.where(ok, x, 1.0)
    return jnp.where(ok, jnp.log(safe), 0.0).sum()


def network(weights, x):
    for weight in weights:
        x = jnp.tanh(x @ weight)
    return x.sum()


def timed(x):
    return x + time.time()


def computed(x):
    return x + jnp.ones((600, 600)).at[3].set(2.0)


def twice(w, x):
    hidden = jnp.tanh(x @ w)
    return hidden.sum() + (jnp.tanh(x @ w) * 2).sum()


def once(w, x):
    hidden = jnp.tanh(x @ w)
    return hidden.sum() + (hidden * 2).sum()


def bent(x):
    return jnp.tanh(x) * 2 + jnp.sin(x)


def recursive(x, depth=20):
    return x if depth == 0 else recursive(bent(x), depth - 1)


def reduced(x, weights):
    return functools.reduce(lambda total, weight: bent(total) * weight, weights, x)


def noisy(key, x):
    return jax.vmap(lambda x: x + jax.random.normal(key))(x)


def noisy_apart(key, x):
    keys = jax.random.split(key, len(x))
    return jax.vmap(lambda key, x: x + jax.random.normal(key), in_axes=(0, 0))(keys, x)


def with_a_history(x):
    def body(carry, _):
        x, history = carry
        return (jnp.sin(x), jnp.tanh(history) * 0.9 + x), None

    return lax.scan(body, (x, x), None, length=10)[0][0]


kept = {}


def keeping(x):
    y = x * 2
    kept["y"] = y
    return y


SAVING = jax.checkpoint(network, policy=jax.checkpoint_policies.nothing_saveable)
SCALAR = 0.5
#: Kind of finding, program that has it, its arguments, the program with the remedy, its arguments.
CURES = {
    "a fori_loop": (
        "unrolled",
        settle,
        (X,),
        lambda x: lax.fori_loop(0, 200, lambda i, carry: carry * 1.01 + 0.1, x),
        (X,),
    ),
    "a scan": ("unrolled", layers, (jnp.eye(4), [jnp.eye(4)] * 24), scanned, (jnp.eye(4), [jnp.eye(4)] * 24)),
    "vmap": ("unrolled", each, ([SCALAR] * 20,), jax.vmap(lambda x: jnp.tanh(x) * 2 + jnp.sin(x) * x), (X,)),
    "a fori_loop for a function that calls itself": (
        "unrolled",
        recursive,
        (X,),
        lambda x: lax.fori_loop(0, 20, lambda i, carry: bent(carry), x),
        (X,),
    ),
    "a scan for reduce": (
        "unrolled",
        reduced,
        (X, [X] * 20),
        lambda x, weights: lax.scan(lambda x, weight: (bent(x) * weight, None), x, jnp.stack(weights))[0],
        (X, [X] * 20),
    ),
    "vmap for map": ("unrolled", lambda xs: list(map(bent, xs)), ([X] * 20,), jax.vmap(bent), (jnp.ones((20, 8)),)),
    "left out of the carry": (
        "dead",
        with_a_history,
        (X,),
        lambda x: lax.scan(lambda x, _: (jnp.sin(x), None), x, None, length=10)[0],
        (X,),
    ),
    "a key for each": ("key", noisy, (jax.random.key(0), X), noisy_apart, (jax.random.key(0), X)),
    "as many turns as entries": (
        "indexing",
        lambda x: lax.fori_loop(0, 9, lambda i, c: c + x[i], 0.0),
        (X,),
        lambda x: lax.fori_loop(0, 8, lambda i, c: c + x[i], 0.0),
        (X,),
    ),
    "chosen beyond the axis": (
        "indexing",
        lambda x: lax.fori_loop(0, 9, lambda i, c: c + x[i], 0.0),
        (X,),
        lambda x: lax.fori_loop(0, 9, lambda i, c: c + jnp.where(i < 8, x[i], 0.0), 0.0),
        (X,),
    ),
    "kept where it is called": ("impure", keeping, (SCALAR,), lambda x: (x * 2, x * 2), (SCALAR,)),
    "removed": ("dead", wasteful, (X,), lambda x: x * 2, (X,)),
    "an argument": ("captured", lambda x: x @ MATRIX, (MATRIX,), lambda x, w: x @ w, (MATRIX, MATRIX)),
    "donated": (
        "donated",
        step,
        ({"w": MATRIX, "b": MATRIX}, X),
        jax.jit(step, donate_argnames=("params",)),
        ({"w": MATRIX, "b": MATRIX}, X),
    ),
    "keys that are split": ("key", drawn_twice, (jax.random.key(0),), drawn_apart, (jax.random.key(0),)),
    "computed with jax.numpy": (
        "callback",
        called_in_a_loop,
        (SCALAR,),
        lambda x: lax.fori_loop(0, 4, lambda i, c: jnp.sin(c), x),
        (SCALAR,),
    ),
    "an index within bounds": ("indexing", lambda x: x[10], (X,), lambda x: x[7], (X,)),
    "an index that is kept in bounds": (
        "indexing",
        lambda x, i: x[i],
        (X, 2),
        lambda x, i: x[jnp.clip(i, 0, 7)],
        (X, 2),
    ),
    "a guarded divisor": (
        "division",
        lambda x, n: x // n,
        (N, N),
        lambda x, n: x // jnp.where(n == 0, 1, n),
        (N, N),
    ),
    "converted": ("precision", lambda x, y: x * y, (HALF, FULL), lambda x, y: x * y.astype(x.dtype), (HALF, FULL)),
    "a Python float": ("precision", lambda x: x * np.float32(0.5), (HALF,), lambda x: x * 0.5, (HALF,)),
    "masked before": ("masked", jax.grad(masked_late), (X,), jax.grad(masked_before), (X,)),
    "a checkpoint": ("residuals", jax.grad(network), (WEIGHTS, ROWS), jax.grad(SAVING), (WEIGHTS, ROWS)),
    "a time that is given": ("impure", timed, (SCALAR,), lambda x, now: x + now, (SCALAR, 1.0)),
    "a number that is given": ("impure", lambda x: x * rate, (SCALAR,), lambda x, rate: x * rate, (SCALAR, 0.1)),
    "random numbers with a key": (
        "impure",
        lambda x: x + random.random(),
        (SCALAR,),
        lambda x, key: x + jax.random.uniform(key),
        (SCALAR, jax.random.key(0)),
    ),
    "a table that is given": (
        "folded",
        computed,
        (jnp.ones((600, 600)),),
        lambda x, table: x + table,
        (jnp.ones((600, 600)), jnp.ones((600, 600))),
    ),
    "kept in a variable": (
        "twice",
        twice,
        (jnp.ones((8, 8)), jnp.ones((8, 8))),
        once,
        (jnp.ones((8, 8)), jnp.ones((8, 8))),
    ),
}


@pytest.mark.parametrize("name", CURES)
def test_what_is_done_as_it_is_said_is_not_told_again(name):
    kind, before, arguments, after, given = CURES[name]
    (finding,) = found(kind, before, *arguments)
    assert finding.remedy
    assert found(kind, after, *given) == []
