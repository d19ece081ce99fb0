"""Cures tried before they are told: traced where the error came, with stand-ins for the values that were at hand there.

Only code that is known to change nothing outside of itself is run: functions of JAX and NumPy, methods of arrays, and
functions of the person that are made of these. What cannot be tried counts as what may work.
"""

from __future__ import annotations

import ast
import builtins
import math
import types
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import jax
import numpy as np

from jaxviz.errors.failure import Failure, is_array
from jaxviz.errors.source import definition_of, names_assigned, names_read

#: Names that a cure may use where the person's code has not imported them.
USUAL = {"jax": jax, "jnp": jax.numpy, "np": np, "math": math, "lax": jax.lax}

# Functions that the person's functions call are looked into so deep.
_DEEPEST = 4
# None of those that go along what they are given, which may be an array of any length.
_BUILTINS = {
    *("abs", "bool", "callable", "complex", "dict", "divmod", "float", "int", "isinstance", "len", "pow", "range"),
    *("round", "slice"),
}
_LIBRARIES = ("jax", "jaxlib", "numpy", "math", "operator", "functools", "itertools")
# Functions of these that change what holds for all, or files.
_OUTWARD = {"config", "profiler", "distributed", "monitoring", "save", "savez", "savetxt", "tofile", "seed", "update"}
# Code with loops of its own may take long, and with the others it reaches out of itself.
_UNTRIED = (
    *(ast.For, ast.While, ast.With, ast.Try, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ClassDef),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Delete, ast.Raise, ast.AsyncFunctionDef),
)
_METHODS = {name for kind in (jax.Array, np.ndarray) for name in dir(kind) if not name.startswith("_")}
_METHODS |= {"set", "add", "multiply", "divide", "power", "min", "max", "apply", "get", "items", "values", "keys"}
_METHODS -= {"tofile", "dump", "setfield", "fill", "resize", "put", "delete"}
# Errors that the same code gives whenever it stands there.
_SURE = (TypeError, ValueError, IndexError, AttributeError, NotImplementedError)


def cannot_work(failure: Failure, code: str) -> bool:
    """Whether code that stands where the error came is sure to fail, for the shapes and types that were there."""
    return _tried(failure, code)[0] is False


def given_by(failure: Failure, text: str) -> Any | None:
    """What an expression gives where the error came, as a tree of shapes and types; None where that is not known."""
    worked, given = _tried(failure, f"return {text}")
    return given if worked else None


def _tried(failure: Failure, code: str) -> tuple[bool | None, Any]:
    """Whether code could be traced, and what it gave; neither is known where it must not be run."""
    place = failure.place
    tree: ast.Module | None = None
    with suppress(SyntaxError, ValueError):
        tree = ast.parse(code)
    if place is None or tree is None:
        return None, None
    around = {**USUAL, **place.frame.f_globals, **failure.variables}
    names = {name: around[name] for name in names_read(tree) if name in around}
    if not _is_harmless(tree, names, (), _DEEPEST):
        return None, None
    traced = {name: value for name, value in names.items() if _is_traced(value)}
    try:
        stand_ins = jax.tree.map(_stand_in, traced)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return True, jax.eval_shape(lambda values: _run(tree, {**names, **values}), stand_ins)
    except jax.errors.UnexpectedTracerError:
        return None, None
    except _SURE:
        return False, None
    except Exception:  # Names of another place, trees of an unusual kind: nothing is learned of the code.
        return None, None


def _is_traced(value: Any) -> bool:
    with suppress(Exception):
        return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(value))
    return False


def _stand_in(leaf: Any) -> Any:
    if not is_array(leaf):
        return leaf
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=bool(getattr(leaf, "weak_type", False)))


def _run(tree: ast.Module, names: Mapping[str, Any]) -> Any:
    """What code returns, with what is neither an array nor a number left out."""
    function = ast.FunctionDef(
        name="tried",
        args=ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, []),
        body=tree.body,
        decorator_list=[],
    )
    space: dict[str, Any] = {}
    exec(compile(ast.fix_missing_locations(ast.Module([function], [])), "<a cure>", "exec"), space)
    given = space["tried"](**names)
    return jax.tree.map(lambda leaf: leaf if is_array(leaf) or isinstance(leaf, (int, float, complex)) else None, given)


# What may be run.


def _is_harmless(tree: ast.AST, names: Mapping[str, Any], seen: tuple[Any, ...], deep: int) -> bool:
    own = {*names_assigned([tree]), *_defined(tree)}  # type: ignore[list-item]
    for node in ast.walk(tree):
        if isinstance(node, _UNTRIED):
            return False
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store):
            return False
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            value = _looked_up(node, names) if _root(node) not in own else None
            if callable(value) and not _may_be_called(value, seen, deep):
                return False
            if value is None and not _may_be_used(node, names, own):
                return False
    return True


def _may_be_used(node: ast.Name | ast.Attribute, names: Mapping[str, Any], own: set[str]) -> bool:
    """Whether what is not looked up is a method or a field of an array, or a name of the code itself."""
    if isinstance(node, ast.Name):
        return node.id in own or node.id in names or node.id in _BUILTINS or not hasattr(builtins, node.id)
    return node.attr in _METHODS


def _defined(tree: ast.AST) -> list[str]:
    """The names of functions in code, and of their parameters."""
    functions = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [*functions, *(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg))]


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _looked_up(node: ast.AST, names: Mapping[str, Any]) -> Any:
    """What a name stands for, and an attribute of a module; nothing is asked of other objects."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.Attribute):
        held = _looked_up(node.value, names)
        if isinstance(held, types.ModuleType):
            return getattr(held, node.attr, None)
    return None


def _may_be_called(value: Any, seen: tuple[Any, ...], deep: int) -> bool:
    value = getattr(value, "__wrapped__", value)
    name, module = getattr(value, "__name__", ""), str(getattr(value, "__module__", None) or "")
    code = getattr(value, "__code__", None)
    if isinstance(value, np.ufunc) or module.partition(".")[0] in _LIBRARIES:
        return name not in _OUTWARD and not module.startswith(("jax.profiler", "jax.distributed", "numpy.random"))
    if module == "builtins":
        return name in _BUILTINS or is_array(value)
    if code is None or not isinstance(value, types.FunctionType):
        return is_array(value)
    if any(code is other for other in seen):
        return True
    definition = definition_of(code) if deep else None
    if definition is None:
        return False
    inside = {**value.__globals__, **_closed_over(value)}
    names = {one: inside[one] for one in names_read(definition) if one in inside}
    return _is_harmless(definition, names, (*seen, code), deep - 1)


def _closed_over(function: types.FunctionType) -> dict[str, Any]:
    found = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # Not assigned yet.
            found[name] = cell.cell_contents
    return found
