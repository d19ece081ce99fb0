"""How many turns `scan` makes: arrays of other lengths, `length` that says something else, nothing that says it."""

from __future__ import annotations

import ast
import re
from typing import Any

from jaxviz.arrays import is_array
from jaxviz.errors.cases.given import argument
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure
from jaxviz.errors.rewriting import grouped, with_keyword
from jaxviz.errors.trial import given_by

_PAGE = api_page("jax.lax.scan")


def _other_lengths(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("scan")
    scanned = argument(call, 2, "xs")
    sizes = [int(size) for size in re.findall(r"\d+", match[1])]
    cures = []
    if scanned is not None and sizes:
        parts: list[Any] = [given_by(failure, failure.text(one)) for one in getattr(scanned, "elts", [])]
        shortest = min(sizes)
        cut = f"jax.tree.map(lambda leaf: leaf[:{shortest}], {failure.text(scanned)})"
        if isinstance(scanned, ast.Tuple) and parts and all(is_array(one) and one.shape for one in parts):
            texts = [
                failure.text(one)
                if value is None or value.shape[0] == shortest
                else f"{grouped(failure.text(one), one)}[:{shortest}]"
                for one, value in zip(scanned.elts, parts, strict=True)
            ]
            cut = f"({', '.join(texts)})"
        cures = [Cure("Cut all of them to the shortest:", failure.with_(scanned, cut))]
    reason = (
        "`scan` takes one entry of each array in every turn, so their first axes have one length; here they are "
        f"{match[1].strip().rstrip(',')}. What is the same in each turn is left out of `xs`; the body may read it from "
        "around it."
    )
    title = f"`scan` goes along axes of different lengths: {match[1].strip().rstrip(',')}"
    return Explanation("scan lengths", title, reason, tuple(cures), _PAGE)


def _no_length(failure: Failure, match: re.Match[str]) -> Explanation:
    reason = (
        "`scan` makes a turn for each entry of the arrays that it goes along. Without any, `length` must tell it the "
        "number of turns."
    )
    return Explanation("scan lengths", "nothing says how many turns `scan` makes", reason, (), _PAGE)


def _one_number(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("scan")
    scanned = argument(call, 2, "xs")
    value = failure.value(scanned)
    cures = []
    if scanned is not None and type(value) is int:
        text = f"jnp.arange({failure.text(scanned)})"
        cures = [Cure("Go along the numbers of the turns:", failure.with_(scanned, text))]
    elements = getattr(scanned, "elts", value if isinstance(value, (list, tuple)) else [])
    if scanned is not None and len(elements) > 1:
        # A list is a tree of as many arrays, each to be gone along.
        cure = Cure("Make one array of them:", failure.with_(scanned, f"jnp.array({failure.text(scanned)})"))
        reason = (
            "`scan` goes along the first axis of each array in a list, not along the list. "
            f"`{failure.text(scanned)}` holds {len(elements)} of them, and a single number has no axis."
        )
        return Explanation("scan lengths", "`scan` does not go along a list", reason, (cure,), _PAGE)
    reason = (
        f"`scan` takes one entry in every turn along the first axis, and a single number has none: {match[1]}. The "
        "number of turns is said by `length`, and what is the same in each turn is read from around the body."
    )
    return Explanation("scan lengths", "`scan` cannot go along one number", reason, tuple(cures), _PAGE)


def _disagreeing(failure: Failure, match: re.Match[str]) -> Explanation:
    call = failure.calls("scan")
    sizes = match[2].strip().rstrip(",")
    cures = []
    if call is not None and any(one.arg == "length" for one in call.keywords):
        code = failure.with_(call, with_keyword(failure, call, "length", ""))
        cures = [Cure("Leave `length` out:", code)]
        scanned = argument(call, 2, "xs")
        if scanned is not None and int(match[1]) < min(map(int, re.findall(r"\d+", sizes)), default=0):
            text = f"jax.tree.map(lambda leaf: leaf[:{match[1]}], {failure.text(scanned)})"
            if is_array(failure.value(scanned)):
                text = f"{grouped(failure.text(scanned), scanned)}[:{match[1]}]"
            cures.append(Cure("Or cut what it goes along:", failure.with_(scanned, text)))
    reason = (
        "`scan` makes a turn for each entry of the arrays that it goes along; `length` may be given beside "
        f"these only if it says the same. {failure.types(failure.expression)}"
    )
    title = f"`length` says {match[1]} turns, and the arrays have {sizes}"
    return Explanation("scan lengths", title, reason.strip(), tuple(cures), _PAGE)


_VALUE = ("ValueError",)

CASES: tuple[Case, ...] = (
    Case("scan lengths", _VALUE, r"scan got values with different leading axis sizes: ([\d, ]+)", _other_lengths),
    Case("scan lengths", _VALUE, r"scan got no values to scan over and `length` not provided", _no_length),
    Case("scan lengths", _VALUE, r"scan got value with no leading axis to scan over: (.*?)\.?$", _one_number),
    Case(
        "scan lengths",
        _VALUE,
        r"scan got `length` argument of `?(\d+)`? which disagrees with leading axis sizes? \[?([\d, ]+)\]?",
        _disagreeing,
    ),
)
