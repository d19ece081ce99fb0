"""The name stack of an equation: the modules and named scopes that it stands in, and its phase.

A scope reads `transpose(jvp(Model))/Block_0`: transformations wrap the name after them. What JAX itself puts there for
loops and calls says nothing to a person and is left out.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_WRAPPED = re.compile(r"([a-z_]+)\((.*)\)\Z", re.DOTALL)
_NUMBERED = re.compile(r"_\d+\Z")

#: Names that JAX puts on the name stack for its own calls and loops.
_MACHINERY = frozenset({"while", "body", "cond", "body_fun", "cond_fun", "closed_call", "checkpoint", "remat", "scan"})

#: What JAX calls the part of a backward pass that makes again what the forward pass did not keep.
RECOMPUTED = "rematted_computation"

FORWARD, BACKWARD = 1, 2


class Scope(NamedTuple):
    """What one name stack says. `phase` is 0, FORWARD or BACKWARD; `modules` are outermost first."""

    phase: int
    modules: tuple[str, ...]
    recomputed: bool


def parse_scope(text: str) -> Scope:
    """Take a name stack apart.

    >>> parse_scope("transpose(jvp(Model))/Block_0")
    Scope(phase=2, modules=('Model', 'Block_0'), recomputed=False)
    """
    phase, recomputed = 0, False
    modules: list[str] = []
    for part in text.split("/") if text else ():
        name = part
        while wrapped := _WRAPPED.match(name):
            transform, name = wrapped.groups()
            if transform == "transpose":
                phase = BACKWARD
            elif transform == "jvp":
                phase = phase or FORWARD
        if name == RECOMPUTED:
            recomputed = True
        elif name and name not in _MACHINERY and "->" not in name:
            modules.append(name)
    return Scope(phase, tuple(modules), recomputed)


def unnumbered(name: str) -> str:
    """A module's name without its number among its like: `Block` for `Block_11`."""
    return _NUMBERED.sub("", name)
