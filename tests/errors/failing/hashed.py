"""Traced values that are put into sets and dictionaries."""

from __future__ import annotations

import jax.numpy as jnp
from errors.failing.registry import X, failing

ROW = jnp.array([1, 3, 1, 2])


@failing(ROW, case="hash", place="set(row)", words=["Count, in order"], mends=[0], gives=3)
def how_many_are_different(row):
    return len(set(row))


@failing(ROW, case="hash", place="{one for one in row}", words=["`one` cannot be in a set"], mends=[0], gives=3)
def how_many_a_comprehension_finds(row):
    return len({one for one in row})  # noqa: C416


@failing(
    ROW, case="hash", place="set(row)", words=["filled up with the smallest"], mends=[0], gives=jnp.array([1, 2, 3, 1])
)
def those_that_are_different(row):
    different = sorted(set(row))
    return jnp.asarray(different)


@failing(2, case="hash", place="[n]", words=["`n` cannot be", "Make `n` static"])
def a_weight_by_a_number(n):
    return {1: 2.0, 2: 5.0}[n] * X


@failing(X, case="hash", place="seen.add", words=["`x[0]` cannot be in a set", "`.at[...].set(...)`"])
def a_set_that_is_filled(x):
    seen = set()
    seen.add(x[0])
    return x
