"""Differences of numbers without a sign that would be below zero are told, and those that mix bits are not."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found, line_numbers, the

A = jnp.array([3, 200, 7], jnp.uint8)
B = jnp.array([5, 100, 9], jnp.uint8)
COUNTS = jnp.array([0, 4, 9], jnp.uint32)


def by_number(x):
    return (jnp.uint32(3) - jnp.uint32(5)) * x


def in_an_entry(x):
    return (jnp.arange(5, dtype=jnp.uint32) - jnp.uint32(3)) * x[0]


def in_a_turn(x):
    def body(total, i):
        return total + jnp.log1p((i - jnp.uint32(3)) * 1.0), None

    return jax.lax.scan(body, 0.0, jnp.arange(8, dtype=jnp.uint32))[0] + x


@pytest.mark.parametrize("fn", [by_number, in_an_entry, in_a_turn])
def test_a_difference_that_is_below_zero_for_all_arguments_is_a_warning(fn):
    finding = the("precision", fn, COUNTS)
    assert finding.severity == "warning"
    assert finding.title.startswith("a difference of numbers without a sign is below zero")
    assert "4294967295" in finding.text
    assert line_numbers(finding, fn) == [2 if fn is in_a_turn else 1]


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: jnp.maximum(x - 5, 0),
        lambda x: jnp.where(x - 5 < 0, 0, x),
        lambda x: jnp.where(x - jnp.uint32(2) < 0, 0, x),
        lambda x: jnp.clip(x - 5, 0, 3),
        lambda x: jnp.all((x[1:] - x[:-1]) >= 0),
        lambda x: jax.nn.relu(x - 5),
    ],
)
def test_a_difference_that_is_asked_whether_it_is_below_zero_is_told(fn):
    finding = the("precision", fn, COUNTS)
    assert finding.severity == "warning"
    assert "is asked whether it is below zero" in finding.title


@pytest.mark.parametrize(
    "fn",
    [
        lambda a, b: jnp.mean((a - b) ** 2),
        lambda a, b: (a - b).astype(jnp.float32) / 255,
        lambda a, b: jnp.sum(jnp.abs(a - b)),
        lambda a, b: (a - b) * 0.5,
    ],
)
def test_a_difference_of_two_pictures_is_told(fn):
    assert not np.allclose(fn(A, B), fn(A.astype(jnp.int32), B.astype(jnp.int32)))
    finding = the("precision", fn, A, B)
    assert finding.severity == "advice"
    assert "uint8 goes on at its largest number, 255" in finding.text


@pytest.mark.parametrize(
    "fn",
    [
        lambda a, b: jnp.abs(a - b),
        lambda a, b: abs(a - b) + a,
        lambda a, b: jnp.max(jnp.absolute(a[1:] - a[:-1])),
        lambda a, b: jax.lax.scan(lambda c, row: (row, jnp.abs(row - c)), a[0], b)[1],
    ],
)
def test_a_distance_that_is_written_as_abs_of_a_difference_is_told(fn):
    wide = jnp.arange(8, dtype=jnp.uint32)
    finding = the("precision", fn, wide, wide)
    assert finding.title.startswith("a difference of numbers without a sign is given to abs (line ")
    assert finding.severity == "warning"
    assert "jnp.maximum(a, b) - jnp.minimum(a, b)" in finding.remedy


def mixed(a, b):
    a = (a ^ (a >> 4)) - (b << 3)
    return (a - b) ^ (b - a)


INNOCENT = {
    "numbers with a sign": lambda a, b: jnp.mean((a.astype(jnp.int32) - b) ** 2.0),
    "bits": mixed,
    "the larger one first": lambda a, b: (jnp.maximum(a, b) - jnp.minimum(a, b)) * 1.0,
    "the distance of the larger one": lambda a, b: jnp.abs(jnp.maximum(a, b) - jnp.minimum(a, b)),
    "the distance of wider ones": lambda a, b: jnp.abs(a.astype(jnp.int32) - b),
    "the bits with a sign": lambda a, b: jnp.abs((a - b).astype(jnp.int8)),
    "one of two": lambda a, b: jnp.where(a > b, a - b, b - a) * 1.0,
    "from the largest": lambda a, b: (a.max() - a) * 1.0,
    "a part of it": lambda a, b: (a - a % 16) * 1.0,
    "from what it cannot be above": lambda a, b: (255 - a) / 255,
    "one less": lambda a, b: COUNTS[b - 1],
    "a difference that is given back": lambda a, b: a - b,
    "known, and not below": lambda a, b: (jnp.arange(3, 8, dtype=jnp.uint8) - jnp.uint8(3)) * 1.0,
    "compared with another number": lambda a, b: (a - 5) < 3,
    "greater than nothing": lambda a, b: (a - b) > 0,
}


@pytest.mark.parametrize("name", INNOCENT)
def test_differences_that_are_meant_are_left_alone(name):
    assert found("precision", INNOCENT[name], A, B) == []
