"""Looking at another thread: where it spends its time, whatever it does meanwhile."""

from __future__ import annotations

import threading
import time

from jaxviz.sampling import Sampler
from jaxviz.stacks import stack_of


def test_time_is_told_by_function_and_line():
    def slow():
        end = time.perf_counter() + 0.2
        while time.perf_counter() < end:
            sum(range(100))

    sampler = Sampler()
    with sampler:
        slow()
    named = {name: seconds for (_, _, name), seconds in sampler.functions.items()}
    assert 0.02 < named["slow"] < 30
    assert sampler.lines


def test_what_comes_after_is_not_told(monkeypatch):
    sampler = Sampler()
    looked = threading.Event()

    def late(thread):
        # The thread has left meanwhile.
        sampler._left.set()
        looked.set()
        return stack_of(thread)

    monkeypatch.setattr("jaxviz.sampling.stack_of", late)
    with sampler:
        assert looked.wait(30)
    assert not sampler.lines
    assert not sampler.functions
