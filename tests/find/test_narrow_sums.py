"""Sums of small whole numbers that are kept in their small type are told, where they may not fit it."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found, the

SMALL = jnp.full((64, 64), 5, jnp.int8)
SHORT = jnp.full((3, 500), 100, jnp.uint16)


@pytest.mark.parametrize(
    ("fn", "argument", "title", "remedy"),
    [
        (lambda x: x @ x, SMALL, "a product of matrices of int8 is kept in int8", "preferred_element_type=jnp.int32"),
        (lambda x: x @ x.T, SHORT, "a product of matrices of uint16", "preferred_element_type"),
        (lambda x: jnp.einsum("ij,kj->ik", x, x), SMALL, "a product of matrices of int8", "preferred_element_type"),
        (lambda x: jnp.cumsum(x, axis=1), SMALL, "a running sum of int8 is kept in int8", "jnp.cumsum(x, dtype="),
        (lambda x: jnp.cumprod(x, axis=1), SMALL, "a running product of int8 is kept", "jnp.cumprod(x, dtype="),
    ],
)
def test_a_sum_in_a_small_type_is_told_with_its_type_and_the_wider_one(fn, argument, title, remedy):
    assert not np.array_equal(fn(argument), fn(argument.astype(jnp.int32)))
    finding = the("precision", fn, argument)
    assert finding.title.startswith(title)
    assert finding.severity == "advice"
    assert remedy in finding.remedy


def test_the_terms_of_a_sum_are_those_along_its_axis_alone():
    batched = jnp.ones((5, 7, 3), jnp.int8)
    assert the("precision", lambda x: x @ x.transpose(0, 2, 1), batched).figures == {"terms": 3}
    assert the("precision", lambda x: jnp.cumsum(x, axis=1), batched).figures == {"terms": 7}


INNOCENT = {
    "wider": lambda x: jnp.matmul(x, x, preferred_element_type=jnp.int32),
    "widened before": lambda x: x.astype(jnp.int32) @ x.astype(jnp.int32),
    "a sum, which JAX widens": lambda x: x.sum() + x.mean(),
    "a type that is asked for": lambda x: jnp.cumsum(x, dtype=jnp.int8),
    "few that are true or false": lambda x: jnp.cumsum((x > 3).astype(jnp.int8), axis=0),
    "pairs that are true or false": lambda x: jax.lax.dot((x > 3).astype(jnp.int8), (x < 9).astype(jnp.int8)),
    "32 bits": lambda x: jnp.arange(64) @ jnp.arange(64),
    "floats": lambda x: x.astype(jnp.float32) @ x.astype(jnp.float32),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_fits_or_is_asked_for_is_left_alone(name):
    assert found("precision", INNOCENT[name], SMALL) == []
