"""What is meant otherwise, as in another library: places as functions, keys as numbers, entries by names."""

from __future__ import annotations

import pickle

import jax
import jax.numpy as jnp
from errors.failing.registry import KEY, X, failing
from jax import lax


@failing(
    X, case="attribute", place="x.append", words=["return jnp.append(x, 3)"], mends=[0], gives=jnp.array([1, 2, 3, 3])
)
def one_more_at_the_end(x):
    return x.append(3)


@failing(X, case="place", place="x.at[0]", words=["x.at[0].set(3.0)"], mends=[0], gives=jnp.array([3.0, 2, 3]))
def a_place_that_is_called(x):
    return x.at[0](3.0)


@failing(X, case="index type", place='x["a"]', words=["has names is a dictionary"], mends=[0], gives=1.0)
def an_entry_by_name(x):
    return x["a"]


@failing(KEY, case="key arithmetic", place="jnp.sin(key)", words=["jax.random.normal(key)"], mends=[0])
def a_sine_of_a_key(key):
    return jnp.sin(key)


@failing(X, case="vmap rank", place="jax.vmap", words=['in_axes=({"a": 0, "b": None},)'], mends=[0], gives=2 * X)
def a_dictionary_with_a_number(x):
    return jax.vmap(lambda both: both["a"] * both["b"])({"a": x, "b": 2.0})


@failing(X, case="axis name", place="lax.psum", words=['jax.vmap(a_sum_over_no_axis, axis_name="batch")(x)'])
def a_sum_over_no_axis(x):
    return x / lax.psum(x, "batch")


@failing(X, case="pickled", place="pickle.dumps", words=["jax.debug.callback(lambda x: pickle.dumps(x), x)"], mends=[0])
def what_is_pickled(x):
    pickle.dumps(x)
    return x


@failing(X, case="item", place="out[i]", words=["for i in range(0, 3):", "total = turn(i, total)"])
def a_list_that_a_loop_writes(x):
    out = [0, 0, 0]

    def turn(i, total):
        out[i] = total
        return total + x[i]

    last = lax.fori_loop(0, 3, turn, 0.0)
    return out, last
