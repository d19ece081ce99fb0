"""Derivatives, arguments, axes, results and keys; and what no row of the table knows."""

from __future__ import annotations

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
from errors.failing.registry import X, failing
from jax import lax

# Derivatives.


@failing(X, case="grad of integer", place="jax.grad", culprits=["argument"], words=["(3.0)"], mends=[0])
def a_derivative_by_an_integer(x):
    return jax.grad(lambda n: (n * x).sum())(3)


@failing(X, case="grad of array", place="jax.grad", culprits=["mul"], words=["jnp.sum(v * 2)", "(3,)"], mends=[0, 1])
def a_derivative_of_many(x):
    return jax.grad(lambda v: v * 2)(x)


@failing(X, case="grad of several", place="jax.grad", culprits=["reduce_sum"], words=["has_aux=True"], mends=[0])
def a_derivative_with_more(x):
    return jax.grad(lambda v: (jnp.sum(v), v))(x)


@jax.custom_vjp
def summed(v):
    return jnp.sum(v)


summed.defvjp(lambda v: (jnp.sum(v), v), lambda r, g: (r, g))


@failing(X, case="custom backward", place="jax.grad(summed)(x)", words=["2 for 1 argument."])
def a_backward_of_two(x):
    return jax.grad(summed)(x)


# Arguments, axes, results, leaks, keys.


def picked(x, kind):
    return x if kind == "relu" else -x


@failing(
    X, case="not an array", place="jax.jit(picked)", words=["`kind`", "str", 'jit(picked, static_argnames="kind")']
)
def a_text_for_a_function_inside(x):
    return jax.jit(picked)(x, "relu")


@failing(X, [3, 1], case="static argument", place="f(x, sizes)", words=["Its entries are traced"])
def a_list_that_is_static(x, sizes):
    f = jax.jit(lambda v, s: v.reshape(len(s), -1), static_argnums=1)
    return f(x, sizes)


@failing(X, case="result", place="", words=["a str", "['name']"])
def a_string_given_back(x):
    return {"x": x, "name": "hello"}


@failing(X, case="vmap sizes", place="jax.vmap", words=["`a` has 3", "`b` has 4", "in_axes=(0, None)"], mends=[])
def axes_of_different_lengths(x):
    return jax.vmap(lambda a, b: a + b)(x, jnp.ones(4))


@failing(X, case="vmap rank", place="jax.vmap", words=["in_axes=(0, None)"], mends=[0])
def an_axis_of_a_number(x):
    return jax.vmap(lambda a, b: a + b)(x, 1.0)


@failing(X, case="axis name", place="lax.psum", culprits=["argument"], words=['axis_name="batch"'])
def a_name_of_no_axis(x):
    return lax.psum(x, "batch")


@failing(X, case="no key", place="jax.random.normal(0, (3,))", words=["jax.random.key(0)"], mends=[0])
def a_number_for_a_key(x):
    return x + jax.random.normal(0, (3,))


@failing(
    jax.random.key(0),
    case="key arithmetic",
    place="key + 1",
    culprits=["argument"],
    words=["fold_in(key, 1)"],
    mends=[0],
)
def a_key_counted_up(key):
    return key + 1


@failing(X, case="call", place="", words=["a_call_that_lacks_one(x, y)"])
def a_call_that_lacks_one(x, y):
    return x + y


# What no row of the table knows.


@failing(X, case="undefined", place="not_defined", culprits=["sin"], words=["NameError", "not_defined"])
def a_name_that_is_not_there(x):
    y = jnp.sin(x)
    return y + not_defined  # noqa: F821


@failing(X, case="unknown", place="", culprits=["sin"], words=["ValueError", "no such kind"])
def an_error_of_its_own(x):
    y = jnp.sin(x)
    if y.ndim == 1:
        raise ValueError("no such kind")
    return y


@failing(X, case="result", place="return", culprits=["sin"], words=["a str cannot come out", "['name']"])
def a_name_beside_the_result(x):
    y = jnp.sin(x)
    return {"value": y, "name": "sine"}


@failing(X, case="static argument", place="scaled(x, x.sum())", culprits=["reduce_sum"], words=["`x.sum()` is traced"])
def a_traced_value_that_is_static(x):
    scaled = jax.jit(lambda v, n: v * n, static_argnums=1)
    return scaled(x, x.sum())


@failing(X, np.array(["a", "b"]), case="not an array", place="", words=["holds text"])
def an_array_of_text(x, names):
    return x


@failing(X, case="many keys", place="jax.random.normal", words=["jax.vmap(lambda key: jax.random.normal(key))(keys)"])
def many_keys(x):
    keys = jax.random.split(jax.random.key(0), 3)
    return x + jax.random.normal(keys)


@jax.jit
def _by_mode(x, mode):
    return x * 2 if mode == "train" else x


@failing(X, case="not an array", place="_by_mode", words=["_by_mode.__wrapped__"], mends=[0], gives=2 * X)
def a_mode_of_a_function_that_is_jitted(x):
    return _by_mode(x, "train")


@functools.partial(jax.jit, static_argnums=1)
def _by_settings(x, settings):
    return x * settings["scale"]


@failing(X, case="static argument", place="_by_settings", words=["Let it be traced"], mends=[0], gives=2 * X)
def settings_that_are_static(x):
    return _by_settings(x, {"scale": 2.0})


@dataclasses.dataclass
class Settings:
    rate: float
    name: str


@jax.jit
def scaled(settings, x):
    return settings.rate * x


@failing(X, case="not an array", place="scaled(Settings(", words=['data_fields=["rate"], meta_fields=["name"]'])
def a_dataclass_that_may_change(x):
    return scaled(Settings(0.5, "slow"), x)


def in_rows(x, rows):
    return x.reshape(rows, -1)


@failing(X, case="option of jit", place="static_argnames", words=["option of `jax.jit`"], mends=[0], gives=X[:, None])
def a_static_name_given_at_the_call(x):
    return jax.jit(in_rows)(x, 3, static_argnames="rows")


jitted_rows = jax.jit(in_rows)


@failing(
    X,
    case="option of jit",
    place="static_argnums",
    words=["jax.jit(jitted_rows.__wrapped__, static_argnums=1)(x, 3)"],
    mends=[0],
    gives=X[:, None],
)
def a_static_place_given_at_the_call(x):
    return jitted_rows(x, 3, static_argnums=1)
