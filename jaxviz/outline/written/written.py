"""What a person wrote around an expression: the text of its statement, the head of its loop, what it is assigned to."""

from __future__ import annotations

import ast

from jaxviz.outline.written.source import Source


def written(source: Source, statement: ast.stmt) -> tuple[tuple[int, int, int], str]:
    """Where a statement is, and its text: of a block, only its head. Several may stand on one line."""
    first, column = source.line_of(statement), statement.col_offset
    if isinstance(statement, (ast.For, ast.While, ast.If, ast.With, ast.FunctionDef, ast.ClassDef)):
        return (first, column, first), source.segment((first, column, first, 10_000)).rstrip(": ")
    text = _computed(source, statement) or source.text_of(statement)
    return (first, column, source.end_line_of(statement)), text.removeprefix("return ")


def _computed(source: Source, statement: ast.stmt) -> str:
    """Of a statement that returns several things, those that are not only handed on: they were computed elsewhere."""
    value = statement.value if isinstance(statement, ast.Return) else None
    if not isinstance(value, ast.Tuple):
        return ""
    computed = [one for one in value.elts if not only_names(one)]
    return ", ".join(map(source.text_of, computed)) if len(computed) < len(value.elts) else ""


def only_names(node: ast.AST) -> bool:
    """Whether an expression does nothing but name values: `x`, `(x, state.key)`, `None`."""
    return all(
        isinstance(one, (ast.Name, ast.Attribute, ast.Constant, ast.Tuple, ast.List, ast.expr_context))
        for one in ast.walk(node)
    )


def loop_head(source: Source, loop: ast.AST | None) -> str:
    if isinstance(loop, ast.For):
        return f"for {source.text_of(loop.target)} in {source.text_of(loop.iter)}"
    if isinstance(loop, ast.While):
        return f"while {source.text_of(loop.test)}"
    if isinstance(loop, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)):
        turn = loop.generators[0]
        return f"for {source.text_of(turn.target)} in {source.text_of(turn.iter)}"
    return ""


def assigned_to(statement: ast.stmt, node: ast.AST | None) -> str:
    """What a statement assigns the value of an expression to: `b`, also where `b` is one of `a, b = f(x), g(y)`."""
    value = getattr(statement, "value", None)
    target = (getattr(statement, "targets", None) or [getattr(statement, "target", None)])[0]
    if node is None or target is None:
        return ""
    if value is node or _handed_on(value) is node:
        return ast.unparse(target)
    if not isinstance(value, (ast.Tuple, ast.List)) or not isinstance(target, (ast.Tuple, ast.List)):
        return ""
    if len(value.elts) != len(target.elts) or any(isinstance(one, ast.Starred) for one in value.elts + target.elts):
        return ""
    return next((ast.unparse(one) for one, made in zip(target.elts, value.elts, strict=True) if made is node), "")


def _handed_on(value: ast.AST | None) -> ast.AST | None:
    """What a call only hands on: `logprob(reference)` of `stop_gradient(logprob(reference))`."""
    if isinstance(value, ast.Call) and len(value.args) == 1 and ast.unparse(value.func).endswith("stop_gradient"):
        return value.args[0]
    return None
