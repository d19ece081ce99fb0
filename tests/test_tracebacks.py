"""Tracebacks of errors in a function end where the person's lines do."""

import traceback
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv


def test_a_call_that_does_not_fit_has_no_lines_of_jaxviz_but_the_one_that_was_called():
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'") as told:
        jv.explore(lambda x: x)
    files = [Path(frame.filename).name for frame in traceback.extract_tb(told.value.__traceback__)]
    assert files == ["test_tracebacks.py", "exploration.py", "exploration.py"]


KEPT = []


def keeping(x):
    KEPT.append(x * 2)
    return x


def using_what_was_kept(x):
    y = jnp.cos(x)
    return y + KEPT[0]


def giving_words(x):
    y = x * 2
    return {"y": y, "unit": "m"}


@pytest.mark.parametrize(("fn", "line"), [(using_what_was_kept, "return y + KEPT[0]"), (giving_words, "return {")])
def test_what_jax_notices_after_a_function_has_ended_has_the_line_of_the_function(fn, line):
    KEPT.clear()
    jax.jit(keeping)(jnp.ones(3))
    with pytest.raises((TypeError, jax.errors.UnexpectedTracerError)) as told:
        jv.explore(fn, jnp.ones(3))
    last = traceback.extract_tb(told.value.__traceback__)[-1]
    assert (Path(last.filename).name, last.name) == ("test_tracebacks.py", fn.__name__)
    assert line in last.line
