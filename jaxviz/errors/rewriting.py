"""Code of the person in which a part reads differently, wherever in the file that part stands."""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Mapping
from typing import Any

from jaxviz.errors.failure import Failure
from jaxviz.errors.source import names_read


def rewritten(failure: Failure, node: ast.AST, text: str) -> str:
    """The statement that holds a node, in which it reads differently: of a body that is a function by itself its
    `return`, of a lambda the statement in which it stands."""
    source = failure.source
    if source is None:
        return text
    statement = next((one for one in source.around(node) if isinstance(one, ast.stmt)), None)
    if statement is None or hasattr(statement, "body"):
        return text
    return source.replaced(statement, {node: text})


def all_rewritten(failure: Failure, changes: Mapping[ast.AST, str]) -> str:
    """Several nodes rewritten, wherever in the file they stand: the statements that hold them, one below the other."""
    source = failure.source
    if source is None:
        return ""
    by_statement: dict[ast.AST, dict[ast.AST, str]] = {}
    for node, text in changes.items():
        holding = next(one for one in source.around(node) if isinstance(one, ast.stmt))
        by_statement.setdefault(holding, {})[node] = text
    parts = []
    for statement, inside in by_statement.items():
        function = next((one for one in source.around(statement) if isinstance(one, ast.FunctionDef)), None)
        where = f"# in {function.name}\n" if len(by_statement) > 1 and function is not None else ""
        parts.append(where + source.replaced(statement, inside))
    failed = failure.statement
    if failed is not None and all(isinstance(one, ast.Assign) and one is not failed for one in by_statement):
        # The branches stand in a list that was made before.
        parts.append(failure.text(failed))
    return "\n".join(parts)


def known_beside(failure: Failure, node: ast.AST) -> bool:
    """Whether all that an expression reads is known where the failing statement stands, and in the functions in it."""
    place = failure.place
    if place is None:
        return False
    around = {*failure.variables, *place.frame.f_globals, *dir(builtins)}
    return all(name in around for name in names_read(node))


def parameters(function: Any | None) -> list[str]:
    """The names of the parameters of a definition or a lambda."""
    return [argument.arg for argument in function.args.args] if function is not None else []


def fresh(failure: Failure, *wanted: str) -> str:
    """The first of these names that is not taken."""
    return next((name for name in wanted if name not in failure.variables), f"{wanted[-1]}_")


def grouped(text: str, node: ast.AST) -> str:
    """A part as one operand of something else."""
    simple = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.List, ast.Dict)
    if isinstance(node, simple) or (isinstance(node, ast.Tuple) and text.startswith("(")):
        return text
    return f"({text})"


def with_keyword(failure: Failure, call: ast.Call, name: str, text: str) -> str:
    """A call in which one keyword reads differently; it is left out where that is empty."""
    source = failure.source
    parts = [source.text(one) if source is not None else ast.unparse(one) for one in call.args]
    kept = [one for one in call.keywords if one.arg != name]
    parts += [f"{one.arg}={failure.text(one.value)}" if one.arg else f"**{failure.text(one.value)}" for one in kept]
    parts += [f"{name}={text}"] if text else []
    return f"{failure.text(call.func)}({', '.join(parts)})"


def called(failure: Failure, function: ast.AST) -> str:
    """A function as it is called where it stands: what is no name goes in brackets."""
    text = failure.text(function)
    return text if isinstance(function, (ast.Name, ast.Attribute, ast.Call)) else f"({text})"


def explored_again(failure: Failure, static: str) -> str:
    """The line that explores the same call with these arguments static, to stand below other code; empty where the
    call is one that nobody could type."""
    return f"\n%jaxviz --static {static} {failure.call}" if failure.is_typed else ""


def lines_of(failure: Failure, statements: list[ast.stmt]) -> list[str]:
    """The lines of statements, as they are written."""
    return [line for statement in statements for line in failure.text(statement).splitlines()]


def indented(lines: list[str]) -> list[str]:
    return textwrap.indent("\n".join(lines), "    ").splitlines()
