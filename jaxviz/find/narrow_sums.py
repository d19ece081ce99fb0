"""Sums of small whole numbers that are kept in their small type, which what they come to soon does not fit.

`jnp.sum` widens before it adds up. Products of matrices and running sums do not: what is left of them there is the last
8 or 16 bits, in silence.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from jaxviz.costs.flops import product_axes
from jaxviz.find.finding import ADVICE, Finding, Subject
from jaxviz.find.precision import NAMED
from jaxviz.find.wrapped import NARROW, limits

_RUNNING = {"cumsum": "sum", "cumprod": "product"}


def find(subject: Subject) -> Iterator[Finding]:
    flow, graph = subject.flow, subject.graph
    for node in flow.nodes("dot_general", *_RUNNING):
        type_ = flow.dtype(int(graph.first_value[node]))
        text = subject.expression(node)[1]
        if type_ not in NARROW or not subject.is_own(node) or NAMED.search(text) or "preferred_element_type" in text:
            continue
        terms, most = _most(subject, node)
        if most > limits(type_)[1]:
            yield _finding(subject, node, type_, terms)


def _most(subject: Subject, node: int) -> tuple[int, int]:
    """How many terms each result of an operation may have, and the largest number that it may come to."""
    flow = subject.flow
    operands = flow.operands(node)
    sizes, dims = [_largest(subject, operand) for operand in operands], flow.dims(operands[0])
    if flow.op(node) == "dot_general":
        terms = prod(dims[axis] for axis in product_axes(flow, node)[0])
        return terms, terms * prod(sizes)
    axis = subject.graph.attribute(node, "axis")
    terms = dims[int(axis)] if axis.isdigit() else max(dims, default=1)
    return terms, sizes[0] ** terms if flow.op(node) == "cumprod" else sizes[0] * terms


def _largest(subject: Subject, operand: int) -> int:
    """The largest number that an operand may hold: of what was true or false before, 1."""
    flow = subject.flow
    known, source = flow.number(operand), flow.origin(operand)
    if known is not None:
        return abs(int(known))
    return 1 if flow.dtype(source) == "bool" else limits(flow.dtype(operand))[1]


def _finding(subject: Subject, node: int, type_: str, terms: int) -> Finding:
    name = subject.flow.op(node)
    what = f"a running {_RUNNING[name]}" if name in _RUNNING else "a product of matrices"
    wider = f"jnp.{name}(x, dtype=jnp.int32)" if name in _RUNNING else "preferred_element_type=jnp.int32"
    low, high = limits(type_)
    return subject.told(
        kind="precision",
        severity=ADVICE,
        title=f"{what} of {type_} is kept in {type_}",
        text=f"Each result is made of up to {terms:,} numbers of {type_}, which goes from {low} to {high}; what does "
        "not fit wraps around, and there is no error.",
        remedy=f"Let it be made in a wider type: {wider}.",
        nodes=[node],
        figures={"terms": terms},
    )
