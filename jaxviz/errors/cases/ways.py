"""Branches that give arrays of different shapes: why no choice between them helps, and what follows put into each."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from jaxviz.arrays import is_array
from jaxviz.errors.cases.conditions import elementwise
from jaxviz.errors.explanation import Cure
from jaxviz.errors.failure import Failure
from jaxviz.errors.source import names_assigned
from jaxviz.errors.trial import cannot_work, given_by


def other_shapes(failure: Failure, yes: str, no: str) -> str:
    """A sentence on two values, as they are written, that are of different shapes; empty where they are not."""
    shapes: list[Any] = [getattr(given_by(failure, text), "shape", None) for text in (yes, no)]
    if None in shapes:
        return ""
    with suppress(ValueError):
        # One that stretches to the other can be chosen.
        np.broadcast_shapes(*shapes)
        return ""
    return (
        f"One way gives the shape {shapes[0]} and the other {shapes[1]}, and in a compiled program a value has one "
        "shape: neither `jnp.where` nor `lax.cond` can choose between these"
    )


def with_what_follows(failure: Failure, statement: ast.stmt, sides: Sequence[tuple[ast.expr | str, str]]) -> list[Cure]:
    """For a statement that gives a name one of two values: two functions of all that follows it, for its results may
    be of one shape where the values are not. `sides` are the two, each with the statement that it makes."""
    parent: Any = failure.source.parent(statement) if failure.source is not None else None
    if not isinstance(parent, ast.FunctionDef) or statement not in parent.body:
        return []
    rest = parent.body[parent.body.index(statement) + 1 :]
    if not rest or not isinstance(rest[-1], ast.Return) or rest[-1].value is None:
        return []
    kept = [name for name in names_assigned([statement, *rest]) if is_array(failure.variables.get(name))]
    lines = []
    for name, (_, code) in zip(("if_true", "if_false"), sides, strict=True):
        lines.append(f"def {name}({', '.join(kept)}):")
        inside = [line for part in (code, *map(failure.text, rest)) for line in part.splitlines()]
        lines += [*(f"    {line}" for line in inside), ""]
    passed = ", ".join([elementwise(failure, sides[0][0]), "if_true", "if_false", *kept])
    text = "Put each way, with all that follows, into a function, and let the program choose:"
    code = "\n".join([*lines, f"return jax.lax.cond({passed})"])
    return [] if cannot_work(failure, code) else [Cure(text, code)]
