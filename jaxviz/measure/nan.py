"""Which results of a run hold a NaN: whoever runs a program may not have looked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray

from jaxviz.program.program import Program

#: So many of the results that hold a NaN are named.
_NAMED = 3
#: Bytes of results that are fetched from other devices than the CPU to be looked at, the small ones first.
_MOST_FETCHED = 1 << 30
#: Numbers that are looked at at once, so that this needs little memory.
_AT_ONCE = 1 << 24


def nan_in(results: Any) -> tuple[int, ...]:
    """The places of those results that hold a NaN, as far as they lie on devices of this process and are not huge.

    >>> nan_in({"loss": np.float32("nan"), "step": 3})
    (0,)
    """
    parts = [
        (number, part)
        for number, leaf in enumerate(jax.tree_util.tree_leaves(results))
        if jax.dtypes.issubdtype(getattr(leaf, "dtype", np.int32), np.inexact)
        for part in _parts(leaf)
    ]
    found: set[int] = set()
    fetched = 0
    for number, part in sorted(parts, key=lambda one: int(one[1].nbytes)):
        fetched += 0 if _is_here(part) else int(part.nbytes)
        if number not in found and fetched <= _MOST_FETCHED and _holds_nan(np.asarray(part).reshape(-1)):
            found.add(number)
    return tuple(sorted(found))


def _parts(leaf: Any) -> list[Any]:
    shards = getattr(leaf, "addressable_shards", None)
    return [leaf] if shards is None else [shard.data for shard in shards]


def _is_here(part: Any) -> bool:
    return all(device.platform == "cpu" for device in part.devices()) if isinstance(part, jax.Array) else True


def _holds_nan(numbers: NDArray[Any]) -> bool:
    return any(bool(np.isnan(numbers[at : at + _AT_ONCE]).any()) for at in range(0, len(numbers), _AT_ONCE))


def nan_text(program: Program, places: Sequence[int]) -> str:
    """In words, which results of a program hold a NaN."""
    returned, names = program.returned_names, program.result_names
    called = [
        own or (names[number] if number < len(names) else f"result {number}")
        for number, own in ((number, returned[number] if number < len(returned) else "") for number in places)
    ]
    more = len(called) - _NAMED
    listed = ", ".join(called[:_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"NaN in {len(called)} of {len(names)} results: {listed}"
