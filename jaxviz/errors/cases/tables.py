"""Entries of Python's dictionaries and lists that a traced value is to choose."""

from __future__ import annotations

import ast

from jaxviz.arrays import is_array
from jaxviz.errors.failure import Failure

# A table of more entries is no code that one writes out.
_MOST = 12


def taken_by(failure: Failure, node: ast.Subscript, key: str) -> str:
    """An entry by a traced key: of an array of all, or compared with each key. Empty where that is not known."""
    table, held = failure.text(node.value), failure.value(node.value)
    values = list(held.values()) if isinstance(held, dict) else held
    numbers = isinstance(values, (list, tuple)) and all(
        is_array(one) or isinstance(one, (int, float)) for one in values
    )
    if not numbers or not values:
        return ""
    if not isinstance(held, dict):
        return failure.with_(node, f"jnp.array({table})[{key}]")
    keys = list(held)
    if keys == list(range(len(keys))):
        return failure.with_(node, f"jnp.array(list({table}.values()))[{key}]")
    if len(keys) > _MOST or not all(isinstance(one, (int, float)) for one in keys):
        return ""
    asked = ", ".join(f"{key} == {one!r}" for one in keys)
    return failure.with_(node, f"jnp.select([{asked}], list({table}.values()))")
