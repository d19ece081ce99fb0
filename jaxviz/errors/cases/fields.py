"""Fields of what never changes: of named tuples, frozen dataclasses and modules of Equinox."""

from __future__ import annotations

import ast
import dataclasses
import re
from typing import Any

from jaxviz.errors.explanation import Case, Cure, Explanation
from jaxviz.errors.failure import Failure
from jaxviz.errors.rewriting import fresh, grouped

_EQUINOX = "https://docs.kidger.site/equinox/api/manipulation/#equinox.tree_at"
_PYTHON = "https://docs.python.org/3/library/"
_PAGES = {
    "_replace": f"{_PYTHON}collections.html#collections.somenamedtuple._replace",
    "dataclasses.replace": f"{_PYTHON}dataclasses.html#dataclasses.replace",
}


def with_field(failure: Failure, field: ast.Attribute, value: str) -> str:
    """Code for an object as it is but for one field, of one that cannot be assigned to; empty for any other."""
    held, root = failure.value(field.value), failure.text(field.value)
    owner = root.partition(".")[0]
    if _is_of_equinox(held) or (owner != root and _never_changes(held)):
        return f"eqx.tree_at(lambda tree: tree{failure.text(field)[len(owner) :]}, {owner}, {value})"
    if hasattr(held, "_fields"):
        return f"{root}._replace({field.attr}={value})"
    return f"dataclasses.replace({root}, {field.attr}={value})" if _never_changes(held) else ""


def _never_changes(held: Any) -> bool:
    settings = getattr(type(held), "__dataclass_params__", None)
    return hasattr(held, "_fields") or (dataclasses.is_dataclass(held) and bool(settings and settings.frozen))


def _is_of_equinox(held: Any) -> bool:
    return any(one.__module__.startswith("equinox") for one in type(held).__mro__)


def _assigned(failure: Failure, match: re.Match[str]) -> Explanation | None:
    """An assignment to a field."""
    statement = failure.statement
    target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
    if not isinstance(target, ast.Attribute) or not isinstance(statement, (ast.Assign, ast.AugAssign)):
        return None
    value = failure.text(statement.value)
    if isinstance(statement, ast.AugAssign):
        sign = failure.text(statement)[len(failure.text(target)) :].lstrip().partition("=")[0]
        value = f"{failure.text(target)} {sign} {grouped(value, statement.value)}"
    owner = failure.text(target.value).partition(".")[0]
    code = with_field(failure, target, value)
    text, name = "Make a new one with the change in it:", owner
    if owner not in failure.variables:
        # What is assigned in a function is not known in it before.
        name = fresh(failure, f"new_{owner}")
        text = f"Make a new one with the change in it, and use that in place of `{owner}`:"
    reason = (
        "Named tuples, frozen dataclasses and modules of Equinox are values, like arrays of JAX. Once made, they stay "
        "as they are, so that a traced function changes nothing in secret."
    )
    title = f"`{target.attr}` cannot be assigned: its object does not change"
    page = next((page for word, page in _PAGES.items() if word in code), _EQUINOX)
    return Explanation("frozen", title, reason, (Cure(text, f"{name} = {code}"),) if code else (), page)


def _of_tuple(failure: Failure, match: re.Match[str]) -> Explanation | None:
    told = _assigned(failure, match)
    return told if told is not None and told.cures else None


CASES = (
    Case("frozen", ("FrozenInstanceError",), r"cannot assign to field '(\w+)'", _assigned),
    Case("frozen", ("AttributeError",), r"can't set attribute|has no setter|is read-only", _of_tuple),
)
