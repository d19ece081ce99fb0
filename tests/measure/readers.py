"""Marks of tests that read what was profiled."""

import jax
import pytest

needs_reader = pytest.mark.skipif(
    getattr(jax.profiler, "ProfileData", None) is None, reason="JAX before 0.7.2 cannot read a profile"
)
