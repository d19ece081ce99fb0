"""The table of errors: one row for each case, in the order in which they are tried."""

from __future__ import annotations

from jaxviz.errors.cases import (
    arguments,
    arrays,
    bodies,
    choices,
    derivatives,
    devices,
    dtypes,
    in_place,
    keys,
    libraries,
    mapping,
    names,
    numbers,
    products,
    shapes,
    solves,
    trees,
)
from jaxviz.errors.explanation import Case

CASES: tuple[Case, ...] = (
    *choices.CASES,
    *in_place.CASES,
    *solves.CASES,
    *numbers.CASES,
    *libraries.CASES,
    *bodies.CASES,
    *mapping.CASES,
    *derivatives.CASES,
    *devices.CASES,
    *trees.CASES,
    *arguments.CASES,
    *keys.CASES,
    *arrays.CASES,
    *dtypes.CASES,
    *products.CASES,
    *shapes.CASES,
    *names.CASES,
)
