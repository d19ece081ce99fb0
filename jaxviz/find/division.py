"""Whole numbers divided by zero: XLA gives -1 or the number itself, and no error."""

from __future__ import annotations

from collections.abc import Iterator

from jaxviz.find.finding import NOTE, WARNING, Finding, Subject

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
        title, text = "a whole number is divided by zero", "The divisor is zero for all arguments."
        text = f"{text} XLA raises no error: the quotient is -1."
        yield subject.told("division", WARNING, title, text, _REMEDY, certain)
    if possible:
        title = "a division of whole numbers by an argument gives -1 where that is zero"
        text = "Floats give inf or NaN there, which is seen; of whole numbers XLA gives -1, and raises no error."
        yield subject.told("division", NOTE, title, text, _REMEDY, possible)
