"""All finders together."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
import jaxviz.graph
from jaxviz.find import unread_gradients


def test_what_is_transposed_and_no_gradient_has_no_gradient_that_is_left():
    transposed = jax.linear_transpose(lambda v: (v * 2.0, jnp.cumsum(v)), jnp.ones(8))
    for read in (0, 1):
        ex = jv.explore(lambda x: [transposed((x, x))[0], x][read], jnp.ones(8))  # noqa: B023
        assert not [finding for finding in ex.findings if "gradient" in finding.title]


def test_with_a_finder_that_fails_the_rest_is_not_lost(monkeypatch):
    def failing(_):
        yield from ()
        raise KeyError(1)

    def dropping(x):
        dropped = jnp.sin(x)  # noqa: F841
        return x + 1

    monkeypatch.setattr(jaxviz.graph, "CHECK", False)
    monkeypatch.setattr(unread_gradients, "find", failing)
    with pytest.warns(UserWarning, match="unread_gradients: KeyError: 1"):
        findings = jv.explore(dropping, jnp.ones(8)).findings
    assert [finding.kind for finding in findings] == ["dead"]
