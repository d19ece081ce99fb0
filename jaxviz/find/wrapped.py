"""Whole numbers of the program that the type of an array does not hold: JAX takes what is left of them, in silence."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxviz.find.finding import WARNING, Finding, Subject
from jaxviz.find.precision import NAMED

# JAX itself refuses what does not fit 32 bits.
_NARROW = {f"{sign}int{bits}": bits for sign in ("", "u") for bits in (8, 16)}
_COMPARING = ("lt", "le", "gt", "ge", "eq", "ne", "max", "min", "clamp")
# Computing with these, what wraps around may be meant where the type has no sign.
_CIRCULAR = ("add", "sub", "mul")


def find(subject: Subject) -> Iterator[Finding]:
    flow = subject.flow
    if _NARROW.keys().isdisjoint(_types(subject)):
        return
    found: dict[tuple[int, str], list[int]] = {}
    for node in flow.nodes(*_COMPARING, *_CIRCULAR, "div", "rem"):
        for written, type_ in _written(subject, node):
            if written >= 0 or not type_.startswith("u") or flow.op(node) not in _CIRCULAR:
                found.setdefault((written, type_), []).append(node)
    for node in flow.nodes("convert_element_type"):
        type_ = flow.dtype(int(subject.graph.first_value[node]))
        number = flow.number(flow.operands(node)[0]) if type_ in _NARROW else None
        if type(number) is int and _wraps(number, type_) and not NAMED.search(subject.expression(node)[1]):
            found.setdefault((number, type_), []).append(node)
    for (whole, type_), nodes in found.items():
        taken = _left(whole, type_)
        yield subject.told(
            kind="precision",
            severity=WARNING,
            title=f"{whole} does not fit {type_}: it is {taken} here",
            text=f"A Python number takes the type of the array that it meets. {type_} goes from {_range(type_)}, and "
            f"of {whole} the last {_NARROW[type_]} bits are left, {taken}; there is no error.",
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
    literals = [source for source in flow.operands(node) if source < 0 and flow.dtype(source) in _NARROW]
    if not literals:
        return
    numbers = list(_numbers(subject.expression(node)[0]))
    for source in literals:
        type_, taken = flow.dtype(source), flow.number(source)
        yield from ((one, type_) for one in numbers if _wraps(one, type_) and _left(one, type_) == taken)


def _numbers(expression: ast.AST | None) -> Iterator[int]:
    """The whole numbers that an operator or a call is given as they are written."""
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
        if isinstance(inner, ast.Constant) and type(inner.value) is int:
            yield -inner.value if negative else inner.value


def _limits(type_: str) -> tuple[int, int]:
    bits = _NARROW[type_]
    return (0, 2**bits - 1) if type_.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _range(type_: str) -> str:
    low, high = _limits(type_)
    return f"{low} to {high}"


def _wraps(number: int, type_: str) -> bool:
    low, high = _limits(type_)
    return not low <= number <= high


def _left(number: int, type_: str) -> int:
    """What a type keeps of a number."""
    low, _ = _limits(type_)
    return (number - low) % 2 ** _NARROW[type_] + low
