"""Loops, maps and reductions outside of jit that are compiled again are told by what they are given."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from find.compiled_again import ONES

import jaxviz as jv


def test_a_loop_outside_of_jit_is_told_by_the_function_that_it_is_given():
    def train():
        for _ in range(3):
            jax.lax.scan(lambda c, x: (c + x, c), 0.0, ONES)

    with jv.recording() as found:
        train()
    (finding,) = found.findings
    assert "the function that `scan` was given is a new object" in finding.text
    assert "jit `scan`" not in finding.remedy
    line = train.__code__.co_firstlineno + 2
    assert finding.title == f"scan was compiled 3 times (line {line})"


def test_loops_outside_of_jit_that_are_given_other_functions_are_not_compiled_again():
    with jv.recording() as found:
        jax.lax.scan(lambda c, x: (c + x, c), 0.0, ONES)
        jax.lax.scan(lambda c, x: (c * x, c), 0.0, ONES)
        jax.lax.fori_loop(0, 5, lambda i, c: jnp.sin(c), 1.0)
    assert [why[0].kind for why in found.reasons] == ["first"] * 3
    assert found.findings == ()


def mapped(x):
    return jnp.cos(x)


@pytest.mark.parametrize(
    "run",
    [
        lambda: jax.lax.map(lambda x: x * 2, ONES),
        lambda: jax.lax.map(mapped, ONES),
        lambda: jax.lax.map(jnp.sin, ONES),
        lambda: jax.lax.map(lambda x: x * 2, jnp.arange(7.0), batch_size=2),
    ],
)
def test_a_map_outside_of_jit_is_compiled_in_each_call(run):
    with jv.recording() as found:
        for _ in range(3):
            run()
    (finding,) = found.findings
    assert finding.title.startswith("map was compiled 3 times")
    assert "`map` puts a new function around the one that it is given in each call" in finding.text
    assert finding.remedy == "Call `map` inside of a function that is jitted once."


def test_a_reduction_with_a_new_function_is_told_by_that_function():
    def train():
        for _ in range(3):
            jax.lax.reduce(ONES, 0.0, lambda x, y: x + y, (0,))

    with jv.recording() as found:
        train()
    (finding,) = found.findings
    assert "the function that `reduce` was given is a new object" in finding.text
    assert [line.line for line in finding.lines] == [train.__code__.co_firstlineno + 2]


def test_loops_outside_of_jit_that_are_given_the_same_are_compiled_once():
    def double(i, x):
        return x * 2

    def total(c, x):
        return c + x, c

    with jv.recording() as found:
        for _ in range(3):
            jax.lax.fori_loop(0, 3, double, ONES)
            jax.lax.scan(total, 0.0, ONES)
    assert [one.definition.name for one in found.compilations] == ["fori_loop", "scan"]
    assert found.findings == ()


def test_the_number_of_turns_of_a_loop_outside_of_jit_is_a_reason():
    def double(i, x):
        return x * 2

    with jv.recording() as found:
        for turns in range(1, 5):
            jax.lax.fori_loop(0, turns, double, ONES)
    assert [(reason.kind, reason.text) for reason in found.reasons[-1]] == [
        ("static", "the number of turns was 4, before 3")
    ]
    (finding,) = found.findings
    assert "has its bounds as arguments" in finding.remedy
