"""What is handed over in another form than is wanted: one after another, too many, as a text, or not at all."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from errors.failing.registry import A, X, failing

# One after another.


@failing(X, case="iterator", place="map(", words=["jnp.array(list(map(", "a `map`"], mends=[0], gives=2 * X)
def a_map_of_rows(x):
    return jnp.array(map(lambda v: v * 2, x))  # noqa: C417


@failing({"a": X, "b": X}, case="iterator", place="jnp.sum(v**2) for", mends=[0], gives=28.0)
def a_sum_of_a_generator(p):
    return jnp.sum(jnp.sum(v**2) for v in p.values())


@failing({"a": X[0], "b": X[1]}, case="iterator", place="jnp.array", mends=[0], gives=np.array([1.0, 2.0]))
def values_of_a_dictionary(p):
    return jnp.array(p.values())


@failing(X, case="iterator", place="jnp.stack", mends=[0], gives=2 * X)
def a_stack_of_a_generator(x):
    return jnp.stack(v * 2 for v in x)


# Texts.


@failing(A, case="axis name", place="axis=", words=['"rows" is no axis', "axis=0"], mends=[0], gives=np.ones(4))
def an_axis_by_a_name(x):
    return jnp.max(x, axis="rows")


@failing(A, case="axis name", place="x.sum", words=["x.sum(0)"], mends=[0], gives=np.full(4, 3.0))
def an_axis_of_a_method_by_a_name(x):
    return x.sum("rows")


@failing(
    X, case="taken out", place=".item()", words=['jax.debug.print("loss {:.3f} of {}", l, x.ndim)'], mends=[0], gives=X
)
def an_item_in_a_text(x):
    l = x.mean()  # noqa: E741
    print(f"loss {l.item():.3f} of {x.ndim}")
    return x


@failing(X, case="conversion", place="float(", words=['"{{loss}} {:.4f} n"'], mends=[0], gives=X)
def a_float_in_a_text(x):
    l = x.mean()  # noqa: E741
    print(f"{{loss}} {float(l):.4f}", "n")
    return x


# Nothing, or one for several.


@failing(X, case="grad of array", place="jax.grad", words=["gives nothing", "return total"])
def a_loss_that_gives_nothing(x):
    def loss(p):
        total = (p**2).sum()  # noqa: F841

    return jax.grad(loss)(x)


@failing(X, case="no axis", place="x.sum()", words=["2 names"], mends=[0], gives=6.0)
def one_sum_for_two(x):
    low, _high = x.sum()
    return low


# Too many.


@failing(X, case="written too much", place="at[0]", words=["[0:2]"], mends=[0], gives=np.array([9.0, 9.0, 3.0]))
def two_at_one_place(x):
    return x.at[0].set(jnp.full(2, 9.0))


@failing(X, 1, case="written too much", place="at[i]", mends=[0], gives=np.array([1.0, 3.0, 4.0]))
def two_at_a_place_that_is_given(x, i):
    return x.at[i].add(jnp.ones(2))


@failing(X, case="written too much", place="at[0]", words=["jnp.reshape"], mends=[0], gives=np.array([9.0, 2.0, 3.0]))
def an_array_of_one_at_a_place(x):
    return x.at[0].set(jnp.full((1, 1), 9.0))


@failing(A, case="written too much", place="at[0]", words=["(4, 4)", "(4,)"])
def a_matrix_in_a_row(x):
    return x.at[0].set(jnp.ones((4, 4)))
