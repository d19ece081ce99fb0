"""The arguments of a run: those of the person, on the device, and made up where only shapes were given.

An argument that is donated is gone after one run, so each run gets a copy of it, and the person's own stays whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np

#: What arguments of which only the shape is known are filled with.
Fill = Literal["normal", "uniform", "zeros", "ones"] | Callable[[Any], Any]
FILLS = ("normal", "uniform", "zeros", "ones")

# Whole numbers that are made up are often indices or classes: small ones fit more often.
_INTEGERS = 8
_SEED = 0


@dataclass(frozen=True, eq=False)
class Inputs:
    """What a compiled program is called with, ready on its device."""

    leaves: Sequence[Any]
    tree: Any
    #: For each leaf whether a run takes it away.
    donated: Sequence[bool]
    #: How many leaves are made up.
    made_up: int

    def fresh(self) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """Positional and named arguments for one run."""
        leaves = [jnp.copy(leaf) if donated else leaf for leaf, donated in zip(self.leaves, self.donated, strict=True)]
        jax.block_until_ready([leaf for leaf, donated in zip(leaves, self.donated, strict=True) if donated])
        args, kwargs = jax.tree_util.tree_unflatten(self.tree, leaves)
        return args, kwargs


def make_inputs(
    args: Sequence[Any], kwargs: Mapping[str, Any], arguments: Any, shardings: Any, fill: Fill = "normal"
) -> Inputs:
    """The arguments as a run wants them; `arguments` and `shardings` say of each what JAX knows, as trees like them."""
    leaves, tree = jax.tree_util.tree_flatten((tuple(args), dict(kwargs)))
    donated = [bool(getattr(leaf, "donated", False)) for leaf in jax.tree_util.tree_leaves(arguments)]
    places = jax.tree_util.tree_leaves(shardings, is_leaf=lambda leaf: leaf is None)
    if len(donated) != len(leaves):
        donated = [False] * len(leaves)
    if len(places) != len(leaves):
        places = [None] * len(leaves)
    wanted = [isinstance(leaf, jax.ShapeDtypeStruct) for leaf in leaves]
    generator = np.random.default_rng(_SEED)
    made = [
        jax.device_put(_made_up(leaf, fill, generator) if unknown else leaf, place)
        for leaf, unknown, place in zip(leaves, wanted, places, strict=True)
    ]
    jax.block_until_ready(made)
    return Inputs(made, tree, donated, sum(wanted))


def made_up_bytes(args: Sequence[Any], kwargs: Mapping[str, Any]) -> int:
    """What the arguments take of which only the shape is known."""
    leaves = jax.tree_util.tree_leaves((tuple(args), dict(kwargs)))
    return sum(_bytes_of(leaf) for leaf in leaves if isinstance(leaf, jax.ShapeDtypeStruct))


def _bytes_of(shape: jax.ShapeDtypeStruct) -> int:
    return int(np.prod(shape.shape, dtype=np.int64)) * getattr(shape.dtype, "itemsize", 8)


def _made_up(shape: jax.ShapeDtypeStruct, fill: Fill, generator: np.random.Generator) -> Any:
    if callable(fill):
        return fill(shape)
    if jax.dtypes.issubdtype(shape.dtype, jax.dtypes.prng_key):
        count = int(np.prod(shape.shape, dtype=np.int64))
        keys = jax.vmap(jax.random.key)(jnp.arange(count))
        return keys.reshape(shape.shape)
    if fill in ("zeros", "ones"):
        return np.full(shape.shape, int(fill == "ones"), shape.dtype)
    if jnp.issubdtype(shape.dtype, jnp.bool_):
        return generator.integers(0, 2, shape.shape).astype(bool)
    if jnp.issubdtype(shape.dtype, jnp.integer):
        return generator.integers(0, _INTEGERS, shape.shape).astype(shape.dtype)
    drawn = _drawn(shape.shape, fill, generator)
    if jnp.issubdtype(shape.dtype, jnp.complexfloating):
        return (drawn + 1j * _drawn(shape.shape, fill, generator)).astype(shape.dtype)
    return drawn.astype(shape.dtype)


def _drawn(shape: Sequence[int], fill: Fill, generator: np.random.Generator) -> Any:
    if fill == "uniform":
        return generator.random(tuple(shape), np.float32)
    return generator.standard_normal(tuple(shape), np.float32)
