"""Sizes that are handed in: in a dictionary, among others without names, beside defaults; and ranges of floats."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from errors.failing.registry import X, failing

SETTINGS = {"size": 2, "x": X}
_SHAPE = "shape from a value"


@failing(SETTINGS, case=_SHAPE, place="jnp.ones", mends=[0], gives=np.ones(2), instead="outside")
def as_many_as_a_setting(settings):
    return jnp.ones(settings["size"]) * settings["x"][0]


@failing(3, X, case=_SHAPE, place="jnp.ones", words=["Make `many[0]` static", "static_argnums=0"])
def as_many_as_the_first(*many):
    count, x = many
    return jnp.ones(count) * x[0]


@failing(X, case=_SHAPE, place="jnp.zeros", words=["factor=2.0, *, count"], mends=[0], gives=[0], instead="outside")
def as_many_as_are_large(x, factor=2.0):
    count = (x > 2).sum()
    return jnp.zeros(count) * factor


@failing(X, case=_SHAPE, place="jnp.arange", mends=[0], gives=np.arange(0, 3, 0.5), instead="outside")
def steps_up_to_the_largest(x):
    return jnp.arange(0, x.max(), 0.5)


@failing(0, 5, case=_SHAPE, place="jnp.arange", words=["Make `first` and `last` static"])
def all_between(first, last):
    return jnp.arange(first, last)


def _zeros_for(row):
    count = (row > 2).sum()
    return jnp.zeros(count)


@failing(X, case=_SHAPE, place="", words=["Hand it in as a static argument"])
def as_many_as_a_function_counts(x):
    return _zeros_for(x * 2).sum()
