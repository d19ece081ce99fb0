"""Which results of a run hold a NaN."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from jaxviz.measure import nan
from jaxviz.measure.nan import nan_in


def test_the_places_of_results_that_hold_a_nan_are_found():
    bad = jnp.array([1.0, jnp.nan])
    results = {"a": bad, "b": jnp.ones(3), "c": (bad.astype(jnp.bfloat16), 3, jnp.arange(2), jax.random.key(0))}
    assert nan_in(results) == (0, 2)
    assert nan_in(jnp.array([1.0, jnp.inf])) == ()
    assert nan_in(jnp.array(complex(0, np.nan))) == (0,)


def test_large_results_are_looked_at_piece_by_piece(monkeypatch):
    monkeypatch.setattr(nan, "_AT_ONCE", 4)
    for place in (0, 3, 4, 9):
        assert nan_in(jnp.zeros((2, 5)).at[place // 5, place % 5].set(jnp.nan)) == (0,)
    assert nan_in(jnp.zeros((0, 5))) == ()


def test_of_what_lies_elsewhere_only_so_much_is_fetched_the_small_first(monkeypatch):
    large, small = jnp.full(100, jnp.nan), jnp.full(10, jnp.nan)
    monkeypatch.setattr(nan, "_MOST_FETCHED", 100)
    assert nan_in((large, small)) == (0, 1), "here nothing is fetched"
    monkeypatch.setattr(nan, "_is_here", lambda part: False)
    assert nan_in((large, small)) == (1,)
