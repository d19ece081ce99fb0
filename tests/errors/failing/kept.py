"""Values that never change, assigned to; and what is taken and written where a mask is true."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from errors.failing.registry import A, X, failing

IMAGES = jnp.ones((2, 28, 28))


class Steps(NamedTuple):
    x: Any
    count: int


@failing(
    Steps(X, 0), case="frozen", place="state.count", words=["state = state._replace(count=state.count + 1)"], mends=[0]
)
def a_named_tuple_that_counts(state):
    state.count += 1
    return state


@failing(
    Steps(X, 0), case="in place", place="state.x[0]", words=["state._replace(x=state.x.at[0].set(1.0))"], mends=[0]
)
def an_array_of_a_named_tuple(state):
    state.x[0] = 1.0
    return state


@failing(X, case="boolean mask", place="x[large]", mends=[0], gives=jnp.array([1.0, 4.0, 6.0]))
def the_large_are_doubled(x):
    large = x > 1
    return x.at[large].set(x[large] * 2)


@failing(X, 2 * X, case="boolean mask", place="y[x > 1]", mends=[0], gives=jnp.array([1.0, 4.0, 6.0]))
def the_large_of_another(x, y):
    x[x > 1] = y[x > 1]
    return x


@failing(A, X, case="boolean mask", place="table[rows]", mends=[0], gives=A - 1)
def rows_that_a_mask_takes(table, x):
    rows = x > 0
    return table.at[rows].set(table[rows] - 1)


@failing(
    IMAGES,
    jnp.ones((784, 10)),
    case="contraction",
    place="images @ w",
    words=["images.reshape(images.shape[0], -1) @ w", "28 x 28 = 784"],
    mends=[0],
)
def images_that_are_not_flat(images, w):
    return images @ w


@failing(IMAGES[0], jnp.ones((784, 10)), case="contraction", place="jnp.dot", words=["image.reshape(-1)"], mends=[0])
def an_image_that_is_not_flat(image, w):
    return jnp.dot(image, w)


@failing(X, True, case="choice", place="if ~train", words=["jnp.where(~train, x, x * 2)"], mends=[0], gives=2 * X)
def a_switch_that_is_turned(x, train):
    if ~train:
        return x
    return x * 2


@failing(5, case="choice", place="n < 2", words=["Make `n` static"])
def a_sum_of_the_two_before(n):
    return n if n < 2 else a_sum_of_the_two_before(n - 1) + a_sum_of_the_two_before(n - 2)


@failing(X, case="choice", place="if x.sum() > 100", words=["`jax.lax.while_loop`, which carries what changes"])
def calls_until_it_is_large(x):
    if x.sum() > 100:
        return x
    return calls_until_it_is_large(jax.numpy.exp(x))
