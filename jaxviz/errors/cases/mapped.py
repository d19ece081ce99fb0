"""The `vmap` that an error is about: in the failing call, or where the function that is called there was made."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from jaxviz import compat
from jaxviz.errors.cases.given import assigned
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.trial import can_be_called, cannot_work

_NAMES = ("vmap", "filter_vmap")
# What is given a function, and gives one that is called alike.
_AROUND = ("jit", "filter_jit", "checkpoint", "remat", "named_call")


@dataclass(frozen=True)
class Mapped:
    """A mapped function on the way to an error, and how it could read instead."""

    failure: Failure
    #: The call of `vmap`.
    vmap: ast.Call
    #: The call of the mapped function; None where that is not seen.
    call: ast.Call | None
    #: The statement that made the mapped function, where it is not the failing one.
    made: ast.Assign | None = None

    @property
    def given(self) -> list[ast.expr]:
        """What the mapped function is called with."""
        return self.call.args if self.call is not None else []

    def with_axes(self, axes: str) -> str:
        """The call of `vmap` with other `in_axes`."""
        known = next((keyword.value for keyword in self.vmap.keywords if keyword.arg == "in_axes"), None)
        known = known or (self.vmap.args[1] if len(self.vmap.args) > 1 else None)
        if known is not None and self.failure.source is not None:
            return self.failure.source.replaced(self.vmap, {known: axes})
        return f"{self.failure.text(self.vmap)[:-1].rstrip().rstrip(',')}, in_axes={axes})"

    def reading(self, text: str) -> str:
        """The statement that makes the mapped function, in which the call of `vmap` reads differently."""
        if self.made is not None and self.failure.source is not None:
            return self.failure.source.replaced(self.made, {self.vmap: text})
        return self.failure.with_(self.vmap, text)

    def cannot_read(self, text: str) -> bool:
        """Whether what failed is sure to fail where the call of `vmap` reads so."""
        source, node = self.failure.source, self.vmap
        if source is None:
            return False
        if self.made is not None and self.call is not None:
            # As if the function were made in the call itself.
            text, node = source.replaced(self.made.value, {self.vmap: text}), self.call.func  # type: ignore[assignment]
        # Of a lambda, what it computes: anything may stand around it, which is not run.
        inside = next((one.body for one in source.around(node) if isinstance(one, ast.Lambda)), None)
        code = source.replaced(inside, {node: text}) if inside is not None else self.failure.with_(node, text)
        return cannot_work(self.failure, code)


@dataclass(frozen=True)
class Made:
    """A mapped function of which only the value is had: one that is explored itself, or that a decorator made."""

    failure: Failure
    #: The function that is mapped, and what was given for its arguments.
    inner: Callable[..., Any]
    args: tuple[Any, ...]

    def takes(self, axes: Sequence[int | None]) -> bool:
        """Whether it is known to work with these `in_axes`."""
        return can_be_called(jax.vmap(self.inner, in_axes=tuple(axes)), self.args)

    def reading(self, axes: str) -> str:
        """The failing statement with other `in_axes`, or one that makes the explored function anew; empty where it has
        no name."""
        failure, call = self.failure, self.failure.find(ast.Call)
        if call is not None:
            return failure.with_(call.func, self._anew(failure.text(call.func), axes)) if self._is(call.func) else ""
        known = getattr(inspect.unwrap(self.inner), "__globals__", {})
        name = next((name for name, value in known.items() if value is failure.fn), "")
        wrapped = getattr(failure.fn, "__wrapped__", None)
        return f"{name} = {self._anew(name, axes)}" if name and wrapped is self.inner else ""

    def _anew(self, name: str, axes: str) -> str:
        return f"jax.vmap({name}.__wrapped__, in_axes={axes})"

    def _is(self, node: ast.expr) -> bool:
        return getattr(self.failure.value(node), "__wrapped__", None) is self.inner


def made(failure: Failure) -> Made | None:
    """The mapped function that JAX was calling when it gave up, by what its own frames hold."""
    for place in reversed(failure.places):
        held = place.frame.f_locals
        if place.frame.f_code.co_filename.startswith(compat.JAX_FOLDERS) and {"fun", "in_axes", "args"} <= {*held}:
            # Options of the call of `vmap` would be lost.
            plain = not held.get("kwargs") and held["in_axes"] in (0, (0,) * len(held["args"]))
            plain = plain and held.get("out_axes", 0) == 0 and not isinstance(held.get("axis_name"), str)
            return Made(failure, held["fun"], tuple(held["args"])) if plain else None
    return None


def mapped(failure: Failure) -> Mapped | None:
    """The mapped function in the failing statement, or the one that is called there by its name."""
    source, found = failure.source, failure.calls(*_NAMES)
    if source is None:
        return None
    if found is not None:
        outer = source.parent(found)
        return Mapped(failure, found, outer if isinstance(outer, ast.Call) and outer.func is found else None)
    call = failure.find(ast.Call)
    made = assigned(failure, call.func) if call is not None else None
    found = _vmap_in(made.value) if made is not None else None
    return Mapped(failure, found, call, made) if found is not None else None


def _vmap_in(value: ast.expr) -> ast.Call | None:
    """The call of `vmap` that a value is, or that is given to what changes nothing of how it is called."""
    while isinstance(value, ast.Call) and last_name(value.func) in _AROUND and value.args:
        value = value.args[0]
    return value if isinstance(value, ast.Call) and last_name(value.func) in _NAMES else None
