"""Every graph that these tests read is checked as it is made; `programs` is the corpus, `outlines` what they share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.fixture(autouse=True)
def _checked_graphs(monkeypatch):
    monkeypatch.setattr("jaxviz.graph.CHECK", True)
