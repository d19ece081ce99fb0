"""Errors of JAX explained: the person's line, why it is so, and what people do about it.

`cases/` is the table: one row for each case, in rooms by what the error is about.
"""

from __future__ import annotations

import re

from jaxviz.errors.cases import CASES
from jaxviz.errors.explanation import Cure, Explanation
from jaxviz.errors.failure import Failure

__all__ = ["Cure", "Explanation", "Failure", "explain"]


def explain(failure: Failure) -> Explanation:
    """The error in words. One that no row of the table knows is told as JAX or Python tells it."""
    kinds = {one.__name__ for one in type(failure.error).__mro__}
    for case in CASES:
        match = re.search(case.words, failure.message)
        if match is None or not kinds.intersection(case.kinds):
            continue
        try:
            told = case.tell(failure, match)
        except Exception:  # Code that was written in a way that the row does not expect.
            told = None
        if told is not None:
            return told
    return _unknown(failure)


def _unknown(failure: Failure) -> Explanation:
    lines = failure.message.splitlines() or [failure.kind]
    title = lines[0] if len(lines[0]) <= 120 else lines[0][:117] + "..."
    where = f"on {failure.line_text} " if failure.source is not None else "before anything of it was traced "
    reason = (
        f"{failure.kind} was raised {where}while JAX called the function to record what it computes. "
        "What had been recorded until then is drawn below."
        if failure.source is not None
        else f"{failure.kind} was raised {where}, when JAX was given the function and its arguments."
    )
    return Explanation("unknown", title, reason.replace(" ,", ","), (), failure.link)
