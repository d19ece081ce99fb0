"""Errors whose cures are tried by what they compute: NumPy and its numbers, places, derivatives, recursion, solves."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from errors.failing.registry import A, X, failing
from jax import lax

# NumPy, numbers, places.


@failing(X, case="numpy", place="np.linalg.norm(x)", words=["n = jnp.linalg.norm(x)"], mends=[0], gives=2 * np.sqrt(14))
def a_norm_of_numpy(x):
    n = np.linalg.norm(x)
    return n * 2


@failing(X, case="numpy", place="np.array", words=["jnp.array([x[0], x[1]])"], mends=[0], gives=X[:2])
def an_array_of_numpy(x):
    return np.array([x[0], x[1]])


@failing(X, X, case="numpy", place="np.maximum(x, y)", mends=[0], gives=X + np.exp(X))
def several_of_numpy(x, y):
    return np.maximum(x, y) + np.exp(x)


@failing(X, case="numpy", place="np.interp", mends=[0], gives=jnp.array([3.0, 3.0, 3.0]))
def lists_for_numpy(x):
    return np.interp(x, [0, 1], [2, 3])


TABLE, FROM_ZERO = {2: 20.0, 1: 10.0}, {0: 1.0, 1: 2.0}


@failing(X, case="conversion", place="int(x[0])", words=["jnp.select("], mends=[0], gives=10.0)
def an_entry_of_a_dictionary(x):
    return TABLE[int(x[0])]


@failing(X, case="conversion", place="int(x[0])", mends=[0], gives=2.0)
def an_entry_of_a_counted_dictionary(x):
    return FROM_ZERO[int(x[0])]


@failing(X, 2, case="length", place="jnp.repeat", words=['static_argnames="n"'])
def repeated_as_often_as_asked(x, n):
    return jnp.repeat(x, n)


@failing(X, case="range", place="range(n)", words=["`range`"])
def a_list_of_a_length_that_is_traced(x):
    n = x.argmax()
    out = []
    for i in range(n):
        out.append(x[i])  # noqa: PERF401
    return out


@failing(X, case="vmap in_axes", place="jax.vmap", words=["in_axes=(0, None)"], mends=[0], gives=X * 2)
def axes_for_one_more(x):
    return jax.vmap(lambda v, w: v * w, in_axes=(0, None, 0))(x, 2.0)


@failing(X, case="numpy", place="np.random.normal(x)", words=["jax.random"])
def random_numbers_of_numpy(x):
    return np.random.normal(x)


@failing(
    jnp.arange(3, dtype=jnp.uint32),
    case="too large",
    place="2654435761",
    words=["jnp.uint32(2654435761)"],
    mends=[0],
    gives=np.arange(3, dtype=np.uint32) * np.uint32(2654435761),
)
def a_hash(a):
    return a * 2654435761


@failing(X, case="place", place="x.at[0]", words=["x = x.at[0].set(1)"], mends=[0], gives=jnp.array([1.0, 2.0, 3.0]))
def assigned_at(x):
    x.at[0] = 1
    return x


@failing(X, case="place", place="x.at[1:]", mends=[0], gives=jnp.array([1.0, 4.0, 5.0]))
def added_at(x):
    x.at[1:] += 2.0
    return x


@failing(X, case="place", place="y + 1", words=["y.get() + 1"], mends=[0], gives=2.0)
def a_place_alone(x):
    y = x.at[0]
    return y + 1


@failing(A, 1, case="slice", place="a[:, k:k + 2]", mends=[1], gives=A[:, 1:3])
def a_window(a, k):
    return a[:, k:k + 2]  # fmt: skip


@failing(A, 1, case="slice", place="a[:k]", mends=[1], gives=A.at[1:].set(0))
def a_slice_of_rows(a, k):
    return a[:k]


@failing(A, 0, case="shape from a value", place="a.sum(axis=axis)", words=['static_argnames="axis"'])
def an_axis_that_is_traced(a, axis):
    return a.sum(axis=axis)


# Derivatives, recursion, solves.


@failing(
    {"w": X, "n": 3}, case="grad of integer", place="jax.grad", words=["p['n']"], mends=[0], gives={"w": X * 0 + 3}
)
def a_gradient_of_a_tree_with_a_count(p):
    return jax.grad(lambda q: (q["w"] * q["n"]).sum())(p)


@failing(X, 2, case="grad of integer", place="jax.grad", words=["argnums=(0,)"], mends=[0], gives=(X * 0 + 2,))
def a_gradient_by_a_count_too(x, n):
    return jax.grad(lambda v, m: (v * m).sum(), argnums=(0, 1))(x, n)


@jax.jit
def endless(n):
    return jnp.where(n <= 1, 1, n * endless(n - 1))


@failing(3, case="recursion", place="", words=["`endless`", "both of their sides"])
def a_jitted_recursion(n):
    return endless(n)


def without_an_end(n):
    return lax.cond(n > 0, lambda: without_an_end(n - 1), lambda: n)


@failing(3, case="recursion", place="", words=["`without_an_end` calls itself"])
def a_recursion(n):
    return without_an_end(n)


M = jnp.array([[2.0, 1.0], [0.0, 1.0]])


@failing(
    M,
    jnp.ones(2),
    case="transpose of a solve",
    place="jax.grad",
    words=["jnp.linalg.solve(m.T, r)"],
    mends=[1],
    gives=[0.5, 0.5],
)
def a_solve_by_hand(m, b):
    return jax.grad(lambda b: lax.custom_linear_solve(lambda x: m @ x, b, lambda f, r: jnp.linalg.solve(m, r)).sum())(b)
