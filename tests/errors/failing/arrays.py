"""What arrays of JAX do not do, and types and shapes that do not fit."""

from __future__ import annotations

import jax.numpy as jnp
from errors.failing.registry import A, B, X, failing
from jax import lax

# Arrays.


@failing(X, case="in place", place="y[0]", culprits=["broadcast_in_dim"], words=["y = y.at[0].set(x[0])"], mends=[0])
def written_into(x):
    y = jnp.zeros(3)
    y[0] = x[0]
    return y


@failing(X, case="in place", place="x[1]", culprits=["argument"], words=["x = x.at[1].add(2.0)"], mends=[0])
def added_into(x):
    x[1] += 2.0
    return x


@failing(X, case="indices", place="x[0, 1]", culprits=["argument"], words=["f32[3]"], mends=[0])
def too_many_indices(x):
    return x[0, 1]


@failing(X, case="index type", place="x[1.0]", culprits=["argument"], words=["x[1]"], mends=[0])
def a_float_for_an_index(x):
    return x[1.0]


@failing(X, case="list as index", place="x[[0, 1]]", culprits=["argument"], words=["jnp.array([0, 1])"], mends=[0])
def a_list_for_an_index(x):
    return x[[0, 1]]


@failing(X, case="list", place="jnp.sum([x, x])", culprits=["argument"], words=["jnp.array([x, x])"], mends=[0])
def a_list_for_an_array(x):
    return jnp.sum([x, x])


@failing(X, case="hash", place="x[0] in {1, 2}", words=["jnp.any(x[0] == jnp.array([1, 2]))"], mends=[0])
def in_a_set(x):
    return x[0] in {1, 2}


@failing(3.0, case="no axis", place="", culprits=["argument"], words=["`x`", "f32[]"])
def a_number_taken_apart(x):
    return list(x)


@failing(X, case="unpacking", place="", culprits=["argument"], words=["a, b = x[:2]"], mends=[0])
def unpacked(x):
    a, b = x
    return a + b


@failing(X, case="operand", place="x + y", words=["`y` is a NoneType"])
def nothing_added(x):
    y = None
    return x + y


# Shapes and types that do not fit.


@failing(A, B, case="broadcasting", place="e + b", culprits=["argument", "exp"], words=["(3, 4)", "(3, 5)"], mends=[0])
def shapes_that_differ(a, b):
    e = jnp.exp(a)
    return e + b


@failing(X, A, case="broadcasting", place="x + a", culprits=["argument"], words=["x[:, None]"], mends=[0])
def an_axis_that_lacks(x, a):
    return x + a


@failing(A, B, case="contraction", place="a @ b", culprits=["argument"], words=["a.T @ b"], mends=[0])
def a_product(a, b):
    return a @ b


@failing(A, B, case="concatenation", place="jnp.concatenate", culprits=["argument"], words=["axis=1"], mends=[0])
def joined(a, b):
    return jnp.concatenate([a, b], axis=0)


@failing(A, case="reshape", place="a.reshape(5, 3)", culprits=["argument"], words=["a.reshape(-1, 3)"], mends=[0])
def reshaped(a):
    return a.reshape(5, 3)


@failing(A, case="reshape", place="jnp.reshape(a, (7, 2))", culprits=["argument"], words=["(-1, 2)"], mends=[0])
def reshaped_by_the_function(a):
    return jnp.reshape(a, (7, 2))


@failing(X, case="axis", place="jnp.sum(x, axis=2)", culprits=["argument"], words=["axis=0"], mends=[0])
def an_axis_that_is_not_there(x):
    return jnp.sum(x, axis=2)


@failing(X, case="types", place="lax.add", culprits=["argument", "iota"], words=["jnp.add"], mends=[0, 1])
def types_that_differ(x):
    return lax.add(x, jnp.arange(3))


@failing(X, case="einsum", place="jnp.einsum", culprits=["argument"], words=["`x` has 1"])
def an_einsum(x):
    return jnp.einsum("ij,jk->ik", x, x)


@failing(X, case="split", place="jnp.split(x, 2)", culprits=["argument"], words=["array_split"], mends=[0])
def split_unevenly(x):
    return jnp.split(x, 2)


@failing(X, case="dot", place="lax.dot", culprits=["argument", "broadcast_in_dim"], words=["(3,) and (4,)"])
def a_dot(x):
    return lax.dot(x, jnp.ones(4))
