"""Cures tried before they are told: traced where the error came, with stand-ins for the values that were at hand there.

Only code that is known to change nothing outside of itself is run (`harmless.py`). What cannot be tried counts as what
may work.
"""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import jax
import numpy as np

from jaxviz.arrays import is_array
from jaxviz.errors.failure import Failure
from jaxviz.errors.harmless import is_harmless
from jaxviz.errors.source import names_read

#: Names that a cure may use where the person's code has not imported them.
USUAL = {"jax": jax, "jnp": jax.numpy, "np": np, "math": math, "lax": jax.lax}

# Errors that the same code gives whenever it stands there.
_SURE = (TypeError, ValueError, IndexError, AttributeError, NotImplementedError, RecursionError)


def cannot_work(failure: Failure, code: str) -> bool:
    """Whether code that stands where the error came is sure to fail, for the shapes and types that were there."""
    return _tried(failure, code)[0] is False


def given_by(failure: Failure, text: str) -> Any | None:
    """What an expression gives where the error came, as a tree of shapes and types; None where that is not known."""
    worked, given = _tried(failure, f"return {text}")
    return given if worked else None


def can_be_called(function: Callable[..., Any], args: Sequence[Any]) -> bool:
    """Whether a function is known to take arguments of these shapes and types."""
    if not is_harmless(ast.parse("function"), {"function": function}):
        return False
    with suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        jax.eval_shape(function, *jax.tree.map(_stand_in, list(args)))
        return True
    return False


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Old names of a library warn when they are looked up.
        if not is_harmless(tree, names):
            return None, None
    names = {name: _copied(value) for name, value in names.items()}
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
    except Exception as error:  # Names of another place, trees of an unusual kind: nothing is learned of the code.
        # Of arrays over explicit axes, as sure as a shape; JAX does not give the class a public name.
        return (False if type(error).__name__ == "ShardingTypeError" else None), None


def _copied(value: Any) -> Any:
    """The same value, of which nothing of the person's changes where it is written into."""
    if type(value) is np.ndarray:
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(map(_copied, value))
    return {key: _copied(one) for key, one in value.items()} if type(value) is dict else value


def _is_traced(value: Any) -> bool:
    with suppress(Exception):
        return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(value))
    return False


def _stand_in(leaf: Any) -> Any:
    if not is_array(leaf):
        return leaf
    weak = bool(getattr(leaf, "weak_type", False))
    sharding = getattr(getattr(leaf, "aval", None), "sharding", None)
    # Over axes that are explicit, it is a part of the type.
    explicit = any(getattr(sharding, "spec", None) or ())
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=weak, sharding=sharding if explicit else None)


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
