"""Precision that changes unasked is found with its line; what was asked for is not."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found, line_numbers, the

try:
    from jax import enable_x64
except ImportError:  # until 0.7
    from jax.experimental import enable_x64

HALF = jnp.ones((64, 64), jnp.bfloat16)
FULL = jnp.ones((64, 64))


def meets_a_wide_array(x, w):
    y = x * 2
    return y * w


def meets_in_a_call(x, w):
    return jnp.add(x, w)


def meets_a_numpy_number(x):
    return x * np.float32(0.5)


MEETING = [(meets_a_wide_array, 2, (FULL,)), (meets_in_a_call, 1, (FULL,)), (meets_a_numpy_number, 1, ())]


@pytest.mark.parametrize(("fn", "line", "others"), MEETING)
def test_narrow_floats_that_become_wide(fn, line, others):
    finding = the("precision", fn, HALF, *others)
    assert finding.title.startswith("bfloat16 becomes float32")
    assert line_numbers(finding, fn) == [line]
    assert finding.figures == {"bytes": 64 * 64 * 4}
    assert "16.4 kB of values in place of 8.19 kB" in finding.text


def test_half_floats_too():
    assert the("precision", meets_a_wide_array, jnp.ones((64, 64), jnp.float16), FULL).title.startswith(
        "float16 becomes"
    )


def written(counts, x):
    x = x + 1
    return counts.at[0].set(x)


@pytest.mark.filterwarnings("ignore:scatter inputs have incompatible types")
def test_floats_written_into_whole_numbers_are_a_warning():
    finding = the("precision", written, jnp.arange(5), 2.5)
    assert finding.severity == "warning"
    assert "cut to whole numbers" in finding.title
    assert line_numbers(finding, written) == [2]


def scaled_by_root(x):
    v = jnp.mean(jnp.square(x.astype(jnp.float32)), -1, keepdims=True)
    return (x * jax.lax.rsqrt(v + 1e-6)).astype(x.dtype)


INNOCENT = {
    "asked for": (lambda x, w: x.astype(jnp.float32) * w, (HALF, FULL)),
    "a Python number": (lambda x: x * 0.5, (HALF,)),
    "a sum in a wider type": (lambda x: jnp.sum(x, dtype=jnp.float32), (HALF,)),
    "a mean": (lambda x: x.mean(), (HALF,)),
    "a softmax": (lambda x: jax.nn.softmax(x), (HALF,)),
    "a product accumulated in a wider type": (
        lambda x: jnp.matmul(x, x, preferred_element_type=jnp.float32),
        (HALF,),
    ),
    "a step of weights": (lambda p, g: p - 0.1 * g, (FULL, HALF)),
    "what is added to a wider sum": (
        lambda a, b: (a + b.astype(jnp.float32)).astype(jnp.bfloat16),
        (HALF, HALF),
    ),
    "a norm in a wider type": (scaled_by_root, (HALF,)),
    "narrow weights with wide moments": (
        lambda p, m, v: (p - 1e-3 * m / jnp.sqrt(v)).astype(p.dtype),
        (HALF, FULL, FULL),
    ),
    "less the logarithm of a wider sum": (
        lambda x: jax.nn.logsumexp(x.astype(jnp.float32), -1, keepdims=True) - x,
        (HALF,),
    ),
    "a small one": (lambda x, w: x[0, 0] * w[0, 0], (HALF, FULL)),
    "whole numbers in whole numbers": (lambda n: n.at[0].set(3), (jnp.arange(5),)),
    "rounded on purpose": (lambda n, x: n.at[0].set(jnp.round(x).astype(n.dtype)), (jnp.arange(5), 2.5)),
    "whole numbers become floats": (lambda n: n * 2.0, (jnp.arange(5),)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_asked_for_is_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert found("precision", fn, *arguments) == []


def product_of_two_types(x, w):
    return x @ w


def test_a_product_of_two_types_is_found_though_nothing_is_converted():
    finding = the("precision", product_of_two_types, HALF, FULL)
    assert finding.title.startswith("bfloat16 becomes float32")
    assert line_numbers(finding, product_of_two_types) == [1]


def test_a_product_that_names_its_type_is_left_alone():
    def fn(x, w):
        return jax.lax.dot(x, w, preferred_element_type=jnp.float32)

    assert found("precision", fn, HALF, HALF) == []
    assert found("precision", lambda x: x @ x, HALF) == []


def meets_64_bits(x):
    return x * np.float64(0.5) + jnp.linspace(0.0, 1.0, 64)


def test_64_bits_that_come_in_unasked_are_found():
    with enable_x64():
        finding = the("precision", meets_64_bits, jnp.ones((64, 64), jnp.float32))
        assert finding.title.startswith("float32 becomes float64")
        assert found("precision", lambda x: x * 0.5, jnp.ones((64, 64), jnp.float32)) == []


@pytest.mark.filterwarnings("ignore:scatter inputs have incompatible types")
def test_floats_that_are_written_into_narrower_ones_are_told():
    def fn(x, y):
        return x.at[0].set(y)

    finding = the("precision", fn, HALF, jnp.ones(64))
    assert finding.title.startswith("float32 is rounded to bfloat16")
    assert "y.astype(x.dtype)" in finding.remedy
    assert found("precision", lambda x, y: x.at[0].set(y.astype(x.dtype)), HALF, jnp.ones(64)) == []


def there_and_back(x):
    y = jnp.sin(x).astype(jnp.float16)
    z = y.astype(jnp.float32)
    return z * 2


def in_half(x):
    y = jnp.sin(x.astype(jnp.float16))
    return y.astype(jnp.float32) * 2


def kept_in_half(x):
    y = jnp.sin(x).astype(jnp.bfloat16)
    return y.astype(jnp.float32) * 2, y


def narrow_layer(x):
    return jnp.tanh(x).astype(jnp.bfloat16)


def wide_layer(x):
    return x.astype(jnp.float32).mean()


def layers(x):
    return wide_layer(narrow_layer(x))


def test_floats_that_are_rounded_for_nothing_are_told():
    finding = the("precision", there_and_back, jnp.ones(8))
    assert finding.title.startswith("float32 is rounded to float16, and made float32 again")
    assert line_numbers(finding, there_and_back) == [1, 2]
    for fn in (in_half, kept_in_half, layers, jax.grad(layers), lambda x: x.astype(jnp.float16)):
        assert found("precision", fn, jnp.ones(8)) == []
