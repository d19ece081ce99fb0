"""A script is interrupted while the compiler writes what its passes do: the process ends as it should, and leaves
nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

INTERRUPTED = """
import os, pathlib, signal, sys, tempfile, threading, time
import jax.numpy as jnp
import jaxviz as jv
from jaxviz.measure import waiting

waiting._LEAVING = float(sys.argv[1])
# What runs in the background of a shell may be told to ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)

def unrolled(x):
    for _ in range(2000):
        x = jnp.sin(x) * 1.01
    return x

def interrupt():
    # What the compiler did not write yet is there once it began.
    while not any(pathlib.Path(tempfile.gettempdir()).rglob("*.txt")):
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)
    if sys.argv[2] == "twice":
        waiting._leaving.wait()
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGINT)

ex = jv.explore(unrolled, jnp.ones((8, 8)))
ex.stablehlo
threading.Thread(target=interrupt, daemon=True).start()
ex.passes
"""


@pytest.mark.skipif(sys.platform != "linux", reason="a process that an interrupt ends says so otherwise elsewhere")
@pytest.mark.parametrize(("leaving", "times"), [("60", "once"), ("0.1", "once"), ("60", "twice")])
def test_a_script_that_is_interrupted_while_the_compiler_writes_its_passes_leaves_nothing(tmp_path, leaving, times):
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "TMPDIR": str(tmp_path)}
    command = [sys.executable, "-c", INTERRUPTED, leaving, times]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=180)
    assert ended.returncode == -signal.SIGINT, ended.stderr
    assert "KeyboardInterrupt" in ended.stderr
    assert "Exception ignored" not in ended.stderr
    # Where the compiler goes on until the end, what it wrote goes after that.
    until = time.perf_counter() + 60
    while any(tmp_path.iterdir()) and time.perf_counter() < until:
        time.sleep(0.05)
    assert not any(tmp_path.iterdir())
