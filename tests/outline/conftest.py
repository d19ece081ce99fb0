"""What tests of outlines share: libraries made of a text."""

from __future__ import annotations

import linecache
import sysconfig

import jax
import jax.numpy as jnp
import pytest
from jax import lax


@pytest.fixture
def library(request):
    """Make a library of some source; it is forgotten after the test."""
    path = f"{sysconfig.get_paths()['purelib']}/a_library/{request.node.name}.py"

    def make(code):
        linecache.cache[path] = (len(code), None, code.splitlines(keepends=True), path)
        namespace = {"jax": jax, "jnp": jnp, "lax": lax}
        exec(compile(code, path, "exec"), namespace)
        return namespace

    yield make
    linecache.cache.pop(path, None)
