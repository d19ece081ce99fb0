"""Hashes of whole columns: 64 bits, the same in every process."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

# Odd, so that multiplying by it loses nothing; from the golden ratio.
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def mixed(values: Hashes) -> Hashes:
    """Numbers that look random and are the same for the same value: the finalizer of splitmix64."""
    values = values + MULTIPLIER
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def powers(count: int) -> Hashes:
    """The first powers of the multiplier: weights by which order counts."""
    return np.cumprod(np.full(count, MULTIPLIER, np.uint64), dtype=np.uint64)
