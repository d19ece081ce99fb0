"""What NumPy writes in place, and linear solves that do not fit their right side."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from errors.failing.registry import X, failing
from jax import lax

SQUARE = jnp.eye(3) * 2


@failing(SQUARE, X, case="linear solve", place="custom_linear_solve", words=["gives (2,)", "`x` has (3,)"], mends=[0])
def a_solve_of_fewer_rows(a, x):
    return lax.custom_linear_solve(lambda v: a[:2] @ v, x, lambda _, b: jnp.linalg.solve(a, b))


@failing(SQUARE, X, case="linear solve", place="cg(", words=["gives (2,)", "`x` has (3,)"], mends=[0])
def a_solve_in_steps_of_fewer_rows(a, x):
    return jax.scipy.sparse.linalg.cg(lambda v: a[:2] @ v, x)


@failing(SQUARE, X, case="linear solve", place="custom_linear_solve", words=["the solution must have the shape"])
def a_solution_that_is_cut(a, x):
    return lax.custom_linear_solve(lambda v: a @ v, x, lambda _, b: jnp.linalg.solve(a, b)[:2])


@failing(SQUARE, X, case="linear solve", place="custom_linear_solve", words=["the solution, must be built"], mends=[0])
def a_solution_in_a_tuple(a, x):
    return lax.custom_linear_solve(lambda v: a @ v, x, lambda _, b: (jnp.linalg.solve(a, b),))


@failing(SQUARE, X, case="transpose of a solve", place="jax.grad", words=["symmetric=True"], mends=[0])
def a_gradient_of_a_solve_without_a_transpose(a, x):
    return jax.grad(lambda b: lax.custom_linear_solve(lambda v: a @ v, b, lambda _, b: jnp.linalg.solve(a, b)).sum())(x)


@failing(SQUARE, X, case="out", place="out=a", words=["`jnp.add` cannot write into `a`"], mends=[0])
def an_operation_that_writes_into_its_argument(a, x):
    jnp.add(a, x, out=a)
    return a


@failing(SQUARE, X, case="out", place="out=x", words=["`jnp.sum` cannot write into `x`"], mends=[0])
def a_sum_that_is_written_somewhere(a, x):
    return jnp.sum(a, axis=0, out=x)


@failing(SQUARE, X, case="out", place="out=x", words=["`jnp.matmul` cannot write into `x`"], mends=[0])
def a_product_that_is_written_somewhere(a, x):
    return jnp.matmul(a, x, out=x)


@failing(SQUARE, X, case="out", place="where=", words=["jnp.where(a > 0, jnp.add(a, x), a)"], mends=[0])
def an_operation_on_some_entries(a, x):
    return jnp.add(a, x, where=a > 0)


@failing(SQUARE, X, case="out", place="jnp.add.at", words=["a.at[0].add(x)"], mends=[0, 1])
def an_addition_at_an_index(a, x):
    jnp.add.at(a, 0, x)
    return a


@failing(SQUARE, X, case="numpy", place="out=kept", words=["kept = jnp.multiply(a, x)"], mends=[0])
def a_function_of_numpy_that_writes(a, x):
    kept = np.zeros((3, 3), np.float32)
    np.multiply(a, x, out=kept)
    return jnp.asarray(kept)
