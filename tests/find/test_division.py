"""Divisions of whole numbers by what may be zero are told of; others are not."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found, line_numbers, the

N = jnp.arange(5)
WEIGHTS = np.array([0.0, 0.5, 2.0], np.float32)


def by_weights(x):
    y = x * 2
    return y / WEIGHTS


def by_places(x):
    return 1.0 / jnp.arange(3) * x


def by_nothing(x):
    return x / jnp.zeros(3)


@pytest.mark.parametrize(("fn", "line"), [(by_weights, 2), (by_places, 1), (by_nothing, 1)])
def test_a_division_of_floats_by_a_zero_that_is_there_to_see_is_a_warning(fn, line):
    finding = the("division", fn, jnp.ones(3))
    assert finding.severity == "warning"
    assert "inf" in finding.text
    assert line_numbers(finding, fn) == [line]
    assert not jnp.isfinite(fn(jnp.ones(3))).all()


def by_zero(n):
    zero = jnp.int32(0)
    return n // zero


def share(n, parts):
    whole = n * 2
    return whole // parts


def test_a_division_by_zero_is_a_warning():
    finding = the("division", by_zero, N)
    assert finding.severity == "warning"
    assert line_numbers(finding, by_zero) == [2]


def spread(n, first, last):
    between = last - first
    return n // between


@pytest.mark.parametrize(("fn", "arguments"), [(share, (N, N)), (spread, (N, 3, 3))])
def test_a_division_by_an_argument_or_a_difference_of_two_is_worth_a_note(fn, arguments):
    finding = the("division", fn, *arguments)
    assert finding.severity == "note"
    assert line_numbers(finding, fn) == [2]


INNOCENT = {
    "floats": (lambda x, y: x / y, (1.0, 2.0)),
    "floats that are not zero": (lambda x: x / WEIGHTS[1:], (jnp.ones(2),)),
    "counted from one": (lambda x: x / jnp.arange(1, 4), (jnp.ones(3),)),
    "masked": (lambda x: jnp.where(WEIGHTS == 0, 0.0, x / WEIGHTS), (jnp.ones(3),)),
    "a guarded constant": (lambda x: x / jnp.where(jnp.arange(3) == 0, 1, jnp.arange(3)), (jnp.ones(3),)),
    "a gradient": (jax.grad(lambda x: (x / jnp.arange(1.0, 4.0)).sum()), (jnp.ones(3),)),
    "a number": (lambda n: n // 3, (N,)),
    "guarded": (lambda n, m: n // jnp.where(m == 0, 1, m), (N, N)),
    "at least one": (lambda n, m: n // jnp.maximum(m, 1), (N, N)),
    "a difference of floats": (lambda x, y: x / (x - y), (1.0, 2.0)),
    "guarded difference": (lambda n, m: n // jnp.maximum(n - m, 1), (N, N)),
    "true division": (lambda n, m: n / m, (N, N)),
    "a remainder": (lambda n: n % 4, (N,)),
    "a mean": (lambda n: n.mean(), (N,)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_cannot_be_zero_is_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert found("division", fn, *arguments) == []


def rest_of_zero(n):
    return n % 0


def test_the_remainder_of_a_division_by_zero_is_a_warning():
    finding = the("division", rest_of_zero, N)
    assert finding.severity == "warning"
    assert line_numbers(finding, rest_of_zero) == [1]
    assert (rest_of_zero(N) == 0).all()
    assert "it is 0" in finding.text


@pytest.mark.parametrize("divisor", [np.array([1, 0, 2, 3]), np.array([1, 2, 3, 4])])
def test_an_entry_of_a_divisor_that_is_zero_is_told(divisor):
    findings = found("division", lambda a: a // divisor, jnp.arange(4))
    assert [one.severity for one in findings] == ["warning"] * int((divisor == 0).any())
    assert [one.severity for one in found("division", lambda a: a // jnp.arange(4), jnp.arange(4))] == ["warning"]
    assert found("division", lambda a: a // (jnp.arange(4) + 1), jnp.arange(4)) == []


def by_a_count(x, mask):
    return x.sum() // mask.sum()


def the_rest(x, n):
    return x % n


def by_bytes(x, n):
    return x // n


@pytest.mark.parametrize(
    ("fn", "divisor", "gives"),
    [
        (by_a_count, jnp.array([True, False, True, True, False]), "-1"),
        (the_rest, 3, "of JAX gives 0"),
        (by_bytes, jnp.uint8(3), "255 of uint8"),
    ],
)
def test_a_divisor_that_is_computed_or_unsigned_is_told_with_what_a_zero_gives(fn, divisor, gives):
    numbers = N.astype(jnp.uint8) if fn is by_bytes else N
    finding = the("division", fn, numbers, divisor)
    assert gives in finding.text
    assert line_numbers(finding, fn) == [1]
    zero = jax.tree.map(jnp.zeros_like, divisor)
    assert int(jnp.ravel(fn(numbers, zero))[-1]) in {"-1": (-1, -2), "of JAX gives 0": (0,)}.get(gives, (255,))


def by_a_count_that_is_guarded(x, mask):
    return x.sum() // jnp.maximum(mask.sum(), 1)


def the_rest_of_what_is_guarded(x, n):
    return x % jnp.where(n == 0, 1, n)


@pytest.mark.parametrize("fn", [by_a_count_that_is_guarded, the_rest_of_what_is_guarded])
def test_nothing_is_said_of_a_divisor_that_is_guarded(fn):
    assert not found("division", fn, N, N)
