"""What has no name belongs with what reads it, also where that is beyond a fusion or in a loop."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv


def _inferred(ex, *ops):
    """The equations that operations of these kinds are inferred to be of, by their operations."""
    links = ex.links("hlo")
    inferred = {target for target, kind in zip(links.target.tolist(), links.kind.tolist(), strict=True) if kind == 2}
    nodes = [node.index for node in ex.hlo if node.op in ops and node.index in inferred]
    return {ex.jaxpr.node(source).op for node in nodes for source in links.sources(node)}


def test_what_the_compiler_prepares_before_a_loop_for_a_comparison_in_it_is_of_the_comparison():
    """The order of floats as integers, which it computes of the values once; not of what made these."""

    def f(sorted_, values):
        return jnp.searchsorted(sorted_, values * 2.0 + 1.0)

    ex = jv.explore(f, jax.ShapeDtypeStruct((64,), jnp.float32), jax.ShapeDtypeStruct((48,), jnp.float32))
    # Newer compilers name them.
    assert _inferred(ex, "bitcast-convert", "xor") <= {"le_to"}


@pytest.mark.smoke
def test_what_turns_a_result_of_a_fusion_for_a_convolution_is_of_the_convolution():
    def loss(kernel, x):
        window = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return jnp.where(window > 0, window, 0.0).sum()

    types = jax.ShapeDtypeStruct((3, 3, 4, 8), jnp.float32), jax.ShapeDtypeStruct((2, 8, 8, 4), jnp.float32)
    ex = jv.explore(jax.grad(loss, (0, 1)), *types)
    links = ex.links("hlo")
    turning = [source for node in ex.hlo.find("transpose") for source in links.sources(node.index)]
    assert {ex.jaxpr.node(source).op for source in turning} == {"conv_general_dilated"}
