"""Habits from NumPy, PyTorch and TensorFlow: functions and methods that JAX has by other names, or in other ways."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
from errors.failing.registry import KEY, X, failing

PLACES = jnp.array([0, 2, 2])
ROWS = jnp.ones((4, 3))
DESCENT = optax.sgd(0.1)


@failing(X, PLACES, case="numpy", place="np.add.at", words=[".at[places].add(x)"], mends=[0], gives=[1, 0, 5])
def sums_at_places_of_numpy(x, places):
    sums = np.zeros(3)
    np.add.at(sums, places, x)
    return sums


@failing(X, PLACES, case="out", place="np.multiply.at", words=["x = x.at[places].multiply(2.0)"], mends=[0])
def an_array_that_is_changed_at_places(x, places):
    np.multiply.at(x, places, 2.0)
    return x


@failing(X, case="attribute", place="x.pop()", words=["last = x[-1]"], mends=[0], gives=3)
def the_last_that_is_taken_off(x):
    last = x.pop()
    return last * 1


@failing(X, case="attribute", place="unsqueeze", words=["jnp.expand_dims(x, 0).reshape(-1)"], mends=[0], gives=X)
def a_chain_of_methods(x):
    return x.unsqueeze(0).view(-1)


@failing(X, case="attribute", place="x.mul(2)", words=["jnp.add(jnp.multiply(x, 2), 1)"], mends=[0], gives=2 * X + 1)
def methods_for_operators(x):
    return x.mul(2).add(1)


@failing(X, case="name", place="jnp.reduce_mean", words=["There is `jnp.mean`"], mends=[0], gives=2)
def a_mean_by_another_name(x):
    return jnp.reduce_mean(x, axis=0)


@failing(X, case="name", place="jnp.relu", words=["There is `jax.nn.relu`"], mends=[0], gives=X)
def a_function_of_another_module(x):
    return jnp.relu(x)


@failing(X, case="index", place='x * "2"', words=["without quotes"], mends=[0], gives=2 * X)
def times_a_text(x):
    return x * "2"


@failing(PLACES, case="item", place="counts[place] += 1", words=["jnp.asarray(counts).at[place].add(1)"])
def counts_in_a_list(places):
    counts = [0] * 3
    for place in places:
        counts[place] += 1
    return jnp.array(counts)


@failing(X, case="numpy", place="np.random.laplace", words=["x * jax.random.laplace(jax.random.key(0)"], mends=[0])
def noise_with_long_tails(x):
    return x + np.random.laplace(0.0, x, size=x.shape)


@failing(KEY, case="draw", place="jax.random.uniform", words=["(), minval=0.0, maxval=1.0"], mends=[0])
def bounds_by_their_places(key):
    return jax.random.uniform(key, 0.0, 1.0)


@failing(KEY, case="draw", place="jax.random.normal", words=["0.1 * jax.random.normal(key, (3,))"], mends=[0])
def a_scale_by_its_place(key):
    return jax.random.normal(key, (3,), 0.0, 0.1)


@failing(X, case="no key", place="jax.random.normal", words=["jax.random.key(0), x.shape"], mends=[0])
def noise_without_a_key(x):
    return x + jax.random.normal(x.shape)


@failing(X, case="select", place="jnp.select", words=["for where none is true"], mends=[0], gives=[-1, 2, 3])
def a_value_for_none_of_the_conditions(x):
    return jnp.select([x > 1], [x, -x])


@failing(ROWS, X, case="vmap in_axes", place="jax.vmap", words=["in_axes=(0, None)"], mends=[0], gives=ROWS @ X)
def axes_for_the_first_alone(rows, x):
    return jax.vmap(lambda row, x: row @ x, in_axes=(0,))(rows, x)


@failing(
    X, X, case="optax order", place="optax.apply_updates", words=["updates, state = DESCENT.update(gradients, state)"]
)
def updates_of_one_array(params, gradients):
    state = DESCENT.init(params)
    updates = DESCENT.update(gradients, state)
    return optax.apply_updates(params, updates)


@failing(X, case="attribute", place="y.fill", words=["y = jnp.full_like(y, 2)"], mends=[0], gives=2)
def an_array_that_is_filled(x):
    y = x * 3
    y.fill(2)
    return y


@failing(X, case="scan lengths", place="lax.scan", words=["jnp.array([1.0, 2.0])"], mends=[0], gives=(9, [6, 7]))
def a_scan_along_a_list(x):
    return jax.lax.scan(lambda total, one: (total + one, total), x.sum(), [1.0, 2.0])
