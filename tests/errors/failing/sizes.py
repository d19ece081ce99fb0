"""Sizes that are no whole numbers, vectors where a matrix is wanted, shapes with fewer axes."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from errors.failing.registry import A, B, X, failing


@failing(X, case="whole size", place="jax.random.normal", words=["(1.5,)", "(n // 2,)"], mends=[0])
def noise_for_a_half(x):
    n = x.shape[0]
    return jax.random.normal(jax.random.key(0), (n / 2,)) + x.sum()


@failing(B, case="whole size", place="b.reshape", words=["len(b) // 3"], mends=[0])
def reshaped_to_a_third(b):
    return b.reshape(len(b) / 3, -1)


@failing(X, case="whole size", place="x[: x.size / 2]", words=["x.size // 2"], mends=[0])
def the_first_half(x):
    return x[: x.size / 2] * 2


@failing(X, case="whole size", place="fori_loop", words=["x.size // 2"], mends=[0])
def half_as_many_turns(x):
    return jax.lax.fori_loop(0, x.size / 2, lambda i, v: v * 2, x)


@failing(X, case="whole size", place="jnp.zeros", words=["int(size)"], mends=[0])
def as_long_as_a_root(x):
    size = np.sqrt(x.size + 1)
    return jnp.zeros((size, 2)) + x[0]


@failing(X, case="whole size", place="jnp.ones", words=["(2, 3)"], mends=[0])
def a_size_with_a_point(x):
    return jnp.ones((2, 3.0)) * x


@failing(X, case="whole size", place="jax.lax.fori_loop", words=["x.size // 2"], mends=[0])
def turns_for_a_half(x):
    return jax.lax.fori_loop(0, x.size / 2, lambda i, c: c * 2, x)


@failing(
    X, case="matrix", place="jnp.linalg.cholesky", words=["`cholesky` works on matrices", "jnp.diag(x)"], mends=[0]
)
def a_root_of_a_vector(x):
    return jnp.linalg.cholesky(x)


@failing(X, case="matrix", place="jnp.linalg.inv", words=["jnp.diag(x)"], mends=[0])
def an_inverse_of_a_vector(x):
    return jnp.linalg.inv(x)


@failing(X, case="matrix", place="jnp.linalg.svd", words=["x[:, None]"], mends=[0, 1])
def factors_of_a_vector(x):
    return jnp.linalg.svd(x)


@failing(X, case="matrix", place="jnp.tril", words=["x[:, None]"], mends=[0, 1])
def half_of_a_vector(x):
    return jnp.tril(x)


@failing(X, case="broadcast to", place="jnp.broadcast_to", words=["x.sum(axis=(0,))", "x[0]"], mends=[0, 1])
def stretched_to_a_number(x):
    return jnp.broadcast_to(x, ())


@failing(X, case="broadcast to", place="jnp.broadcast_to", words=["x[..., None]"], mends=[0])
def stretched_to_the_right(x):
    return jnp.broadcast_to(x, (3, 5))


@failing(X, case="index type", place="jax.lax.scan", words=["`i` is no index", "i.astype(int)"], mends=[0])
def places_that_are_floats(x):
    return jax.lax.scan(lambda c, i: (c.at[i].set(1.0), None), jnp.zeros(6), x)[0]


@failing(B, case="concatenation", place="jnp.concatenate", words=["jnp.concatenate([b, row[None, ...]])"], mends=[0])
def a_row_below(b):
    row = b[0]
    return jnp.concatenate([b, row])


@failing(X, case="concatenation", place="jnp.array", words=["jnp.ravel(x), jnp.ravel(1.0)"], mends=[0])
def an_array_among_numbers(x):
    return jnp.array([x, 1.0, 2.0])


@failing(X, case="range", place="range", words=["jax.lax.fori_loop(0, x[0].astype(int), body, total)"])
def as_often_as_a_number(x):
    total = x
    for i in range(int(x[0])):
        total = total * i
    return total


@failing(X, case="length", place="jnp.repeat", words=["jnp.repeat(x, np.arange(3))"], mends=[0])
def repeated_more_and_more(x):
    return jnp.repeat(x, jnp.arange(3))


@failing(A, case="axis", place="transpose", words=["`a` has 2 axes, and an order of 3"], mends=[0], gives=A.T)
def turned_by_too_many_axes(a):
    return a.transpose(0, 2, 1)


@failing(A[None], case="axis", place="transpose", words=["jnp.transpose(a, (0, 2, 1))"], mends=[0], gives=A.T[None])
def turned_by_too_few_axes(a):
    return jnp.transpose(a, axes=(-1, -2))
