"""What all tests share: graphs are checked as they are made, `programs` is the corpus, tests marked `gpu` are skipped
where JAX sees no GPU, and property tests see the same examples each time."""

from __future__ import annotations

import sys
from pathlib import Path

import hypothesis
import jax
import pytest

import jaxviz.graph

sys.path.insert(0, str(Path(__file__).parent))

# Nothing of it goes by the clock, which a busy machine would fail.
hypothesis.settings.register_profile(
    "same", deadline=None, derandomize=True, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("same")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    # Asking JAX for its devices starts its backends, so only where a test wants one.
    if marked and jax.default_backend() != "gpu":
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="JAX sees no GPU"))


@pytest.fixture(autouse=True)
def _checked_graphs(monkeypatch):
    monkeypatch.setattr(jaxviz.graph, "CHECK", True)
