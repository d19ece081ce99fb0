"""Arguments as text, for the shell and for documentation: types in the place of arrays.

`f32[128,64]`, `i32[]`, `3`, `'relu'`, `{'w': f32[3,4], 'b': f32[4]}`, `scale=f32[]`. What is no literal, as the state
of an optimizer, is named: `pkg.mod:params`, `pkg.mod:example()` for what a call without arguments gives, and with a
star in front for several arguments, `*pkg.mod:example()`.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Sequence
from typing import Any

from jaxviz.named import named

_TYPE = re.compile(
    r"\b(bool|[a-z]{1,4}\d+(?:_?[a-z0-9]+)*|float\d+|u?int\d+|complex\d+|key(?:<\w+>)?)\[\s*([\d,\s]*)\]"
)
_NAME = re.compile(r"([A-Za-z_]\w*)=(?!=)(.*)\Z", re.DOTALL)
_NAMED = re.compile(r"[\w./\\-]+:[A-Za-z_][\w.]*(?:\(\))?\Z")
_PREFIXES = {"f": "float", "bf": "bfloat", "i": "int", "u": "uint", "s": "int", "c": "complex"}
# By what JAX calls kinds of keys in their types; where nothing is said, they are as the configuration says.
_KEYS = {"": None, "fry": "threefry2x32", "rbg": "rbg", "urbg": "unsafe_rbg"}


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
        keyword = _NAME.match(text.strip())
        if keyword:
            kwargs[keyword[1]] = argument_of(keyword[2])
        elif kwargs:
            raise ArgumentError(f"{text!r} stands behind a named argument, and has no name")
        elif text.strip().startswith("*"):
            args.extend(_several(text.strip()))
        else:
            args.append(argument_of(text))
    return tuple(args), kwargs


def argument_of(text: str) -> Any:
    """One argument: a type, a literal of Python, a container of both, or what is named."""
    if _NAMED.match(text.strip()):
        return _what_is_named(text.strip())
    rewritten = _TYPE.sub(lambda found: f"_type({found[1]!r}, ({found[2].strip().rstrip(',')},))", text.strip())
    # A type without dimensions has an empty tuple.
    rewritten = rewritten.replace("(,)", "()")
    try:
        return _value(ast.parse(rewritten, mode="eval").body)
    except SyntaxError:
        raise ArgumentError(
            f"cannot read the argument {text!r}: write a type such as f32[128,64], a literal of Python, or pkg.mod:name"
        ) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ArgumentError(f"cannot read the argument {text!r}: {error}") from None


def _what_is_named(text: str) -> Any:
    found = named(text.removesuffix("()"))
    if not text.endswith("()"):
        return found
    if not callable(found):
        raise ArgumentError(f"cannot call {text!r}: it is {type(found).__name__}")
    import jax

    try:
        # Types are enough: a large model is not made for them.
        return jax.eval_shape(found)
    except TypeError:
        # It gives more than arrays.
        return found()


def _several(text: str) -> tuple[Any, ...]:
    given = argument_of(text.removeprefix("*"))
    if not isinstance(given, tuple | list):
        raise ArgumentError(f"{text!r} is {type(given).__name__}, and a tuple of arguments was expected")
    return tuple(given)


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

    if name.startswith("key"):
        kind = name[len("key<") : -1]
        if kind not in _KEYS:
            raise ValueError(f"{kind!r} is no kind of key; there are {', '.join(filter(None, _KEYS))}")
        made = functools.partial(jax.random.key, 0, impl=_KEYS[kind])
        return jax.eval_shape(lambda: jax.random.split(made(), shape) if shape else made())
    found = re.fullmatch(r"(f|bf|i|u|s|c)(\d.*)", name)
    long = f"{_PREFIXES[found[1]]}{found[2]}" if found else name
    try:
        dtype = jnp.dtype(long)
    except TypeError:
        raise ValueError(f"{name!r} is no type of JAX") from None
    return jax.ShapeDtypeStruct(shape, dtype)
