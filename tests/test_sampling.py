"""Looking at another thread: where it spends its time, whatever it does meanwhile."""

from __future__ import annotations

import gc
import sys
import threading
import time
from types import FrameType

import pytest

from jaxviz.sampling import Sampler, _stack_of


def deep(levels, until):
    if levels:
        deep(levels - 1, until)
    else:
        until.wait(30)


def test_the_whole_stack_is_seen_from_the_innermost():
    until = threading.Event()
    thread = threading.Thread(target=deep, args=(40, until))
    thread.start()
    while len(stack := [frame.f_code.co_name for frame in _stack_of(thread.ident)]) < 40:
        time.sleep(0.01)
    until.set()
    thread.join(30)
    while stack[0] != "deep":
        del stack[0]
    assert stack[:41] == ["deep"] * 41
    assert list(_stack_of(thread.ident)) == []


@pytest.fixture
def impatient():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_frames_that_come_and_go_are_frames(impatient):
    done = threading.Event()

    def inner(count):
        yield from (number * 2 for number in range(count))

    def work():
        while not done.is_set():
            sum(inner(7))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(20_000):
            for frame in _stack_of(thread.ident):
                assert type(frame) is FrameType
                assert isinstance(frame.f_code.co_name, str)
    finally:
        done.set()
        thread.join(30)


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


def test_garbage_is_not_collected_while_frames_are_gathered(monkeypatch):
    frames = sys._current_frames
    seen = []

    def look():
        seen.append(gc.isenabled())
        return frames()

    monkeypatch.setattr(sys, "_current_frames", look)
    assert gc.isenabled()
    assert list(_stack_of(threading.get_ident()))
    assert seen == [False]
    assert gc.isenabled()
    # What somebody else has turned off stays off.
    gc.disable()
    try:
        assert list(_stack_of(threading.get_ident()))
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert list(_stack_of(-1)) == []
    assert gc.isenabled()


def test_what_comes_after_is_not_told(monkeypatch):
    sampler = Sampler()
    looked = threading.Event()

    def late(thread):
        # The thread has left meanwhile.
        sampler._left.set()
        looked.set()
        return _stack_of(thread)

    monkeypatch.setattr("jaxviz.sampling._stack_of", late)
    with sampler:
        assert looked.wait(30)
    assert not sampler.lines
    assert not sampler.functions
