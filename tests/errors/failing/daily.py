"""What people write every day: trees and lists that are computed with, keys that are taken apart, steps of training."""

from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from errors.failing.registry import KEY, A, X, failing

WEIGHTS = {"w": X}
OPTIMIZER = optax.adam(1e-3)
ROWS = jnp.ones((2, 4))


@failing(WEIGHTS, case="operand", place="params * 0.9", words=["leaf * 0.9"], mends=[0], gives={"w": 0.9 * X})
def a_tree_that_decays(params):
    return params * 0.9


@failing(WEIGHTS, WEIGHTS, case="operand", place="one + two", words=["one + other"], mends=[0], gives={"w": X + X})
def trees_that_are_added(one, two):
    return one + two


@failing([X, A], [X, A], case="operand", place="one - two", words=["jax.tree.map"], mends=[0], gives=[0 * X, 0 * A])
def lists_of_other_shapes(one, two):
    return one - two


@failing(
    [X, X], case="operand", place="rows * 0.5", words=["jnp.asarray(rows)"], mends=[0], gives=0.5 * np.array([X, X])
)
def a_list_that_is_halved(rows):
    return rows * 0.5


@failing(KEY, case="no axis", place="key", words=["jax.random.split(key, 2)"], mends=[0])
def a_key_for_two(key):
    one, other = key
    return jax.random.normal(one) + jax.random.normal(other)


@failing(X, case="no axis", place="key(0)", words=["jax.random.split(jax.random.key(0), 2)"], mends=[0])
def a_new_key_for_two(x):
    one, other = jax.random.key(0)
    return x + jax.random.normal(one) + jax.random.normal(other)


def _loss(params):
    return (params["w"] ** 2).sum()


@failing(
    WEIGHTS,
    case="optax state",
    place="OPTIMIZER.update",
    words=["state = OPTIMIZER.init(params)"],
    mends=[0],
)
def parameters_for_the_state(params):
    updates, state = OPTIMIZER.update(jax.grad(_loss)(params), params)
    return optax.apply_updates(params, updates), state


@failing(
    WEIGHTS,
    OPTIMIZER.init(WEIGHTS),
    case="optax state",
    place="OPTIMIZER.update",
    words=["OPTIMIZER.update(gradients, state, params)"],
    mends=[0],
)
def an_update_that_leaves_out_the_state(params, state):
    gradients = jax.grad(_loss)(params)
    updates, state = OPTIMIZER.update(gradients, params)
    return optax.apply_updates(params, updates), state


@failing(
    WEIGHTS,
    OPTIMIZER.init(WEIGHTS),
    case="optax state",
    place="OPTIMIZER.update",
    words=["OPTIMIZER.update(gradients, state)"],
    mends=[0],
)
def a_state_before_the_gradients(params, state):
    gradients = jax.grad(_loss)(params)
    updates, state = OPTIMIZER.update(state, gradients)
    return optax.apply_updates(params, updates), state


@failing(
    WEIGHTS,
    OPTIMIZER.init(WEIGHTS),
    case="optax state",
    place="OPTIMIZER.update",
    words=["OPTIMIZER.update(gradients, state, params)"],
    mends=[0],
)
def parameters_before_the_gradients(params, state):
    gradients = jax.grad(_loss)(params)
    updates, state = OPTIMIZER.update(params, gradients)
    return optax.apply_updates(params, updates), state


@failing(
    WEIGHTS,
    OPTIMIZER.init(WEIGHTS),
    case="optax order",
    place="optax.apply_updates",
    words=["updates, state = OPTIMIZER.update(jax.grad(_loss)(params), state)"],
)
def all_that_an_update_gives(params, state):
    updates = OPTIMIZER.update(jax.grad(_loss)(params), state)
    return optax.apply_updates(params, updates)


@failing(
    ROWS,
    jnp.zeros(2),
    case="labels",
    place="optax.softmax_cross_entropy_with_integer_labels",
    words=["labels.astype(int)"],
    mends=[0],
    gives=np.log(4) * np.ones(2),
)
def classes_that_are_floats(logits, labels):
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels)


LAYER = nn.Dense(3)


@failing(
    LAYER.init(KEY, jnp.ones((2, 5))),
    ROWS,
    case="flax shape",
    place="LAYER.apply",
    words=["params = LAYER.init(jax.random.key(0), x)"],
    mends=[0],
)
def parameters_of_another_input(params, x):
    y = LAYER.apply(params, x)
    return y.mean()
