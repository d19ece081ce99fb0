"""The public names: all there, known to completion, and imported only when they are asked for."""

import subprocess
import sys

import pytest

import jaxviz


@pytest.mark.parametrize("name", jaxviz.__all__)
def test_public_name_is_there(name):
    assert getattr(jaxviz, name) is not None
    assert name in dir(jaxviz)


def test_name_that_is_not_there_is_named():
    with pytest.raises(AttributeError, match="no attribute 'exlpore'"):
        _ = jaxviz.exlpore


def test_importing_jaxviz_imports_nothing_of_it_yet():
    code = "import sys, jaxviz; print(*sorted(name for name in sys.modules if name.split('.')[0] in ('jaxviz', 'jax')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == ["jaxviz", "jaxviz._version"]


def test_modules_do_not_hide_functions_of_the_same_name():
    code = (
        "import jaxviz.comparison, jaxviz.exploration, jaxviz as jv; print(callable(jv.compare), callable(jv.explore))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["True"] * 2
