"""Names, attributes, keys and parameters that are not there."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
from errors.failing.registry import A, X, failing
from jax import lax


@failing(X, case="attribute", place="x.detach()", words=["jax.lax.stop_gradient(x)"], mends=[0])
def detached(x):
    return x.detach()


@failing(A, case="attribute", place="a.permute(1, 0)", words=["a.transpose(1, 0)"], mends=[0])
def permuted(a):
    return a.permute(1, 0)


@failing(X, case="attribute", place="x.rehsape(-1)", words=["Did you mean `reshape`?"], mends=[0])
def a_method_written_wrong(x):
    return x.rehsape(-1)


@failing(X, case="name", place="jnp.summ(x)", words=["Did you mean `sum`?"], mends=[0])
def a_function_written_wrong(x):
    return jnp.summ(x)


@failing(A, case="argument name", place="dim=0", words=["axis=0"], mends=[0])
def a_parameter_of_another_library(a):
    return jnp.sum(a, dim=0)


@failing(A, case="not callable", place="a.size(0)", words=["a.shape[0]"], mends=[0])
def a_size_that_is_called(a):
    return a.size(0)


@failing(X, case="not callable", place="x.at(0)", words=["x.at[0].set(1.0)"], mends=[0])
def a_place_in_round_brackets(x):
    return x.at(0).set(1.0)


@failing({"w": X, "bias": X}, case="key", place='p["b"]', words=["'bias', 'w'"])
def a_parameter_that_is_not_there(p):
    return p["w"] + p["b"]


@failing(X, case="undefined", place="scales", words=["Did you mean `scale`?"], mends=[0])
def a_variable_written_wrong(x):
    scale = 2.0
    y = x + scale
    return y * scales  # noqa: F821


@failing(X, case="trees", place="jax.tree.map", words=["only one has `b`", "for key in"], mends=[0])
def trees_that_differ(x):
    return jax.tree.map(jnp.add, {"a": x}, {"a": x, "b": x})


@failing(X, case="trees", place="jax.tree.map", words=["None", "is_leaf="])
def a_tree_with_none(x):
    return jax.tree.map(lambda p, q: p if q is None else p + q, {"a": None}, {"a": x})


@failing(X, case="debug print", place="debug.print", words=['"x = {x}", x=x'], mends=[0])
def printed_without_a_name(x):
    jax.debug.print("{value}", x)
    return x


@failing(X, case="callback", place="pure_callback", words=["jax.ShapeDtypeStruct(x.shape, x.dtype)"], mends=[0])
def a_callback_without_a_type(x):
    return jax.pure_callback(np.sin, (3,), x)


@failing(X, case="in place", place="del x[0]", words=["jnp.delete"])
def an_element_deleted(x):
    del x[0]
    return x


@failing(
    X,
    case="call of a body",
    place="lax.scan",
    words=["one entry of what is scanned", "lambda c, _: (c, c)"],
    mends=[0],
    gives=(0.0, X * 0),
)
def a_body_of_one_argument(x):
    return lax.scan(lambda c: (c, c), 0.0, x)


@failing(X, case="operand", place='x + "1"', words=["text is no number"], mends=[0])
def text_added(x):
    return x + "1"


@failing(X, case="operand", place="jnp.sum(nothing)", words=["`nothing` is None"])
def the_sum_of_nothing(x):
    nothing = None
    return x + jnp.sum(nothing)


@failing(X, case="numpy", place="buffer[0] = x[0]", words=["buffer = jnp.asarray(buffer).at[0].set(x[0])"], mends=[0])
def written_into_numpy(x):
    buffer = np.zeros(3)
    buffer[0] = x[0]
    return buffer


@failing(
    {"w": X, "b": 1.0}, X, case="key", place="p.w", words=["the keys `b`, `w`", 'p["w"]'], mends=[0], gives=X * X + 1
)
def a_dictionary_like_an_object(p, x):
    return p.w * x + p["b"]


@failing(X, case="concatenation", place="jnp.concatenate(x, jnp.sin(x))", words=["Give them as a list"], mends=[0])
def joined_without_a_list(x):
    return jnp.concatenate(x, jnp.sin(x)) * jnp.ones(6)


@failing(X, case="concatenation", place="concatenate(x * 2", mends=[0], gives=jnp.concatenate([X * 2, X]))
def joined_without_a_list_computed(x):
    return jnp.concatenate(x * 2, x)


@failing(X, case="padding", place="jnp.pad", words=["((0, 1),)"], mends=[0], gives=jnp.pad(X, (0, 1)))
def padded_as_a_matrix(x):
    return jnp.pad(x, ((0, 1), (0, 1)))


@failing(A[None], case="padding", place="jnp.pad", mends=[0], gives=jnp.pad(A[None], ((0, 0), (1, 0), (0, 2))))
def padded_as_one_of_a_batch(x):
    return jnp.pad(x, ((1, 0), (0, 2)))


@failing(X, case="choice", place="any(x > 3)", words=["jnp.where(jnp.any(x > 3), 1, 2)"], mends=[0], gives=X * 2)
def one_of_two_if_any(x):
    return x * (1 if any(x > 3) else 2)


@failing(X, case="choice", place="not x", words=["(x == 0)"], mends=[0], gives=jnp.zeros(3))
def where_there_is_none(x):
    return jnp.where(not x, 1.0, 0.0)


@functools.partial(jax.jit, static_argnames="count")
def first_ones(x, count):
    return x[:count]


@failing(X, 2, case="static argument", place="first_ones", words=['static_argnames="n"', "is an argument of"])
def handed_on_to_static(x, n):
    return first_ones(x, n) * 2
