"""`jv.testing`: each assertion holds where it should, and fails with words that help where it should not."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxviz as jv
from jaxviz import testing

X = jnp.ones((64, 64))


def unrolled(x):
    for _ in range(50):
        x = x * 1.1 + jnp.sin(x)
    return x


def looped(x):
    return lax.fori_loop(0, 50, lambda _, y: y * 1.1 + jnp.sin(y), x)


def forgetful(x):
    y = jnp.cos(x) + 3  # noqa: F841
    return x + 1


def test_no_unrolled_loop():
    testing.assert_no_unrolled_loop(looped, X)
    with pytest.raises(AssertionError, match="50 copies"):
        testing.assert_no_unrolled_loop(unrolled, X)


def test_no_dead_code():
    testing.assert_no_dead_code(looped, X)
    with pytest.raises(AssertionError, match="no result needs"):
        testing.assert_no_dead_code(forgetful, X)


def test_types_are_enough():
    testing.assert_no_dead_code(looped, jax.ShapeDtypeStruct((3,), jnp.float32))


def test_kernels():
    testing.assert_kernels(lambda x: jnp.sin(x) * 2 + 1, X, at_most=1)
    with pytest.raises(AssertionError, match=r"runs as \d kernels, expected 1 at most"):
        testing.assert_kernels(lambda x: jnp.sort(x @ x) + x.sum(), X, at_most=1)


def test_flops():
    matrix = jax.ShapeDtypeStruct((100, 100), jnp.float32)
    testing.assert_flops(jnp.matmul, matrix, matrix, at_most=2e6)
    with pytest.raises(AssertionError, match=r"takes 2\.\d+ MFLOP in a run, expected 2 MFLOP at most"):
        testing.assert_flops(lambda x, y: jnp.sin(x @ y) + 1, matrix, matrix, at_most=2e6)


def test_fused():
    testing.assert_fused(lambda x: jnp.sin(x) * 2 + 1, X)
    with pytest.raises(AssertionError, match="sort in"):
        testing.assert_fused(lambda x: jnp.sin(x) + jnp.sort(x), X)
    testing.assert_fused(lambda x: jnp.sin(x @ x) + 1, X, operations=["sin", "add"])
    with pytest.raises(AssertionError, match="no equation 'tan'"):
        testing.assert_fused(jnp.sin, X, operations=["tan"])


def test_no_collective():
    testing.assert_no_collective(looped, X)
    testing.assert_no_collective("all-gather", looped, X)
    with pytest.raises(ValueError, match="is no collective"):
        testing.assert_no_collective("gather", looped, X)

    mesh = jax.sharding.Mesh(jax.devices()[:1], ("d",))
    spec = jax.sharding.PartitionSpec("d")
    summed = jax.shard_map if hasattr(jax, "shard_map") else None
    if summed is not None:
        sum_over_devices = summed(lambda x: lax.psum(x, "d"), mesh=mesh, in_specs=spec, out_specs=spec)
        testing.assert_no_collective("all-gather", sum_over_devices, X)


@pytest.mark.smoke
def test_peak_bytes():
    testing.assert_peak_bytes(lambda x: x @ x, X, at_most=1e6)
    with pytest.raises(AssertionError, match="bytes at its peak, expected 10 at most"):
        testing.assert_peak_bytes(lambda x: x @ x, X, at_most=10)


def test_compiles_once():
    step = jax.jit(lambda x: x * 2)
    testing.assert_compiles_once(step, X)
    with pytest.raises(AssertionError, match="new function object"):
        testing.assert_compiles_once(lambda x: jax.jit(lambda y: y * 3)(x), X)


def test_compiles_once_in_a_block():
    step = jax.jit(lambda x: x * 2)
    with testing.assert_compiles_once():
        for _ in range(3):
            step(X)

    def two_sizes():
        step(X[:3])
        step(X[:4])

    reason = r"the shape of `x` was \[4,64\], before \[3,64\]"
    with pytest.raises(AssertionError, match=reason), testing.assert_compiles_once():
        two_sizes()


def test_it_is_part_of_the_package():
    assert jv.testing is testing
