"""Functions that are masked after they were applied are found where their gradient is taken."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found, line_numbers, the

X = jnp.array([-1.0, 0.0, 2.0])


def masked_log(x):
    positive = x > 0
    y = jnp.where(positive, jnp.log(x), 0.0)
    return y.sum()


def masked_root(x):
    return jnp.where(x == 0, 0.0, jnp.sqrt(x)).sum()


def masked_quotient(x):
    return jnp.where(x != 0, 1.0 / x, 0.0).sum()


def masked_above(x):
    return jnp.where(x > 0.5, jnp.sqrt(x - 0.5), 0.0).sum()


@pytest.mark.parametrize(
    ("fn", "lines", "name"),
    [
        (masked_log, [2], "log"),
        (masked_root, [1], "sqrt"),
        (masked_quotient, [1], "div"),
        (masked_above, [1], "sqrt"),
    ],
)
def test_a_mask_that_comes_too_late(fn, lines, name):
    gradient = jax.grad(fn)
    assert np.isnan(gradient(X)).any()
    finding = the("masked", gradient, X)
    assert finding.severity == "warning"
    assert line_numbers(finding, fn) == lines
    assert name in finding.title
    assert {"log": "jnp.log(safe)", "sqrt": "jnp.sqrt(safe)", "div": "y / safe"}[name] in finding.remedy


AFTERWARDS = {
    "entropy": (lambda x: -jnp.where(x > 0, x * jnp.log(x), 0.0).sum(), "log"),
    "divergence": (lambda x: jnp.where(x > 0, x * (jnp.log(x) - jnp.log(x + 2.0)), 0.0).sum(), "log"),
    "an affine root": (lambda x: jnp.where(x > 0, 2.0 * jnp.sqrt(x) + 1.0, 0.0).sum(), "sqrt"),
    "a square of a logarithm": (lambda x: jnp.where(x > 0, jnp.log(x) ** 2, 0.0).sum(), "log"),
    "a root in a function": (lambda x: jnp.where(x > 0, jnp.tanh(jnp.sqrt(x)), 0.0).sum(), "sqrt"),
    "a root below a fraction": (lambda x: jnp.where(x > 0, x / jnp.sqrt(x), 0.0).sum(), "sqrt"),
    "a small size": (lambda x: jnp.where(jnp.abs(x) < 1e-3, 1.0, jnp.sin(x) / x).sum(), "div"),
}


@pytest.mark.parametrize("name", AFTERWARDS)
def test_what_is_computed_with_what_is_steep_is_masked_too_late_as_well(name):
    fn, steep = AFTERWARDS[name]
    assert np.isnan(jax.grad(fn)(X)).any()
    assert f"masks {steep}" in the("masked", jax.grad(fn), X).title


def masked_before(x):
    safe = jnp.where(x > 0, x, 1.0)
    return jnp.where(x > 0, jnp.log(safe), 0.0).sum()


INNOCENT = {
    "no gradient": masked_log,
    "masked before": jax.grad(masked_before),
    "no steep function": jax.grad(lambda x: jnp.where(x > 0, jnp.sin(x), 0.0).sum()),
    "away from where it is steep": jax.grad(lambda x: jnp.where(x > 0, jnp.sqrt(x + 1.0), 0.0).sum()),
    "a rectifier": jax.grad(lambda x: jnp.where(x > 0, x, 0.0).sum()),
    "another mask": jax.grad(lambda x: jnp.where(jnp.arange(3) > 1, jnp.log(x), 0.0).sum()),
    "a leaky rectifier": jax.grad(lambda x: jax.nn.leaky_relu(x).sum()),
    "a derivative that the library wrote": jax.grad(lambda x: jax.random.gamma(jax.random.key(0), x).sum()),
    "entropy of what is safe": jax.grad(lambda x: jnp.where(x > 0, x * jnp.log(jnp.where(x > 0, x, 1.0)), 0.0).sum()),
    "a steep function of another value": jax.grad(lambda x: jnp.where(x > 0, x * jnp.log(x * x + 1.0), 0.0).sum()),
    "elu": jax.grad(lambda x: jax.nn.elu(x).sum()),
}


def masked_factor(x, weights):
    return jnp.where(weights > 0, jnp.sqrt(weights) * x, 0.0).sum()


def masked_infinity(x, weights):
    return jnp.where(weights > 0, jnp.log(weights) * x, 0.0).sum()


def test_a_factor_that_is_infinite_is_found_though_it_is_not_differentiated():
    assert np.isnan(jax.grad(masked_infinity)(X, jnp.abs(X))).any()
    assert "masks log" in the("masked", jax.grad(masked_infinity), X, jnp.abs(X)).title


def test_a_factor_that_is_not_differentiated_and_finite_is_left_alone():
    assert np.isfinite(jax.grad(masked_factor)(X, jnp.abs(X))).all()
    assert found("masked", jax.grad(masked_factor), X, jnp.abs(X)) == []


@pytest.mark.parametrize("name", INNOCENT)
def test_masks_that_help_are_left_alone(name):
    assert found("masked", INNOCENT[name], X) == []


def kept_where_finite(x):
    y = jnp.log(x)
    return jnp.where(jnp.isfinite(y), y, 0.0).sum()


def kept_where_positive(x):
    length = jnp.sqrt((x**2).sum())
    return jnp.where(length > 0, length, 0.0)


@pytest.mark.parametrize(("fn", "x", "name"), [(kept_where_finite, X, "log"), (kept_where_positive, X * 0, "sqrt")])
def test_a_mask_made_of_the_result_does_not_help_either(fn, x, name):
    assert np.isnan(jax.grad(fn)(x)).any()
    assert f"masks {name}" in the("masked", jax.grad(fn), x).title
