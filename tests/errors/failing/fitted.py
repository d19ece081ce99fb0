"""Shapes that nothing brings together by itself: made again, cut, turned, repeated, or looked at in another order."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from errors.failing.registry import A, X, failing
from flax import nnx
from jax import lax

FIVE = jnp.arange(5.0)
IMAGE, KERNEL = jnp.ones((1, 8, 8, 3)), jnp.ones((3, 3, 3, 4))


@failing(A, case="contraction", place="a @ w", words=["`w` was made for 3 on line", "w = jnp.ones((4, 8))"], mends=[1])
def weights_made_for_others(a):
    w = jnp.ones((3, 8))
    return jax.nn.relu(a @ w)


@failing(A, FIVE, case="contraction", place="a @ v", words=["use what both have"], mends=[0], gives=jnp.full(3, 6.0))
def a_product_with_more(a, v):
    return a @ v


@failing(A, FIVE, case="contraction", place="lax.dot_general", mends=[0], gives=jnp.full(3, 6.0))
def a_general_product_with_more(a, v):
    return lax.dot_general(a, v, (((1,), (0,)), ((), ())))


@failing(A, A, case="contraction", place="lax.dot_general", words=["(((0,), (0,)), ((), ()))"], mends=[0])
def a_general_product_along_others(a, b):
    return lax.dot_general(a, b, (((1,), (0,)), ((), ())))


class Layers(nnx.Module):
    def __init__(self):
        self.first = nnx.Linear(4, 8, rngs=nnx.Rngs(0))
        self.second = nnx.Linear(9, 1, rngs=nnx.Rngs(0))

    def __call__(self, x):
        return self.second(self.first(x))


LAYERS = Layers()


@failing(A, case="contraction", place="", words=["self.second = nnx.Linear(8, 1, rngs=nnx.Rngs(0))"])
def a_layer_made_for_others(a):
    return LAYERS(a)


@failing(IMAGE, KERNEL, case="convolution", place="lax.conv", words=["NHWC of the image and HWIO"], mends=[0])
def an_image_with_channels_last(image, kernel):
    return lax.conv_general_dilated(image, kernel, (1, 1), "SAME")


@failing(jnp.ones((2, 8, 8, 3)), jnp.ones((3, 3, 3, 16)), case="convolution", place="lax.conv", mends=[0], gives=27)
def channels_that_fit_by_chance(image, kernel):
    return lax.conv(image, kernel, (1, 1), "VALID")


@failing(IMAGE, jnp.ones((4, 3, 3, 3)), case="convolution", place="lax.conv", mends=[0])
def channels_that_are_brought_first(image, kernel):
    return lax.conv(image, kernel, (1, 1), "SAME")


@failing(A, case="stack", place="jnp.stack", words=["a.T.T"], mends=[0], gives=jnp.stack([A, A]))
def one_that_is_turned(a):
    return jnp.stack([a, a.T])


@failing(A, X[:, None], case="stack", place="jnp.stack", words=["jnp.broadcast_arrays(a, x)"], mends=[0])
def one_that_is_stretched(a, x):
    return jnp.stack([a, x])


@failing(A, X, case="concatenation", place="jnp.hstack", words=["x[:, None]"], mends=[0])
def a_column_beside(a, x):
    return jnp.hstack([a, x])


@failing(A, case="reshape", place="a.reshape", words=["Take the first 7 entries"], mends=[0], gives=jnp.ones((7, 1)))
def rows_of_what_is_left(a):
    return a.reshape((7, -1))


@failing(A, case="reshape", place="jnp.reshape", words=["jnp.resize(a, (5, 7))"], mends=[0], gives=jnp.ones((5, 7)))
def more_than_there_is(a):
    return jnp.reshape(a, (5, 7))


@failing(A, case="broadcast to", place="jnp.broadcast_to", mends=[0, 1], gives=None)
def fewer_axes(a):
    return jnp.broadcast_to(a, (3,))


@failing(A, case="broadcast to", place="jnp.broadcast_to", words=["a.T"], mends=[0], gives=A.T)
def axes_in_other_order(a):
    return jnp.broadcast_to(a, (4, 3))


@failing(X, case="matrix", place="jnp.swapaxes", words=["one row", "one column"], mends=[0, 1])
def axes_of_a_vector(x):
    return jnp.swapaxes(x, 0, 1)


@failing(X, case="matrix", place="jnp.trace", mends=[0], gives=6.0)
def the_trace_of_a_vector(x):
    return jnp.trace(x)


@failing(jnp.ones((2, 3, 3)), case="matrix", place="jnp.diag", mends=[0], gives=jnp.ones((2, 3)))
def diagonals_of_many(x):
    return jnp.diag(x)


@failing(jnp.float32(2), case="matrix", place="jnp.diag", mends=[0], gives=jnp.full((1, 1), 2.0))
def the_diagonal_of_a_number(x):
    return jnp.diag(x)


@failing(X, FIVE, case="piece", place="lax.dynamic_update_slice", words=["piece[:3]"], mends=[0], gives=FIVE[:3])
def a_piece_that_is_too_large(x, piece):
    return lax.dynamic_update_slice(x, piece, (0,))


@failing({"w": X}, {"w": X, "b": X}, case="trees", place="jax.tree.map", words=["for key in one"], mends=[0])
def a_tree_with_more(one, other):
    return jax.tree.map(jnp.add, one, other)


@failing(A, FIVE, case="broadcasting", place="jnp.where", words=["v[:4]"], mends=[0], gives=A)
def a_choice_among_more(a, v):
    return jnp.where(a > 0, a, v)
