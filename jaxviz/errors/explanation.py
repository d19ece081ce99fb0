"""An error in words: what it is, why it is so, and what people do about it, as code for this very case."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from jaxviz.errors.failure import Failure


@dataclass(frozen=True)
class Cure:
    """Something to do, and how the person's own code then reads."""

    text: str
    code: str


@dataclass(frozen=True)
class Explanation:
    """Why an error came. `case` is its row in the table; `link` is JAX's own page on it, or empty.

    >>> Explanation("in place", "JAX arrays cannot be written into", "...", (Cure("Make a new one:", "..."),)).case
    'in place'
    """

    case: str
    title: str
    reason: str
    cures: tuple[Cure, ...] = ()
    link: str = ""


@dataclass(frozen=True)
class Case:
    """A row of the table: which errors it is about, by class and words, and how it tells of one of them.

    `tell` gives None where the error turns out to be another one.
    """

    name: str
    kinds: tuple[str, ...]
    words: str
    tell: Callable[[Failure, re.Match[str]], Explanation | None]


def api_page(name: str) -> str:
    """JAX's page on one of its functions."""
    return f"https://docs.jax.dev/en/latest/_autosummary/{name}.html"


def error_page(name: str) -> str:
    """JAX's page on one of its classes of errors."""
    return f"https://docs.jax.dev/en/latest/errors.html#jax.errors.{name}"
