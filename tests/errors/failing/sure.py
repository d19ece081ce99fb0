"""Errors that are told by what is sure to help: cures of which some were tried and left out, in the person's names."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from errors.failing.registry import A, X, failing
from jax import lax

# Branches of other shapes.


@failing(
    X,
    case="choice",
    place="x.sum() > 0",
    words=["(2,)", "(3,)", "def if_true():"],
    mends=[0],
    gives=3.0,
    instead="rest",
)
def an_if_of_two_shapes(x):
    if x.sum() > 0:  # noqa: SIM108
        y = x[:2]
    else:
        y = x
    return y.sum()


@failing(X, case="choice", place="x.sum() > 0", words=["neither `jnp.where` nor `lax.cond`"])
def a_result_of_two_shapes(x):
    if x.sum() > 0:
        return x[:2]
    return x


@failing(X, case="choice", place="x[0] > 0", words=["One way gives the shape (4,)"])
def an_if_that_makes_it_longer(x):
    if x[0] > 0:
        x = jnp.concatenate([x, jnp.ones(1)])
    return x * 2


@failing(X, 1, case="branch types", place="lax.switch", words=["(1, 3)"], mends=[0], gives=X[None])
def ranks_of_a_switch(x, i):
    return lax.switch(i, [lambda v: v, lambda v: v[None], lambda v: v * 2], x)


@failing(X, 2, case="hash", place="i in", mends=[0], gives=X)
def one_of_a_set(x, i):
    return x if i in {1, 2} else -x


@failing(X, case="hash", place="cache[k]", words=["`.at[...].set(...)`"])
def a_dictionary_that_is_filled(x):
    cache = {}
    k = x.argmax()
    cache[k] = x.sum()
    return cache[k]


# Axes of vmap.


@failing(jnp.ones((4, 2)), jnp.ones((3, 2)), case="vmap sizes", place="jax.vmap", words=["`a` has 4", "`b` has 3"])
def rows_that_do_not_fit(a, b):
    return jax.vmap(lambda a, b: a @ b[:, None] * jnp.ones((2, 5)))(a, b)


@failing(
    jnp.ones((4, 3)),
    A,
    case="vmap sizes",
    place="jax.vmap",
    words=["in_axes=(0, 1)"],
    mends=[0],
    gives=jnp.ones((4, 3)),
)
def rows_and_columns(a, b):
    return jax.vmap(lambda u, v: u * v)(a, b)


# Functions of loops.


@failing(X, case="index type", place="x[i]", words=["def body(i, acc)"], mends=[0], gives=6.0)
def a_turn_that_comes_second(x):
    def body(acc, i):
        return acc + x[i]

    return lax.fori_loop(0, 3, body, 0.0)


@failing(X, case="index type", place="fori_loop", words=["lambda i, v: v.at[i]"], mends=[0], gives=X * 0)
def a_lambda_whose_turn_comes_second(x):
    return lax.fori_loop(0, 3, lambda v, i: v.at[i].set(0.0), x)


@failing(
    X,
    case="order of arguments",
    place="fori_loop",
    words=["fori_loop(lower, upper, body, init)"],
    mends=[0],
    gives=X * 8,
)
def a_body_that_comes_first(x):
    return lax.fori_loop(lambda i, v: v * 2, 0, 3, x)


@failing(X, case="order of arguments", place="fori_loop", words=["`x` stands"], mends=[0], gives=X * 8)
def a_body_that_comes_last(x):
    return lax.fori_loop(0, 3, x, lambda i, v: v * 2)


@failing(X, case="order of arguments", place="lax.scan", mends=[0], gives=(6.0, X))
def what_is_scanned_comes_first(x):
    return lax.scan(x, 0.0, lambda c, t: (c + t, t))


@failing(X, case="order of arguments", place="while_loop", mends=[0], gives=X * 8)
def a_state_that_comes_first(x):
    return lax.while_loop(x, lambda v: v.sum() < 40, lambda v: v * 2)


@failing(X, case="call of a body", place="fori_loop", mends=[0], gives=X * 8)
def a_body_without_the_turn(x):
    def double(v):
        return v * 2

    return lax.fori_loop(0, 3, double, x)


@failing(X, case="call of a body", place="fori_loop", mends=[0], gives=(X * 4, X))
def a_state_that_is_taken_apart(x):
    return lax.fori_loop(0, 3, lambda i, a, b: (a + b, b), (x, x))


@failing(X, case="call of a body", place="while_loop", mends=[0], gives=(3, X * 8))
def a_while_that_is_taken_apart(x):
    return lax.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2), (0, x))


@failing(X, case="call of a body", place="lax.scan", mends=[0], gives=(3.0, X * 0 + jnp.arange(3)))
def a_body_without_an_entry(x):
    def body(c):
        return c + 1, c

    return lax.scan(body, 0.0, x)


@failing(X, case="call of a body", place="lax.cond", mends=[0], gives=-X)
def branches_without_arguments(x):
    return lax.cond(x[0] > 2, lambda: x, lambda: -x, x)


# The way back.


@failing(X, case="grad of while", place="jax.grad", words=["length=3"], mends=[1], gives=X * 0 + 8)
def a_way_back_of_a_counter(x):
    def loss(x):
        def more(s):
            i, _ = s
            return i < 3

        def turn(s):
            return s[0] + 1, s[1] * 2

        return lax.while_loop(more, turn, (0, x))[1].sum()

    return jax.grad(loss)(x)


@failing(
    X, case="grad of while", place="jax.grad", words=["length=100"], mends=[0], gives=X * 0 + 2.0**-12, instead="loss"
)
def a_way_back_until_it_is_small(x):
    def loss(x):
        def more(s):
            return jnp.abs(s).max() > 1e-3

        return lax.while_loop(more, lambda s: s * 0.5, x).sum()

    return jax.grad(loss)(x)


@failing(
    X,
    3,
    case="grad of while",
    place="jax.grad",
    words=['static_argnames="n"', "lax.cond(i < n"],
    mends=[1],
    gives=X * 0 + 8,
    instead="loss",
)
def a_way_back_of_many_turns(x, n):
    def loss(x):
        return lax.fori_loop(0, n, lambda i, v: v * 2, x).sum()

    return jax.grad(loss)(x)


@failing(X, case="grad of while", place="value_and_grad", mends=[1], gives=(48.0, X * 0 + 8))
def a_value_and_its_way_back(x):
    def loss(v):
        return lax.while_loop(lambda s: s.sum() < 40, lambda s: s * 2, v).sum()

    return jax.value_and_grad(loss)(x)


# Derivatives of one's own.


@jax.custom_vjp
def clipped(x, low):
    return x


def clipped_forward(x, low):
    return x, low


def clipped_backward(low, g):
    return (jnp.maximum(g, low),)


clipped.defvjp(clipped_forward, clipped_backward)


@failing(
    X, case="custom backward", place="jax.grad", words=["in `clipped_backward`", "return (jnp.maximum(g, low), None)"]
)
def a_gradient_for_one_of_two(x):
    return jax.grad(lambda v: clipped(v, 0.1).sum())(x)


@jax.custom_vjp
def squared(x):
    return x * x


def squared_forward(x):
    return x * x


def squared_backward(x, g):
    return 2 * x * g


squared.defvjp(squared_forward, squared_backward)


@failing(X, case="custom forward", place="jax.grad", words=["in `squared_forward`", "return x * x, x"])
def a_forward_that_keeps_nothing(x):
    return jax.grad(lambda v: squared(v).sum())(x)


@jax.custom_vjp
def cubed(x):
    return x**3


cubed.defvjp(lambda x: (x**3, x), lambda x, g: 3 * x**2 * g)


@failing(X, case="custom backward", place="jax.grad", words=["lambda x, g: (3 * x**2 * g,)"])
def a_gradient_without_a_comma(x):
    return jax.grad(lambda v: cubed(v).sum())(x)


@jax.custom_vjp
def scaled(x, by):
    return x * by


def scaled_backward(kept, g):
    x, by = kept
    return (g * by, g * x)


scaled.defvjp(lambda x, by: (x * by, (x, by)), scaled_backward)


@failing(X, case="custom backward type", place="jax.grad", words=["return (g * by, (g * x).sum(0))"])
def a_gradient_that_is_not_summed(x):
    return jax.grad(lambda v, by: scaled(v, by).sum(), argnums=1)(x, 2.0)


# What is called with what it does not take.


@failing(X, case="cotangent", place="back(", mends=[0], gives=(jnp.cos(X),))
def a_cotangent_of_one(x):
    y, back = jax.vjp(jnp.sin, x)  # noqa: RUF059
    return back(1.0)


@failing(X, case="tangent", place="jax.jvp", mends=[0])
def a_tangent_of_another_type(x):
    return jax.jvp(jnp.sin, (x,), (jnp.arange(3),))


@failing(X, case="scan lengths", place="lax.scan", words=["`length` says 5"], mends=[0], gives=(6.0, X))
def a_length_of_another(x):
    return lax.scan(lambda c, t: (c + t, t), 0.0, x, length=5)


@failing(jax.random.key(0), case="many keys", place="normal", culprits=["random_split"], mends=[0, 1])
def keys_for_one(key):
    keys = jax.random.split(key)
    noise = jax.random.normal(keys, (3,))
    return noise * 2
