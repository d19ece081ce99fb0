"""What all tests share: graphs are checked as they are made, `programs` is the corpus, and tests marked `gpu` are
skipped where JAX sees no GPU."""

from __future__ import annotations

import sys
from pathlib import Path

import jax
import pytest

import jaxviz.graph

sys.path.insert(0, str(Path(__file__).parent))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    marked = [item for item in items if item.get_closest_marker("gpu")]
    # Asking JAX for its devices starts its backends, so only where a test wants one.
    if marked and jax.default_backend() != "gpu":
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="JAX sees no GPU"))


@pytest.fixture(autouse=True)
def _checked_graphs(monkeypatch):
    monkeypatch.setattr(jaxviz.graph, "CHECK", True)
