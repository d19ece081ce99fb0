"""Calls of functions that Equinox jits: JAX gets the arrays among the arguments, and what is left of them is static.

`equinox.filter_jit` hands two dictionaries of arrays, those that it donates and the others, to a jit of JAX that has
the options it was given. That jit is what is explored. Beside what the function gives it gives a marker, a zero that
Equinox waits for. Equinox is not imported for it.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.tree_util import keystr, tree_flatten_with_path

from jaxviz.program.specialization import parameter_names

#: What the marker is called among the results.
MARKER = "marker of filter_jit"
# What JAX calls it, and what the function gives.
_FIRST, _SECOND = "result[0]", "result[1]"


class EquinoxJit:
    """The jit of JAX inside of one of Equinox."""

    def __init__(self, own: Any) -> None:
        self._own = own
        #: The jit of JAX itself. Private.
        self.jitted = own._cached

    def trace(self, *args: Any) -> Any:
        return self.jitted.trace(*args)

    def __call__(self, *args: Any) -> Any:
        """As Python runs it, without the jit."""
        return self.jitted.__wrapped__(*args)

    def split(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """What JAX gets for these arguments: arrays that are donated, other arrays, and what is static."""
        shapes: dict[int, Any] = {}

        def as_array(leaf: Any) -> Any:
            # For Equinox, shapes are no arrays.
            if not isinstance(leaf, jax.ShapeDtypeStruct):
                return leaf
            stand_in = np.zeros(())
            shapes[id(stand_in)] = leaf, stand_in
            return stand_in

        args, kwargs = jax.tree_util.tree_map(as_array, (tuple(args), dict(kwargs)))
        asked = _Asked()
        own = copy.copy(self._own)
        object.__setattr__(own, "_cached", asked)
        own.lower(*args, **kwargs)
        donated, others, static = asked.arguments
        back = jax.tree_util.tree_map(lambda leaf: shapes.get(id(leaf), (leaf,))[0], (donated, others))
        return (*back, static)

    def names(self, args: Sequence[Any], kwargs: Mapping[str, Any], split: Sequence[Any]) -> dict[str, str]:
        """What the arrays are called in the arguments, `model.layers[0].weight`, by their paths in what JAX gets."""
        inner = self._own.__wrapped__
        bound = inspect.signature(inner).bind(*args, **kwargs)
        positional = list(zip(parameter_names(inner, len(bound.args)), bound.args, strict=True))
        named = sorted(bound.kwargs.items())
        # One list of leaves for the function, one for its first argument, one for the others.
        leaves = {
            "fun": list(_leaf_names([("self", inner)])),
            "first": list(_leaf_names(positional[:1])),
            "rest": list(_leaf_names([*positional[1:], *named])),
        }
        found = {}
        for path, _ in tree_flatten_with_path((split[:2], {}))[0]:
            _, _, part, place = path
            found[keystr(path)] = leaves[part.key][place.idx]
        return found


class _Asked:
    """In place of a jit, keeps what it is asked to lower."""

    arguments: tuple[Any, ...] = ()

    def lower(self, *arguments: Any) -> None:
        self.arguments = arguments


def is_jit(fn: Any) -> bool:
    """Whether Equinox jitted it."""
    return type(fn).__module__.partition(".")[0] == "equinox" and type(fn).__name__ == "_JitWrapper"


def result_name(name: str) -> str:
    """What a result of the jit of JAX is for the person."""
    return MARKER if name == _FIRST else name.replace(_SECOND, "result", 1)


def _leaf_names(arguments: Sequence[tuple[str, Any]]) -> Iterator[str]:
    for name, argument in arguments:
        yield from (f"{name}{keystr(path)}" for path, _ in tree_flatten_with_path(argument)[0])
