"""Numbering the different ones among many things, so that what they share is looked at once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


class _Numbers(dict[Any, int]):
    def __missing__(self, key: Any) -> int:
        number = self[key] = len(self)
        return number


def distinct(keys: Iterable[Hashable]) -> tuple[NDArray[np.int64], list[int]]:
    """Which of the different keys each is, numbered as they come, and where each of these is first.

    >>> number, first = distinct("abac")
    >>> number.tolist(), first
    ([0, 1, 0, 2], [0, 1, 3])
    """
    numbers = _Numbers()
    # An item that is there is found without a step of Python.
    number = np.array(list(map(numbers.__getitem__, keys)), np.int64)
    first = np.zeros(len(numbers), np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return number, first.tolist()


def in_order(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different ones among many numbers, in order; `np.unique` hashes them first, which takes four times as long.

    >>> in_order(np.array([3, 1, 3])).tolist()
    [1, 3]
    """
    ordered = np.sort(numbers)
    return ordered[np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(ordered)]]
