"""The two sides of an operation that failed, and shapes as errors tell them."""

from __future__ import annotations

import ast
import re

from jaxviz.arrays import is_array
from jaxviz.errors.failure import Failure

Shape = tuple[int, ...]


def shapes_in(text: str) -> list[Shape]:
    """The shapes in a text, such as (3, 4)."""
    found = re.findall(r"\((\d[\d, ]*)\)", text)
    return [tuple(int(size) for size in re.findall(r"\d+", one)) for one in found]


def operands_of(failure: Failure) -> tuple[ast.expr, ast.expr, ast.AST] | None:
    """The two sides of what failed, and the operation."""
    # The innermost of what stands around the failing expression: the product in `jnp.dot(x, y) + 1`, not the sum.
    node = failure.find((ast.BinOp, ast.Call))
    if isinstance(node, ast.BinOp):
        return node.left, node.right, node
    if node is None:
        return None
    if isinstance(node.func, ast.Attribute) and node.func.attr == "dot" and len(node.args) == 1:
        return node.func.value, node.args[0], node
    # Lists hold the arrays that meet; they are none themselves.
    are_arrays = len(node.args) == 2 and not any(isinstance(one, (ast.List, ast.Tuple)) for one in node.args)
    return (node.args[0], node.args[1], node) if are_arrays else None


def as_operand(node: ast.expr, text: str) -> str:
    return text if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else f"({text})"


def written_with(failure: Failure, node: ast.AST, left: ast.expr, right: ast.expr, texts: tuple[str, str]) -> str:
    """The statement with the two sides written otherwise."""
    statement = failure.statement
    if failure.source is None or statement is None or hasattr(statement, "body"):
        return f"{texts[0]}, {texts[1]}"
    return failure.source.replaced(statement, {left: texts[0], right: texts[1]})


def shape_of(failure: Failure, node: ast.expr, told: Shape | None) -> Shape | None:
    value = failure.value(node)
    return tuple(value.shape) if is_array(value) else told


def nones(count: int) -> str:
    return ", ".join(["None"] * count)
