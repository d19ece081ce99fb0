"""Looking at another thread: where it spends its time, whatever it does meanwhile."""

from __future__ import annotations

import sys
import threading
import time

from jaxviz.program.sampling import Sampler
from jaxviz.stacks import stack_of


def test_time_is_told_by_function_and_line():
    def slow():
        # How soon the looker gets its turns is not known.
        while sampler.functions.get(place, 0.0) < 0.1:
            sum(range(100))

    sampler, place = Sampler(), (__file__, slow.__code__.co_firstlineno, "slow")
    start = time.perf_counter()
    with sampler:
        slow()
    assert 0.1 <= sampler.functions[place] <= time.perf_counter() - start
    assert sampler.lines
    # Not what it was called by.
    assert set(sampler.functions) == {place}


def test_what_comes_after_is_not_told(monkeypatch):
    sampler = Sampler()
    looked = threading.Event()

    def late(thread):
        # The thread has left meanwhile.
        sampler._left.set()
        looked.set()
        return stack_of(thread)

    monkeypatch.setattr("jaxviz.program.sampling.stack_of", late)
    with sampler:
        assert looked.wait(30)
    assert not sampler.lines
    assert not sampler.functions


def test_nothing_looks_on_where_an_interrupt_came_before_the_end():
    def interrupted(sampler):
        sampler.__enter__()

    before = set(threading.enumerate())
    interrupted(Sampler())
    for looker in set(threading.enumerate()) - before:
        looker.join(10)
        assert not looker.is_alive()


def test_a_thread_that_takes_long_is_looked_at_more_rarely(monkeypatch):
    """So that what looking costs is a small part of it."""
    clock, waits, sampler = 0.0, [], Sampler()

    class Leaving:
        def wait(self, seconds):
            nonlocal clock
            clock += seconds
            waits.append(seconds)
            return clock > 20

        def is_set(self):
            return False

    monkeypatch.setattr("jaxviz.program.sampling.perf_counter", lambda: clock)
    sampler._left = Leaving()
    around = sys._getframe(1)
    sampler._look(threading.get_ident(), around)
    assert waits[1] == min(waits) < 0.005
    assert 0.1 < waits[-1] < 1
    assert len(waits) < 800
    assert sum(sampler.functions.values()) > 19
