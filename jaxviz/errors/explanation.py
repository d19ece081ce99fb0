"""An error in words: what it is, why it is so, and what people do about it, as code for this very case."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Template

from jaxviz.arrays import is_array
from jaxviz.errors.failure import Failure


@dataclass(frozen=True)
class Cure:
    """Something to do, and how the person's own code then reads."""

    text: str
    code: str
    #: Whether its names may be those of other functions of the same file, of which it was made.
    of_file: bool = True
    #: Whether it stands where the error came, and can be tried there.
    inside: bool = True


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


class _Words(Template):
    """Text with `$1` for what the words of the error say, `$text` for the failing expression, and their like."""

    idpattern = "[a-z0-9_]+"


def plain(
    name: str,
    kinds: tuple[str, ...],
    words: str,
    title: str,
    reason: str,
    cures: Sequence[tuple[str, str]],
    link: str = "",
) -> Case:
    """A row whose words are the same for all errors of it but for what is put in.

    `$1`, `$2`, ... are the groups of `words`; `$text` is the failing expression, `$call` the function that it calls,
    `$first` what that is given first, `$name` the explored function, `$types` a sentence with the types of the arrays
    in the expression.
    """

    def tell(failure: Failure, match: re.Match[str]) -> Explanation:
        call = failure.find(ast.Call)
        put_in = {
            "text": " ".join(failure.text(failure.expression).split()) or failure.name,
            "call": failure.text(call.func) if call is not None else failure.name,
            "first": _first(failure, call),
            "name": failure.name,
            "types": failure.types(failure.expression),
        }
        put_in |= {str(number): text or "" for number, text in enumerate(match.groups(), 1)}

        def filled(text: str) -> str:
            return _Words(text).safe_substitute(put_in)

        told = tuple(Cure(filled(text), filled(code), False) for text, code in cures)
        return Explanation(name, filled(title), " ".join(filled(reason).split()), told, link or failure.link)

    return Case(name, kinds, words, tell)


def _first(failure: Failure, call: ast.Call | None) -> str:
    """The array that a call is about: whose method it is, or what it is given first."""
    if call is not None and isinstance(call.func, ast.Attribute) and is_array(failure.value(call.func.value)):
        return failure.text(call.func.value)
    # A function that is given is not what a call is about.
    arrays = [one for one in call.args if not isinstance(one, ast.Lambda)] if call is not None else []
    return failure.text(arrays[0]) if arrays else "x"


def api_page(name: str) -> str:
    """JAX's page on one of its functions."""
    return f"https://docs.jax.dev/en/latest/_autosummary/{name}.html"


def error_page(name: str) -> str:
    """JAX's page on one of its classes of errors."""
    return f"https://docs.jax.dev/en/latest/errors.html#jax.errors.{name}"
