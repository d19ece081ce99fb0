"""What holds for all tests of errors."""

from __future__ import annotations

import pytest

from jaxviz import errors


@pytest.fixture(autouse=True)
def _rows_that_raise(monkeypatch):
    """A row that does not know what to do with code fails the test: it does not leave the error to the rows below."""
    monkeypatch.setattr(errors, "_told", lambda case, failure, match: case.tell(failure, match))
