"""Numbers that decide a shape, computed before the function is traced and given to it as a part of the program."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from jaxviz.errors.explanation import Cure
from jaxviz.errors.failure import Failure, is_array, last_name
from jaxviz.errors.rewriting import fresh
from jaxviz.errors.source import Source, names_assigned, names_read
from jaxviz.errors.trial import given_by

#: What stands in the failing statement in place of what, where a number has a name.
Put = Callable[[str], Mapping[ast.AST, str]]


def asked_number(failure: Failure, call: ast.Call | None) -> ast.expr | None:
    """Of what a call is given, also in tuples, the traced whole number: the size or the count that is not known."""
    given = [*call.args, *(one.value for one in call.keywords)] if call is not None else []
    parts = [part for one in given for part in (one.elts if isinstance(one, (ast.Tuple, ast.List)) else [one])]
    traced = [part for part in parts if failure.traced(part) or isinstance(failure.value(part), jax.core.Tracer)]
    # A range of floats has a length too.
    kind = jnp.number if call is not None and last_name(call.func) == "arange" else jnp.integer
    return next((part for part in reversed(traced) if _is_number(failure, part, kind)), None)


def _is_number(failure: Failure, node: ast.expr, kind: Any) -> bool:
    given = _given(failure, node)
    return is_array(given) and given.shape == () and bool(jnp.issubdtype(given.dtype, kind))


def _given(failure: Failure, node: ast.AST) -> Any:
    held = failure.value(node)
    return held if is_array(held) else given_by(failure, failure.text(node))


def computed_before(failure: Failure, number: ast.expr | None) -> tuple[Cure, ...]:
    """The explored function with a number, which is computed of its arguments, as a static argument, and the number
    computed where the function is called."""
    statement = failure.statement
    if number is None:
        return ()
    if isinstance(number, ast.Name):
        return asked_before(failure, number.id, number.id, lambda name: {})
    target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is number else None
    if isinstance(target, ast.Name):
        return asked_before(failure, failure.text(number), target.id, None)
    names = ("size", "count") if _is_number(failure, number, jnp.integer) else ("stop", "last")
    return asked_before(failure, failure.text(number), fresh(failure, *names), lambda name: {number: name})


def asked_before(failure: Failure, number: str, name: str, put: Put | None) -> tuple[Cure, ...]:
    """The same for a number that is written so; without `put`, the failing statement is what gives it its name."""
    statement, source = failure.statement, failure.source
    around = source.around(statement) if source is not None and statement is not None else []
    function: Any = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
    if source is None or statement is None or not _is_explored(failure, function, source):
        return ()
    if isinstance(source.parent(function), ast.ClassDef) or (put is not None and hasattr(statement, "body")):
        return ()
    given = [one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)]
    if name in given:
        return ()
    received, passed = _with_parameter(failure, function.args, name)
    asked_for: Any = given_by(failure, number)
    kind = "float" if is_array(asked_for) and jnp.issubdtype(asked_for.dtype, jnp.floating) else "int"
    made = _made_of(function, statement, names_read(ast.parse(number)), given)
    if made is None:
        return ()
    naming = [one for one in made if isinstance(one, ast.Assign) and names_assigned([one]) == [name]]
    if naming:
        number = source.text(naming[0].value)
        made.remove(naming[0])
    # What gives the number its name is not done again, nor what only led there.
    body = _without(function.body, [statement] if put is None else [*naming], made)
    changes = dict(put(name)) if put is not None else {}
    lines = [f"def {function.name}({received}):"]
    for one in body:
        text = source.replaced(one, changes) if changes and one in around else source.text(one)
        lines += [f"    {line}" for line in text.splitlines()]
    before = [source.text(one) for one in made]
    asked = f"{name} = {number if _is_int(number) else f'{kind}({number})'}"
    call = f'jax.jit({function.name}, static_argnames="{name}")({passed})'
    code = "\n".join([*lines, "", *before, asked, f"result = {call}"])
    text = "Compute it before, where there are numbers, and make it static; JAX then compiles once for each:"
    return (Cure(text, code, inside=False),)


def explored_with(failure: Failure, text: str) -> str:
    """The explored function in which the failing statement reads differently; empty where that stands elsewhere."""
    statement, source = failure.statement, failure.source
    around = source.around(statement) if source is not None and statement is not None else []
    function: Any = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
    if source is None or statement is None or not _is_explored(failure, function, source):
        return ""
    is_method = isinstance(source.parent(function), ast.ClassDef)
    return "" if is_method or not failure.name.isidentifier() else source.replaced(function, {statement: text})


def _with_parameter(failure: Failure, arguments: ast.arguments, name: str) -> tuple[str, str]:
    """How a function is defined and called that takes one thing more, by its name where others may be left out."""
    plain = [one.arg for one in [*arguments.posonlyargs, *arguments.args] if failure.was_given(one.arg)]
    named = [one.arg for one in arguments.kwonlyargs if failure.was_given(one.arg)]
    if not (arguments.vararg or arguments.kwarg or arguments.defaults or arguments.kwonlyargs):
        return f"{ast.unparse(arguments)}, {name}", ", ".join([*plain, name])
    more = copy.deepcopy(arguments)
    more.kwonlyargs.append(ast.arg(name))
    more.kw_defaults.append(None)
    others = [f"*{arguments.vararg.arg}"] if arguments.vararg is not None else []
    others += [f"{one}={one}" for one in [*named, name]]
    others += [f"**{arguments.kwarg.arg}"] if arguments.kwarg is not None else []
    return ast.unparse(more), ", ".join([*plain, *others])


def _is_int(number: str) -> bool:
    made = ast.parse(number, mode="eval").body
    return isinstance(made, ast.Call) and last_name(made.func) == "int"


def _made_of(function: ast.FunctionDef, at: ast.stmt, names: list[str], given: list[str]) -> list[ast.stmt] | None:
    """The assignments of a function, in order, of which names are made at a place in it; None where they are made of
    no argument, or in another way than by one assignment each."""
    inside: list[ast.stmt] = [one for one in ast.walk(function) if isinstance(one, ast.stmt) and one is not function]
    assigned = {name: [one for one in inside if name in _assigned_by(one)] for name in names_assigned(function.body)}
    found: list[ast.stmt] = []
    waiting, seen, of_arguments = list(names), set(names), False
    while waiting:
        name = waiting.pop()
        makers = [one for one in assigned.get(name, []) if one is not at]
        of_arguments = of_arguments or name in given
        if not makers:
            continue
        (maker, *more) = makers
        simple = isinstance(maker, ast.Assign) and maker in function.body and maker.lineno < at.lineno
        if more or name in given or not simple:
            return None
        if maker not in found:
            found.append(maker)
        read = [one for one in names_read(maker) if one not in seen]
        seen |= {*read}
        waiting += read
    return sorted(found, key=lambda one: one.lineno) if of_arguments else None


def _assigned_by(statement: ast.stmt) -> list[str]:
    """The names that a statement itself assigns: of a block, those at its head."""
    heads = [getattr(statement, name) for name in ("target", "targets", "items") if hasattr(statement, name)]
    nodes = [one for head in heads for one in (head if isinstance(head, list) else [head])]
    return [
        one.id
        for node in nodes
        for one in ast.walk(node)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    ]


def _without(body: list[ast.stmt], left_out: list[ast.stmt], made: list[ast.stmt]) -> list[ast.stmt]:
    """Statements without some of them, and without those of `made` that then give what nothing reads."""
    kept = [one for one in body if one not in left_out]
    for one in reversed(made):
        read = {name for other in kept if other is not one for name in names_read(other)}
        if one in kept and not read & {*names_assigned([one])}:
            kept.remove(one)
    return kept


def _is_explored(failure: Failure, function: Any, source: Source) -> bool:
    """Whether a definition is that of the explored function, by which it is called."""
    code: Any = getattr(getattr(failure.fn, "__wrapped__", failure.fn), "__code__", None)
    same = code is not None and (code.co_filename, code.co_name) == (source.path, getattr(function, "name", ""))
    return same and isinstance(function, ast.FunctionDef) and function is source.function_at(code.co_firstlineno)
