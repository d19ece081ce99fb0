"""Names of what a function takes from around it: the variables and attributes behind the constants of a jaxpr.

Only names and attributes are read, as they are: no property is computed and nothing is called.
"""

from __future__ import annotations

import functools
import inspect
from collections import deque
from collections.abc import Iterator, Set
from itertools import chain
from types import CodeType, FunctionType
from typing import Any

import jax
import numpy as np

from jaxviz.read.frames import cell_number

# Functions called by functions, objects in objects: how far the search goes, and how many things it looks at.
_DEPTH = 4
_THINGS = 10_000
# Arrays up to this size are compared by what they hold.
_COMPARED_BYTES = 10_000_000
# How methods call the object that they are of.
_OWN = "self"


class CapturedNames:
    """Finds the name of an array that a function captured: `weights`, `params['w']`, `self.scale`.

    >>> scale = jax.numpy.ones(3)
    >>> CapturedNames(lambda x: x * scale).of(scale)
    'scale'
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self._names: dict[int, str] | None = None
        # What was found must live as long as it is known by its id.
        self._found: list[tuple[Any, str]] = []
        self._scopes: dict[int, str] = {}
        self._numbers: dict[str, set[int]] = {}

    @property
    def numbers(self) -> dict[str, int]:
        """The whole numbers around the function, by the names that mean one of them alone.

        >>> scale = 200
        >>> CapturedNames(lambda x: x * scale).numbers
        {'scale': 200}
        """
        self.of(None)
        return {name: next(iter(values)) for name, values in self._numbers.items() if len(values) == 1}

    def of(self, constant: Any) -> str:
        """The name of a constant of a jaxpr, empty where none is found."""
        if self._names is None:
            self._look_around()
            self._names = {id(array): name for array, name in reversed(self._found)}
        name = self._names.get(id(constant))
        return name if name is not None else self._of_converted(getattr(constant, "val", constant))

    def scope_of(self, constant: Any) -> str:
        """Where it was taken from: `a variable of make_step`, `held by an object of Model`; empty where not known."""
        self.of(constant)
        if (scope := self._scopes.get(id(constant))) is not None:
            return scope
        name = self._of_converted(getattr(constant, "val", constant))
        return next((self._scopes[id(array)] for array, known in self._found if name and known == name), "")

    def _of_converted(self, constant: Any) -> str:
        """Arrays of NumPy are wrapped by JAX, and converted where its own types are narrower."""
        if isinstance(constant, np.ndarray) and constant.nbytes <= _COMPARED_BYTES:
            for array, name in self._found:
                if isinstance(array, np.ndarray) and array.shape == constant.shape:
                    with np.errstate(all="ignore"):
                        if np.array_equal(array.astype(constant.dtype), constant):
                            return name
        return ""

    def _look_around(self) -> None:
        """Nearest first, so that a thing has the name that is nearest to the function."""
        waiting = deque([(self._function, "", "", 0)])
        seen: set[int] = set()
        while waiting and len(seen) < _THINGS:
            value, name, scope, depth = waiting.popleft()
            if type(value) is int:
                # The same object may have several names.
                self._numbers.setdefault(name, set()).add(value)
            if id(value) in seen:
                continue
            seen.add(id(value))
            if hasattr(type(value), "shape") and hasattr(type(value), "dtype"):
                self._found.append((value, name))
                self._scopes.setdefault(id(value), scope)
            elif depth < _DEPTH:
                held = chain(inside(value, name), _as_methods_see(value, name))
                waiting.extend((item, inner, _scope(value, inner) or scope, depth + 1) for inner, item in held)


def _scope(value: Any, name: str) -> str:
    """The scope of a variable that a function reads from around it; empty for what an object or a container holds."""
    if isinstance(value, functools.partial):
        return "an argument of a partial"
    if inspect.ismethod(value):
        return f"held by an object of `{type(value.__self__).__name__}`" if name == "self" else ""
    if not isinstance(value, FunctionType):
        return ""
    if name in value.__code__.co_freevars:
        around = value.__qualname__.removesuffix(f".<locals>.{value.__name__}").rpartition(".")[2]
        return f"a variable of `{around}`"
    module = name.rpartition(".")[0]
    if module:
        return f"a variable of the module `{module}`"
    if name in _defaults(value):
        return f"the default of a parameter of `{value.__name__}`"
    if name in value.__globals__:
        cell = cell_number(value.__code__.co_filename) is not None
        return "a variable of the notebook" if cell else f"a variable of the module `{value.__module__}`"
    return ""


def _defaults(function: FunctionType) -> dict[str, Any]:
    """The parameters that have a value of their own, with these."""
    code = function.__code__
    values = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    return dict(zip(names, values, strict=True)) | (function.__kwdefaults__ or {})


def inside(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """What a function, a method, a container or an object holds, by name."""
    if isinstance(value, functools.partial):
        yield name, value.func
        arguments = {f"argument {number}": item for number, item in enumerate(value.args)} | value.keywords
        yield from arguments.items()
    elif inspect.ismethod(value):
        yield "self", value.__self__
        yield name, value.__func__
    elif isinstance(value, FunctionType):
        yield from _variables(value)
    elif isinstance(value, (dict, list, tuple)):
        yield from _entries(value, name)
    elif not inspect.ismodule(value) and not isinstance(value, type):
        for key, item in _attributes(value):
            yield (f"{name}.{key}" if name and key else name or key), item


def _entries(value: Any, name: str) -> list[tuple[str, Any]]:
    """The leaves of a container; of one that is no tree to JAX, as one with keys of several kinds, what it holds."""
    try:
        leaves = jax.tree_util.tree_flatten_with_path(value)[0]
    except Exception:  # Classes that are trees by themselves may raise anything.
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [(f"{name}[{key!r}]", item) for key, item in list(items)]
    return [(f"{name}{jax.tree_util.keystr(path)}", leaf) for path, leaf in leaves]


def _variables(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """What a function reads from around it, by name: of the functions around it, then of its module."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:  # Not assigned yet.
            continue
    yield from _defaults(function).items()
    wrapped = vars(function).get("__wrapped__")
    if wrapped is not None:
        yield "", wrapped
    if not _is_of_jax(function.__module__):
        names = set(_names(function.__code__))
        for name in _names(function.__code__):
            if name in function.__globals__:
                yield name, function.__globals__[name]
                yield from _of_module(function.__globals__[name], name, names)


def _of_module(module: Any, name: str, names: Set[str]) -> Iterator[tuple[str, Any]]:
    """What a function reads from a module, and from the modules in it, of all the `names` that it looks up."""
    if not inspect.ismodule(module) or _is_of_jax(module.__name__):
        return
    held = vars(module)
    for key in sorted(names & held.keys()):
        yield f"{name}.{key}", held[key]
        yield from _of_module(held[key], f"{name}.{key}", names - {key})


def _as_methods_see(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """What the methods of an object or a class find in it, by the name that they have for it."""
    if isinstance(value, type):
        yield from _of_class(value, name)
        yield from _of_class(value, _OWN)
    elif not inspect.ismodule(value):
        yield from ((f"{_OWN}.{key}", item) for key, item in _attributes(value) if type(item) is int)
        yield from _of_class(type(value), _OWN)


def _of_class(of: type, name: str) -> Iterator[tuple[str, Any]]:
    """The methods of a class, and the whole numbers that its objects share."""
    for base in of.__mro__:
        if base is not object and not _is_of_jax(base.__module__):
            for key, item in list(vars(base).items()):
                if type(item) is int or isinstance(item, FunctionType):
                    yield f"{name}.{key}", item


def _is_of_jax(module: str | None) -> bool:
    """Whether what JAX itself reads is in a module: it is nobody's variable."""
    return module is None or module.partition(".")[0] in ("builtins", "jax", "jaxlib", "numpy")


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function and those inside it look up in their module."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _attributes(value: Any) -> list[tuple[str, Any]]:
    """What an object holds, without asking it."""
    try:
        held = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        return []
    wrapped = [("", held["__wrapped__"])] if "__wrapped__" in held else []
    return wrapped + [(key, item) for key, item in held.items() if isinstance(key, str) and key != "__wrapped__"]
