"""What is often written: text among arrays, kernels that return, loops that are called in two steps, switches."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from errors.failing.registry import X, failing
from jax.experimental import pallas as pl


@failing(X, case="text", place="jnp.where", words=['`"yes"` and `"no"` are text', "0, 1"], mends=[0], gives=[0, 0, 0])
def a_text_for_each_entry(x):
    return jnp.where(x > 0, "yes", "no")


@failing(X, case="text", place="jnp.multiply", words=['`"2.5"` is text'], mends=[0], gives=2.5 * X)
def a_number_as_text(x):
    return jnp.multiply(x, "2.5")


@failing(X, case="call of a body", place="jax.lax.map", words=["in the same call"], mends=[0], gives=2 * X)
def a_loop_in_two_calls(x):
    return jax.lax.map(lambda v: v * 2)(x)


@failing(X, case="shape from a value", place="jax.random.normal", words=["x.shape"], mends=[0])
def numbers_for_an_array(x):
    return jax.random.normal(jax.random.key(0), x) + x


@failing(X, case="range", place="range(x[0])", words=["x[0].astype(int)"], mends=[0], gives=X, instead="loop")
def as_many_turns_as_a_float(x):
    for i in range(x[0]):
        x = x + i
    return x


@failing(X, True, case="choice", place="if doubled", words=["Make `doubled` static"])
def a_switch_that_is_traced(x, doubled):
    if doubled:
        x = x * 2
    return x


@failing(X, case="carry structure", place="jax.lax.scan", words=["return (c[1] + v, c[1]), None"])
def a_part_that_is_given_back_as_nothing(x):
    def body(c, v):
        return (c[1] + v, None), None

    return jax.lax.scan(body, (0.0, jnp.zeros(())), x)[0]


def doubling(x_ref, o_ref):
    return x_ref[...] * 2


@failing(X, case="kernel", place="pl.pallas_call", words=["the kernel `doubling`", "o_ref[...] = x_ref[...] * 2"])
def a_kernel_that_returns(x):
    return pl.pallas_call(doubling, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(x)


@failing(X, case="choice", place="if ", words=["@pl.when(x_ref[0] > 0)", "@pl.when(~(x_ref[0] > 0))"])
def a_kernel_that_asks(x):
    def kernel(x_ref, o_ref):
        if x_ref[0] > 0:
            o_ref[...] = x_ref[...]
        else:
            o_ref[...] = -x_ref[...]

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), interpret=True)(x)
