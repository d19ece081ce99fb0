"""The `vmap` that an error is about: in the failing call, or where the function that is called there was made."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from jaxviz.errors.cases.given import assigned
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.trial import cannot_work

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
