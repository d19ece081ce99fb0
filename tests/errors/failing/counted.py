"""Sizes and counts that a value decides: made known by NumPy, or computed before the function is traced."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from errors.failing.registry import A, B, X, failing

SEGMENTS = jnp.array([0, 2, 2])
EYE = jnp.eye(2) * 2


@failing(X, SEGMENTS, case="shape from a value", place="segment_sum", mends=[0], gives=[1, 0, 5], instead="outside")
def sums_of_segments(x, groups):
    return jax.ops.segment_sum(x, groups, num_segments=groups.max() + 1)


@failing(X, SEGMENTS, case="shape from a value", place="segment_sum", mends=[0], gives=[3, 0, 15], instead="outside")
def sums_of_as_many_segments_as_there_are(x, groups):
    tripled = x * 3
    return jax.ops.segment_sum(tripled, groups)


@failing(
    SEGMENTS,
    case="length",
    place="bincount",
    words=["length=size", "size = int(groups.max() + 1)"],
    mends=[0],
    gives=[1, 0, 2],
    instead="outside",
)
def counts(groups):
    return jnp.bincount(groups)


@failing(X, SEGMENTS, case="length", place="repeat", mends=[0], gives=4 * 2 + 6, instead="outside")
def as_often_as_it_says(x, often):
    y = jnp.repeat(x, often)
    return y.sum() + often.sum()


@failing(X, case="choice", place="top_k", words=["k = int((x > 1).sum())"], mends=[0], gives=[3, 2], instead="outside")
def the_largest_of_them(x):
    k = (x > 1).sum()
    values, _ = jax.lax.top_k(x, k)
    return values


@failing(EYE, case="static argument", place="matrix_power", mends=[0], gives=2 * np.eye(2) * 2**3, instead="outside")
def a_power_by_the_sum(a):
    n = a.sum().astype(int) - 1
    return jnp.linalg.matrix_power(a, n) @ a


@failing(
    X,
    case="shape from a value",
    place="split",
    words=["`jax.random.split(jax.random.key(0), x.argmax())`", "size = int(x.argmax())"],
    mends=[0],
    gives=2,
    instead="outside",
)
def as_many_keys_as_the_place(x):
    keys = jax.random.split(jax.random.key(0), x.argmax())
    return keys.shape[0]


@failing(X, case="shape from a value", place="jnp.zeros", words=["n = 5"], mends=[0], gives=np.ones(5))
def a_size_that_is_an_array(x):
    n = jnp.int32(5)
    return jnp.zeros(n) + x[0]


@failing(B, case="shape from a value", place="reshape", words=["int(np.prod(np.array(b.shape)))"], mends=[0])
def as_many_as_the_product(b):
    n = jnp.prod(jnp.array(b.shape))
    return b.reshape(n)


@failing(X, case="slice", place="x[:k]", words=["np.ceil(x.shape[0] / 2)"], mends=[0], gives=[1, 2])
def the_first_half_and_one(x):
    k = jnp.ceil(x.shape[0] / 2).astype(int)
    return x[:k]


@failing(X, case="choice", place="top_k", words=["np.minimum(2, x.shape[0])"], mends=[0], gives=[3, 2])
def the_largest_two(x):
    return jax.lax.top_k(x, jnp.minimum(2, x.shape[0]))[0]


def _how_many_are_positive(x):
    return int((x > 0).sum())


@failing(
    X,
    case="conversion",
    place="",
    words=["n = int(_how_many_are_positive(x))"],
    mends=[0],
    gives=jnp.zeros(3),
    instead="outside",
)
def as_many_as_another_function_counts(x):
    n = _how_many_are_positive(x)
    return jnp.zeros(n)


@failing(
    X,
    {"rows": 2, "cols": 3},
    case="shape from a value",
    place="jnp.zeros",
    words=['static_argnames=("rows", "cols")'],
    mends=[0],
    gives=np.array([X, X]),
    instead="outside",
)
def as_many_as_two_entries(x, sizes):
    return jnp.zeros((sizes["rows"], sizes["cols"])) + x


@failing(
    X,
    {"rows": 2},
    3,
    case="shape from a value",
    place="jnp.zeros",
    words=['rows = int(sizes["rows"])', 'static_argnames=("n", "rows")'],
    mends=[0],
    gives=np.array([X, X]),
    instead="outside",
)
def as_many_as_an_entry_and_a_number(x, sizes, n):
    return jnp.zeros((sizes["rows"], n)) + x


@failing(A, 5, case="shape from a value", place="jnp.zeros", words=["Make `n` static"])
def rows_that_are_filled_up(rows, n):
    return jnp.concatenate([rows, jnp.zeros((n - rows.shape[0], rows.shape[1]))])


@failing(3, case="index", place="[0.0] * n", words=["behind `n` to repeat `[0.0]`", "Make `n` static", "--static 0"])
def as_many_zeros_as_asked(n):
    return jnp.array([0.0] * n)


@failing(
    X,
    case="index",
    place="[0.0] * count",
    words=["to repeat `[0.0]`"],
    mends=[0],
    gives=[0.0, 0.0, 0.0],
    instead="outside",
)
def as_many_zeros_as_the_largest(x):
    count = x.max().astype(int)
    return jnp.array([0.0] * count)


@failing(X, case="operand", place="[1.0, 2.0, 3.0] * x", words=["`[1.0, 2.0, 3.0]` is a list"], mends=[0], gives=X * X)
def a_list_that_is_written_times_an_array(x):
    return [1.0, 2.0, 3.0] * x


N = jnp.array([3, 1, 2])
_SIZED = {"case": "range", "mends": [0], "instead": "outside"}


@failing(N, place="range(n[0])", words=["range(size)"], gives=[0, 1, 4], **_SIZED)
def as_many_squares_as_the_first(n):
    return jnp.array([i**2 for i in range(n[0])])


@failing(X, N, place="range(n[2])", words=["static_argnames"], gives=[0 * X, jnp.sin(X)], **_SIZED)
def a_list_of_as_many_as_the_last(x, n):
    out = []
    for i in range(n[2]):
        y = jnp.sin(x) * i
        out.append(y)
    return jnp.stack(out)


@failing(X, N, case="range", place="range(n[2])", words=["fori_loop(0, n[2]"], mends=[0], gives=3)
def a_sum_of_as_many_as_the_last(x, n):
    return sum(x[i] for i in range(n[2]))


@failing(X, N, case="range", place="range(1, n[0])", words=["fori_loop(1, n[0]"], mends=[0], gives=X * 5)
def a_product_with_a_sum_of_numbers(x, n):
    return x * sum([i * i for i in range(1, n[0])])


@failing(N, case="range", place="range(n)", words=["the shape (3,)", "range(n.shape[0])"], mends=[0, 1], instead="loop")
def turns_of_many_numbers(n):
    total = 0
    for i in range(n):
        total += i
    return total
