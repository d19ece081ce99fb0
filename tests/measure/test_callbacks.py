"""Callbacks that nobody waits for any more."""

from __future__ import annotations

import _thread
import logging
import subprocess
import sys
import threading
import time

import jax
import jax.numpy as jnp
import pytest

import jaxviz
from jaxviz.measure.callbacks import Silence, end_callbacks, in_callbacks
from jaxviz.measure.waiting import Work, still_going


class Ended(Exception):
    pass


def test_callbacks_are_ended_and_those_of_others_are_not():
    begun, ended, end = threading.Event(), [], threading.Event()

    def call(name):
        try:
            begun.set()
            while not end.wait(0.01):
                pass
        except Ended:
            ended.append(name)

    try:
        before = in_callbacks()
        # JAX is what the thread calls first, as where a device calls back.
        _thread.start_new_thread(jax.tree_util.tree_map, (call, "others"))
        assert begun.wait(60)
        others = in_callbacks() - before
        assert len(others) == 1
        begun.clear()
        _thread.start_new_thread(jax.tree_util.tree_map, (call, "own"))
        assert begun.wait(60)
        assert end_callbacks(Ended, 30, before | others)
        assert ended == ["own"]
        assert in_callbacks() >= others
        assert end_callbacks(Ended, 30, before)
        assert ended == ["own", "others"]
    finally:
        end.set()


def test_a_stopped_run_ends_what_it_calls_back_into_and_leaves_the_device_free():
    turns = []

    def nap(x):
        turns.append(None)
        time.sleep(1.0)
        return x

    def call(x):
        return jax.lax.fori_loop(0, 1000, lambda _, x: jax.pure_callback(nap, x, x) + 1, x)

    explored = jaxviz.explore(call, jnp.ones((800, 800)))
    stop = threading.Event()
    with pytest.raises(jaxviz.RunError, match="stopped"):
        explored.run(repeat=3, stop=stop, progress=lambda far: stop.set() if turns else None)
    for _ in range(300):
        if not still_going():
            break
        time.sleep(0.1)
    assert not still_going()
    count = len(turns)
    time.sleep(2)
    assert len(turns) == count
    assert explored.jaxpr


def test_where_nothing_is_called_back_nothing_is_waited_for():
    # Longer than a test may take.
    assert end_callbacks(Ended, 3600)


def test_what_was_stopped_is_not_logged_and_other_errors_are(caplog):
    filters = logging.getLogger("jax._src.callback").filters
    before = list(filters)
    silence = Silence(Ended)

    def fail(x):
        if len(errors) == 1:
            # It is stopped, and raises the error later.
            silence.end_after({threading.get_ident()})
            assert filters == [*before, silence]
        raise errors.pop()

    errors = [Ended(), KeyError("mine")]
    for _ in range(2):
        with pytest.raises(jax.errors.JaxRuntimeError):
            jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(fail, x, x))(1.0))
    kept = [record.exc_info[0] for record in caplog.records if record.levelno >= logging.ERROR and record.exc_info]
    assert kept == [KeyError]
    assert filters == before


def test_what_was_stopped_in_a_callback_of_the_thread_that_asked_is_not_logged(caplog):
    filters = logging.getLogger("jax._src.callback").filters
    before, begun, end = list(filters), threading.Event(), threading.Event()

    def nap(x):
        begun.set()
        while not end.wait(0.01):
            pass
        return x

    def press():
        if begun.is_set():
            raise Ended

    # So small that it is computed where it is asked for.
    called = jax.jit(lambda x: jax.pure_callback(nap, x, x))
    work = Work(lambda work: jax.block_until_ready(called(1.0)), press)
    try:
        with pytest.raises(Ended):
            work.wait()
        work._thread.join(60)
    finally:
        end.set()
    assert not work.going
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert filters == before


def test_the_logging_of_jax_stays_as_it_was_also_after_something_is_stopped():
    code = (
        "import logging, jaxviz.measure.waiting, jaxviz.measure.callbacks as callbacks\n"
        "filters = logging.getLogger('jax._src.callback').filters\n"
        "before = len(filters)\n"
        "[callbacks.end_callbacks(jaxviz.measure.waiting.Stopped, 0.2) for _ in range(2)]\n"
        "print(before, len(filters))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout.split() == ["0", "0"]
