"""What a function does while it is traced that is not in the jaxpr: numbers read from its module or the environment,
prints, clocks, dice, and what it writes into variables, containers and objects from around it.

It is read from the code objects of the function and of those of the person's own that it refers to; nothing is called.
"""

from __future__ import annotations

import builtins
import inspect
import os
import sys
from collections import deque
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from jaxviz.program.specialization import wrapped
from jaxviz.read.frames import is_library
from jaxviz.scope.captured import inside
from jaxviz.scope.rebound import is_global_rebound, is_rebound
from jaxviz.scope.touched import (
    AROUND,
    ATTRIBUTE,
    ENTRY,
    MODULE,
    NAME,
    OWN,
    Path,
    Touched,
    asked_in,
    imported_in,
    touched_in,
)

NUMBER, PRINT, CLOCK, DICE, STORE, CHANGE = "number", "print", "clock", "dice", "store", "change"
ENVIRONMENT = "environment"

# Functions that refer to functions: how far the search goes, and how many things it looks at.
_DEPTH, _THINGS = 4, 2_000
# Modules whose functions give something else at each call.
_OF_MODULES = {"random": DICE, "numpy.random": DICE, "secrets": DICE, "time": CLOCK, "datetime": CLOCK}
# What a class of datetime is asked for the time by.
_NOW = frozenset({"now", "today", "utcnow"})
# What holds entries that Python may change, and the methods that change it.
_CONTAINERS = (list, dict, set, deque, bytearray)
_CHANGING = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "pop", "remove", "clear"})
_CHANGING |= {"appendleft", "extendleft", "popleft", "popitem", "discard", "sort", "reverse"}
# What makes an object; it may write what it likes into it.
_MAKING = frozenset({"__init__", "__new__", "__post_init__", "__setstate__", "setup"})
# The class of generators of Python's own.
_RANDOM = "random", "Random"
# What makes a generator: without a seed, of numbers that nobody knows.
_SEEDED = frozenset({"default_rng", "RandomState", "Random"})
# Of a module, those that only wait or prepare.
_HARMLESS = frozenset({"sleep", "Generator", "seed", *_SEEDED})


class Seen(NamedTuple):
    """Something that a function does only while it is traced, and where; `function` are the lines of its code."""

    kind: str
    name: str
    value: str
    file: str
    line: int
    function: tuple[int, int]
    #: Whether it stands in the very function that was asked about, which is surely called.
    outermost: bool = False


class _Around(NamedTuple):
    """What code has around it: its module, and by name the variables of functions around it and the object whose method
    it is."""

    module: dict[str, Any]
    variables: dict[str, Any]
    own: dict[str, Any]


def seen_in(function: Any) -> tuple[Seen, ...]:
    """What a function and those of the person's own that it refers to do only while they are traced, each once.

    >>> def noisy(x):
    ...     print(x)
    ...     return x
    >>> [seen.name for seen in seen_in(noisy)]
    ['print']
    """
    found: dict[Seen, None] = {}
    waiting = deque([(function, 0)])
    known: set[Any] = set()
    called = _called(function)
    while waiting and len(known) < _THINGS:
        value, depth = waiting.popleft()
        # Each time that it is asked for, a method is another object.
        key = (id(value.__func__), id(value.__self__)) if isinstance(value, MethodType) else id(value)
        if key in known:
            continue
        known.add(key)
        # What a library does is not the person's to mend, but it may call what the person wrote.
        for code, around in _codes(value):
            seen = _seen(code, around)
            outermost = code in called
            found.update(dict.fromkeys(one._replace(outermost=outermost) for one in seen))
        if isinstance(value, MethodType):
            # With the object it belongs to, it was looked at just now.
            known.add(id(value.__func__))
        if depth < _DEPTH and not hasattr(type(value), "dtype"):
            waiting.extend((item, depth + 1) for _, item in inside(value, "") if callable(item) or _is_own(item))
            waiting.extend((method, depth + 1) for method in _methods(value))
    return tuple(found)


def _called(function: Any) -> set[CodeType]:
    """The code that is surely called: of the function, and of what is wrapped around it."""
    codes = (getattr(one, "__code__", None) for one in wrapped(function))
    return {code for code in codes if isinstance(code, CodeType)}


def _codes(value: Any) -> Iterator[tuple[CodeType, _Around]]:
    """The code of a function or method of the person's own and of those inside it, with what is around each."""
    function = value.__func__ if isinstance(value, MethodType) else value
    if not isinstance(function, FunctionType) or is_library(function.__code__.co_filename):
        return
    code, variables = function.__code__, {}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        try:
            variables[name] = cell.cell_contents
        except ValueError:  # Not assigned yet.
            continue
    own: dict[str, Any] = {}
    if isinstance(value, MethodType) and code.co_argcount and not isinstance(value.__self__, type):
        own = {code.co_varnames[0]: value.__self__}
    yield from _inner(code, _Around(function.__globals__, variables, own))


def _inner(code: CodeType, around: _Around) -> Iterator[tuple[CodeType, _Around]]:
    yield code, around
    known = around.variables | around.own
    # Variables of its own that functions inside it read are made anew in each call.
    hidden = {name for name in code.co_cellvars if name not in around.own}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            free = {name: known[name] for name in constant.co_freevars if name in known and name not in hidden}
            yield from _inner(constant, _Around(around.module, free, {}))


def _methods(value: Any) -> Iterator[MethodType]:
    """The methods of an object of a class of the person's own."""
    if not _is_own(value) or isinstance(value, (FunctionType, ModuleType)):
        return
    for class_ in type(value).__mro__[:-1]:
        for name, function in vars(class_).items():
            if isinstance(function, FunctionType) and name not in _MAKING:
                yield MethodType(function, value)


def _is_own(value: Any) -> bool:
    """Whether what an object holds is the person's own to mend: no library makes its class, or one that it is of."""
    if isinstance(value, FunctionType):
        return not is_library(value.__code__.co_filename)
    if isinstance(value, ModuleType):
        return not is_library(getattr(value, "__file__", None) or "")
    classes = [class_ for class_ in type(value).__mro__ if class_.__module__ not in ("builtins", "typing", "abc")]
    return bool(classes) and all(map(_is_own_class, classes))


def _is_own_class(class_: type) -> bool:
    module = sys.modules.get(class_.__module__)
    file = getattr(module, "__file__", None)
    return class_ is SimpleNamespace or (
        module is not None and not (file and is_library(file)) and bool(file or class_.__module__ == "__main__")
    )


def _seen(code: CodeType, around: _Around) -> Iterator[Seen]:
    lines = [line for _, _, line in code.co_lines() if line is not None]
    function = (code.co_firstlineno, max(lines, default=code.co_firstlineno))
    around = around._replace(own=imported_in(code) | around.own)
    touched = touched_in(code)
    rebound = {one.path[0] for one in touched if one.done == NAME}
    for one in touched:
        kind, name, value = _told(one, code, around, function[1])
        # What is no more the object that it was given is looked at no further.
        if kind and not (one.scope == OWN and one.path[0] in rebound):
            yield Seen(kind, name, value, code.co_filename, one.line, function)


def _told(one: Touched, code: CodeType, around: _Around, last: int) -> tuple[str, str, str]:
    """What is to be told of a name, how it is called and its value; all empty where there is nothing to tell."""
    path, nothing = one.path, ("", "", "")
    held = {MODULE: around.module, AROUND: around.variables | around.own, OWN: around.own}[one.scope]
    if one.done == NAME:
        known = one.scope == MODULE or path[0] in held
        return (STORE, path[0], "") if known else nothing
    root = held.get(path[0], getattr(builtins, path[0], None) if one.scope == MODULE else None)
    if root is None:
        return nothing
    if one.done == ENTRY:
        value = _value(root, path)
        changes = isinstance(value, (*_CONTAINERS, np.ndarray)) and path not in asked_in(code)
        return (STORE, one.text, "") if changes else nothing
    if one.done == ATTRIBUTE:
        return (STORE, one.text, "") if _is_own(_value(root, path)) else nothing
    if path[-1] in _CHANGING and len(path) > 1 and isinstance(_value(root, path[:-1]), _CONTAINERS):
        return CHANGE, one.text, ""
    if (number := _number(root, path)) is not None:
        return (NUMBER, one.text, repr(number)) if _may_change(one, code, last) else nothing
    if root is print:
        return PRINT, "print", ""
    kind = _kind_of(root, path, one.bare)
    return (kind, one.text, "") if kind else nothing


def _may_change(one: Touched, code: CodeType, last: int) -> bool:
    """Whether a number is one that is changed: in capitals, a name says that it is not going to. Of a variable of a
    function around, and of what an object holds for its methods, the source has to show it."""
    if one.path[-1].strip("[]'").isupper():
        # Unless the source shows otherwise.
        return one.scope == MODULE and len(one.path) == 1 and is_global_rebound(code.co_filename, one.path[0])
    if one.scope == MODULE:
        return True
    return len(one.path) == 1 and is_rebound(code.co_filename, one.path[0], code.co_firstlineno, last)


def _is_environment(root: Any, path: Path) -> bool:
    """Whether a path reads a variable of the environment: `os.environ["RATE"]`, `os.getenv`."""
    if root is os:
        root, path = _attribute(os, path[1]) if len(path) > 1 else None, path[1:]
    return root is os.getenv or (root is os.environ and len(path) > 1 and (path[1] == "get" or path[1].startswith("[")))


def _value(root: Any, path: Path) -> Any:
    """What a path leads to; None where that cannot be told without calling something."""
    value = root
    for part in path[1:]:
        if part.startswith("["):
            value = dict.get(value, part[2:-2]) if isinstance(value, dict) else None
        else:
            value = _attribute(value, part)
    return value


def _number(root: Any, path: Path) -> int | float | complex | None:
    """The number that a global, or what it holds, is; None for anything else. Nothing is called for it."""
    value = root
    for part in path[1:]:
        if isinstance(value, ModuleType) and is_library(getattr(value, "__file__", None) or ""):
            return None
        if part.startswith("["):
            value = dict.get(value, part[2:-2]) if isinstance(value, dict) else None
        else:
            # What is frozen does not change.
            frozen = getattr(getattr(type(value), "__dataclass_params__", None), "frozen", False)
            value = None if frozen else _attribute(value, part)
    if isinstance(value, np.number):
        return value.item()  # type: ignore[no-any-return]
    return value if isinstance(value, (int, float, complex)) and not isinstance(value, bool) else None


def _attribute(value: Any, name: str) -> Any:
    """What an object or its class holds; no property is computed."""
    try:
        return inspect.getattr_static(value, name)
    except AttributeError:
        return None


def _kind_of(root: Any, path: Path, is_bare: bool) -> str:
    """What a name such as `np.random.normal` is for; `is_bare` says that it is called with nothing."""
    if path[-1] in _HARMLESS and not (is_bare and path[-1] in _SEEDED):
        return ""
    if _is_environment(root, path):
        return ENVIRONMENT
    if isinstance(root, ModuleType):
        module = ".".join((root.__name__, *path[1:-1]))
        if module in ("datetime.datetime", "datetime.date") and path[-1] in _NOW:
            return CLOCK
        return _OF_MODULES.get(module, "") if len(path) > 1 else ""
    # A generator of numbers that the module holds.
    kind = type(root)
    if len(path) > 1 and (kind.__module__.startswith("numpy.random") or (kind.__module__, kind.__name__) == _RANDOM):
        return DICE
    home = getattr(root, "__module__", None)
    if isinstance(root, type):
        return CLOCK if home == "datetime" and path[-1] in _NOW else ""
    # Functions of a module of C are methods of a hidden object.
    home = home or type(getattr(root, "__self__", None)).__module__
    return _OF_MODULES.get(home, "") if callable(root) and isinstance(home, str) else ""
