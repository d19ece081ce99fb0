"""Calls of functions that Flax's NNX jits: JAX gets the arrays of the models, and gives back those that changed.

A model of NNX is changed where it is used. `nnx.jit` splits models into arrays and the rest, hands the arrays to a jit
of JAX, and puts what that gives back into the models. That jit is what is explored.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import jax
from jax.tree_util import GetAttrKey, keystr, tree_flatten_with_path


class NnxJit:
    """The jit of JAX inside of one of NNX, which is traced and called where NNX keeps track of what changed."""

    def __init__(self, own: Any) -> None:
        self._own = own
        #: The jit of JAX itself.
        self.jitted = own.jitted_fn

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        with self._tracked():
            return self.jitted.trace(*args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As Python runs it, without the jit; no model of the person is changed."""
        with self._tracked():
            return self.jitted.__wrapped__(*args, **kwargs)

    def split(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments that JAX gets for these."""
        own = self._own
        # Private; the one for models that are changed in place and the one for those that are trees.
        split = getattr(own, "_get_pure_args_kwargs", None) or own._maybe_to_tree
        with self._tracked():
            args, kwargs = split((*getattr(own, "partial_args", ()), *args), kwargs)
        return tuple(args), dict(kwargs)

    def _tracked(self) -> AbstractContextManager[Any]:
        import flax.nnx

        return flax.nnx.update_context(self._own) if hasattr(self._own, "_get_pure_args_kwargs") else nullcontext()


def jit_of(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any], options: Mapping[str, Any]) -> NnxJit | None:
    """The jit of a function that NNX jits, or would have to jit, with these options, because models are among its
    arguments."""
    if "flax.nnx" not in sys.modules:
        return None
    if not is_jit(fn) and not any(_is_model(leaf) for leaf in _leaves((args, kwargs))):
        return None
    import flax.nnx

    found = fn if is_jit(fn) else flax.nnx.jit(fn, **options)
    return NnxJit(found) if hasattr(found, "_get_pure_args_kwargs") or hasattr(found, "_maybe_to_tree") else None


def is_jit(fn: Any) -> bool:
    """Whether NNX jitted it."""
    return type(fn).__module__.startswith("flax.nnx") and hasattr(fn, "jitted_fn")


def names_of(args: Sequence[Any], kwargs: Mapping[str, Any], split: Any) -> dict[str, str]:
    """What the arrays of models are called in them, `.hidden.kernel`, by their paths in what JAX gets: an array that
    NNX splits off is the same object as in the model."""
    import flax.nnx

    known: dict[int, str] = {}
    for argument in (*args, *kwargs.values()):
        if any(_is_model(leaf) for leaf in _leaves(argument)):
            for path, leaf in tree_flatten_with_path(flax.nnx.state(argument))[0]:
                known.setdefault(id(leaf), "".join(_part(key) for key in path))
    return {keystr(path): known[id(leaf)] for path, leaf in tree_flatten_with_path(split)[0] if id(leaf) in known}


def _part(key: Any) -> str:
    if isinstance(key, GetAttrKey):
        # The array of a variable.
        return "" if key.name in ("value", "raw_value") else f".{key.name}"
    name = getattr(key, "key", getattr(key, "idx", key))
    return f".{name}" if isinstance(name, str) else f"[{name}]"


def _leaves(tree: Any) -> Iterator[Any]:
    return iter(jax.tree_util.tree_leaves(tree, is_leaf=_is_model))


def _is_model(leaf: Any) -> bool:
    import flax.nnx

    return isinstance(leaf, flax.nnx.Module | getattr(flax.nnx, "Optimizer", flax.nnx.Module))
