"""A call as JAX accepts it: what is no array among the arguments, a model's activation or an option, is held back.

`jax.jit` takes arrays and numbers. Models of Equinox hold functions beside their arrays; for functions without a jit,
JAX is given the arrays alone, and the function gets the rest as it is. What libraries do in a jit of their own is in
`accepted_equinox.py` and `accepted_nnx.py`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import jax

from jaxviz import compat
from jaxviz.arrays import is_array
from jaxviz.program import accepted_equinox, accepted_nnx
from jaxviz.program.accepted_equinox import EquinoxJit
from jaxviz.program.accepted_nnx import NnxJit
from jaxviz.program.jit_options import JitOptions, Static
from jaxviz.program.specialization import is_partial

_NO_STATIC = Static()


@dataclass(frozen=True, eq=False)
class Accepted:
    """A function, and arguments in which None stands where something is held back."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    #: The function itself, where it is not what JAX gets.
    whole: Callable[..., Any] | None = None
    held: _Held | None = None
    #: What arrays of models are called, by their paths in the arguments: in them, or as a whole by Equinox.
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def jitted(self) -> Any:
        """The jit of JAX that the person has made of it; None where there is none."""
        if isinstance(self.fn, (EquinoxJit, NnxJit)):
            return self.fn.jitted
        function = getattr(self.fn, "__func__", self.fn)
        return function if compat.is_jitted(function) else None

    def complete(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments like these with what is held back in its place."""
        return self.held.joined(args, kwargs) if self.held is not None else (tuple(args), dict(kwargs))


@dataclass(frozen=True, eq=False)
class _Held:
    """Arguments with None in place of all that JAX gets, and of those that are `static`."""

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    static: Static

    def joined(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        own = tuple(
            argument if number in self.static.places else _join(argument, held)
            for number, (argument, held) in enumerate(zip(args, self.args, strict=True))
        )
        return own, {
            name: argument if name in self.static.names else _join(argument, self.kwargs[name])
            for name, argument in kwargs.items()
        }


def _join(given: Any, held: Any) -> Any:
    return jax.tree_util.tree_map(
        lambda one, other: other if one is None else one, given, held, is_leaf=lambda leaf: leaf is None
    )


def accepted(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    static: Static = _NO_STATIC,
    options: JitOptions | None = None,
) -> Accepted:
    """The call `fn(*args, **kwargs)` as JAX accepts it; it takes `static` arguments as they are. The `options` are for
    a jit that is made here.

    >>> call = accepted(lambda x, scale: scale(x), (1.0, abs), {})
    >>> call.args, call.complete((2.0, None), {})
    ((1.0, None), ((2.0, <built-in function abs>), {}))
    """
    plain = Accepted(fn, tuple(args), dict(kwargs))
    is_static = any(static)
    filtered = None if options else _unbound(fn, args, kwargs, accepted_equinox.is_jit)
    if filtered is not None:
        # What does not fit the function is told where it is traced.
        with suppress(TypeError):
            return _filtered(*filtered)
    unbound = None if is_static else _unbound(fn, args, kwargs, accepted_nnx.is_jit)
    if unbound is not None or plain.jitted is None:
        # A model that is called itself, or by one of its methods, is an argument too.
        below = unbound or _unbound(fn, args, kwargs, inspect.isfunction)
        own_fn, own_args, own_kwargs = below or (fn, tuple(args), dict(kwargs))
        said = options.behind(len(own_args) - len(args)).given if options is not None else {}
        jit = accepted_nnx.jit_of(own_fn, own_args, own_kwargs, said)
        if jit is not None:
            split = jit.split(own_args, own_kwargs)
            return Accepted(jit, *split, whole=jit, names=accepted_nnx.names_of(own_args, own_kwargs, split))
    if plain.jitted is not None:
        return plain
    own = None if is_static else _unbound(fn, args, kwargs, compat.is_jitted)
    if own is not None:
        # What runs is the person's jit, to which the arguments that were bound are arguments as all others are.
        return Accepted(*own, whole=own[0])
    places, names = static
    free = (
        tuple(None if number in places else argument for number, argument in enumerate(args)),
        {name: None if name in names else argument for name, argument in kwargs.items()},
    )
    if _is_whole(free):
        return plain
    parted = [_part(argument) for argument in free[0]]
    named = {name: _part(argument) for name, argument in free[1].items()}
    held = _Held(tuple(kept for _, kept in parted), {name: kept for name, (_, kept) in named.items()}, static)
    whole = fn

    @functools.wraps(fn)
    def call(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = held.joined(args, kwargs)
        # What it gives that is no array, such as the model's activation, is no result of the program.
        return _part(whole(*args, **kwargs))[0]

    given = tuple(argument if number in places else parted[number][0] for number, argument in enumerate(args))
    given_named = {name: kwargs[name] if name in names else one for name, (one, _) in named.items()}
    return Accepted(call, given, given_named, whole, held)


def _filtered(fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Accepted:
    jit = EquinoxJit(fn)
    split = jit.split(args, kwargs)
    return Accepted(jit, split, {}, whole=jit, names=jit.names(args, kwargs, split))


def _part(tree: Any) -> tuple[Any, Any]:
    """What JAX gets of a tree, and what is held back. Beside what JAX does not accept, numbers of Python are options of
    a model."""
    goes = _is_accepted if _is_whole(tree) else is_array
    given = jax.tree_util.tree_map(lambda leaf: leaf if goes(leaf) else None, tree)
    return given, jax.tree_util.tree_map(lambda leaf: None if goes(leaf) else leaf, tree)


def _is_whole(tree: Any) -> bool:
    """Whether JAX takes all of a tree."""
    return all(map(_is_accepted, jax.tree_util.tree_leaves(tree)))


def _is_accepted(leaf: Any) -> bool:
    return is_array(leaf) or isinstance(leaf, (bool, int, float, complex)) or hasattr(leaf, "__jax_array__")


def _unbound(
    fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any], is_jit: Callable[[Any], bool]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """The jit of a library below partials and methods, with all of its arguments; None where there is none."""
    args, kwargs = tuple(args), dict(kwargs)
    while not is_jit(fn):
        if is_partial(fn):
            fn, args, kwargs = fn.func, (*fn.args, *args), {**fn.keywords, **kwargs}
        elif inspect.ismethod(fn):
            fn, args = fn.__func__, (fn.__self__, *args)
        elif not inspect.isroutine(fn) and is_jit(type(fn).__call__):
            fn, args = type(fn).__call__, (fn, *args)
        else:
            return None
    return fn, args, kwargs
