"""Values where functions are wanted, axes of results, and functions that give nothing."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from errors.failing.registry import B, X, failing


def total(x):
    return (x**2).sum()


@failing(X, case="called early", place="jax.grad", words=["`total(x)` is a value"], mends=[0], gives=2 * X)
def a_gradient_of_a_value(x):
    return jax.grad(total(x))


@failing(X, case="called early", place="jax.grad", mends=[0], gives=2 * X)
def a_gradient_of_a_value_that_is_called(x):
    return jax.grad(total(x))(x)


@failing(X, case="called early", place="jax.jit", mends=[0], gives=jnp.sin(X))
def a_jit_of_a_value(x):
    return jax.jit(jnp.sin(x))


@failing(X, case="called early", place="jax.vmap", mends=[0], gives=X**2)
def a_map_of_what_was_computed(x):
    return jax.vmap(x**2)


@failing(X, case="called early", place="jax.grad", mends=[0], gives=jnp.ones(3))
def a_gradient_of_a_method(x):
    loss = x.sum()
    return jax.grad(loss)(x)


@failing(X, case="called early", place="jax.vjp", mends=[0], gives=2 * X)
def a_way_back_from_a_value(x):
    return jax.vjp(total(x), x)[1](1.0)[0]


@failing({"w": X}, X, case="called early", place="jax.grad", mends=[0], gives={"w": X})
def a_gradient_by_a_part_of_what_it_is_given(p, x):
    return jax.grad((p["w"] * x).sum())(p)


@failing(B, case="vmap out_axes", place="out_axes=1", words=["`out_axes` asks for"], mends=[0], gives=5 * jnp.ones(3))
def an_axis_that_a_number_has_not(x):
    return jax.vmap(lambda row: row.sum(), out_axes=1)(x)


@failing(B, case="vmap out_axes", place="stacked(x)", words=["axes 0 to 1", "axis 2"], mends=[], gives=None)
def an_axis_after_the_last(x):
    stacked = jax.vmap(jnp.sin, out_axes=2)
    return stacked(x)


def scaled(x):
    y = 3 * x  # noqa: F841


@failing(X, case="operand", place="scaled(x) * 2", words=["`scaled(x)` gives nothing", "return y"])
def a_function_without_a_return(x):
    return scaled(x) * 2
