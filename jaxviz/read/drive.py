"""Readings that ask for the reading of a body by yielding it; so nesting, however deep, is no Python recursion."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from jaxviz.read.blocks import Block

Reading = Generator[Any, Block, Block]


def drive(reading: Reading) -> Block:
    """Runs a reading, and those it asks for, to its block."""
    waiting = [reading]
    answer: Any = None
    while True:
        try:
            request = waiting[-1].send(answer)
        except StopIteration as stop:
            waiting.pop()
            answer = stop.value
            if not waiting:
                return answer
        else:
            waiting.append(request)
            answer = None
