"""Numbers that the compiler keeps once for several equations belong to what reads them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv


@pytest.mark.smoke
def test_a_zero_that_two_equations_read_draws_neither_into_the_kernel_of_the_other():
    ex = jv.explore(lambda x: (jax.nn.relu(x), jnp.where(x > 1, x, jnp.zeros((8, 8)))), jnp.ones((8, 8)))
    links = ex.links("hlo")
    (largest,) = ex.jaxpr.find("max")
    of_it = [ex.hlo.node(node) for node in links.targets(largest.index)]
    (kernel,) = [node for node in of_it if node.op == "fusion"]
    assert list(links.sources(kernel.index)) == [largest.index]
    assert all(node == kernel or ex.hlo.regions.owner[node.region] == kernel.index for node in of_it)
    chosen = next(node for node in ex.hlo.find("fusion") if node != kernel)
    assert {ex.jaxpr.node(node).op for node in links.sources(chosen.index)} == {"gt", "select_n"}
    (zeros,) = [fate for fate in ex.fates if ex.jaxpr.node(fate.node).op == "broadcast_in_dim"]
    assert (zeros.kind, zeros.by) == ("folded", -1)
