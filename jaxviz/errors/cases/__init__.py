"""The table of errors: one row for each case, in the order in which they are tried."""

from __future__ import annotations

from jaxviz.errors.cases import arguments, arrays, bodies, choices, derivatives, keys, numbers, shapes
from jaxviz.errors.explanation import Case

CASES: tuple[Case, ...] = (
    *choices.CASES,
    *numbers.CASES,
    *bodies.CASES,
    *derivatives.CASES,
    *arguments.CASES,
    *keys.CASES,
    *arrays.CASES,
    *shapes.CASES,
)
