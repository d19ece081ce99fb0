"""Which results of a run hold a NaN: whoever runs a program may not have looked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxviz.program.program import Program

#: So many of the results that hold a NaN are named.
_NAMED = 3


def nan_in(results: Any) -> tuple[int, ...]:
    """The places of those results that hold a NaN, as far as they lie on devices of this process.

    >>> nan_in({"loss": np.float32("nan"), "step": 3})
    (0,)
    """
    leaves = jax.tree_util.tree_leaves(results)
    return tuple(number for number, leaf in enumerate(leaves) if any(map(_holds_nan, _parts(leaf))))


def _parts(leaf: Any) -> list[Any]:
    shards = getattr(leaf, "addressable_shards", None)
    return [leaf] if shards is None else [shard.data for shard in shards]


def _holds_nan(part: Any) -> bool:
    kind = getattr(part, "dtype", None)
    return kind is not None and jax.dtypes.issubdtype(kind, np.inexact) and bool(np.isnan(np.asarray(part)).any())


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
