"""Products, sums over axes and convolutions whose sizes do not fit."""

from __future__ import annotations

import jax.numpy as jnp
from errors.failing.registry import A, B, X, failing
from jax import lax


@failing(A, B, case="einsum", place="jnp.einsum", words=["`j` stands for two sizes, 3 and 4", "f32[3,5]"])
def an_einsum_of_two_sizes(a, b):
    return jnp.einsum("ij,jk->ik", a, b)


@failing(A, B, case="einsum", place="jnp.einsum", words=['"ij,jk->ik"'], mends=[0])
def an_einsum_with_one_letter_too_many(a, b):
    return jnp.einsum("hij,jk->ik", a.T, b)


@failing(A, case="einsum", place="jnp.einsum", words=["`k` is in the result"])
def an_einsum_with_a_new_letter(a):
    return jnp.einsum("ij->ik", a)


@failing(
    jnp.ones((2, 8, 8, 3)),
    jnp.ones((3, 3, 1, 4)),
    case="convolution",
    place="conv_general_dilated",
    words=["3 channels", "f32[3,3,1,4]"],
)
def channels_that_differ(image, kernel):
    return lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


@failing(X, A, case="contraction", place="x @ a.T", words=["this gives (4,)"], mends=[0])
def a_vector_times_a_matrix_turned(x, a):
    return x @ a.T


@failing(X, case="contraction", place="jnp.dot(x, jnp.ones(4))", words=["`x` is (3,) and `jnp.ones(4)` is (4,)"])
def a_product_inside_of_a_sum(x):
    return jnp.dot(x, jnp.ones(4)) + 1


@failing(A, B, case="contraction", place="a.dot(b)", words=["a.T.dot(b)"], mends=[0])
def a_product_as_a_method_inside_of_a_sum(a, b):
    return a.dot(b) + 1


@failing(A, case="square", place="jnp.linalg.inv", words=["square matrix", "jnp.linalg.pinv(a)"])
def an_inverse_of_what_is_not_square(a):
    return jnp.linalg.inv(a)


@failing(
    X,
    A,
    case="stack",
    place="jnp.stack",
    words=["`x` is f32[3] and `a` is f32[3,4]"],
)
def stacked_without_one_shape(x, a):
    return jnp.stack([x, a])


@failing(X, case="concatenation", place="jnp.concatenate", words=["jnp.stack([x.sum(), x.mean()])"])
def numbers_one_after_the_other(x):
    return jnp.concatenate([x.sum(), x.mean()])


@failing(A, case="broadcasting", place="jnp.where", words=["f32[3,4]", "on the last axis"])
def chosen_with_a_shorter_mask(a):
    return jnp.where(a[:, :2] > 0, a, 0)


@failing(A, case="axis", place="a.mean(axis=2)", words=["f32[3,4]"])
def a_mean_along_no_axis(a):
    return a.mean(axis=2)


@failing(A, case="reshape", place="a.reshape", words=["5 of (5, -1) do not divide"])
def reshaped_with_a_rest(a):
    return a.reshape(5, -1)


@failing(A, case="unpacking", place="rows, columns, depth = a.shape", words=["columns, depth = a.shape"])
def a_shape_taken_apart(a):
    rows, columns, depth = a.shape
    return a * rows * columns * depth


@failing(X, case="type of numbers", place="x > 0 & x < 2", words=["(x > 0) & (x < 2)"], mends=[0])
def comparisons_without_brackets(x):
    return x > 0 & x < 2


@failing(X, case="type of numbers", place="-(x > 0)", words=["~(x > 0)"], mends=[0, 1])
def a_mask_with_a_minus(x):
    return -(x > 0)


@failing(X, case="type of numbers", place="x << 2", words=["x.astype(int) << 2"], mends=[0])
def bits_of_a_float(x):
    return x << 2


@failing(jnp.ones((8, 4)), jnp.eye(4), case="contraction", place="w @ x", mends=[0], gives=jnp.ones((8, 4)))
def a_product_in_the_other_order(x, w):
    return w @ x


@failing(
    A, jnp.ones((5, 4)), case="contraction", place="w @ x", mends=[0], words=["(5, 3)"], gives=jnp.full((5, 3), 5.0)
)
def rows_of_weights_by_rows_of_examples(w, x):
    bias = jnp.ones(3)
    return w @ x + bias


@failing(
    jnp.ones((2, 3, 4)),
    jnp.ones((2, 4, 5)),
    case="einsum",
    place="jnp.einsum",
    words=['"...ij,...jk->...ik"'],
    mends=[0],
    gives=jnp.full((2, 3, 5), 4.0),
)
def an_einsum_of_batches(a, b):
    return jnp.einsum("ij,jk->ik", a, b)
