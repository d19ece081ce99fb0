"""Results that differ by what rounding makes of them are told from those that are not the same."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from loops.unrolled import X, settle

import jaxviz as jv
from jaxviz.loops.rounding import difference, is_rounding


@jax.jit
def chaotic(x):
    return jax.lax.fori_loop(0, 60, lambda i, x: 4 * x * (1 - x), x)


@jax.jit
def steady(x):
    return jax.lax.fori_loop(0, 60, lambda i, x: jnp.sin(x), x)


@jax.jit
def over_nothing(x):
    """What is divided by a difference that rounding alone makes."""
    return (x - x.mean()) / jnp.std(x)


START = jnp.linspace(0.11, 0.87, 9)


def run_of(fn):
    return lambda arguments: [np.asarray(fn(*arguments))]


def test_results_are_compared_with_the_largest_number():
    one, other = np.array([1.0, 100.0], np.float32), np.array([1.5, 100.0], np.float32)
    assert difference([one], [other]) == (pytest.approx(0.005), False)
    assert difference([one], [one + 1e-5]) == (pytest.approx(1e-7, rel=0.2), True)


def test_a_number_where_the_other_has_none_is_a_difference_without_end():
    one, other = np.array([1.0, np.nan]), np.array([1.0, 2.0])
    assert difference([one], [other]) == (inf, False)
    assert difference([one], [one]) == (0.0, True)


def test_whole_numbers_are_equal_or_not():
    assert difference([np.array([10**6])], [np.array([10**6 + 1])])[1] is False


def test_a_program_that_makes_as_much_of_its_last_bits_differs_by_rounding():
    results = run_of(chaotic)([START])
    assert is_rounding(0.5, results, [START], run_of(chaotic))


def test_a_program_that_makes_little_of_its_last_bits_does_not():
    results = run_of(steady)([START])
    assert not is_rounding(0.5, results, [START], run_of(steady))


def test_a_number_in_place_of_none_can_be_rounding_too():
    ones = jnp.ones(5)
    results = run_of(over_nothing)([ones])
    assert np.isnan(results[0]).all()
    assert is_rounding(inf, results, [ones], run_of(over_nothing))


def test_python_numbers_and_whole_ones_are_given_as_they_were():
    given = []

    def run(arguments):
        given.extend(arguments)
        return [np.zeros(1, np.float32)]

    is_rounding(0.5, [np.zeros(1, np.float32)], [0.5, 3, jnp.arange(3)], run)
    assert [type(one) for one in given[:2]] == [float, int]
    assert given[0] != 0.5
    assert given[1:2] == [3]


@pytest.fixture(scope="module")
def measured():
    return jv.rebuild(settle, X)


def test_where_rounding_decides_the_costs_are_told_and_the_results_are_not_judged(measured):
    unsure = replace(measured, equal=None, difference=0.3)
    assert unsure.better == "loop"
    assert any("do not tell whether the loop is the same" in sentence for sentence in unsure.said)
    assert not any("is not the same" in sentence or "results are equal" in sentence for sentence in unsure.said)


def test_what_was_not_run_says_nothing_of_its_results(measured):
    text = " ".join(replace(measured, equal=None, difference=None).said)
    assert "differ" not in text
    assert "equal" not in text
