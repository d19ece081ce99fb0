"""Arguments as text, for the shell and for documentation: types in the place of arrays.

`f32[128,64]`, `i32[]`, `3`, `'relu'`, `{'w': f32[3,4], 'b': f32[4]}`, `scale=f32[]`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

_TYPE = re.compile(r"\b(bool|[a-z]{1,4}\d+(?:_?[a-z0-9]+)*|float\d+|u?int\d+|complex\d+|key)\[\s*([\d,\s]*)\]")
_NAME = re.compile(r"([A-Za-z_]\w*)=(?!=)(.*)\Z", re.DOTALL)
_PREFIXES = {"f": "float", "bf": "bfloat", "i": "int", "u": "uint", "s": "int", "c": "complex"}


class ArgumentError(ValueError):
    """A text that is no argument."""


def arguments_of(texts: Sequence[str]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and named arguments.

    >>> arguments_of(["f32[2,3]", "n=4"])
    ((ShapeDtypeStruct(shape=(2, 3), dtype=float32),), {'n': 4})
    """
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for text in texts:
        named = _NAME.match(text.strip())
        if named:
            kwargs[named[1]] = argument_of(named[2])
        elif kwargs:
            raise ArgumentError(f"{text!r} stands behind a named argument, and has no name")
        else:
            args.append(argument_of(text))
    return tuple(args), kwargs


def argument_of(text: str) -> Any:
    """One argument: a type, a literal of Python, or a container of both."""
    rewritten = _TYPE.sub(lambda found: f"_type({found[1]!r}, ({found[2].strip().rstrip(',')},))", text.strip())
    # A type without dimensions has an empty tuple.
    rewritten = rewritten.replace("(,)", "()")
    try:
        return _value(ast.parse(rewritten, mode="eval").body)
    except SyntaxError:
        raise ArgumentError(
            f"cannot read the argument {text!r}: write a type such as f32[128,64], or a literal of Python"
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ArgumentError(f"cannot read the argument {text!r}: {error}") from None


def _value(node: ast.AST) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_type" and not node.keywords:
        name, shape = (ast.literal_eval(argument) for argument in node.args)
        return _type_of(name, shape)
    if isinstance(node, ast.Dict):
        keys = [ast.literal_eval(key) if key is not None else None for key in node.keys]
        return dict(zip(keys, map(_value, node.values), strict=True))
    if isinstance(node, ast.Tuple):
        return tuple(map(_value, node.elts))
    if isinstance(node, ast.List):
        return list(map(_value, node.elts))
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise ValueError("only types, literals, and tuples, lists and dictionaries of them") from None


def _type_of(name: str, shape: tuple[int, ...]) -> Any:
    import jax
    import jax.numpy as jnp

    if name == "key":
        return jax.eval_shape(lambda: jax.random.split(jax.random.key(0), shape) if shape else jax.random.key(0))
    found = re.fullmatch(r"(f|bf|i|u|s|c)(\d.*)", name)
    long = f"{_PREFIXES[found[1]]}{found[2]}" if found else name
    try:
        dtype = jnp.dtype(long)
    except TypeError:
        raise ValueError(f"{name!r} is no type of JAX") from None
    return jax.ShapeDtypeStruct(shape, dtype)
