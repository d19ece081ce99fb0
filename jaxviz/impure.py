"""What a function does while it is traced that is not in the jaxpr: numbers read from its module, prints, clocks, dice.

It is read from the code objects of the function and of those of the person's own that it refers to; nothing is called.
"""

from __future__ import annotations

import builtins
import dis
import inspect
from collections import deque
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from jaxviz.captured import inside
from jaxviz.read.frames import is_library
from jaxviz.specialization import innermost

NUMBER, PRINT, CLOCK, DICE, STORE, CHANGE = "number", "print", "clock", "dice", "store", "change"

# Functions that refer to functions: how far the search goes, and how many things it looks at.
_DEPTH, _THINGS = 4, 2_000
# Modules whose functions give something else at each call.
_OF_MODULES = {"random": DICE, "numpy.random": DICE, "secrets": DICE, "time": CLOCK, "datetime": CLOCK}
# What a class of datetime is asked for the time by.
_NOW = frozenset({"now", "today", "utcnow"})
# What changes a list, a dictionary or a set.
_CHANGING = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "pop", "remove", "clear"})
# The class of generators of Python's own.
_RANDOM = "random", "Random"
# Of a module, those that only wait or prepare.
_HARMLESS = frozenset({"sleep", "default_rng", "Generator", "RandomState", "seed"})


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
    known: set[int] = set()
    innermost_code = getattr(innermost(function), "__code__", None)
    while waiting and len(known) < _THINGS:
        value, depth = waiting.popleft()
        if id(value) in known:
            continue
        known.add(id(value))
        # What a library does is not the person's to mend, but it may call what the person wrote.
        if isinstance(value, FunctionType) and not is_library(value.__code__.co_filename):
            for code in _codes(value.__code__):
                seen = _seen(code, value.__globals__)
                outermost = code is innermost_code
                found.update(dict.fromkeys(one._replace(outermost=outermost) for one in seen))
        if depth < _DEPTH and not hasattr(type(value), "dtype"):
            waiting.extend((item, depth + 1) for _, item in inside(value, "") if callable(item))
    return tuple(found)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _seen(code: CodeType, around: dict[str, Any]) -> Iterator[Seen]:
    lines = [line for _, _, line in code.co_lines() if line is not None]
    function = (code.co_firstlineno, max(lines, default=code.co_firstlineno))
    for name, line, stored in _names(code):
        root = around.get(name[0], getattr(builtins, name[0], None))
        if stored:
            yield Seen(STORE, name[0], "", code.co_filename, line, function)
        elif (number := _number(root, name)) is not None:
            # In capitals, a name says that it is not going to change.
            if not name[-1].strip("[]'").isupper():
                shown = name[0] + "".join(part if part.startswith("[") else f".{part}" for part in name[1:])
                yield Seen(NUMBER, shown, repr(number), code.co_filename, line, function)
        elif type(root) in (list, dict, set) and len(name) == 2 and name[1] in _CHANGING:
            yield Seen(CHANGE, ".".join(name), "", code.co_filename, line, function)
        elif root is print:
            yield Seen(PRINT, "print", "", code.co_filename, line, function)
        else:
            kind = _kind_of(root, name)
            if kind:
                yield Seen(kind, ".".join(name), "", code.co_filename, line, function)


def _number(root: Any, name: tuple[str, ...]) -> int | float | complex | None:
    """The number that a global, or what it holds, is; None for anything else. Nothing is called for it."""
    value = root
    for part in name[1:]:
        if isinstance(value, ModuleType) and is_library(getattr(value, "__file__", None) or ""):
            return None
        if part.startswith("["):
            value = value.get(part[2:-2]) if type(value) is dict else None
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


def _kind_of(root: Any, name: tuple[str, ...]) -> str:
    """What a name such as `np.random.normal` is for."""
    if name[-1] in _HARMLESS:
        return ""
    if isinstance(root, ModuleType):
        path = ".".join((root.__name__, *name[1:-1]))
        if path in ("datetime.datetime", "datetime.date") and name[-1] in _NOW:
            return CLOCK
        return _OF_MODULES.get(path, "") if len(name) > 1 else ""
    # A generator of numbers that the module holds.
    kind = type(root)
    if len(name) > 1 and (kind.__module__.startswith("numpy.random") or (kind.__module__, kind.__name__) == _RANDOM):
        return DICE
    home = getattr(root, "__module__", None)
    if isinstance(root, type):
        return CLOCK if home == "datetime" and name[-1] in _NOW else ""
    # Functions of a module of C are methods of a hidden object.
    home = home or type(getattr(root, "__self__", None)).__module__
    return _OF_MODULES.get(home, "") if callable(root) and isinstance(home, str) else ""


def _names(code: CodeType) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    """The names that code looks up in its module, with their attributes and items, and those that it assigns there."""
    name: tuple[str, ...] = ()
    key = ""
    line = at = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        position = instruction.positions
        at = (position.lineno if position is not None else None) or at
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and name:
            name = (*name, str(instruction.argval))
            continue
        # `config["rate"]`: the key is loaded, and then the item.
        if name and instruction.opname == "LOAD_CONST" and isinstance(instruction.argval, str):
            key = str(instruction.argval)
            continue
        if name and key and instruction.opname in ("BINARY_SUBSCR", "BINARY_OP") and _takes_item(instruction):
            name, key = (*name, f"[{key!r}]"), ""
            continue
        if name:
            yield name, line, False
            name, key = (), ""
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            name, line = (str(instruction.argval),), at
        elif instruction.opname == "STORE_GLOBAL":
            yield (str(instruction.argval),), at, True


def _takes_item(instruction: dis.Instruction) -> bool:
    # From Python 3.14 on, taking an item is one of the binary operations.
    return instruction.opname == "BINARY_SUBSCR" or "[]" in instruction.argrepr
