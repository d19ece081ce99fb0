"""The equations of a body as steps, whose operands can be told apart and exchanged; and the copies of a loop in them.

What an operand is, is its key: the variable of the jaxpr, a `Number` that was written there, or a `Handed` value, which
a loop that is rebuilt gives to its body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from jaxviz import compat

#: Parameters that say nothing about what is computed; of functions with a derivative of their own, the body counts.
_IDLE = frozenset({"name", "ctx_mesh", "jvp_jaxpr_fun", "jvp_jaxpr_thunk"})
_IDLE |= {"fwd_jaxpr_thunk", "fwd", "bwd", "out_trees"}
#: Parameters that say where a piece lies in what it is taken out of, or put into.
_PLACES = {"slice": ("start_indices", "limit_indices"), "pad": ("padding_config",)}


class Number(NamedTuple):
    """A number that stands in an equation; equal where type and bits are."""

    dtype: str
    bits: bytes
    aval: Any


class Handed(NamedTuple):
    """A value that a loop gives to its body: what a turn reads that is another in each."""

    loop: int
    number: int


Key = Any


@dataclass(frozen=True, eq=False)
class Step:
    """One equation, and a key for each operand. `starts` are where a slice begins, or where a pad
    puts its piece, that does so elsewhere in each turn."""

    equation: Any
    operands: tuple[Key, ...]
    starts: Key | None = None

    @property
    def makes(self) -> list[Any]:
        return self.equation.outvars


@dataclass(frozen=True)
class Copies:
    """Where the copies of an unrolled loop lie among steps, and the loops that each copy holds, from its start on."""

    first: tuple[int, ...]
    end: tuple[int, ...]
    inner: tuple[Copies, ...] = field(default=())
    #: What the person calls the values of each step of a turn.
    names: tuple[tuple[str, ...], ...] = ()


def steps_of(equations: Sequence[Any]) -> list[Step]:
    """The steps of the equations of a jaxpr."""
    return [Step(equation, tuple(map(key_of, equation.invars))) for equation in equations]


def key_of(variable: Any) -> Key:
    """The key of an operand of an equation."""
    if not isinstance(variable, compat.Literal):
        return variable
    value = np.asarray(variable.val)
    return Number(str(variable.aval.dtype), value.tobytes(), _Equal(variable))


class _Equal:
    """Carries a literal through comparisons of keys, as equal to any other."""

    def __init__(self, literal: Any) -> None:
        self.literal = literal

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Equal)

    def __hash__(self) -> int:
        return 0


def literal_of(number: Number) -> Any:
    """The literal that a number was read from."""
    return number.aval.literal


def aval_of(key: Key) -> Any:
    """The abstract value of a variable or a number."""
    return literal_of(key).aval if isinstance(key, Number) else key.aval


def alike(one: Step, other: Step, texts: Callable[[Any], str]) -> bool:
    """Whether two steps compute the same of their operands, except for where a slice or a pad begins."""
    first, second = one.equation, other.equation
    if first.primitive is not second.primitive or len(first.invars) != len(second.invars):
        return False
    if [_kind(aval_of(key_of(v))) for v in first.invars] != [_kind(aval_of(key_of(v))) for v in second.invars]:
        return False
    if [_kind(v.aval) for v in first.outvars] != [_kind(v.aval) for v in second.outvars]:
        return False
    if first.params is second.params or first.params == second.params:
        return True
    moving = _PLACES[first.primitive.name] if is_moving(first, second) else ()
    return first.params.keys() == second.params.keys() and all(
        _same(value, second.params[name], texts)
        for name, value in first.params.items()
        if name not in _IDLE and name not in moving
    )


def is_moving(first: Any, second: Any) -> bool:
    """Whether two equations take pieces of one size out of an array, each from another place, or put them there."""
    names = {first.primitive.name, second.primitive.name}
    if names == {"slice"}:
        dense = all(e.params["strides"] is None or set(e.params["strides"]) == {1} for e in (first, second))
    else:
        dense = names == {"pad"} and all(map(_is_put_whole, (first, second)))
    return dense and starts_of(first) != starts_of(second)


def starts_of(equation: Any) -> tuple[int, ...]:
    """Where a slice begins, or where a pad puts its piece."""
    if equation.primitive.name == "pad":
        return tuple(low for low, _, _ in equation.params["padding_config"])
    return tuple(equation.params["start_indices"])


def _is_put_whole(pad: Any) -> bool:
    """Whether a pad spreads and cuts nothing, as the backward pass of a slice does not."""
    return all(low >= 0 and high >= 0 and not inside for low, high, inside in pad.params["padding_config"])


def _kind(aval: Any) -> tuple[Any, ...]:
    """What of a type counts: weakly typed numbers are computed with as others are."""
    return getattr(aval, "shape", None), str(getattr(aval, "dtype", aval))


def _same(one: Any, other: Any, texts: Callable[[Any], str]) -> bool:
    if one is other:
        return True
    if one.__class__ in compat.BODY_CLASSES and other.__class__ in compat.BODY_CLASSES:
        constants = compat.constants_of(one), compat.constants_of(other)
        same = len(constants[0]) == len(constants[1]) and all(a is b for a, b in zip(*constants, strict=True))
        return same and texts(one) == texts(other)
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(_same(a, b, texts) for a, b in zip(one, other, strict=True))
    try:
        return bool(one == other)
    except Exception:  # An array among them has no truth.
        return False
