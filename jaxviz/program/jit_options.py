"""Options of `jax.jit` that `explore` takes over: which arguments are part of what is compiled, and whose memory may be
used for results."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import jax

from jaxviz import compat


class Static(NamedTuple):
    """Static arguments of one call, by their places and by their names."""

    places: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()


@dataclass(frozen=True)
class JitOptions:
    """What was given, each as a tuple.

    >>> JitOptions.of(static_argnames="n").static_of(lambda x, n: x * n, 2)
    Static(places=frozenset({1}), names=frozenset({'n'}))
    """

    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    donate_argnums: tuple[int, ...] = ()
    donate_argnames: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        static_argnums: int | Sequence[int] | None = (),
        static_argnames: str | Iterable[str] | None = (),
        donate_argnums: int | Sequence[int] | None = (),
        donate_argnames: str | Iterable[str] | None = (),
    ) -> JitOptions:
        """Of what `jax.jit` takes: one, several or None."""
        return cls(*map(_tuple, (static_argnums, static_argnames, donate_argnums, donate_argnames)))

    @classmethod
    def named(cls, static: Iterable[int | str] = (), donate: Iterable[int | str] = ()) -> JitOptions:
        """Of arguments that are named by their number or by their name."""
        static, donate = tuple(static), tuple(donate)
        numbers = [tuple(one for one in ones if isinstance(one, int)) for ones in (static, donate)]
        names = [tuple(one for one in ones if isinstance(one, str)) for ones in (static, donate)]
        return cls(numbers[0], names[0], numbers[1], names[1])

    @property
    def given(self) -> dict[str, Any]:
        """Those that say something, by name. JAX finds names for numbers, and numbers for names, where one is left
        out."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}

    def behind(self, count: int) -> JitOptions:
        """The same where so many arguments come before those that the numbers are of."""

        def moved(numbers: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(number + count if number >= 0 else number for number in numbers)

        return replace(self, static_argnums=moved(self.static_argnums), donate_argnums=moved(self.donate_argnums))

    @property
    def static(self) -> bool:
        """Whether any argument is said to be static."""
        return bool(self.static_argnums or self.static_argnames)

    def __bool__(self) -> bool:
        return bool(self.given)

    def static_of(self, function: Callable[..., Any], count: int) -> Static:
        """The static arguments of a call with `count` positional ones, as JAX takes them by number or by name."""
        if not self.static:
            return Static()
        numbers, names = self.static_argnums, self.static_argnames
        # What is wrong with them is told where the function is traced.
        with suppress(Exception):
            numbers, names = compat.static_arguments_of(jax.jit(anew(function), **self.given))
        return static_at(numbers, names, count)


def options_within(fn: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> JitOptions:
    """The static arguments of a jit that `fn` is wrapped around, as methods of Flax are: its caller has them as they
    are, and so has the jit. So has `jax.custom_vjp` what is not to be differentiated.

    >>> jitted = jax.jit(lambda x, n: x * n, static_argnames="n")
    >>> wrapper = functools.wraps(jitted)(lambda *args, **kwargs: jitted(*args, **kwargs))
    >>> options_within(wrapper, (2.0, 3), {}).static_argnums
    (1,)
    """
    if isinstance(fn, jax.custom_vjp):
        # Its rules get these as they are.
        return JitOptions(_static_places(fn.nondiff_argnums, args))
    function: Any = fn.__func__ if (bound := inspect.ismethod(fn)) else fn
    if not inspect.isfunction(function):
        return JitOptions()
    while not compat.is_jitted(function):
        function = getattr(function, "__wrapped__", None)
        if function is None:
            return JitOptions()
    numbers, names = compat.static_arguments_of(function)
    return JitOptions(
        _static_places([number - bound for number in numbers], args),
        tuple(name for name in names if name in kwargs and _can_be_static(kwargs[name])),
    )


def _static_places(places: Sequence[int], args: Sequence[Any]) -> tuple[int, ...]:
    return tuple(place for place in places if 0 <= place < len(args) and _can_be_static(args[place]))


def _can_be_static(argument: Any) -> bool:
    return isinstance(argument, Hashable) and not hasattr(argument, "dtype")


def arguments_in(text: str) -> tuple[int | str, ...]:
    """Arguments as they are named in one line, by number or by name.

    >>> arguments_in("0, size")
    (0, 'size')
    """
    parts = [part for part in re.split(r"[,\s]+", text) if part]
    found = tuple(int(part) if re.fullmatch(r"-?\d+", part) else part for part in parts)
    if not found or not all(isinstance(one, int) or one.isidentifier() for one in found):
        raise ValueError(f"{text!r} names no arguments: a number or a name each, such as 0 or size")
    return found


def anew(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function as another object, which may be hashed: JAX would answer with an earlier trace of it, made
    before a global or an attribute that it reads was changed."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return call


def static_at(numbers: Sequence[int], names: Iterable[str], count: int) -> Static:
    """Static arguments of a call with `count` positional ones; numbers below 0 count from the last."""
    return Static(frozenset(number % count for number in numbers if -count <= number < count), frozenset(names))


def _tuple(value: Any) -> tuple[Any, ...]:
    return () if value is None else (value,) if isinstance(value, (int, str)) else tuple(value)
