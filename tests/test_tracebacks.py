"""Tracebacks of errors in a function end where the person's lines do."""

import traceback
from pathlib import Path

import pytest

import jaxviz as jv


def test_a_call_that_does_not_fit_has_no_lines_of_jaxviz_but_the_one_that_was_called():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'") as told:
        jv.explore(lambda x: x)
    files = [Path(frame.filename).name for frame in traceback.extract_tb(told.value.__traceback__)]
    assert files == ["test_tracebacks.py", "exploration.py", "exploration.py"]
