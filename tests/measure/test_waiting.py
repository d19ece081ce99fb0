"""Work in a thread of its own: whenever an interrupt comes, it ends."""

from __future__ import annotations

import threading
import time

import pytest

from jaxviz.measure import waiting
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


def test_the_end_of_the_process_ends_what_is_going_on():
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
    waiter.join(5)
    assert ended.is_set()
    assert raised
