"""Entries of arrays and of tables that are read and written at traced places."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from errors.failing.registry import A, X, failing

TABLE = np.array([0.5, 2.0, 4.0], np.float32)


@failing(A, 1, 2, case="in place", place="grid[i, j] += 1", words=["grid = grid.at[i, j].add(1)"], mends=[0])
def a_cell_of_a_grid_that_counts(grid, i, j):
    grid[i, j] += 1
    return grid


@failing(A, X, case="in place", place="rows[:, 0] = ", words=["rows = rows.at[:, 0].set(x[0])"], mends=[0])
def a_column_that_is_filled(rows, x):
    rows[:, 0] = x[0]
    return rows


@failing(X, 1, case="numpy", place="TABLE[i]", words=["jnp.asarray(TABLE)[i]"], mends=[0], gives=2 * X)
def an_entry_of_a_table_of_numpy(x, i):
    return x * TABLE[i]


@failing(X, 1, case="numpy", place="TABLE[i]", words=["jnp.sin(jnp.asarray(TABLE)[i])"], mends=[0], gives=jnp.sin(2.0))
def an_entry_of_a_table_of_numpy_that_a_function_is_given(x, i):
    return jnp.sin(TABLE[i])


@failing(X, 1, case="numpy", place="TABLE[i]", words=["weight = jnp.asarray(TABLE)[i]", "Make `i` static"])
def an_entry_of_a_table_of_numpy_that_has_a_name(x, i):
    weight = TABLE[i]
    return x * weight


@failing(A, case="numpy", place="out[i] = ", words=["out = jnp.asarray(out).at[i].set(jnp.exp(row))"])
def rows_of_numpy_that_are_filled(a):
    out = np.zeros(a.shape)
    for i, row in enumerate(a):
        out[i] = jnp.exp(row)
    return out


@failing(X, case="index type", place='d["a"]', words=["One number has no entries", "d * 2"], mends=[0], gives=2 * X)
def an_entry_by_name_of_a_number(x):
    return jax.vmap(lambda d: d["a"] * 2)(x)


@failing(X, case="operand", place="jnp.where", words=["one of two values"], mends=[0], gives=jnp.array([0.0, 2.0, 3.0]))
def one_of_two_values(x):
    return jnp.where(x > 1, x)


@failing(
    X,
    case="format",
    place="print",
    words=['"mean {:.2f}, largest {:.2f}", x.mean(), x.max()'],
    mends=[0],
    gives=X,
)
def two_numbers_in_a_text(x):
    print(f"mean {x.mean():.2f}, largest {x.max():.2f}")
    return x


@failing(
    {"alpha": X, "beta": X},
    case="pairs",
    place="parameters",
    words=["parameters.items():"],
    mends=[0],
    gives=12,
    instead="loop",
)
def a_dictionary_that_is_gone_along_for_pairs(parameters):
    total = 0.0
    for _name, values in parameters:
        total = total + values.sum()
    return total


@failing({"alpha": X, "beta": X}, case="pairs", place="parameters", words=["`k, v`"], mends=[0], gives=12)
def a_sum_over_pairs_of_a_dictionary(parameters):
    return sum(v.sum() for k, v in parameters)


@failing(X, case="length", place="jnp.unique(x)", words=["hand it in as a static tuple"])
def turns_over_what_is_different(x):
    return [(x == one).sum() for one in jnp.unique(x)]
