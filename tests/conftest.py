"""What all tests share: graphs are checked as they are made, `programs` is the corpus, tests marked `gpu` are skipped
where JAX sees no GPU, property tests see the same examples each time, and `shell` is IPython with the magic."""

from __future__ import annotations

import os
import sys
from pathlib import Path

# XLA makes the same HLO of each program, and machine code of it in half the time: nobody waits for what that computes.
# On devices, where time is measured and code is chosen by it, all stays as it is.
if os.environ.get("JAX_PLATFORMS") == "cpu":
    os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")

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


# IPython starts once in a process.
@pytest.fixture(scope="session")
def shell():
    from IPython.testing.globalipapp import start_ipython

    shell = start_ipython()
    assert shell is not None
    shell.run_line_magic("load_ext", "jaxviz")
    return shell


@pytest.fixture
def names(shell):
    """Puts names into the person's namespace and takes them out again."""
    before = dict(shell.user_ns)
    yield shell.user_ns
    for name in set(shell.user_ns) - set(before):
        del shell.user_ns[name]
