"""Numbers that decide a shape, computed before the function is traced and given to it as a part of the program."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Mapping
from keyword import iskeyword
from typing import Any

import jax
import jax.numpy as jnp

from jaxviz.arrays import is_array
from jaxviz.errors.cases.values import without_shapes
from jaxviz.errors.explanation import Cure
from jaxviz.errors.failure import Failure, last_name
from jaxviz.errors.rewriting import fresh
from jaxviz.errors.source import Source, names_assigned, names_read
from jaxviz.errors.trial import given_by


def asked_number(failure: Failure, call: ast.Call | None) -> ast.expr | None:
    """Of what a call is given, also in tuples, the traced whole number: the size or the count that is not known."""
    return next(iter(asked_numbers(failure, call)), None)


def asked_numbers(failure: Failure, call: ast.Call | None) -> list[ast.expr]:
    """The last of them, and those that stand in one tuple with it."""
    given = [*call.args, *(one.value for one in call.keywords)] if call is not None else []
    # A range of floats has a length too.
    kind = jnp.number if call is not None and last_name(call.func) == "arange" else jnp.integer
    for one in reversed(given):
        parts = one.elts if isinstance(one, (ast.Tuple, ast.List)) else [one]
        found = [part for part in parts if _is_traced(failure, part) and _is_number(failure, part, kind)]
        if found:
            return found
    return []


def is_whole_number(failure: Failure, node: ast.expr) -> bool:
    """Whether an expression is one traced whole number."""
    return _is_traced(failure, node) and _is_number(failure, node, jnp.integer)


def _is_traced(failure: Failure, node: ast.expr) -> bool:
    """Whether an expression is made of the entries of what is traced, or JAX makes it of a shape."""
    if failure.traced(without_shapes(node)) or isinstance(failure.value(node), jax.core.Tracer):
        return True
    return bool(failure.traced(node)) and isinstance(_given(failure, node), (jax.Array, jax.ShapeDtypeStruct))


def _is_number(failure: Failure, node: ast.expr, kind: Any) -> bool:
    given = _given(failure, node)
    return is_array(given) and given.shape == () and bool(jnp.issubdtype(given.dtype, kind))


def _given(failure: Failure, node: ast.AST) -> Any:
    held = failure.value(node)
    return held if is_array(held) else given_by(failure, failure.text(node))


def computed_before(failure: Failure, *numbers: ast.expr | None) -> tuple[Cure, ...]:
    """The explored function with numbers, which are computed of its arguments, as static arguments, and the numbers
    computed where the function is called."""
    statement = failure.statement
    asked: dict[str, str] = {}
    changes: dict[ast.AST, str] = {}
    for number in numbers:
        if number is None:
            return ()
        target = statement.targets[0] if isinstance(statement, ast.Assign) and statement.value is number else None
        if isinstance(target, ast.Name):
            return asked_before(failure, {target.id: failure.text(number)}, None)
        name = failure.text(number)
        if not isinstance(number, ast.Name):
            name = changes[number] = fresh(failure, *_names_of(failure, number, asked))
        asked[name] = failure.text(number)
    return asked_before(failure, asked, changes)


def _names_of(failure: Failure, number: ast.expr, taken: Iterable[str]) -> list[str]:
    """Names for a number, the best first: the key of an entry has one already."""
    key = number.slice.value if isinstance(number, ast.Subscript) and isinstance(number.slice, ast.Constant) else None
    names = [key] if isinstance(key, str) and key.isidentifier() and not iskeyword(key) else []
    names += ["size", "count", "length"] if _is_number(failure, number, jnp.integer) else ["stop", "last"]
    return [name for name in names if name not in taken]


def asked_before(failure: Failure, asked: Mapping[str, str], changes: Mapping[ast.AST, str] | None) -> tuple[Cure, ...]:
    """The same for numbers that are written so, by their names. `changes` are what stands in the failing statement
    in place of what; without them, that statement is what gives the number its name."""
    statement, source = failure.statement, failure.source
    around = source.around(statement) if source is not None and statement is not None else []
    function: Any = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
    if source is None or statement is None or not asked or not _is_explored(failure, function, source):
        return ()
    # Of a loop, what it goes along is asked once, before its turns.
    in_turns = hasattr(statement, "body") and not isinstance(statement, ast.For)
    if isinstance(source.parent(function), ast.ClassDef) or (changes is not None and in_turns):
        return ()
    given = [one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)]
    # A number of Python that is an argument is made static as it is.
    known = [name for name in asked if name in given and failure.static_among([name])]
    new = {name: number for name, number in asked.items() if name not in known}
    if not new or any(name in given for name in new):
        return ()
    numbers, made, left_out = [], list[ast.stmt](), list[ast.stmt]()
    for name, number in new.items():
        of = _made_of(function, statement, names_read(ast.parse(number)), given)
        if of is None:
            return ()
        naming = [one for one in of if isinstance(one, ast.Assign) and names_assigned([one]) == [name]]
        left_out += naming
        made += [one for one in of if one not in made and one not in naming]
        text = source.text(naming[0].value) if naming else number
        numbers.append(f"{name} = {text if _is_int(text) else f'{_kind(failure, number)}({text})'}")
    made.sort(key=lambda one: one.lineno)
    received, passed = _with_parameters(failure, function.args, list(new))
    # What gives the number its name is not done again, nor what only led there.
    body = _without(function.body, [statement] if changes is None else left_out, made)
    lines = [f"def {function.name}({received}):"]
    for one in body:
        text = source.replaced(one, changes) if changes and one in around else source.text(one)
        lines += [f"    {line}" for line in text.splitlines()]
    before = [source.text(one) for one in made]
    quoted = [f'"{name}"' for name in [*known, *new]]
    names = quoted[0] if len(quoted) == 1 else f"({', '.join(quoted)})"
    call = f"jax.jit({function.name}, static_argnames={names})({passed})"
    code = "\n".join([*lines, "", *before, *numbers, f"result = {call}"])
    told = "Compute it before, where there are numbers, and make it static; JAX then compiles once for each:"
    if len(new) > 1:
        told = told.replace(" it ", " them ")
    return (Cure(told, code, inside=False),)


def _kind(failure: Failure, number: str) -> str:
    """What of Python a number becomes."""
    given: Any = given_by(failure, number)
    return "float" if is_array(given) and jnp.issubdtype(given.dtype, jnp.floating) else "int"


def explored_with(failure: Failure, text: str) -> str:
    """The explored function in which the failing statement reads differently; empty where that stands elsewhere."""
    statement, source = failure.statement, failure.source
    around = source.around(statement) if source is not None and statement is not None else []
    function: Any = next((one for one in around if isinstance(one, ast.FunctionDef)), None)
    if source is None or statement is None or not _is_explored(failure, function, source):
        return ""
    is_method = isinstance(source.parent(function), ast.ClassDef)
    return "" if is_method or not failure.name.isidentifier() else source.replaced(function, {statement: text})


def _with_parameters(failure: Failure, arguments: ast.arguments, names: list[str]) -> tuple[str, str]:
    """How a function is defined and called that takes more, by the names where others may be left out."""
    plain = [one.arg for one in [*arguments.posonlyargs, *arguments.args] if failure.was_given(one.arg)]
    named = [one.arg for one in arguments.kwonlyargs if failure.was_given(one.arg)]
    if not (arguments.vararg or arguments.kwarg or arguments.defaults or arguments.kwonlyargs):
        return ", ".join([ast.unparse(arguments), *names]), ", ".join([*plain, *names])
    more = copy.deepcopy(arguments)
    more.kwonlyargs += [ast.arg(name) for name in names]
    more.kw_defaults += [None] * len(names)
    others = [f"*{arguments.vararg.arg}"] if arguments.vararg is not None else []
    others += [f"{one}={one}" for one in [*named, *names]]
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
