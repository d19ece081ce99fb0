"""Callbacks that nobody waits for any more."""

from __future__ import annotations

import logging
import threading
import time

import jax
import jax.numpy as jnp
import pytest

from jaxviz.measure.callbacks import be_silent_about, end_callbacks


class Ended(Exception):
    pass


def test_what_a_device_calls_back_into_is_ended_with_its_program():
    called = threading.Event()

    def nap(x):
        called.set()
        time.sleep(0.05)
        return x

    def call(x):
        return jax.lax.fori_loop(0, 1000, lambda _, x: jax.pure_callback(nap, x, x) + 1, x)

    raised = []

    def run():
        try:
            jax.block_until_ready(jax.jit(call)(jnp.ones((800, 800))))
        except Exception as error:
            raised.append(str(error))

    waiter = threading.Thread(target=run)
    waiter.start()
    assert called.wait(60)
    assert end_callbacks(Ended, 30)
    waiter.join(60)
    assert "Ended" in raised[0]


def test_where_nothing_is_called_back_nothing_is_waited_for():
    start = time.perf_counter()
    assert end_callbacks(Ended, 30)
    assert time.perf_counter() - start < 10


def test_what_was_stopped_is_not_logged_and_other_errors_are(caplog):
    be_silent_about(Ended)

    def fail(x):
        raise errors.pop()

    errors = [KeyError("mine"), Ended()]
    for _ in range(2):
        with pytest.raises(jax.errors.JaxRuntimeError):
            jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(fail, x, x))(1.0))
    kept = [record.exc_info[0] for record in caplog.records if record.levelno >= logging.ERROR and record.exc_info]
    assert kept == [KeyError]
