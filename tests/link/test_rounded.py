"""What XLA computes in a wider type than the program says, it rounds: that belongs with what was computed."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

import jaxviz as jv


@pytest.mark.smoke
def test_what_rounds_a_value_is_of_the_line_that_computes_it():
    def f(x, w):
        product = x @ w
        shifted = product + x
        return jnp.tanh(shifted)

    ex = jv.explore(f, *[jnp.ones((8, 8), jnp.bfloat16)] * 2)
    first, found = f.__code__.co_firstlineno, {}
    for node in ex.hlo.find("convert"):
        maker = ex.hlo.node(int(ex.hlo.value_node[node.operands[0]]))
        if node.types == ("bf16[8,8]",) and maker.kind == "operation":
            found[maker.op] = node.line - first
    # Where the compiler rounds at all: since some version it leaves out what is rounded just to be widened again.
    assert found.items() <= {"dot": 1, "add": 2, "tanh": 3}.items()
    assert found


@pytest.mark.smoke
def test_a_kernel_that_does_no_more_than_round_is_of_what_it_rounds():
    def f(x, w):
        product = x @ w
        return jnp.tanh(product), product

    ex = jv.explore(f, *[jnp.ones((8, 8), jnp.bfloat16)] * 2)
    rounding = [
        node
        for node in ex.hlo.find("fusion")
        if node.types == ("bf16[8,8]",) and node.name.startswith("wrapped_convert")
    ]
    assert {node.line - f.__code__.co_firstlineno for node in rounding} <= {1}
