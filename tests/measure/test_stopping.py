"""A run is stopped: by a person, by another thread, whatever it is at, and everything can be used afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import jax
import jax.numpy as jnp
import pytest

import jaxviz as jv
from jaxviz import capture
from jaxviz.measure.errors import RunStopped
from jaxviz.measure.waiting import Work


def compile_after(patch, wait):
    """Makes JAX wait before it compiles anything."""
    compiled = jax.stages.Lowered.compile

    def slowly(lowered, *args, **kwargs):
        wait()
        return compiled(lowered, *args, **kwargs)

    patch.setattr(jax.stages.Lowered, "compile", slowly)


def test_another_thread_stops_a_run_soon():
    started, stop, late = threading.Event(), threading.Event(), []

    def slow(x):
        def wait(x):
            started.set()
            if stop.is_set():
                late.append(None)
            time.sleep(0.05)
            return x

        return jax.pure_callback(wait, x, x)

    def press():
        started.wait()
        stop.set()

    ex = jv.explore(slow, jnp.ones(3))
    threading.Thread(target=press).start()
    with pytest.raises(RunStopped, match=r"slow\(f32\[3\]\) was stopped after .*: \d+ of 10000 runs"):
        ex.run(repeat=10_000, stop=stop)
    # On a machine that has nothing else to do, that is a second.
    assert len(late) < 20
    assert ex.measured is None
    assert len(ex.run(repeat=1).seconds) == 1


def test_a_run_can_be_stopped_while_it_is_compiled(monkeypatch):
    stop, go_on, waited = threading.Event(), threading.Event(), []
    ex = jv.explore(jnp.sin, jnp.ones(3))
    ex.hlo  # noqa: B018
    compile_after(monkeypatch, lambda: waited.append(go_on.wait(60)))
    with pytest.raises(RunStopped, match="compiling"):
        ex.run(stop=stop, progress=lambda progress: stop.set())
    assert not waited
    go_on.set()


def test_what_goes_on_after_compiling_was_stopped_is_told(monkeypatch, capsys):
    go_on = threading.Event()
    stop = threading.Event()
    ex = jv.explore(jnp.sin, jnp.ones(3))
    ex.hlo  # noqa: B018
    with monkeypatch.context() as patch:
        compile_after(patch, lambda: go_on.wait(30))
        # What is not Python hears of nothing until it is done.
        patch.setattr(Work, "_raise_stopped", lambda work: None)
        with pytest.raises(RunStopped, match="compiling"):
            ex.run(stop=stop, progress=lambda progress: stop.set())
    go_on.set()
    assert "the compiler has begun cannot be taken back" in capsys.readouterr().err
    assert ex.run(repeat=1).median > 0


def test_a_run_can_be_stopped_while_it_is_read_what_was_compiled(monkeypatch):
    optimized = capture.optimize

    go_on, waited = threading.Event(), []

    def slowly(*args, **kwargs):
        waited.append(go_on.wait(60))
        return optimized(*args, **kwargs)

    def press(progress):
        if progress.step == "read":
            stop.set()

    stop = threading.Event()
    ex = jv.explore(jnp.cos, jnp.ones(3))
    with monkeypatch.context() as patch:
        patch.setattr(capture, "optimize", slowly)
        with pytest.raises(RunStopped, match="reading what was compiled"):
            ex.run(stop=stop, progress=press)
        assert not waited
    go_on.set()
    assert ex.run(repeat=1).profile is not None
    assert len(ex.document().graphs) == 3


NEVER_ENDS = """
import _thread, signal, sys, threading, time
# A shell that starts this in the background leaves interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
import jax, jax.numpy as jnp
import jaxviz as jv

ex = jv.explore(lambda x: jax.lax.while_loop(lambda c: c[0] > -1.0, lambda c: jnp.sin(c) + 2.0, x), jnp.ones(64))
ex.hlo
compiled = threading.Event()
import jaxviz.measure.run as run
once = run.Executable.once
run.Executable.once = lambda self, **look: (compiled.set(), once(self, **look))[1]

def stop():
    compiled.wait()
    time.sleep(0.3)
    global pressed
    pressed = time.perf_counter()
    _thread.interrupt_main()

threading.Thread(target=stop, daemon=True).start()
try:
    ex.run()
except KeyboardInterrupt:
    took = time.perf_counter() - pressed
    # A quarter of a second where the machine has nothing else to do.
    assert took < 10.0, took
    assert float(jnp.ones(3).sum()) == 3.0
    assert len(ex.document().graphs) == 3
    print("usable", flush=True)
import os
os._exit(0)
"""


def test_a_program_that_never_ends_is_stopped():
    done = subprocess.run([sys.executable, "-c", NEVER_ENDS], capture_output=True, text=True, timeout=100)
    assert done.stdout == "usable\n", done.stderr
    assert "cannot be taken back" in done.stderr


@pytest.fixture
def interrupts():
    """Interrupts as a person's; a shell that starts the tests in the background leaves them ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_an_interrupt_between_runs_ends_them():
    import _thread

    started = threading.Event()

    def slow(x):
        def wait(x):
            started.set()
            time.sleep(0.05)
            return x

        return jax.pure_callback(wait, x, x)

    ex = jv.explore(slow, jnp.ones(3))

    def stop():
        started.wait()
        _thread.interrupt_main()

    threading.Thread(target=stop).start()
    with pytest.raises(KeyboardInterrupt):
        ex.run(repeat=10_000)
    assert len(ex.run(repeat=1).seconds) == 1


INTERRUPTED_BETWEEN_PASSES = """
import _thread, os, signal, sys, tempfile, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
import jax, jax.numpy as jnp, jaxviz as jv

def many(x):
    for _ in range(2000):
        x = jnp.sin(x) * 1.01
    return x

ex = jv.explore(many, jnp.ones((8, 8)))
ex.stablehlo
folder = tempfile.gettempdir()

def interrupt():
    # Once the first pass is dumped.
    while not any(files for _, _, files in os.walk(folder)):
        pass
    _thread.interrupt_main()

threading.Thread(target=interrupt, daemon=True).start()
try:
    ex.passes
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_an_interrupt_while_passes_are_dumped_leaves_nothing_behind(tmp_path):
    """The compiler goes on, and the process ends without it."""
    command = [sys.executable, "-c", INTERRUPTED_BETWEEN_PASSES]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)
    assert done.stdout == "interrupted\n", done.stderr
    assert done.returncode == 0, done.stderr
    assert [*tmp_path.iterdir()] == []
