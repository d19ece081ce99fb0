"""Locations in the text of MLIR that is read by its lines, in the shape of jaxlib's own: where its operations are from.

`loc("jit(f)/add"(#loc3))` is a name around another location, which a line `#loc3 = loc("f.py":3:4 to :9)` gives.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

_PART = re.compile(r'"(?:[^"\\]|\\.)*"|\bloc\(|[()]')
_ALIAS = re.compile(r"^(#[\w$.-]+) = loc\((.*)\)\s*$", re.MULTILINE)
_TOKEN = re.compile(r'\s*(#[\w$.-]+|"(?:[^"\\]|\\.)*"|\d+|\w+|.)')
# Of a line or a column: none is larger.
_NUMBER = re.compile(r"[0-9]{1,9}\Z")
_ESCAPED = re.compile(r"\\([0-9A-Fa-f]{2}|.)")
# Locations within one another in one line.
_DEEPEST = 50


@dataclass(frozen=True, eq=False)
class Unknown:
    """A location that says nothing."""


@dataclass(frozen=True, eq=False)
class FileLineColLoc:
    filename: str
    start_line: int
    start_col: int
    end_line: int
    end_col: int


@dataclass(frozen=True, eq=False)
class NameLoc:
    name_str: str
    inner: _Lazy

    @property
    def child_loc(self) -> Any:
        return self.inner()


@dataclass(frozen=True, eq=False)
class CallSiteLoc:
    inside: tuple[_Lazy, _Lazy]

    @property
    def callee(self) -> Any:
        return self.inside[0]()

    @property
    def caller(self) -> Any:
        return self.inside[1]()


@dataclass(frozen=True, eq=False)
class FusedLoc:
    inside: tuple[_Lazy, ...]

    @property
    def locations(self) -> list[Any]:
        return [one() for one in self.inside]


@dataclass(frozen=True, eq=False)
class _Lazy:
    """A location that is looked up when it is asked for: an alias may stand anywhere in the text."""

    aliases: Locations
    found: Any

    def __call__(self) -> Any:
        return self.aliases.named(self.found) if isinstance(self.found, str) else self.found


class Locations:
    """The locations that a text names, by their names."""

    def __init__(self, text: str) -> None:
        self._texts = dict(_ALIAS.findall(text))
        self._known: dict[str, Any] = {}

    def named(self, name: str) -> Any:
        """The location that a name such as `#loc3` stands for."""
        found = self._known.get(name)
        if found is None:
            # One that names itself says nothing.
            self._known[name] = Unknown()
            found = self._known[name] = self.read(self._texts.get(name, ""))
        return found

    def read(self, text: str) -> Any:
        """What stands within the parentheses of `loc(...)`."""
        return _Reader(self, text).location(0)()


class _Reader:
    def __init__(self, aliases: Locations, text: str) -> None:
        self._aliases = aliases
        self._tokens = [found[1] for found in _TOKEN.finditer(text)]
        self._at = 0

    def location(self, depth: int) -> _Lazy:
        token = self._next()
        if token.startswith("#"):
            return self._lazy(token)
        if depth == _DEEPEST:
            return self._lazy(Unknown())
        if token.startswith('"'):
            return self._lazy(self._named(_text_of(token), depth))
        if token == "callsite" and self._next() == "(":
            callee = self.location(depth + 1)
            self._next()
            caller = self.location(depth + 1)
            self._next()
            return self._lazy(CallSiteLoc((callee, caller)))
        if token == "fused":
            while self._peek() not in ("[", ""):
                self._next()
            inside = []
            while self._next() in ("[", ","):
                inside.append(self.location(depth + 1))
            return self._lazy(FusedLoc(tuple(inside)))
        return self._lazy(Unknown())

    def _named(self, name: str, depth: int) -> Any:
        if self._peek() == "(":
            self._next()
            inner = self.location(depth + 1)
            self._next()
            return NameLoc(name, inner)
        if self._peek() != ":":
            return NameLoc(name, self._lazy(Unknown()))
        line, column = self._number(), self._number()
        end_line, end_column = line, column
        if self._peek() == "to":
            self._next()
            # On the same line, only the column is said.
            if self._peek() != ":":
                end_line = self._digits()
            end_column = self._number()
        return FileLineColLoc(name, line, column, end_line, end_column)

    def _number(self) -> int:
        """The number after a colon; 0 where there is none."""
        if self._peek() == ":":
            self._next()
        return self._digits()

    def _digits(self) -> int:
        token = self._peek()
        if not _NUMBER.match(token):
            return 0
        self._next()
        return int(token)

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _lazy(self, found: Any) -> _Lazy:
        return _Lazy(self._aliases, found)


def _text_of(token: str) -> str:
    """A text without its quotes and escapes, of which some are bytes."""
    if "\\" not in token:
        return token[1:-1]
    data = _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if len(found[1]) == 2 else found[1], token[1:-1])
    try:
        return data.encode("latin-1").decode()
    except (UnicodeEncodeError, UnicodeDecodeError):
        return data


def apart(line: str) -> tuple[str, list[tuple[int, str]]]:
    """A line without the locations in it, and each of these with its place in what is left.

    >>> apart('%0 = a.b %x : f32 loc("add"(#loc3))')
    ('%0 = a.b %x : f32', [(17, '"add"(#loc3)')])
    """
    if "loc(" not in line:
        return line, []
    kept: list[str] = []
    found: list[tuple[int, str]] = []
    size = start = depth = 0
    for part in _PART.finditer(line):
        if depth == 0 and part[0] == "loc(":
            depth, begins = 1, part.end()
            before = line[start : part.start()].rstrip()
        elif depth and part[0] in ("(", "loc("):
            depth += 1
        elif depth and part[0] == ")":
            depth -= 1
            if depth == 0:
                kept.append(before)
                size += len(before)
                found.append((size, line[begins : part.start()]))
                start = part.end()
    return "".join([*kept, line[start:]]), found
