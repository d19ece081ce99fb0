"""What all tests share: those marked `gpu` are skipped where JAX sees no GPU."""

from __future__ import annotations

import jax
import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    # Asking JAX for its devices starts its backends, so only where a test wants one.
    if marked and jax.default_backend() != "gpu":
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="JAX sees no GPU"))
