"""Work in a thread of its own: whenever an interrupt comes, it ends."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxviz as jv
from jaxviz.measure import progress, waiting
from jaxviz.measure.waiting import Work


def going_on(ended):
    def do(work):
        try:
            while True:
                work.go_on()
                time.sleep(0.01)
        finally:
            ended.set()

    return do


def test_an_interrupt_while_the_work_begins_ends_it(monkeypatch):
    class Interrupted(threading.Thread):
        def start(self):
            super().start()
            raise KeyboardInterrupt

    monkeypatch.setattr(waiting, "Thread", Interrupted)
    ended = threading.Event()
    work = Work(going_on(ended))
    with pytest.raises(KeyboardInterrupt):
        work.wait()
    assert ended.is_set()
    assert not work.abandoned


def test_the_end_of_the_process_ends_what_is_going_on(monkeypatch):
    monkeypatch.setattr(waiting, "_leaving", threading.Event())
    monkeypatch.setattr(waiting, "_left_behind", threading.Event())
    ended = threading.Event()
    raised = []

    def wait():
        try:
            Work(going_on(ended)).wait()
        except waiting.Stopped as stopped:
            raised.append(stopped)

    waiter = threading.Thread(target=wait)
    waiter.start()
    while not waiting._going:
        time.sleep(0.01)
    waiting._end()
    waiter.join(60)
    assert ended.is_set()
    assert raised


LEAVING = """
import sys, threading, time
import jax
import jax.numpy as jnp
from jax import lax
import jaxviz as jv
from jaxviz.measure import progress, waiting

if not sys.argv[1].startswith("callback"):
    waiting._LEAVING = 0.3

def large(x):
    for turn in range(1000):
        x = jnp.sort(jnp.tanh(x) @ x) + turn
    return x

def endless(x):
    return lax.while_loop(lambda x: x.sum() > -1.0, jnp.sort, x)

def nap(x):
    time.sleep(0.2)
    return x

# Its callbacks are in a thread of the runtime, one after the other; of small arrays in the one that asked.
def calling(x):
    return lax.fori_loop(0, 1000, lambda _, x: jax.pure_callback(nap, x, x) + 1, x)

what = {"compile": (large, 8), "run": (endless, 8), "callback": (calling, 800), "callback at once": (calling, 8)}
function, side = what[sys.argv[1]]
step = None if function is large else "run"
ex = jv.explore(function, jnp.ones((side, side)))
stop, ticks = threading.Event(), []
compiler = jax.stages.Lowered.compile

def compile(*args, **options):
    global step
    step = step or "compile"
    return compiler(*args, **options)

jax.stages.Lowered.compile = compile

# At what cannot be stopped for a second, or for longer where the machine is busy.
def tell(progress):
    if progress.step == step:
        ticks.append(progress)
    if len(ticks) > 10:
        stop.set()

try:
    ex.run(repeat=1, stop=stop, progress=tell)
except jv.RunError as error:
    print(type(error).__name__)
sys.exit(3)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of Linux has what it takes")
@pytest.mark.parametrize("step", ["compile", "run", "callback", "callback at once"])
def test_a_process_can_end_while_what_was_stopped_goes_on(step):
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    ended = subprocess.run(
        [sys.executable, "-c", LEAVING, step], env=environment, capture_output=True, text=True, timeout=180
    )
    assert ended.stdout == "RunStopped\n", ended.stderr
    # Callbacks can be ended, what else a device or the compiler does cannot.
    assert step.startswith("callback") or "it goes on until it is done" in ended.stderr
    assert ended.returncode == 3, ended.stderr
    assert "FATAL" not in ended.stderr
    # Not even of what was stopped.
    assert "Traceback" not in ended.stderr


def enable_x64():
    # Before 0.8 it is there for experiments.
    return (jax.enable_x64 if hasattr(jax, "enable_x64") else jax.experimental.enable_x64)(True)


def test_the_work_is_done_with_the_settings_and_the_mesh_of_whoever_waits():
    def seen(_):
        total = jnp.ones(2) * 1.5
        return total.dtype.name, jax.config.jax_debug_nans, jax.config.jax_default_matmul_precision

    assert Work(seen).wait() == ("float32", False, None)
    with enable_x64(), jax.debug_nans(True), jax.default_matmul_precision("highest"):
        assert Work(seen).wait() == ("float64", True, "highest")
    assert Work(seen).wait() == ("float32", False, None)


@pytest.mark.skipif(not hasattr(jax, "set_mesh"), reason="JAX before 0.7 has no set_mesh")
def test_the_mesh_in_use_is_there_in_the_work():
    mesh = jax.make_mesh((1,), ("rows",))
    with jax.set_mesh(mesh):
        assert Work(lambda _: jax.sharding.get_mesh()).wait() == mesh
    assert Work(lambda _: jax.sharding.get_mesh().empty).wait()


def test_a_program_is_run_with_what_it_was_explored_with():
    def grown(x):
        return jax.lax.scan(lambda carry, _: (carry * 1.5, carry), x.sum(), None, length=3)

    with enable_x64():
        ex = jv.explore(grown, np.ones(4))
        shaped = jv.explore(lambda x: x * 1.5, jax.ShapeDtypeStruct((4,), np.float64))
    assert ex.run(repeat=1, eager=True).median > 0
    assert shaped.run(repeat=1).median > 0
    assert {value.type for value in ex.values(inside="scan")} == {"f64[]"}
    assert ex.values(every=True).first_bad is None
    assert jnp.ones(2).dtype == jnp.float32


@pytest.mark.skipif(not hasattr(jax, "set_mesh"), reason="JAX before 0.7 has no set_mesh")
def test_a_program_is_run_on_the_mesh_it_was_explored_with():
    rows = jax.sharding.PartitionSpec("rows")
    with jax.set_mesh(jax.make_mesh((1,), ("rows",))):
        ex = jv.explore(lambda x: jax.reshard(x, rows) * 2.0, jnp.ones(4))
    assert ex.run(repeat=1, eager=True).eager
    assert jax.sharding.get_mesh().empty


def test_python_code_that_never_ends_is_ended():
    began, ended = threading.Event(), threading.Event()

    def for_ever(work):
        try:
            began.set()
            while True:
                time.sleep(0.01)
        finally:
            ended.set()

    def interrupt():
        if began.is_set():
            raise KeyboardInterrupt

    work = Work(for_ever, interrupt)
    with pytest.raises(KeyboardInterrupt):
        work.wait()
    assert ended.wait(10)
    assert not work.abandoned


class _Result:
    """Stands for what a device makes: ready after some questions, or never."""

    def __init__(self, questions):
        self.left = questions

    def is_ready(self):
        self.left -= 1
        return self.left < 0

    def block_until_ready(self):
        assert self.left < 0
        return self


def test_results_that_take_long_are_asked_for_until_they_are_there():
    first, second = _Result(5), _Result(3)
    assert Work(lambda work: work.until_ready((first, [second]))).wait() == (first, [second])
    assert first.left < 0
    assert second.left < 0


def test_results_that_never_come_are_left_and_that_is_known(monkeypatch):
    class Never(_Result):
        def is_ready(self):
            asked.set()
            return made.is_set()

    asked, made = threading.Event(), threading.Event()
    before = waiting.still_going()

    def interrupt():
        if asked.is_set():
            raise KeyboardInterrupt

    work = Work(lambda work: work.until_ready(Never(0)), interrupt)
    with pytest.raises(KeyboardInterrupt):
        work.wait()
    assert work.abandoned
    assert not work.going
    # Its thread stays, because the next one would be taken for it.
    assert work._thread.is_alive()
    # Whoever waits for a run that comes later is told of it, until it is made.
    assert waiting.still_going() == before + 1
    told = []
    monkeypatch.setattr(progress, "_SILENCE", 0.0)
    progress.Silence(told.append).break_with("later")
    assert "stopped before" in told[0]
    assert "until the kernel is restarted" in told[0]
    made.set()
    assert waiting.still_going() == before
    work._thread.join(10)
    assert not work._thread.is_alive()


def test_work_inside_of_other_work_is_stopped_by_who_listens():
    def refuse():
        raise ValueError("enough")

    ended = threading.Event()
    with waiting.listening(refuse), pytest.raises(ValueError, match="enough"):
        Work(going_on(ended)).wait()
    assert ended.is_set()
    assert Work(lambda work: 6 * 7).wait() == 42
