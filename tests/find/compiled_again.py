"""What tests of compilations have in common."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp

import jaxviz as jv

ONES = jnp.ones(3)
FIRST = [("first", "")]


def reasons_of(run):
    with jv.recording() as found:
        run()
    return [[(reason.kind, reason.path) for reason in why] for why in found.reasons]


def jitted(**options):
    """A new function for each test: nothing is compiled before."""

    @functools.partial(jax.jit, **options)
    def step(x, y=1.0):
        return jax.tree_util.tree_map(lambda leaf: leaf * 2, x), y

    return step


def scaled(x, k=1):
    return x * k
