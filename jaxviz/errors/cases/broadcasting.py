"""Shapes that do not fit each other, entry by entry."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxviz.errors.cases.operands import Shape, as_operand, nones, operands_of, shape_of, shapes_in, written_with
from jaxviz.errors.explanation import Case, Cure, Explanation, api_page
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.trial import cannot_work


def _broadcast(failure: Failure, match: re.Match[str]) -> Explanation | None:
    sides = operands_of(failure)
    told = shapes_in(failure.message)
    if sides is None or len(told) < 2 or (failure.library and failure.find(ast.BinOp) is not None):
        return _broadcast_inside(failure, told)
    left, right, node = sides
    a, b = shape_of(failure, left, told[0]), shape_of(failure, right, told[1])
    if a is None or b is None or _fits(a, b):
        return _broadcast_inside(failure, told)
    names = failure.text(left), failure.text(right)
    cures = [
        Cure(text, written_with(failure, node, left, right, texts))
        for text, texts in _fitting(left, right, a, b, names)
    ]
    if not cures:
        shortened = [
            name if set(_shared(shape, a, b)) <= set(":, ") else f"{as_operand(side, name)}[{_shared(shape, a, b)}]"
            for side, name, shape in ((left, names[0], a), (right, names[1], b))
        ]
        cures = [
            Cure(
                "Nothing here makes them fit by itself. If the rest is not wanted, use what both have:",
                written_with(failure, node, left, right, (shortened[0], shortened[1])),
            )
        ]
    differ = _differing(a, b)
    reason = (
        f"`{names[0]}` is {a} and `{names[1]}` is {b}. Shapes are compared from the last axis on; two "
        f"sizes fit if they are equal or one of them is 1, and {differ}."
    )
    return Explanation(
        "broadcasting",
        f"`{names[0]}` and `{names[1]}` have shapes that do not fit",
        reason,
        tuple(cures),
        "https://numpy.org/doc/stable/user/basics.broadcasting.html",
    )


_OF_SQUARES = ("cholesky", "inv", "det", "slogdet", "eig", "eigh", "eigvals", "eigvalsh", "expm", "matrix_power")


def _broadcast_inside(failure: Failure, told: list[Shape]) -> Explanation | None:
    """Shapes that do not fit in a call with more than two arrays, or inside a library."""
    if len(told) < 2:
        return None
    pair = next(
        ((a, b) for place, a in enumerate(told) for b in told[place + 1 :] if not _fits(a, b)), (told[0], told[1])
    )
    inside = f" inside `{failure.library}`" if failure.library else ""
    text = " ".join(failure.text(failure.expression).split()) or failure.name
    shown = text if len(text) <= 60 else f"{text[:57]}..."
    reason = (
        f"{pair[0]} meets {pair[1]}{inside}. {failure.types(failure.expression)} Shapes are compared from the "
        f"last axis on; two sizes fit if they are equal or one of them is 1, and {_differing(*pair)}."
    )
    call = failure.find(ast.Call)
    if call is not None and last_name(call.func) in _OF_SQUARES:
        kind = "A triangle of a matrix" if "cholesky" in last_name(call.func) else "What is asked for"
        return Explanation(
            "square",
            f"`{last_name(call.func)}` wants a square matrix",
            f"{kind} is defined for a matrix with as many rows as columns. {failure.types(call)}",
            tuple(_squares(failure, call)),
            api_page(f"jax.numpy.linalg.{last_name(call.func)}"),
        )
    return Explanation(
        "broadcasting",
        f"shapes in `{shown}` do not fit",
        reason,
        tuple(_cut_inside(failure, pair)),
        "https://numpy.org/doc/stable/user/basics.broadcasting.html",
    )


def _cut_inside(failure: Failure, pair: tuple[Shape, Shape]) -> Iterator[Cure]:
    """The statement with one array in it cut to what the other has, where that makes it work."""
    a, b = pair
    if failure.expression is None:
        return
    for text, value in failure.arrays(failure.expression).items():
        node = next(one for one in ast.walk(failure.expression) if failure.text(one) == text)
        for own, other in ((a, b), (b, a)):
            if tuple(value.shape) == own:
                beside = (0,) * (len(own) - len(other)) + other[max(len(other) - len(own), 0) :]
                index = ", ".join(f":{y}" if x > y > 1 else ":" for x, y in zip(own, beside, strict=True))
                code = failure.with_(node, f"{text}[{index}]")
                if set(index) - set(":, ") and not cannot_work(failure, code):
                    yield Cure("If the rest is not wanted, use what both have:", code)
                    return


def _squares(failure: Failure, call: ast.Call) -> Iterator[Cure]:
    """What is square, made of the matrix that a call is given."""
    if call.args:
        text = as_operand(call.args[0], failure.text(call.args[0]))
        yield Cure("Of any matrix, this is square:", failure.with_(call.args[0], f"{text} @ {text}.T"))


def _shared(shape: Shape, a: Shape, b: Shape) -> str:
    rank = max(len(a), len(b))
    padded = [(1,) * (rank - len(one)) + one for one in (a, b)]
    least = [min(x, y) if 1 not in (x, y) else 0 for x, y in zip(*padded, strict=True)][rank - len(shape) :]
    return ", ".join(f":{size}" if size and size != own else ":" for size, own in zip(least, shape, strict=True))


def _differing(a: Shape, b: Shape) -> str:
    for place, (x, y) in enumerate(zip(reversed(a), reversed(b), strict=False), 1):
        if x != y and 1 not in (x, y):
            axis = (
                "the last"
                if place == 1
                else f"the {('second', 'third')[place - 2]} last"
                if place < 4
                else f"axis -{place}"
            )
            return f"on {axis} axis {x} does not fit {y}"
    return "these do not"


def _fits(a: Shape, b: Shape) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(reversed(a), reversed(b), strict=False))


def _fitting(
    left: ast.expr, right: ast.expr, a: Shape, b: Shape, names: tuple[str, str]
) -> Iterator[tuple[str, tuple[str, str]]]:
    """Small changes after which two shapes fit."""
    one, other = as_operand(left, names[0]), as_operand(right, names[1])
    if len(a) != len(b):
        if len(a) < len(b) and _fits((*a, *(1,) * (len(b) - len(a))), b):
            yield (
                "Give the smaller one an axis at its end:",
                (f"{one}[{':, ' * len(a)}{nones(len(b) - len(a))}]", names[1]),
            )
        elif len(b) < len(a) and _fits(a, (*b, *(1,) * (len(a) - len(b)))):
            yield (
                "Give the smaller one an axis at its end:",
                (names[0], f"{other}[{':, ' * len(b)}{nones(len(a) - len(b))}]"),
            )
    if len(a) == len(b) == 2 and _fits(a, b[::-1]):
        yield "Transpose one of them:", (names[0], f"{other}.T")
    if len(a) == len(b) == 1:
        yield "Combine each with each, if that is meant:", (f"{one}[:, None]", f"{other}[None, :]")


def _not_stretched(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """Arrays with other numbers of axes, where JAX is asked not to stretch them unasked."""
    sides, told = operands_of(failure), shapes_in(failure.message)
    if sides is None or len(told) < 2:
        return None
    left, right, node = sides
    texts, lacking = [failure.text(left), failure.text(right)], len(told[0]) - len(told[1])
    side = left if lacking < 0 else right
    place = 0 if lacking < 0 else 1
    texts[place] = f"{as_operand(side, texts[place])}[{nones(abs(lacking))}]"
    cure = Cure("Give the smaller one its axes:", written_with(failure, node, left, right, (texts[0], texts[1])))
    reason = (
        f"`jax_numpy_rank_promotion` is `raise`: then JAX puts no axes to the front of an array unasked. The "
        f"shapes are {told[0]} and {told[1]}. {failure.types(node)}"
    )
    title = f"arrays of {len(told[0])} and of {len(told[1])} axes are not brought together unasked"
    return Explanation("rank promotion", title, reason.strip(), (cure,), failure.link)


_BOTH = ("TypeError", "ValueError")

CASES = (
    Case("rank promotion", _BOTH, r"jax_numpy_rank_promotion='raise'", _not_stretched),
    Case("broadcasting", _BOTH, r"[iI]ncompatible shapes for broadcasting", _broadcast),
)
