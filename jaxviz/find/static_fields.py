"""Static fields of the classes that arguments are made of: they are part of the structure, so JAX compiles for each of
their values anew.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple


class Changed(NamedTuple):
    """A static field by its path, and its values in two calls."""

    path: str
    before: Any
    now: Any


def changed_field(name: str, before: Any, now: Any) -> Changed | None:
    """The first static field that differs between two structures of the argument `name`, if that is all that does.

    >>> import jax
    >>> @jax.tree_util.register_dataclass
    ... @dataclasses.dataclass
    ... class State:
    ...     step: int = dataclasses.field(metadata={"static": True})
    >>> changed_field("s", *(jax.tree_util.tree_structure(State(step)) for step in (1, 2)))
    Changed(path='s.step', before=1, now=2)
    """
    # Fields may hold anything, also what cannot be compared.
    with suppress(Exception):
        return _changed(name, before, now)
    return None


def _changed(name: str, before: Any, now: Any) -> Changed | None:
    old, new = before.node_data(), now.node_data()
    if old is None or new is None or old[0] is not new[0]:
        return None
    for (field, one), (_, other) in zip(_static(*old), _static(*new), strict=True):
        if one != other:
            return Changed(f"{name}.{field}", one, other)
    if old[1] != new[1]:
        return None
    inner = zip(_steps(new[0], new[1], len(now.children())), before.children(), now.children(), strict=True)
    return next((_changed(name + step, one, other) for step, one, other in inner if one != other), None)


def _static(kind: type, held: Any) -> list[tuple[str, Any]]:
    """The static fields of a class and their values, from what its structure holds."""
    if not isinstance(held, tuple):
        return []
    if len(held) == 3 and isinstance(held[1], tuple) and isinstance(held[2], tuple) and len(held[1]) == len(held[2]):
        # As Flax holds them: the names of all others, their names, and the values.
        return [(name, value) for name, value in zip(held[1], held[2], strict=True) if isinstance(name, str)]
    names = [field.name for field in _fields(kind) if field.metadata.get("static")]
    return list(zip(names, held[-len(names) :], strict=True)) if names and len(held) >= len(names) else []


def _steps(kind: type, held: Any, count: int) -> Sequence[str]:
    """How each part of a structure is reached from it."""
    if kind is dict:
        return [f"[{key!r}]" for key in held]
    names = [field.name for field in _fields(kind) if not field.metadata.get("static")]
    if kind not in (tuple, list) and len(names) == count:
        return [f".{name}" for name in names]
    return [f"[{number}]" for number in range(count)]


def _fields(kind: type) -> Sequence[dataclasses.Field[Any]]:
    return dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
