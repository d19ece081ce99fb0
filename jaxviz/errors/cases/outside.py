"""Numbers that decide a shape, computed before the function is traced and given to it as a part of the program."""

from __future__ import annotations

import ast
from typing import Any

from jaxviz.errors.explanation import Cure
from jaxviz.errors.failure import Failure
from jaxviz.errors.source import Source, names_assigned, names_read


def computed_before(failure: Failure, number: ast.expr) -> tuple[Cure, ...]:
    """For `n = int(x.sum())` at the beginning of the explored function, or after what it does not need: the function
    with `n` as a static argument, and the number computed where it is called."""
    statement, source = failure.statement, failure.source
    function: Any = source.parent(statement) if source is not None and statement is not None else None
    if source is None or not isinstance(statement, ast.Assign) or not _is_explored(failure, function, source):
        return ()
    target, names = statement.targets[0], function.args
    given = [one.arg for one in (*names.posonlyargs, *names.args)]
    if not isinstance(target, ast.Name) or statement.value is not number or names.vararg or names.kwarg:
        return ()
    before = {*names_assigned(function.body), *given, *(one.arg for one in names.kwonlyargs)}
    if not before & {*names_read(number)} <= {*given} - {*names_assigned(function.body)}:
        return ()
    if names.defaults or names.kwonlyargs or names.posonlyargs:
        return ()
    body = [source.text(one) for one in function.body if one is not statement]
    lines = [f"def {function.name}({', '.join([*given, target.id])}):"]
    lines += [f"    {line}" for part in body for line in part.splitlines()]
    call = f'jax.jit({function.name}, static_argnames="{target.id}")({", ".join([*given, target.id])})'
    code = "\n".join([*lines, "", source.text(statement), f"result = {call}"])
    text = "Compute it before, where there are numbers, and make it static; JAX then compiles once for each:"
    return (Cure(text, code, inside=False),)


def _is_explored(failure: Failure, function: Any, source: Source) -> bool:
    """Whether a definition is that of the explored function, by which it is called."""
    code: Any = getattr(getattr(failure.fn, "__wrapped__", failure.fn), "__code__", None)
    same = code is not None and (code.co_filename, code.co_name) == (source.path, getattr(function, "name", ""))
    return same and isinstance(function, ast.FunctionDef) and function is source.function_at(code.co_firstlineno)
