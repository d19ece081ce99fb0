"""What a device can do at most, measured: how fast it computes, and how fast it moves memory.

A kernel that computes little for the bytes that it moves cannot be faster than memory lets it be, one that computes
much cannot be faster than the units that multiply. The two ceilings are those of a large array that is read and written
in its place and of a large matmul, measured once in a process for each device.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Any, Literal

import jax
import jax.numpy as jnp

# Large enough that caches and the start of a kernel do not count, small enough to take no time: bytes of the array
# that is changed and the side of the matrices, on a CPU and on an accelerator.
_CHANGED = {"cpu": 1 << 27, "other": 1 << 29}
_SIDE = {"cpu": 1024, "other": 8192}
# The best of this many counts, of fewer where they take longer than so many seconds together: of a few, another load of
# the machine may meet all.
_BEST_OF, _FEWEST, _SECONDS = 20, 4, 0.2
# What takes less than this is mostly the start of a kernel: nothing is said of it.
_TOO_SHORT = 2e-6
# Of a ceiling: below the first, something else limits; above the second, no error of measuring explains it.
_FAR_BELOW, _ABOVE = 0.02, 1.1

#: What limits a kernel. `cache`: it moves more than memory can, so its data come from caches; `neither`: too short to
#: say, or far below both ceilings.
Bound = Literal["compute", "memory", "cache", "neither"]


@dataclass(frozen=True)
class Ceilings:
    """The most that was seen of a device: FLOP and bytes a second.

    >>> ceilings = Ceilings(flops=100.0, bytes=10.0)
    >>> ceilings.bound(flops=50.0, moved=1.0, seconds=1.0)
    ('compute', 0.5)
    >>> ceilings.bound(flops=1.0, moved=8.0, seconds=1.0)
    ('memory', 0.8)
    >>> ceilings.bound(flops=1.0, moved=40.0, seconds=1.0)
    ('cache', 4.0)
    """

    flops: float
    bytes: float

    @property
    def ridge(self) -> float:
        """FLOP for each byte from which on computing is what limits."""
        return self.flops / self.bytes

    def with_seen(self, flops: Sequence[float], seconds: Sequence[float]) -> Ceilings:
        """No lower than what kernels were seen to compute: another load may have met the matmul that was measured.

        >>> Ceilings(flops=100.0, bytes=10.0).with_seen([500.0, 9.0], [2.0, 1e-9]).flops
        250.0
        """
        rates = [work / took for work, took in zip(flops, seconds, strict=True) if took >= _TOO_SHORT]
        return Ceilings(max([self.flops, *rates]), self.bytes)

    def least(self, flops: float, moved: float) -> float:
        """Seconds that a kernel needs at least by these ceilings."""
        return max(flops / self.flops, moved / self.bytes)

    def bound(self, flops: float, moved: float, seconds: float) -> tuple[Bound, float]:
        """What limits a kernel, and the share of the nearest ceiling that it reaches; above 1 where caches help."""
        least = self.least(flops, moved)
        if seconds < _TOO_SHORT or least <= 0:
            return "neither", 0.0
        reached = least / seconds
        if reached < _FAR_BELOW:
            return "neither", reached
        if flops / self.flops >= moved / self.bytes:
            return "compute", min(reached, 1.0)
        return ("cache", reached) if reached > _ABOVE else ("memory", min(reached, 1.0))


def ceilings_of(device: Any, dtype: str = "float32") -> Ceilings:
    """The ceilings of a device for matmuls of a type, measured when they are first asked for."""
    return _measured(device, dtype)


@lru_cache
def _measured(device: Any, dtype: str) -> Ceilings:
    kind = "cpu" if device.platform == "cpu" else "other"
    size, side = _CHANGED[kind], _SIDE[kind]
    with jax.default_device(device):
        changed = _best(changes_in_place(), jnp.zeros(size // 4, jnp.float32))
        matrix = jnp.ones((side, side), dtype)
        product = jax.jit(jnp.matmul)
        multiplied = _best(lambda _: product(matrix, matrix), matrix)
    return Ceilings(flops=2.0 * side**3 / multiplied, bytes=2.0 * size / changed)


def changes_in_place() -> Callable[[Any], Any]:
    """Reads and writes an array once, in its place: a result that is new each time is memory that the system has to
    give first, which takes several times as long as to write it."""
    return jax.jit(lambda values: values + 1.0, donate_argnums=0)


def _best(run: Callable[[Any], Any], value: Any) -> float:
    """Seconds of the quickest run; each is given what the one before gave."""
    value = jax.block_until_ready(run(value))
    times: list[float] = []
    while len(times) < _FEWEST or (len(times) < _BEST_OF and sum(times) < _SECONDS):
        start = perf_counter()
        value = jax.block_until_ready(run(value))
        times.append(perf_counter() - start)
    return min(times)
