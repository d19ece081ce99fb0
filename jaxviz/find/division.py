"""Whole numbers divided by zero: XLA gives -1 or the number itself, and no error; remainders of jax.numpy are 0."""

from __future__ import annotations

from collections.abc import Iterator

from jaxviz.find.finding import NOTE, WARNING, Finding, Subject
from jaxviz.find.known_numbers import KnownNumbers

_REMEDY = "Guard the divisor, as in x // jnp.where(n == 0, 1, n), and choose what a zero should give."


def _is_remainder(subject: Subject, node: int) -> bool:
    graph, flow = subject.graph, subject.flow
    whole = flow.dtype(int(graph.first_value[node])).startswith(("int", "uint"))
    return whole and graph.node(node).name == "remainder"


def _is_zero(known: KnownNumbers, divisor: int) -> bool:
    """Whether a divisor, or an entry of it, is zero for all arguments."""
    numbers = known.of(divisor)
    return numbers is not None and numbers.loop < 0 and bool((numbers.values == 0).any())


def find(subject: Subject) -> Iterator[Finding]:
    flow, known = subject.flow, KnownNumbers(subject.flow)
    certain: list[int] = []
    possible: list[int] = []
    for node in flow.nodes("div", "rem"):
        divisor = flow.operands(node)[1]
        if not flow.dtype(divisor).startswith(("int", "uint")) or not subject.is_own(node):
            continue
        if _is_zero(known, divisor):
            certain.append(node)
        elif flow.is_argument(flow.origin(divisor)):
            possible.append(node)
    for node in flow.nodes("jit", "pjit"):
        # The remainder of jax.numpy looks for a zero itself.
        operands = flow.operands(node)
        if len(operands) == 2 and _is_remainder(subject, node) and flow.number(operands[1]) == 0:
            title, text = "the remainder of a division by zero is asked for", "The divisor is zero for all arguments."
            yield subject.told("division", WARNING, title, f"{text} JAX raises no error: it is 0.", _REMEDY, [node])
    if certain:
        title, text = "a whole number is divided by zero", "The divisor, or an entry of it, is zero for all arguments."
        text = f"{text} XLA raises no error: the quotient is -1, of `//` -1 or -2."
        yield subject.told("division", WARNING, title, text, _REMEDY, certain)
    if possible:
        title = "a division of whole numbers by an argument is no error where that is zero"
        text = "Floats give inf or NaN there, which is seen; of whole numbers XLA gives -1 (`//` then -1 or -2)."
        yield subject.told("division", NOTE, title, text, _REMEDY, possible)
