"""Arrays and layers that were made for another size, with the size that is wanted where they are made."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from jaxviz.errors.explanation import Cure
from jaxviz.errors.failure import Failure


def made_for(failure: Failure, node: ast.expr | None, old: int, new: int) -> Cure | None:
    """The statement that makes what a name or an attribute of `self` stands for, with one size in it replaced; None
    where no statement of the same file says that size once."""
    source = failure.source
    for statement in _making(failure, node):
        sizes = [
            one
            for one in ast.walk(statement.value)
            if isinstance(one, ast.Constant) and type(one.value) is int and one.value == old
        ]
        if source is not None and len(sizes) == 1 and isinstance(statement.value, ast.Call):
            text = f"`{failure.text(node)}` was made for {old} on line {statement.lineno}. Make it for {new}:"
            return Cure(text, source.replaced(statement, {sizes[0]: str(new)}), inside=False)
    return None


def _making(failure: Failure, node: ast.expr | None) -> Iterator[ast.Assign]:
    """The assignments to a name in the function around, or to an attribute of `self` in the class around."""
    kind: type[ast.AST] | None = None
    if isinstance(node, ast.Name):
        kind = ast.FunctionDef
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
        kind = ast.ClassDef
    source = failure.source
    if kind is None or node is None or source is None:
        return
    around = next((one for one in source.around(node) if isinstance(one, kind)), None)
    for one in ast.walk(around) if around is not None else ():
        if isinstance(one, ast.Assign) and failure.text(one.targets[0]) == failure.text(node):
            yield one
