"""Errors of JAX explained: the person's line, why it is so, and what people do about it.

`cases/` is the table: one row for each case, in rooms by what the error is about.
"""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from dataclasses import replace

from jaxviz.errors.cases import CASES
from jaxviz.errors.explanation import Case, Cure, Explanation
from jaxviz.errors.failure import Failure
from jaxviz.errors.gaps import has_gaps
from jaxviz.errors.trial import cannot_work

__all__ = ["Cure", "Explanation", "Failure", "explain"]


def explain(failure: Failure) -> Explanation:
    """The error in words. One that no row of the table knows is told as JAX or Python tells it."""
    kinds = {one.__name__ for one in type(failure.error).__mro__}
    for case in CASES:
        match = re.search(case.words, failure.message)
        if match is None or not kinds.intersection(case.kinds):
            continue
        told = _told(case, failure, match)
        if told is not None:
            return _with_sure_cures(failure, told)
    return _unknown(failure)


def _told(case: Case, failure: Failure, match: re.Match[str]) -> Explanation | None:
    """What a row tells of the error; None where it cannot, for code was written in a way that it does not expect."""
    with suppress(Exception):
        return case.tell(failure, match)
    return None


def _with_sure_cures(failure: Failure, told: Explanation) -> Explanation:
    """An explanation without the cures that cannot work as they stand; with none left, its reason says what helps."""
    cures = tuple(cure for cure in told.cures if _is_code(cure.code))
    changed = [cure for cure in cures if not _is_as_before(failure, cure.code)]
    whole = [cure for cure in changed if not has_gaps(failure, cure.code, cure.of_file)]
    kept = tuple(cure for cure in whole if not (cure.inside and cannot_work(failure, cure.code)))
    if kept or whole or not cures:
        return replace(told, cures=tuple(replace(cure, text=_first(cure.text)) for cure in kept[:1]) + kept[1:])
    return replace(told, cures=(), reason=f"{told.reason} {_first(cures[0].text).rstrip(':.')}.")


def _first(text: str) -> str:
    """Advice as it begins where none stands before it."""
    words = text.removeprefix("Or ")
    return words[:1].upper() + words[1:]


def _is_as_before(failure: Failure, code: str) -> bool:
    """Whether code is what failed, as it stands."""
    failed = [failure.text(one) for one in (failure.statement, failure.expression) if one is not None]
    return any(_without_spaces(code) == _without_spaces(one) for one in failed)


def _without_spaces(text: str) -> str:
    return "".join(text.split())


def _is_code(text: str) -> bool:
    """Whether Python, or a notebook, could read it: what was put together of somebody's code may not fit together."""
    try:
        ast.parse("\n".join(line for line in text.splitlines() if not line.startswith("%")))
    except (SyntaxError, ValueError):
        return False
    return bool(text.strip())


def _unknown(failure: Failure) -> Explanation:
    lines = failure.message.splitlines() or [failure.kind]
    title = lines[0] if len(lines[0]) <= 120 else lines[0][:117] + "..."
    if failure.source is None:
        reason = (
            f"{failure.kind} was raised before anything of it was traced, when JAX was given the function and its "
            "arguments."
        )
        return Explanation("unknown", title, reason, (), failure.link)
    where = f", inside `{failure.library}`" if failure.library else ""
    types = ""
    with suppress(Exception):  # What stands there may be anything.
        types = failure.types(_one(failure))
    reason = (
        f"{failure.kind} was raised on {failure.line_text}{where}, while JAX called the function to record what it "
        f"computes. {types}"
    )
    return Explanation("unknown", title, " ".join(reason.split()), (), failure.link)


def _one(failure: Failure) -> ast.AST | None:
    """What failed: the statement, of a block only the expression at its head."""
    return failure.expression if hasattr(failure.statement, "body") else failure.statement
