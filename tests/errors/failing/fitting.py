"""Branches with other parameters, mapped functions that do not fit, and numbers that choose text or a bound."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from errors.failing.registry import A, X, failing

NAMES = ["one", "three", "eleven"]


@failing(A, jnp.ones((5, 4)), case="vmap sizes", place="jax.vmap", mends=[0], gives=4 * np.ones((5, 3)))
def each_row_with_all(a, b):
    return jax.vmap(jnp.dot)(a, b)


@failing(jnp.ones(4), A, case="vmap sizes", place="jax.vmap", mends=[0], gives=4 * np.ones(3))
def weights_for_all_rows(w, rows):
    return jax.vmap(jnp.dot)(w, rows)


@failing(A, jnp.ones(4), case="vmap sizes", place="jax.vmap", mends=[0], gives=A * 2)
def one_scale_for_all_rows(rows, scale):
    return jax.vmap(lambda row, scale: row * scale * 2)(rows, scale)


@failing(jnp.ones(4), A, jnp.ones(3), case="vmap sizes", place="jax.vmap", mends=[0], gives=6 * np.ones((3, 4)))
def a_gradient_for_each_row(w, rows, wanted):
    return jax.vmap(jax.grad(lambda w, row, one: (w @ row - one) ** 2))(w, rows, wanted)


@failing(
    X,
    case="call of a body",
    place="jax.lax.cond",
    words=["this one takes 0", "lambda *_: x[0] * v"],
    mends=[0],
    gives=[1, 2, 3],
)
def a_branch_that_takes_nothing(x):
    v = x
    return jax.lax.cond(x.sum() > 0, lambda w: w, lambda: x[0] * v, x)


@failing(X, case="call of a body", place="jax.lax.switch", mends=[0], gives=[1, 2, 3])
def a_branch_of_several_that_takes_nothing(x):
    return jax.lax.switch(1, [lambda v: v * 2, lambda: x], x)


@failing(
    X, case="vmap result", place="jax.vmap", words=["'a', of the type str", "(v * 2,)"], mends=[0], gives=([2, 4, 6],)
)
def a_text_for_each(x):
    return jax.vmap(lambda v: (v * 2, "a"))(x)


@failing(X, jnp.array([1]), case="conversion", place="NAMES", mends=[0], gives=[6, 7, 8], instead="outside")
def a_text_by_a_value(x, step):
    name = NAMES[int(step[0])]
    return x + len(name)


@failing(X, jnp.array([1]), case="item", place="NAMES", mends=[0], gives=[6, 7, 8], instead="outside")
def a_text_by_an_index(x, step):
    return x + len(NAMES[step[0]])


@failing(X, case="conversion", place="x[: int(", mends=[0], gives=[1, 2], instead="outside")
def a_bound_that_is_computed(x):
    return x[: int(x.max() - 1)]


@failing(X, case="conversion", place="n = int", words=["n = int(x.sum() - 4)"], mends=[0], gives=[3], instead="outside")
def a_bound_that_has_a_name(x):
    n = int(x.sum() - 4)
    return x[n:]


@failing(X, case="choice", place="if entry > 1", words=["a number where one is left out"])
def a_list_of_the_larger(x):
    larger = []
    for entry in x:
        if entry > 1:
            larger.append(entry)  # noqa: PERF401
    return jnp.stack(larger)


@failing(A, case="squeeze", place="jnp.squeeze", words=["return jnp.squeeze(a) + 1"], mends=[0, 1])
def an_axis_of_many_that_is_taken_away(a):
    return jnp.squeeze(a, 1) + 1
