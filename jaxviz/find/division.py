"""Whole numbers divided by zero: XLA gives -1 or the number itself, and no error."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxviz.find.finding import NOTE, WARNING, Finding, Subject, lines_text

_REMEDY = "Guard the divisor, as in x // jnp.where(n == 0, 1, n), and choose what a zero should give."


def find(subject: Subject) -> Iterator[Finding]:
    flow = subject.flow
    certain: list[int] = []
    possible: list[int] = []
    for node in flow.nodes("div", "rem"):
        divisor = flow.operands(node)[1]
        if not flow.dtype(divisor).startswith(("int", "uint")) or not subject.is_own(node):
            continue
        if flow.number(divisor) == 0:
            certain.append(node)
        elif flow.is_argument(flow.origin(divisor)):
            possible.append(node)
    if certain:
        lines = subject.lines(np.array(certain))
        yield Finding(
            kind="division",
            severity=WARNING,
            title=f"a whole number is divided by zero ({lines_text(lines)})",
            text="The divisor is zero for all arguments. XLA raises no error: the quotient is -1.",
            remedy=_REMEDY,
            nodes=np.array(certain, np.int32),
            lines=lines,
        )
    if possible:
        lines = subject.lines(np.array(possible))
        yield Finding(
            kind="division",
            severity=NOTE,
            title=f"a division of whole numbers by an argument gives -1 where that is zero ({lines_text(lines)})",
            text="Floats give inf or NaN there, which is seen; of whole numbers XLA gives -1, and raises no error.",
            remedy=_REMEDY,
            nodes=np.array(possible, np.int32),
            lines=lines,
        )
