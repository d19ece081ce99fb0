"""What is given to functions of JAX and of libraries in another form than they take: images, types, states, entries."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import optax
from errors.failing.registry import KEY, X, failing
from jax import lax

WEIGHTS = {"w": X}


@failing(
    jnp.ones((8, 8, 3)), jnp.ones((3, 3, 3, 4)), case="convolution", place="lax.conv", words=["x[None]"], mends=[0]
)
def an_image_alone(x, kernel):
    axes = ("NHWC", "HWIO", "NHWC")
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=axes)


@failing(X, case="view", place="x.view", words=["x.reshape(3, 1)", "`x` is f32[3]"], mends=[0], gives=X[:, None])
def viewed_by_sizes(x):
    return x.view(3, 1)


@failing(X, case="view", place="x.view", words=["x.reshape((1, 3))"], mends=[0], gives=X[None])
def viewed_by_a_shape(x):
    return x.view((1, 3))


@failing(X, case="type name", place="fp16", words=["x.astype(jnp.float16)"], mends=[0], gives=X)
def a_type_by_another_name(x):
    return x.astype("fp16")


@failing(X, case="type name", place="flaot32", words=["dtype=jnp.float32"], mends=[0], gives=X)
def a_type_that_is_misspelt(x):
    return x + jnp.zeros(3, dtype="flaot32")


@failing(
    WEIGHTS,
    optax.sgd(0.1).init(WEIGHTS),
    case="optax state",
    place="tx.update",
    words=["`state` is not what `tx.init` gives", "state = tx.init(params)"],
    mends=[0],
)
def a_state_of_another_optimizer(params, state):
    tx = optax.adam(1e-3)
    gradients = jax.grad(lambda one: (one["w"] ** 2).sum())(params)
    updates, state = tx.update(gradients, state, params)
    return optax.apply_updates(params, updates), state


@failing(
    WEIGHTS,
    optax.sgd(0.1).init(WEIGHTS),
    case="optax state",
    place="tx.update",
    words=["state = tx.init(params)"],
    mends=[0],
)
def a_state_before_the_chain(params, state):
    tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3), optax.add_decayed_weights(0.1))
    updates, state = tx.update(params, state, params)
    return optax.apply_updates(params, updates)


@failing(X, (3, 1), case="shape from a value", place="x.reshape", words=['static_argnames="shape"'])
def a_shape_that_is_traced(x, shape):
    return x.reshape(shape)


class Scaled:
    def __init__(self, by):
        self.by = by

    @jax.jit
    def once(self, x):
        return x * self.by

    @functools.partial(jax.jit, static_argnums=0)
    def twice(self, x):
        return self.once(self.once(x))


@failing(X, case="not an array", place="", words=["static_argnums=0", "def once(self, x):"])
def a_method_in_a_method(x):
    return Scaled(2.0).twice(x)


@failing(X, case="vmap arguments", place="jax.vmap", words=["`a`, `b`", "is given `x`"])
def mapped_with_too_few(x):
    return jax.vmap(lambda a, b: a * b)(x)


@failing(X, case="list", place="jnp.interp", words=["jnp.array([1, 2, 3]), jnp.array([3, 2, 1])"], mends=[0])
def interpolated_between_lists(x):
    return jnp.interp(x, [1, 2, 3], [3, 2, 1])


@failing(X, case="operand", place="jnp.where", words=["`where` was given None"], mends=[0])
def nothing_where_it_is_false(x):
    return jnp.where(x > 0, x, None)


@failing(WEIGHTS, case="key", place="grad", words=['(params)["w"]'], mends=[0], gives=2 * X)
def an_entry_of_what_comes_back(params):
    return jax.grad(lambda one: (one["w"] ** 2).sum())(params).w


@failing(X, case="sizes", place="jnp.ones", words=["jnp.ones((3, 1))"], mends=[0], gives=jnp.full((3, 3), 1.0) + X)
def sizes_one_by_one(x):
    return jnp.ones(3, 1) + x


@failing(KEY, X, case="sizes", place="choice", words=["choice(key, x, (2,))"], mends=[0])
def a_number_for_a_shape(key, x):
    return jax.random.choice(key, x, 2)


@failing(X, case="arrays one by one", place="jnp.concat", words=["jnp.concat([x, x])"], mends=[0])
def arrays_one_by_one(x):
    return jnp.concat(x, x)


@failing(X, case="arrays one by one", place="vstack", words=["jnp.vstack([x, x, x])"], mends=[0])
def three_arrays_one_by_one(x):
    return jnp.vstack(x, x, x)
