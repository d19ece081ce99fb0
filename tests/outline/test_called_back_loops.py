"""A loop that a library writes is told by the person's function that it calls, not by a private one of its own."""

from __future__ import annotations

import jax.numpy as jnp
import pytest
from outline.outlines import check, outline_of

_FINDER = """
def find(fn, x):
    def cond_fun_(carried):
        x, step = carried
        return (jnp.max(jnp.abs(x)) > 1e-3) & (step < 9)

    def body_fun_(carried):
        x, step = carried
        slope = jnp.tanh(fn(x)) * 0.5
        return x - slope / (1.0 + jnp.abs(slope)), step + 1

    scale = jnp.max(jnp.abs(x)) + 1.0
    return lax.while_loop(cond_fun_, body_fun_, (x / scale, 0))[0] * scale
"""


@pytest.mark.smoke
def test_a_loop_of_a_library_is_told_by_the_function_of_the_person_that_it_calls(library):
    find = library(_FINDER)["find"]

    def balance(x):
        return jnp.sin(x) * 2.0 - x

    def solve(x):
        found = find(balance, jnp.cos(x))
        return found * 2.0

    outline = outline_of(solve, jnp.ones(3))
    check(outline)
    (loop,) = (row for row in outline if row.kind == "loop")
    assert loop.name == "while_loop(balance)"
