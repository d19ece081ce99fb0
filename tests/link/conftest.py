"""Every graph that these tests read is checked as it is made, and `programs` is the corpus."""

import sys
from pathlib import Path

import pytest

import jaxviz.graph

sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.fixture(autouse=True)
def _check_graphs(monkeypatch):
    monkeypatch.setattr(jaxviz.graph, "CHECK", True)
