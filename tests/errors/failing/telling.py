"""What is told of a function that JAX cannot trace, and the function with a cure in it."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap

import jax
import jax.numpy as jnp
import pytest
from errors.failing import CASES

import jaxviz as jv


@functools.cache
def failed(name):
    """The error of a case, and what explains it, made once for all tests of a process."""
    error, shown = failed_anew(name)
    return error.with_traceback(None), shown


def failed_anew(name):
    """The same, made now, with its traceback."""
    one = CASES[name]
    try:
        jv.explore(one.fn, *one.args)
    except Exception as error:
        return error, error.jaxviz
    raise AssertionError(f"{name} could be traced")


def all_words(told) -> str:
    return "\n".join([told.title, told.reason, *(f"{cure.text}\n{cure.code}" for cure in told.cures)])


def cures_of(fn, *args):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        jv.explore(fn, *args)
    return caught.value.jaxviz.explanation.cures


def mended(fn, line, code, instead=""):
    """A function in which a cure stands in place of the statement on a line, or of what `instead` says."""
    source, first = inspect.getsourcelines(fn)
    text = textwrap.dedent("".join(source))
    tree = ast.parse(text)
    (function,) = tree.body
    function.decorator_list = []
    (body, first_place), last_place = _place(function, line - first + 1, instead)
    body[first_place : last_place + 1] = ast.parse(code).body
    names = {"jax": jax, "jnp": jnp, **fn.__globals__}
    exec(compile(ast.fix_missing_locations(tree), "<mended>", "exec"), names)
    return names[fn.__name__]


def _place(function, line, instead):
    """The list of statements in which a cure goes, and the first and the last that it stands for."""
    blocks = [getattr(node, "body", None) for node in ast.walk(function)]
    places = [
        (block, place)
        for block in blocks
        if isinstance(block, list)
        for place, statement in enumerate(block)
        if isinstance(statement, ast.stmt) and statement.lineno <= line <= statement.end_lineno
    ]
    if not instead:
        # The statement of the function itself; a cure speaks of all of it.
        return places[0], places[0][1]
    if instead == "rest":
        block, place = next(one for one in reversed(places) if isinstance(one[0][one[1]], ast.If))
        return (block, place), len(block) - 1
    if instead in ("loop", "loop and rest"):
        block, place = next(one for one in reversed(places) if isinstance(one[0][one[1]], (ast.For, ast.While)))
        return (block, place), place if instead == "loop" else len(block) - 1
    (inner,) = [node for node in ast.walk(function) if isinstance(node, ast.FunctionDef) and node.name == instead]
    return (inner.body, len(inner.body) - 1), len(inner.body) - 1
