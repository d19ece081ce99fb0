"""The stacks of threads that go on while they are looked at."""

from __future__ import annotations

import gc
import sys
import threading
import time
from types import FrameType

import pytest

from jaxviz.stacks import stack_of, threads


def deep(levels, until):
    if levels:
        deep(levels - 1, until)
    else:
        until.wait(30)


def test_the_whole_stack_is_seen_from_the_innermost():
    until = threading.Event()
    thread = threading.Thread(target=deep, args=(40, until))
    thread.start()
    while len(stack := [frame.f_code.co_name for frame in stack_of(thread.ident)]) < 40:
        time.sleep(0.01)
    until.set()
    thread.join(30)
    while stack[0] != "deep":
        del stack[0]
    assert stack[:41] == ["deep"] * 41
    assert stack_of(thread.ident) == []


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
            for frame in stack_of(thread.ident):
                assert type(frame) is FrameType
                assert isinstance(frame.f_code.co_name, str)
    finally:
        done.set()
        thread.join(30)


def test_garbage_is_not_collected_while_frames_are_gathered(monkeypatch):
    frames = sys._current_frames
    seen = []

    def look():
        seen.append(gc.isenabled())
        return frames()

    monkeypatch.setattr(sys, "_current_frames", look)
    assert gc.isenabled()
    assert stack_of(threading.get_ident())
    assert seen == [False]
    assert gc.isenabled()
    # What somebody else has turned off stays off.
    gc.disable()
    try:
        assert stack_of(threading.get_ident())
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert (stack_of(-1)) == []
    assert gc.isenabled()


def test_those_who_look_at_once_leave_the_collector_on(impatient):
    def look():
        for _ in range(2_000):
            assert threading.get_ident() in threads()
            assert stack_of(threading.get_ident())

    lookers = [threading.Thread(target=look) for _ in range(4)]
    for looker in lookers:
        looker.start()
    for looker in lookers:
        looker.join()
    assert gc.isenabled()
