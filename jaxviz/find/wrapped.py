"""Whole numbers of the program that the type of an array does not hold: JAX takes what is left of them, in silence."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from jaxviz.find.finding import WARNING, Finding, Subject
from jaxviz.find.precision import NAMED
from jaxviz.graph import ARGUMENT
from jaxviz.program.narrowing import Cut

#: Types of few bits, with these. JAX itself refuses what does not fit 32.
NARROW = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16)}
_COMPARING = ("lt", "le", "gt", "ge", "eq", "ne", "max", "min", "clamp")
# Computing with these, what wraps around may be meant where the type has no sign.
_CIRCULAR = ("add", "sub", "mul")


def find(subject: Subject) -> Iterator[Finding]:
    yield from map(partial(_cut, subject), subject.cut)
    flow = subject.flow
    if NARROW.keys().isdisjoint(_types(subject)):
        return
    found: dict[tuple[int, str], list[int]] = {}
    for node in flow.nodes(*_COMPARING, *_CIRCULAR, "div", "rem"):
        for written, type_ in _written(subject, node):
            if written >= 0 or not type_.startswith("u") or flow.op(node) not in _CIRCULAR:
                found.setdefault((written, type_), []).append(node)
    for node in flow.nodes("convert_element_type"):
        type_ = flow.dtype(int(subject.graph.first_value[node]))
        number = flow.number(flow.operands(node)[0]) if type_ in NARROW else None
        if type(number) is int and _wraps(number, type_) and not NAMED.search(subject.expression(node)[1]):
            found.setdefault((number, type_), []).append(node)
    for (whole, type_), nodes in found.items():
        taken = _left(whole, type_)
        yield subject.told(
            kind="precision",
            severity=WARNING,
            title=f"{whole} does not fit {type_}: it is {taken} here",
            text=f"A Python number takes the type of the array that it meets. {type_} goes from {_range(type_)}, and "
            f"of {whole} the last {NARROW[type_]} bits are left, {taken}; there is no error.",
            remedy=f"Make the array wider before, as with x.astype('int32'), or give a number that {type_} holds.",
            nodes=nodes,
            figures={"number": whole, "taken": taken},
        )


def _types(subject: Subject) -> set[str]:
    """The types of entries in the program."""
    tables = subject.graph.tables
    return {tables.strings[row] for row in tables.types.dtype}


def _written(subject: Subject, node: int) -> Iterator[tuple[int, str]]:
    """The numbers in the source of an operation that one of its literals is what is left of, each with its type."""
    flow = subject.flow
    literals = [source for source in flow.operands(node) if source < 0 and flow.dtype(source) in NARROW]
    if not literals:
        return
    numbers = list(_numbers(subject.expression(node)[0], subject.numbers))
    for source in literals:
        type_, taken = flow.dtype(source), flow.number(source)
        yield from ((one, type_) for one in numbers if _wraps(one, type_) and _left(one, type_) == taken)


def _numbers(expression: ast.AST | None, named: Mapping[str, int]) -> Iterator[int]:
    """The whole numbers that an operator or a call is given as they are written, or by a name from around it."""
    if isinstance(expression, ast.BinOp):
        given: list[ast.expr] = [expression.left, expression.right]
    elif isinstance(expression, ast.Compare):
        given = [expression.left, *expression.comparators]
    elif isinstance(expression, ast.AugAssign):
        given = [expression.value]
    elif isinstance(expression, ast.Call):
        given = expression.args
    else:
        return
    for one in given:
        negative = isinstance(one, ast.UnaryOp) and isinstance(one.op, ast.USub)
        inner = one.operand if isinstance(one, ast.UnaryOp) and negative else one
        number = inner.value if isinstance(inner, ast.Constant) else None
        if isinstance(inner, (ast.Name, ast.Attribute)):
            # What the object holds that was called is known without it.
            number = named.get(ast.unparse(inner), named.get(ast.unparse(inner).removeprefix("self.")))
        if type(number) is int:
            yield -number if negative else number


def _cut(subject: Subject, cut: Cut) -> Finding:
    """An argument with a number that 32 bits do not hold."""
    graph = subject.graph
    node = int(np.flatnonzero((graph.nodes.kind == ARGUMENT) & (graph.nodes.region == 0))[cut.argument])
    name, type_ = graph.tables.strings[graph.nodes.name[node]], subject.flow.dtype(int(graph.first_value[node]))
    return Finding(
        kind="precision",
        severity=WARNING,
        title=f"{cut.number} in `{name}` does not fit {type_}: it is {cut.taken} here",
        text=f"`{name}` holds whole numbers of 64 bits, of which JAX takes the last 32 unless 64 are enabled; there is "
        "no error.",
        remedy='jax.config.update("jax_enable_x64", True) before anything is computed; or give numbers that fit, as '
        "the difference from the first.",
        nodes=np.array([node], np.int32),
        figures={"number": cut.number, "taken": cut.taken},
    )


def limits(type_: str) -> tuple[int, int]:
    """The smallest and the largest number that a narrow type holds."""
    bits = NARROW[type_]
    return (0, 2**bits - 1) if type_.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _range(type_: str) -> str:
    low, high = limits(type_)
    return f"{low} to {high}"


def _wraps(number: int, type_: str) -> bool:
    low, high = limits(type_)
    return not low <= number <= high


def _left(number: int, type_: str) -> int:
    """What a type keeps of a number."""
    low, _ = limits(type_)
    return (number - low) % 2 ** NARROW[type_] + low
