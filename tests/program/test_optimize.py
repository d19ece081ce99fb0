"""The compiler is stopped for the HLO of one program while others compile."""

from __future__ import annotations

import threading

import jax
import jax.numpy as jnp

from jaxviz import compat
from jaxviz.program import optimize
from jaxviz.program.optimize import _hook


def test_what_the_compiler_calls_outlives_each_use_of_it(monkeypatch):
    given = []
    hooks = compat.CompilerHooks(lambda callback, name: given.append(callback), lambda name: None)
    monkeypatch.setattr(compat, "compiler_hooks", lambda: hooks)
    for mark in (b"one", b"two"):
        with _hook(mark):
            pass
    assert given == [optimize._stop] * 2


def test_programs_of_other_threads_compile_on_while_hooks_come_and_go():
    ended = threading.Event()
    compiled = []

    def compile_others():
        while not ended.is_set():
            compiled.append(jax.jit(lambda x: x * len(compiled) + 1).lower(jnp.float32(1)).compile())

    others = [threading.Thread(target=compile_others) for _ in range(2)]
    for other in others:
        other.start()
    for turn in range(300):
        with _hook(b"mark of no program") as caught:
            ended.wait(0.002)
        assert not caught, turn
    ended.set()
    for other in others:
        other.join()
    assert compiled
