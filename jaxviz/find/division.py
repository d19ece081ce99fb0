"""Divisions by zero: of whole numbers XLA gives -1 or the number itself, and no error; remainders of jax.numpy are 0.
Floats give inf, which is told of where the program itself says the zero.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from jaxviz.find.finding import NOTE, WARNING, Finding, Subject
from jaxviz.find.known_numbers import KnownNumbers
from jaxviz.graph import CONSTANT

_ZERO = re.compile(r"-?0(\.0*)?(e.*)?")
_REMEDY = "Guard the divisor, as in x // jnp.where(n == 0, 1, n), and choose what a zero should give."


def _is_remainder(subject: Subject, node: int) -> bool:
    graph, flow = subject.graph, subject.flow
    whole = flow.dtype(int(graph.first_value[node])).startswith(("int", "uint"))
    return whole and graph.node(node).name == "remainder"


def _is_zero(known: KnownNumbers, divisor: int) -> bool:
    """Whether a divisor, or an entry of it, is zero for all arguments."""
    numbers = known.of(divisor)
    return numbers is not None and numbers.loop < 0 and bool((numbers.values == 0).any())


def _is_float_zero(subject: Subject, known: KnownNumbers, divisor: int) -> bool:
    """Whether a divisor, or an entry of it, is a zero that the program says."""
    flow, graph = subject.flow, subject.graph
    number = flow.number(divisor)
    if number is not None:
        return number == 0
    if _is_zero(known, divisor):
        return True
    source = flow.origin(divisor)
    if source < 0 or graph.nodes.kind[graph.value_node[source]] != CONSTANT:
        return False
    values = graph.node(int(graph.value_node[source])).attributes.get("values", "")
    return any(_ZERO.fullmatch(one) for one in values.split(", "))


def _is_masked(subject: Subject, node: int) -> bool:
    """Whether what a node makes is only chosen from."""
    graph = subject.graph
    readers = graph.readers(graph.first_value[node])
    return bool(readers) and all(subject.flow.op(one) == "select_n" or _chooses(subject, one) for one in readers)


def _chooses(subject: Subject, node: int) -> bool:
    """`where` of jax.numpy, which is a function of its own."""
    return subject.flow.op(node) in ("jit", "pjit") and subject.graph.node(node).name in ("_where", "where")


def find(subject: Subject) -> Iterator[Finding]:
    flow, known = subject.flow, KnownNumbers(subject.flow)
    certain: list[int] = []
    floats: list[int] = []
    possible: list[int] = []
    remainders: list[int] = []
    for node in flow.nodes("div", "rem"):
        divisor = flow.operands(node)[1]
        if flow.op(node) == "div" and flow.dtype(divisor).startswith(("float", "bfloat")):
            own = subject.is_own(node) and not subject.is_derived(node)
            if own and _is_float_zero(subject, known, divisor) and not _is_masked(subject, node):
                floats.append(node)
            continue
        if not flow.dtype(divisor).startswith(("int", "uint")) or not subject.is_own(node):
            continue
        if _is_zero(known, divisor):
            certain.append(node)
        elif _may_be_zero(subject, divisor):
            possible.append(node)
    for node in flow.nodes("jit", "pjit"):
        # The remainder of jax.numpy looks for a zero itself.
        operands = flow.operands(node)
        if len(operands) != 2 or not _is_remainder(subject, node):
            continue
        if flow.number(operands[1]) == 0:
            title, text = "the remainder of a division by zero is asked for", "The divisor is zero for all arguments."
            yield subject.told("division", WARNING, title, f"{text} JAX raises no error: it is 0.", _REMEDY, [node])
        elif subject.is_own(node) and _may_be_zero(subject, operands[1]):
            remainders.append(node)
    if floats:
        title, text = "a number is divided by zero", "The divisor, or an entry of it, is zero for all arguments."
        text = f"{text} The quotient is inf there, and NaN where what is divided is zero too."
        remedy = "jnp.where(d == 0, 0.0, x / jnp.where(d == 0, 1.0, d)), with what a zero should give in place of 0.0."
        yield subject.told("division", WARNING, title, text, remedy, floats)
    if certain:
        title, text = "a whole number is divided by zero", "The divisor, or an entry of it, is zero for all arguments."
        text = f"{text} XLA raises no error: the quotient is {_given(subject, certain)}."
        yield subject.told("division", WARNING, title, text, _REMEDY, certain)
    if possible:
        title = "a division of whole numbers by what may be zero is no error there"
        given = _given(subject, possible)
        text = f"Floats give inf or NaN there, which is seen; of whole numbers XLA gives {given}."
        yield subject.told("division", NOTE, title, text, _REMEDY, possible)
    if remainders:
        title = "a remainder of a division by what may be zero is no error there"
        text = "Floats give NaN there, which is seen; of whole numbers `%` of JAX gives 0."
        remedy = "Guard the divisor, as in x % jnp.where(n == 0, 1, n), and choose what a zero should give."
        yield subject.told("division", NOTE, title, text, remedy, remainders)


def _may_be_zero(subject: Subject, divisor: int) -> bool:
    """Whether a divisor is an argument, a difference of two, or a sum or a count of what comes from one."""
    flow = subject.flow
    source = flow.origin(divisor)
    if flow.is_argument(source):
        return True
    maker = int(subject.graph.value_node[source]) if source >= 0 else -1
    if maker < 0 or flow.op(maker) not in ("reduce_sum", "sub"):
        return False
    if flow.op(maker) == "sub":
        return all(flow.is_argument(flow.origin(operand)) for operand in flow.operands(maker))
    return flow.number(flow.operands(maker)[0]) is None


def _given(subject: Subject, nodes: list[int]) -> str:
    """What XLA gives for divisions by zero: all bits set, which is -1 or the largest number without sign."""
    types = {subject.flow.dtype(int(subject.graph.first_value[node])) for node in nodes}
    largest = [f"{np.iinfo(type_).max:,} of {type_}" for type_ in sorted(types) if type_.startswith("uint")]
    signed = ["-1 (`//` then -1 or -2)"] if any(type_.startswith("int") for type_ in types) else []
    return ", ".join(signed + largest)
