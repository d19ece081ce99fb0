"""What a function that JAX cannot trace says of itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

X = jnp.array([1.0, 2.0, 3.0])
KEY = jax.random.key(0)
A, B = jnp.ones((3, 4)), jnp.ones((3, 5))


@dataclass(frozen=True)
class Failing:
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    case: str
    #: Words that the failing expression is marked by; empty where the function is not entered.
    place: str
    #: Operations of the nodes that the error is about.
    culprits: tuple[str, ...]
    #: What must be said of the person's own names.
    words: tuple[str, ...]
    #: Cures that replace the statement.
    mends: tuple[int, ...]
    #: What the function gives with a cure in it.
    gives: Any = None
    #: Where a cure stands, if not in place of the statement that failed: the `return` of a function in it, by its name,
    #: or the whole loop around it, with or without what follows, or that statement and all that follows in the loop;
    #: `outside`, if it is the whole function and its call.
    instead: str = ""


CASES: dict[str, Failing] = {}


def failing(
    *args: Any,
    case: str,
    place: str,
    culprits: Sequence[str] = (),
    words: Sequence[str] = (),
    mends: Sequence[int] = (),
    gives: Any = None,
    instead: str = "",
) -> Callable[[Any], Any]:
    def register(fn: Any) -> Any:
        CASES[fn.__name__] = Failing(fn, args, case, place, tuple(culprits), tuple(words), tuple(mends), gives, instead)
        return fn

    return register
