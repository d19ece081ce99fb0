"""What a computation that was stopped, and goes on, leaves to those that come after it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import jax
import pytest

from jaxviz.measure import progress, taken
from jaxviz.measure.errors import RunError
from jaxviz.measure.taken import Watch
from jaxviz.measure.waiting import Work

AFTER = """
import sys, threading
import jax, jax.numpy as jnp
import jaxviz as jv

def endless(x):
    return jax.lax.while_loop(lambda x: x.sum() > -1e9, lambda x: jnp.tanh(x @ x), x)

def plain(x):
    return jnp.tanh(x @ x)

def stopped(ex):
    stop, ticks = threading.Event(), []

    def tell(progress):
        if progress.step == "run":
            ticks.append(progress)
        if len(ticks) > 10:
            stop.set()

    try:
        ex.run(repeat=1, stop=stop, progress=tell)
    except jv.RunError as error:
        print(type(error).__name__)

ex = jv.explore(endless, jnp.ones((300, 300)))
ex.hlo
stopped(ex)
try:
    print(len(jv.explore(plain, jnp.ones((600, 600))).run(repeat=2).seconds))
except jv.RunError as error:
    print(error)
print(len(jv.explore(plain, jnp.ones((600, 600))).document().graphs))
sys.exit(3)
"""


def lines_after_a_stop(threads):
    # The runtime has as many threads as it is told.
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "NPROC": str(threads)}
    ended = subprocess.run([sys.executable, "-c", AFTER], env=environment, capture_output=True, text=True, timeout=180)
    # It ends, though the computation does not.
    assert ended.returncode == 3, ended.stderr
    return ended.stdout.splitlines()


def test_a_program_runs_after_one_that_never_ends_was_stopped():
    assert lines_after_a_stop(4) == ["RunStopped", "2", "3"]


@pytest.mark.skipif(jax.__version_info__ < (0, 8), reason="JAX before 0.8 is not told how many threads it has by NPROC")
def test_where_nothing_gets_through_to_the_device_that_is_said_and_the_program_is_explored_all_the_same():
    first, said, graphs = lines_after_a_stop(1)
    assert (first, graphs) == ("RunStopped", "3")
    assert said.startswith("plain(f32[600,600]) does not get to run. One thing that was stopped before goes on all ")
    assert said.endswith("restart the kernel, which ends that.")


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(taken, "perf_counter", lambda: now[0])
    return now


def asking(monkeypatch, *, going, answers):
    """Questions that are answered or not, and how many were asked."""
    answer = threading.Event()
    if answers:
        answer.set()
    asked = []
    monkeypatch.setattr(taken, "still_going", lambda: going)
    monkeypatch.setattr(taken, "_asked", lambda device: asked.append(device) or answer)
    return asked


def test_a_long_run_is_not_given_up_while_the_device_answers(clock, monkeypatch):
    asked = asking(monkeypatch, going=2, answers=True)
    watch = Watch("f")
    for second in range(100):
        clock[0] = float(second)
        watch.look("running")
    assert 10 < len(asked) < 60


def test_a_long_run_is_not_looked_into_where_nothing_was_stopped(clock, monkeypatch):
    asked = asking(monkeypatch, going=0, answers=False)
    watch = Watch("f")
    for second in range(100):
        clock[0] = float(second)
        watch.look("running")
    assert not asked


def test_a_run_that_gets_on_is_not_given_up_and_one_that_does_not_is(clock, monkeypatch):
    asking(monkeypatch, going=1, answers=False)
    watch = Watch("f", "cpu:0")
    for second in range(100):
        clock[0] = float(second)
        watch.look(second)

    def wait():
        while clock[0] < 110.0:
            clock[0] += 0.1
            watch.look("same")

    with pytest.raises(RunError, match="nothing else gets through to cpu:0: restart the kernel"):
        wait()
    assert clock[0] < 107.0


def test_looking_at_values_is_given_up_too(monkeypatch):
    def refuse(self, far):
        raise RunError(f"{far} does not get to run")

    monkeypatch.setattr(Watch, "look", refuse)
    work = threading.Event()
    with pytest.raises(RunError, match="looking does not get to run"):
        progress.waited_for("f", "looking", lambda _: work.wait(10), lambda _: None)
    assert progress.waited_for("f", "compiling", lambda _: work.wait(0.3), lambda _: None, runs=False) is False
    work.set()


def test_a_device_that_is_free_answers():
    answered = taken._asked(jax.devices()[0])
    assert Work(lambda _: answered.wait(60)).wait()
    taken._questions.clear()
