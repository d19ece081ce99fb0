"""A choice between values, as a program makes it: all of them computed and chosen from, or only one of them run."""

from __future__ import annotations

import ast
from dataclasses import dataclass

import jax

from jaxviz.arrays import is_array
from jaxviz.errors.cases.conditions import elementwise
from jaxviz.errors.cases.ways import other_shapes
from jaxviz.errors.failure import Failure
from jaxviz.errors.trial import given_by


@dataclass(frozen=True)
class Choice:
    """One value of two: the condition, and for each side a value or another choice, as they are written."""

    test: ast.expr | str
    yes: ast.expr | Choice | str
    no: ast.expr | Choice | str


def nested(node: ast.expr) -> ast.expr | Choice:
    """A value that is written as `... if ... else ...`, maybe with others in it."""
    return Choice(node.test, nested(node.body), nested(node.orelse)) if isinstance(node, ast.IfExp) else node


def unlike(failure: Failure, choice: Choice) -> str:
    """A sentence where the values of a choice are of different shapes."""
    values = _values(choice)
    texts = [one if isinstance(one, str) else failure.text(one) for one in values]
    return next((told for one in texts[1:] if (told := other_shapes(failure, texts[0], one))), "")


def _values(choice: Choice) -> list[ast.expr | str]:
    sides = (choice.yes, choice.no)
    return [value for side in sides for value in (_values(side) if isinstance(side, Choice) else [side])]


def chosen(failure: Failure, choice: ast.expr | Choice | str) -> str:
    """A choice whose values are all computed; empty where they cannot be in one array."""
    if isinstance(choice, str):
        return choice
    if not isinstance(choice, Choice):
        return failure.text(choice) if may_be_array(failure, choice) else ""
    test = elementwise(failure, choice.test)
    sides = [choice.yes, choice.no]
    if all(_is_tree(failure, side) for side in sides):
        both = [failure.text(side) for side in sides if isinstance(side, ast.AST)]
        both = [
            f"({text})" if isinstance(side, ast.Tuple) and not text.startswith("(") else text
            for text, side in zip(both, sides, strict=True)
        ]
        return f"jax.tree.map(lambda yes, no: jnp.where({test}, yes, no), {both[0]}, {both[1]})"
    texts = [chosen(failure, side) for side in sides]
    return f"jnp.where({test}, {texts[0]}, {texts[1]})" if all(texts) else ""


def run_one(failure: Failure, choice: ast.expr | Choice | str) -> str:
    """A choice of which only one value is computed."""
    if isinstance(choice, str):
        return choice
    if not isinstance(choice, Choice):
        if not may_be_array(failure, choice) and not _is_tree(failure, choice):
            return ""
        text = failure.text(choice)
        return f"({text})" if isinstance(choice, ast.Tuple) and not text.startswith("(") else text
    sides = (choice.yes, choice.no)
    if all(isinstance(side, ast.Lambda) or callable(_value(failure, side)) for side in sides):
        functions = ", ".join(failure.text(side) for side in sides if isinstance(side, ast.expr))
        return f"lambda *arguments: jax.lax.cond({elementwise(failure, choice.test)}, {functions}, *arguments)"
    if sum(_is_number(failure, side) for side in sides) == 1:
        # A number alone is of another type than an array.
        return ""
    texts = [run_one(failure, side) for side in sides]
    return f"jax.lax.cond({elementwise(failure, choice.test)}, lambda: {texts[0]}, lambda: {texts[1]})" * all(texts)


def _is_tree(failure: Failure, side: ast.expr | Choice | str) -> bool:
    """Whether a value is a tuple, a list or a dictionary of arrays, as far as that shows."""
    if isinstance(side, (ast.Tuple, ast.List, ast.Dict)):
        return True
    if not isinstance(side, ast.expr) or isinstance(side, ast.Constant):
        return False
    held = failure.value(side)
    given = held if held is not None else given_by(failure, failure.text(side))
    leaves = jax.tree.leaves(given) if isinstance(given, (tuple, list, dict)) else []
    return bool(leaves) and all(is_array(leaf) or isinstance(leaf, (int, float, complex)) for leaf in leaves)


def _value(failure: Failure, side: ast.expr | Choice | str) -> object:
    return failure.value(side) if isinstance(side, ast.AST) else None


def _is_number(failure: Failure, side: ast.expr | Choice | str) -> bool:
    side = side.operand if isinstance(side, ast.UnaryOp) else side
    return isinstance(_value(failure, side), (int, float, complex))


def may_be_array(failure: Failure, node: ast.expr) -> bool:
    """Text, None and functions cannot be in an array."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, (bool, int, float, complex))
    if isinstance(node, (ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Lambda, ast.JoinedStr)):
        return False
    value = failure.value(node)
    return not (isinstance(value, (str, bytes, list, tuple, dict, set)) or callable(value))
