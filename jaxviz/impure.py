"""What a function does while it is traced that is not in the jaxpr: numbers read from its module, prints, clocks, dice.

It is read from the code objects of the function and of those of the person's own that it refers to; nothing is called.
"""

from __future__ import annotations

import builtins
import dis
from collections import deque
from collections.abc import Iterator
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from jaxviz.captured import inside
from jaxviz.read.frames import is_library

NUMBER, PRINT, CLOCK, DICE, STORE = "number", "print", "clock", "dice", "store"

# Functions that refer to functions: how far the search goes, and how many things it looks at.
_DEPTH, _THINGS = 4, 2_000
# Modules whose functions give something else at each call.
_OF_MODULES = {"random": DICE, "numpy.random": DICE, "secrets": DICE, "time": CLOCK, "datetime": CLOCK}
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
    while waiting and len(known) < _THINGS:
        value, depth = waiting.popleft()
        if id(value) in known:
            continue
        known.add(id(value))
        # What a library does is not the person's to mend, but it may call what the person wrote.
        if isinstance(value, FunctionType) and not is_library(value.__code__.co_filename):
            for code in _codes(value.__code__):
                found.update(dict.fromkeys(_seen(code, value.__globals__)))
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
        elif len(name) == 1 and isinstance(root, (int, float, complex, np.number)) and not isinstance(root, bool):
            # In capitals, a name says that it is not going to change.
            if not name[0].isupper():
                yield Seen(
                    NUMBER,
                    name[0],
                    repr(root.item() if isinstance(root, np.number) else root),
                    code.co_filename,
                    line,
                    function,
                )
        elif root is print:
            yield Seen(PRINT, "print", "", code.co_filename, line, function)
        else:
            kind = _kind_of(root, name)
            if kind:
                yield Seen(kind, ".".join(name), "", code.co_filename, line, function)


def _kind_of(root: Any, name: tuple[str, ...]) -> str:
    """What a name such as `np.random.normal` is for."""
    if name[-1] in _HARMLESS:
        return ""
    if isinstance(root, ModuleType):
        return _OF_MODULES.get(".".join((root.__name__, *name[1:-1])), "") if len(name) > 1 else ""
    home = getattr(root, "__module__", None)
    if isinstance(root, type):
        return CLOCK if home == "datetime" and name[-1] in ("now", "today", "utcnow") else ""
    # Functions of a module of C are methods of a hidden object.
    home = home or type(getattr(root, "__self__", None)).__module__
    return _OF_MODULES.get(home, "") if callable(root) and isinstance(home, str) else ""


def _names(code: CodeType) -> Iterator[tuple[tuple[str, ...], int, bool]]:
    """The names that code looks up in its module, with their attributes, and those that it assigns there."""
    name: tuple[str, ...] = ()
    line = at = code.co_firstlineno
    for instruction in dis.get_instructions(code):
        position = instruction.positions
        at = (position.lineno if position is not None else None) or at
        if instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and name:
            name = (*name, str(instruction.argval))
            continue
        if name:
            yield name, line, False
            name = ()
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            name, line = (str(instruction.argval),), at
        elif instruction.opname == "STORE_GLOBAL":
            yield (str(instruction.argval),), at, True
