"""What a function calls its results, by its return statement: `return state, loss` gives `state['w']` and `loss`.

JAX knows a result by its path, `result[0]['w']`. Several return statements give a name where all of them agree.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

from jaxviz.compat import JAX_FOLDERS, is_jitted
from jaxviz.program.specialization import innermost, is_partial, wrapped
from jaxviz.read.definitions import Definition, definition_of
from jaxviz.read.parts import steps_of

_OF_RESULT = re.compile(r"result(?![^[.])")

# Functions of JAX around one of the person's that give what that gives, by the names of their code: those of `vmap` and
# `checkpoint`. Private; so from 0.6 to 0.12.
_HANDS_ON = frozenset({"vmap_f", "fun_remat"})
# Classes of libraries whose objects do so.
_HANDING_ON = frozenset({"custom_jvp", "custom_vjp", "_JitWrapper", "JitFn", "JitWrapped", "VmapFn"})

# What only changes the container of what it is given.
_CONTAINERS = frozenset({"tuple", "list"})
# Functions that call functions that call functions: how far results are followed.
_MOST_CALLS = 4
# What is longer is no name.
_LONGEST = 32


def names_of_results(function: Any, paths: Sequence[str]) -> tuple[str, ...]:
    """For each path of a result what the function calls it, empty where it has no name of its own.

    >>> names_of_results(lambda x: 2 * x, ["result"])
    ('',)
    """
    returned = _returned(function, _MOST_CALLS)
    return tuple(
        _agreed([_named(value, steps_of(path)) for value in returned]) if _OF_RESULT.match(path) else ""
        for path in paths
    )


def _agreed(names: Sequence[str]) -> str:
    return names[0] if names and all(name == names[0] for name in names) else ""


def _returned(function: Any, calls: int) -> list[ast.expr]:
    """The expressions of which a call of the function gives one; none where that is not known.

    A function that gives what another one gives, as decorators and wrappers do, gives the expressions of that.
    """
    for layer in wrapped(function):
        if is_jitted(layer) or is_partial(layer) or inspect.ismethod(layer) or type(layer).__name__ in _HANDING_ON:
            continue
        own = layer if isinstance(layer, FunctionType) else innermost(type(layer).__call__)
        if not isinstance(own, FunctionType):
            return []
        code = own.__code__
        if code.co_filename.startswith(JAX_FOLDERS):
            if _hands_on(own):
                continue
            return []
        definition = definition_of(code.co_filename, code.co_firstlineno, code.co_name)
        returned = list(_returns(definition)) if definition is not None else []
        called = _variable(own, returned[0].func) if len(returned) == 1 and isinstance(returned[0], ast.Call) else None
        if called is None or calls == 0:
            return returned
        return _returned(called, calls - 1) or returned
    return []


def _hands_on(function: FunctionType) -> bool:
    """Whether a function of JAX, or the one that it shortens tracebacks for, gives what the person's function gives."""
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    codes = [function.__code__, *(one.__code__ for one in held if isinstance(one, FunctionType))]
    return any(code.co_filename.startswith(JAX_FOLDERS) and code.co_name in _HANDS_ON for code in codes)


def _variable(function: FunctionType, node: ast.expr) -> Callable[..., Any] | None:
    """The function that a variable of another one means; None where that is not known."""
    if not isinstance(node, ast.Name):
        return None
    free = function.__code__.co_freevars
    try:
        if node.id in free and function.__closure__ is not None:
            found = function.__closure__[free.index(node.id)].cell_contents
        else:
            found = function.__globals__.get(node.id)
    except ValueError:  # It was not assigned yet.
        return None
    return found if callable(found) and not isinstance(found, type) else None


def _returns(definition: Definition) -> Iterator[ast.expr]:
    """What a function returns, in the order of its statements; nothing of one that hands its values out one by one."""
    if isinstance(definition, ast.Lambda):
        yield definition.body
        return
    waiting: list[ast.AST] = list(reversed(definition.body))
    found: list[ast.expr] = []
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom)):
            return
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Return) and node.value is not None:
            found.append(node.value)
        waiting += reversed(list(ast.iter_child_nodes(node)))
    yield from found


def _named(value: ast.expr, steps: Sequence[str]) -> str:
    """The name of what lies at the end of some steps in what an expression gives; empty where it has none."""
    if isinstance(value, ast.Call) and len(value.args) == 1 and isinstance(value.func, ast.Name):
        value = value.args[0] if value.func.id in _CONTAINERS else value
    if not steps or (name := _name(value)):
        name = _name(value)
        return name + "".join(steps) if name else ""
    step, rest = steps[0], steps[1:]
    if isinstance(value, (ast.Tuple, ast.List)):
        inside = _element(value.elts, step)
        return _named(inside, rest) if inside is not None else ""
    field = _field(value, step)
    return field + "".join(rest) if field else ""


def _element(elements: Sequence[ast.expr], step: str) -> ast.expr | None:
    """The element of a tuple that a step leads to."""
    place = step[1:-1]
    if not place.isdigit() or int(place) >= len(elements):
        return None
    if any(isinstance(element, ast.Starred) for element in elements[: int(place) + 1]):
        return None
    return elements[int(place)]


def _field(value: ast.expr, step: str) -> str:
    """What a step into something that is made right there is called: a field of an object, a key of a dictionary."""
    if step.startswith(".") and isinstance(value, ast.Call):
        return step[1:]
    is_dictionary = isinstance(value, ast.Dict) or (
        isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "dict"
    )
    key = step[2:-2]
    return key if is_dictionary and step.startswith("['") and key.isidentifier() else ""


def _name(value: ast.expr) -> str:
    """A variable, or a part of one: `loss`, `aux['loss']`, `xs[-1]`."""
    if isinstance(value, ast.NamedExpr):
        return _name(value.target)
    inside: ast.expr = value
    while isinstance(inside, (ast.Attribute, ast.Subscript)):
        if isinstance(inside, ast.Subscript) and not _is_plain(inside.slice):
            return ""
        inside = inside.value
    if not isinstance(inside, ast.Name) or not inside.id.strip("_"):
        return ""
    text = ast.unparse(value).removeprefix("self.")
    return text if len(text) <= _LONGEST else ""


def _is_plain(index: ast.expr) -> bool:
    """Whether an index is written as a number or a key."""
    value = index.operand if isinstance(index, ast.UnaryOp) else index
    return isinstance(value, ast.Constant)
