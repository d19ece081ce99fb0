"""The functions that are given to loops and branches, as they are written."""

from __future__ import annotations

import ast
from typing import Any

from jaxviz.errors.failure import Failure, parameters_of
from jaxviz.errors.source import definition_of, names_assigned


def function_given(failure: Failure, given: ast.AST | None) -> Any | None:
    """The definition of a function that was passed, where it stands in the same file."""
    if given is None or failure.source is None:
        return None
    if isinstance(given, ast.Lambda):
        return given
    held = failure.value(given)
    code: Any = getattr(getattr(held, "__wrapped__", held), "__code__", None)
    same = code is not None and code.co_filename == failure.source.path
    if held is None and isinstance(given, ast.Name):
        return _inside(failure, given)
    return failure.source.own(definition_of(code)) if same else None


def written_out(failure: Failure, node: ast.AST | None) -> list[ast.expr]:
    """The entries of a list or a tuple, where it is written or where the name that it has was assigned, once."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return node.elts
    made = assigned(failure, node)
    return made.value.elts if made is not None and isinstance(made.value, (ast.List, ast.Tuple)) else []


def assigned(failure: Failure, node: ast.AST | None) -> ast.Assign | None:
    """The statement that gave a name its value, or an attribute of an object in a method of its class, if it is one."""
    source = failure.source
    if source is None or source.tree is None:
        return None
    around = source.around(node) if node is not None else []
    if isinstance(node, ast.Attribute):
        classes = [one for one in around if isinstance(one, ast.ClassDef)]
        inside = [one for one in ast.walk(classes[0]) if isinstance(one, ast.Assign)] if classes else []
        found = [one for one in inside if any(_is_attribute(target, node.attr) for target in one.targets)]
        return found[0] if len(found) == 1 else None
    if not isinstance(node, ast.Name):
        return None
    functions = [one for one in around if isinstance(one, ast.FunctionDef)]
    for scope in (*functions, source.tree):
        found = [one for one in _own(scope) if isinstance(one, ast.Assign) and names_assigned([one]) == [node.id]]
        if found:
            return found[0] if len(found) == 1 else None
    return None


def _is_attribute(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name


def _own(scope: ast.AST) -> list[ast.stmt]:
    """The statements of a function or a module, without those of the functions in it."""
    found: list[ast.stmt] = []
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.stmt):
            found.append(node)
            if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found += _own(node)
    return found


def _inside(failure: Failure, given: ast.Name) -> ast.FunctionDef | None:
    """The definition of a name that is known in another function alone: that of the function around it."""
    source = failure.source
    for around in source.around(given) if source is not None else []:
        for node in getattr(around, "body", []) if isinstance(around, ast.FunctionDef) else []:
            if isinstance(node, ast.FunctionDef) and node.name == given.id:
                return node
    return None


def result_of(function: Any | None) -> ast.expr | None:
    """What a function gives: the value of a lambda, or that of the last return of its own."""
    if isinstance(function, ast.Lambda):
        return function.body
    returns = _returns(function) if function is not None else []
    return returns[-1].value if returns else None


def _returns(function: ast.AST) -> list[ast.Return]:
    """Those of a function itself, not of the functions in it."""
    found: list[ast.Return] = []
    for node in ast.iter_child_nodes(function):
        if isinstance(node, ast.Return):
            found.append(node)
        elif not isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            found += _returns(node)
    return found


def gives_nothing(function: Any) -> bool:
    """Whether a function has no return, or gives None."""
    result = result_of(function)
    return result is None or (isinstance(result, ast.Constant) and result.value is None)


def argument(call: ast.Call | None, place: int, *names: str) -> ast.expr | None:
    """What a call is given at a place, or under one of these names."""
    if call is None:
        return None
    named = next((keyword.value for keyword in call.keywords if keyword.arg in names), None)
    return named or (call.args[place] if len(call.args) > place else None)


def parameter_of(failure: Failure, call: ast.Call | None, name: str) -> ast.expr | None:
    """What a call is given for a parameter of the function that it calls, by place or by name."""
    function = failure.value(call.func) if call is not None else None
    if function is None:
        return None
    names = parameters_of(function)
    return argument(call, names.index(name), name) if name in names else None
