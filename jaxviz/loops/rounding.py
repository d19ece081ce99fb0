"""Whether two ways to compute something gave the same, but for what rounding makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any

import jax
import numpy as np

# Results differ by the order of sums; up to this share of the largest number they are the same, by bits of a float.
_TOLERANCE = {16: 0.05, 32: 1e-3, 64: 1e-8}
# Rounding is done in each step, and not in what a program is given alone: so many times as much is explained by it.
_STEPS = 10.0


def difference(results: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> tuple[float, bool]:
    """The largest difference as a share of the largest number, and whether the order of sums explains it.

    It is infinite where one has a number and the other has none.
    """
    largest, equal = 0.0, True
    for one, other in zip(results, others, strict=True):
        kind = complex if one.dtype.kind == "c" else float
        share = _share(one.astype(kind), other.astype(kind))
        largest = max(largest, share)
        equal &= share <= _TOLERANCE.get(_bits(one.dtype), 0.0)
    return largest, equal


def is_rounding(
    share: float,
    results: Sequence[np.ndarray],
    arguments: Sequence[Any],
    run: Callable[[Sequence[Any]], Sequence[np.ndarray]],
) -> bool:
    """Whether a program makes as large a difference of the last bits of its arguments.

    `run` gives its results, which were `results` of the arguments as they are.
    """
    moved, equal = difference(results, run(_nudged(arguments)))
    return not equal and share <= _STEPS * moved


def _share(a: np.ndarray, b: np.ndarray) -> float:
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    finite = np.isfinite(a) & np.isfinite(b)
    if not (same | finite).all():
        return inf
    differing = finite & ~same
    if not differing.any():
        return 0.0
    scale = max(float(np.max(np.abs(one[np.isfinite(one)]))) for one in (a, b))
    return float(np.max(np.abs(a[differing] - b[differing]))) / scale


def _nudged(arguments: Sequence[Any]) -> list[Any]:
    """Arguments of which each float is a last bit larger or smaller."""
    random = np.random.default_rng(0)
    return [_nudge(argument, random) for argument in arguments]


def _nudge(argument: Any, random: np.random.Generator) -> Any:
    given = jax.numpy.asarray(argument)
    if not jax.dtypes.issubdtype(given.dtype, np.inexact):
        return argument
    steps = random.choice((-1.0, 1.0), size=given.shape) * float(jax.numpy.finfo(given.dtype).eps)
    if np.isscalar(argument):
        # A Python number stays one: the program was compiled for its weak type.
        number: Any = type(argument)
        return number(argument * (1 + steps))
    return given * (1 + steps).astype(given.dtype)


def _bits(dtype: Any) -> int:
    """Of a float, or of one part of a complex number; 0 for what must be equal to the bit."""
    if not jax.dtypes.issubdtype(dtype, np.inexact):
        return 0
    return 8 * dtype.itemsize // (2 if dtype.kind == "c" else 1)
