"""A number that does not fit the type of the array that it meets is told with what is left of it; others are not."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from find import settings
from find.found import found, line_numbers, the

try:
    from jax import enable_x64
except ImportError:  # Before 0.8.
    from jax.experimental import enable_x64

SIGNED, UNSIGNED, SHORT = jnp.ones(8, jnp.int8), jnp.ones(8, jnp.uint8), jnp.ones(8, jnp.int16)


def scaled(x):
    y = x + 1
    return y * 200


def added_in_place(x):
    x += 300
    return x


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("fn", "argument", "title", "line"),
    [
        (scaled, SIGNED, "200 does not fit int8: it is -56 here", 2),
        (lambda x: 200 * x, SIGNED, "200 does not fit int8: it is -56 here", 0),
        (lambda x: x < 200, SIGNED, "200 does not fit int8: it is -56 here", 0),
        (added_in_place, UNSIGNED, "300 does not fit uint8: it is 44 here", 1),
        (lambda x: x * 40_000, SHORT, "40000 does not fit int16: it is -25536 here", 0),
        (lambda x: jnp.maximum(x, -1), UNSIGNED, "-1 does not fit uint8: it is 255 here", 0),
        (lambda x: jnp.where(x > 0, x, 300), UNSIGNED, "300 does not fit uint8: it is 44 here", 0),
    ],
)
def test_what_is_left_of_a_number_is_told(fn, argument, title, line):
    finding = the("precision", fn, argument)
    assert finding.severity == "warning"
    assert finding.title.startswith(title)
    assert line_numbers(finding, fn) == [line]
    low = np.array(finding.figures["number"]).astype(title.split()[4].rstrip(":"))
    assert finding.figures["taken"] == low


@pytest.mark.parametrize(
    ("fn", "argument"),
    [
        (lambda x: 255 - x, UNSIGNED),
        (lambda x: x * 127 + 1, SIGNED),
        (lambda x: x.astype(jnp.int32) * 200, SIGNED),
        (lambda x: x * -128, SIGNED),
        (lambda x: x + -1, UNSIGNED),
        (lambda x: x & 0xFF, SIGNED),
        (lambda x: x * 200.0, SIGNED),
        (lambda x: jnp.array(300).astype(jnp.uint8) + x, UNSIGNED),
        (lambda x: x * jnp.uint32(2654435761) >> 16, jnp.ones(8, jnp.uint32)),
    ],
)
def test_numbers_that_fit_or_are_cut_on_purpose_are_left_alone(fn, argument):
    assert not [one for one in found("precision", fn, argument) if "does not fit" in one.title]


SCALE, SHIFT, SMALL = 200, 300, 100


class Quantized:
    def __init__(self, zero):
        self.zero = zero

    def __call__(self, x):
        return x - self.zero


def test_a_number_with_a_name_is_one_too():
    assert the("precision", lambda x: x * SCALE, SIGNED).title.startswith("200 does not fit int8: it is -56 here")
    assert the("precision", lambda x: -SHIFT + x, SHORT[:0].astype(jnp.int8)).figures["number"] == -300
    assert the("precision", Quantized(180), SIGNED).figures == {"number": 180, "taken": -76}


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: x * SMALL,
        lambda x: x.astype(jnp.int32) * SCALE,
        lambda x: x * jnp.asarray(SCALE),
        lambda x: x[: SCALE - 192] * 2,
        Quantized(18),
    ],
)
def test_named_numbers_that_fit_or_meet_something_wider_are_left_alone(fn):
    assert not [one for one in found("precision", fn, SIGNED) if "does not fit" in one.title]


@pytest.mark.parametrize(
    ("fn", "number"),
    [
        (lambda x: x * settings.SCALE, 300),
        (lambda x: settings.scaled(x), 300),
        (lambda x: settings.shifted(x), 180),
        (lambda x: settings.shifted.twice(x), 180),
        (lambda x: settings.Shifted().twice(x), 180),
        (settings.shifted, 180),
    ],
)
def test_a_number_behind_a_module_or_a_class_has_a_name_too(fn, number):
    assert {finding.figures["number"] for finding in found("precision", fn, SIGNED)} == {number}


def rows(table, ids):
    return table["rows"] + ids


def test_an_argument_that_32_bits_do_not_hold_is_told():
    finding = the("precision", rows, {"rows": np.array([3, 2**40 + 7])}, jnp.ones(2, jnp.int32))
    assert finding.title == "1099511627783 in `table['rows']` does not fit int32: it is 7 here"
    assert finding.severity == "warning"
    assert found("precision", rows, {"rows": np.array([3, -(2**31)])}, np.array([1, 2**31 - 1])) == []
    assert found("precision", rows, {"rows": np.zeros((0, 2), np.int64)}, np.uint32(2**32 - 1)) == []


def test_where_64_bits_are_enabled_they_hold_it():
    with enable_x64(True):
        assert found("precision", rows, {"rows": np.array([3, 2**40 + 7])}, np.ones(2, np.int64)) == []
