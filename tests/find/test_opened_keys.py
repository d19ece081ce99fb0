"""In StableHLO alone, where draws are calls of functions, a key that is used twice is told as in a jaxpr."""

from __future__ import annotations

import os

import jax
import pytest
from find.test_keys import INNOCENT, KEYS
from jax import random

import jaxviz as jv

IS_OLD = jax.__version_info__ < (0, 7)


def twice(key):
    noise = random.normal(key, (4,))
    return noise + random.uniform(key, (4,))


def split_and_drawn(key):
    first, second = random.split(key)
    return random.normal(key, (4,)) + random.normal(first, (4,)) + random.uniform(second, (4,))


def twice_before(key):
    first, second = random.split(key)
    return random.normal(first, (4,)) + random.uniform(second, (4,))


def plainly(key):
    return random.bits(key, (4,)) + random.bits(key, (4,))


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """What is found of keys in a file of the StableHLO of a function, opened where its source is."""
    monkeypatch.chdir(os.path.dirname(__file__))

    def found(fn, key):
        path = tmp_path / "module.mlir"
        path.write_text(jax.jit(fn).lower(key).as_text(debug_info=True))
        return [one for one in jv.open(path).findings if one.kind == "key"]

    return found


@pytest.mark.skipif(IS_OLD, reason="in StableHLO of JAX 0.6, the function that draws has no name")
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("fn", [twice, split_and_drawn, plainly])
def test_a_key_that_is_used_twice_is_told_as_in_the_jaxpr(opened, fn, key):
    (found,) = opened(fn, KEYS[key])
    (told,) = (one for one in jv.explore(fn, KEYS[key]).found_in_jaxpr if one.kind == "key")
    assert (found.title, found.figures, found.remedy) == (told.title, told.figures, told.remedy)


@pytest.mark.skipif(IS_OLD, reason="in StableHLO of JAX 0.6, the function that draws has no name")
def test_a_key_is_told_where_it_is_used_here_and_not_where_another_function_was_traced_first(opened):
    jax.clear_caches()
    jax.jit(twice_before).lower(KEYS["typed"])
    (found,) = opened(split_and_drawn, KEYS["typed"])
    (told,) = (one for one in jv.explore(split_and_drawn, KEYS["typed"]).found_in_jaxpr if one.kind == "key")
    assert found.title == told.title


@pytest.mark.parametrize("name", INNOCENT)
def test_keys_that_are_used_once_are_left_alone(opened, name):
    assert opened(INNOCENT[name], KEYS["typed"]) == []
