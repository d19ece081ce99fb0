"""Errors as people meet them: texts with numbers, masks, libraries, calls that lack a tuple or a name."""

from __future__ import annotations

import functools

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from errors.failing.registry import KEY, A, X, failing
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

MESH = Mesh(np.array(jax.devices()[:1]), ("rows",))

# Texts with numbers in them.


@failing(X, case="format", place="format(", words=['jax.debug.print("loss = {:.2f}", x.sum())'], mends=[0], gives=X)
def a_text_that_is_formatted(x):
    print("loss = {:.2f}".format(x.sum()))  # noqa: UP032
    return x


@failing(X, case="format", place="%.2f", words=['"loss = {:.2f} of {}", x.sum(), 3'], mends=[0], gives=X)
def a_text_by_signs(x):
    print("loss = %.2f of %s" % (x.sum(), 3))  # noqa: UP031
    return x


# Questions that are asked of many values at once.


@failing(X, case="choice", place="0 < x < 2", words=["(0 < x) & (x < 2)"], mends=[0], gives=jnp.array([1.0, 0.0, 0.0]))
def between_two(x):
    return jnp.where(0 < x < 2, x, 0)


@failing(X, case="choice", place="x > 0 and", words=["has many values"], mends=[0], gives=jnp.array([1.0, 0.0, 0.0]))
def both_of_two(x):
    return jnp.where(x > 0 and x < 2, x, 0)


@failing(X, case="choice", place="not m", mends=[0], gives=jnp.array([1.0, 0.0, 0.0]))
def a_mask_turned_around(x):
    m = x > 1
    return jnp.where(not m, x, 0)


@failing(X, case="choice", place="if x > 1", mends=[0], gives=jnp.array([-1.0, 2.0, 3.0]))
def an_if_of_many(x):
    if x > 1:
        return x
    return -x


@failing(X, case="operand", place="x == [1", words=["jnp.array_equal(x, jnp.array([1, 2, 3]))"], mends=[0], gives=X)
def equal_to_a_list(x):
    return x if x == [1, 2, 3] else -x


@failing(
    X,
    case="choice",
    place="isnan",
    words=["checkify.check(~(jnp.any(jnp.isnan(x)))", '"not a number"'],
    mends=[0],
    gives=X,
    instead="outside",
)
def an_if_that_raises(x):
    if jnp.any(jnp.isnan(x)):
        raise ValueError("not a number")
    return x


# Masks and places.


@failing(
    X, case="in place", place="x[x > 1]", words=["jnp.where(x > 1, 0, x)"], mends=[0], gives=jnp.array([1.0, 0.0, 0.0])
)
def written_by_a_mask(x):
    x[x > 1] = 0
    return x


@failing(X, case="in place", place="x[x > 1]", mends=[0], gives=jnp.array([1.0, 6.0, 9.0]))
def multiplied_by_a_mask(x):
    x[x > 1] *= 2 + 1
    return x


@failing(A, case="in place", place="a[mask]", mends=[0], gives=A.at[1].set(5))
def rows_by_a_mask(a):
    mask = jnp.arange(3) == 1
    a[mask] = 5.0
    return a


@failing(X, 1, case="no axis", place="dynamic_slice", words=["(i,)"], mends=[0], gives=X[1:])
def a_place_without_a_tuple(x, i):
    return lax.dynamic_slice(x, i, (2,))


@failing(A, case="axis", place="axis=2", mends=[0], gives=jnp.ones(3))
def an_axis_too_far(a):
    return a.mean(axis=2)


@failing(
    A,
    case="boolean mask",
    place="a[rows == k]",
    words=["(rows == k)[..., None]"],
    mends=[0],
    gives=jnp.ones((2, 4)) / 3,
)
def rows_of_each(a):
    rows = jnp.array([0, 1, 2]) + a[:, 0].astype(int) * 0
    return jnp.stack([a[rows == k].mean(0) for k in range(2)])


@failing(X, case="choice", place="s > 2", words=["Python's `if`"])
def a_break_after_a_list(x):
    out = []
    s = 0
    for v in x:
        s += v
        if s > 2:
            break
        out.append(s)
    return jnp.stack(out)


# Types.


@failing(X, case="promotion", place="x * jnp.arange(3)", mends=[0], gives=jnp.array([0.0, 2.0, 6.0]))
def types_that_must_be_told(x):
    with jax.numpy_dtype_promotion("strict"):
        return x * jnp.arange(3)


@failing(X, case="types", place="lax.mul", words=["jnp.multiply(x, 2)"], mends=[0, 1], gives=X * 2)
def a_product_of_lax(x):
    return lax.mul(x, 2)


# Functions that keep something.


@functools.lru_cache(None)
def kept(x):
    return x * 2


@failing(X, case="hash", place="kept(x)", words=["keeps results"], mends=[0], gives=X * 2)
def a_function_with_a_cache(x):
    return kept(x)


class Scaled:
    def __init__(self):
        self.by = 2.0

    @jax.jit
    def __call__(self, x):
        return x * self.by


@failing(X, case="not an array", place="scaled(x)", words=["@functools.partial(jax.jit, static_argnums=0)", "self.by"])
def a_method_that_is_jitted(x):
    scaled = Scaled()
    return scaled(x)


@failing(X, case="static argument", place="by(x, x)", mends=[0], gives=X * X)
def an_array_that_is_static(x):
    by = jax.jit(lambda v, s: v * s, static_argnums=1)
    return by(x, x)


@failing(
    jax.random.key(1),
    3,
    case="shape from a value",
    place="split(key, n)",
    words=['static_argnames="n"', "`jax.random.split(key, n)`"],
)
def as_many_keys_as_asked(key, n):
    return jax.random.split(key, n)


# Derivatives and maps.


@failing(X, case="tangent", place="jax.jvp", words=["(x,), (jnp.ones(3),)"], mends=[0], gives=(jnp.sin(X), jnp.cos(X)))
def a_derivative_without_tuples(x):
    return jax.jvp(jnp.sin, x, jnp.ones(3))


@failing({"w": X, "b": jnp.ones(())}, case="vmap rank", place="jax.vmap", words=['"b": None'], mends=[0], gives=X)
def a_tree_with_a_number(p):
    return jax.vmap(lambda q: q["w"] * q["b"])(p)


@failing(X, case="while condition", place="while_loop", mends=[0], gives=X * 16)
def a_condition_of_many(x):
    return lax.while_loop(lambda v: v < 10, lambda v: v * 2, x)


# Libraries.


@failing(A, case="flax parameters", place="m.apply", words=['{"params": v["params"]}'], mends=[0])
def parameters_taken_out(x):
    m = nn.Dense(3)
    v = m.init(KEY, x)
    return m.apply(v["params"], x)


@failing(A, case="optax parameters", place="opt.update", words=["opt.update(p, s, p)"], mends=[0])
def an_update_without_parameters(x):
    p = {"w": x}
    opt = optax.adamw(1e-3)
    s = opt.init(p)
    u, s = opt.update(p, s)
    return optax.apply_updates(p, u)


@failing(A, case="optax order", place="apply_updates", words=["u, s = opt.update(p, s)"])
def updates_in_another_order(x):
    p = {"w": x}
    opt = optax.adam(1e-3)
    s = opt.init(p)
    s, u = opt.update(p, s)
    return optax.apply_updates(p, u)


@failing(A, case="optax tree", place="opt.update", words=["`x` is built otherwise"])
def gradients_of_another_tree(x):
    p = {"w": x}
    opt = optax.adam(1e-3)
    return opt.update(x, opt.init(p))


@failing(A, case="labels", place="softmax_cross_entropy", words=["with_integer_labels"], mends=[0], gives=np.log(4))
def numbers_for_probabilities(x):
    labels = jnp.array([0, 1, 2])
    return optax.softmax_cross_entropy(x, labels).mean()


@failing(A, case="labels", place="with_integer_labels", mends=[0], gives=np.log(4))
def probabilities_for_numbers(x):
    labels = jax.nn.one_hot(jnp.array([0, 1, 2]), 4)
    return optax.softmax_cross_entropy_with_integer_labels(x, labels).mean()


# Devices.


@failing(A, case="mesh axis", place="NamedSharding", words=["`model`", "`rows`"], mends=[0], gives=A)
def an_axis_of_another_mesh(x):
    return lax.with_sharding_constraint(x, NamedSharding(MESH, P("model")))


@failing(A, case="replicated result", place="f(x)", words=['jax.lax.psum(v.sum(), "rows")'])
def a_sum_of_each_device(x):
    f = jax.shard_map(lambda v: v.sum(), mesh=MESH, in_specs=P("rows"), out_specs=P())
    return f(x)


@functools.partial(jax.jit, static_argnames="shape")
def _shaped(x, shape):
    return x.reshape(shape)


@failing(X, case="static argument", place="_shaped", words=["shape=(3, 1)"], mends=[0], gives=X[:, None])
def a_list_for_a_static_name(x):
    return _shaped(x, shape=[3, 1])


@failing(X, case="static argument", place="_shaped", words=["are known"], mends=[0], gives=X[:, None])
def an_array_for_a_static_name(x):
    return _shaped(x, shape=jnp.array([3, 1]))


_taken = jax.jit(lambda x, places: x[jnp.array(places)], static_argnums=1)


@failing(X, case="static argument", place="_taken", words=["_taken(x, (0, 2))"], mends=[0, 1], gives=X[::2])
def an_array_of_numpy_that_is_static(x):
    return _taken(x, np.array([0, 2]))
