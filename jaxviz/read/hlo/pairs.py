"""Pieces of HLO text: attributes, `key=value, key={...}`, taken apart; quotes; and places for errors."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jaxviz.read.hlo.module import HloError, Pairs

_QUOTED = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'


def _nested(depth: int) -> str:
    """Anything in balanced braces, up to so many levels. Possessive throughout, so that it never tries twice."""
    pattern = rf"\{{(?:[^{{}}\"]++|{_QUOTED})*+\}}"
    for _ in range(depth):
        pattern = rf"\{{(?:[^{{}}\"]++|{_QUOTED}|{pattern})*+\}}"
    return pattern


_BRACES = _nested(12)
# The one value in which a comma stands by itself: groups along the axes of a mesh whose devices are in another order.
_MESH = r"mesh\[[^\[\]]*+\], device_ids="
_PARENTHESES = r"\((?:[^()]++|\([^()]*+\))*+\)"
_VALUE = rf"(?:{_MESH}|[^,{{}}\"(\[]++|{_QUOTED}|{_BRACES}|{_PARENTHESES}|\[[^\[\]]*+\])*+"
_PAIR = re.compile(rf"([a-zA-Z_][\w.-]*)=({_VALUE})(?:, |$)")

#: Metadata from `metadata={` on; group 1 is what is inside.
METADATA = re.compile(rf"metadata=\{{((?:[^{{}}\"]++|{_QUOTED}|{_nested(2)})*+)\}}")


class HloTextError(HloError):
    """What is wrong with a text: `expected` at a line and a column, both counted from 1."""

    def __init__(self, line: int, column: int, expected: str) -> None:
        super().__init__(f"line {line}:{column}: expected {expected[:300]}")
        self.line = line
        self.expected = expected


def first_column(line: str) -> int:
    """The column of the first character that is no space."""
    return len(line) - len(line.lstrip()) + 1


def split_pairs(text: str, line: int, column: int) -> Pairs:
    """The attributes that a text holds, at a place that errors name."""
    pairs = []
    at = 0
    while at < len(text):
        found = _PAIR.match(text, at)
        if found is None:
            raise HloTextError(line, column + at, "an attribute, key=value")
        pairs.append((found[1], found[2]))
        at = found.end()
    return tuple(pairs)


def braces(items: Iterable[object]) -> str:
    """`{1,2}`"""
    return "{" + ",".join(map(str, items)) + "}"


_ESCAPE = re.compile(r"\\([0-7]{1,3}|x[0-9a-fA-F]{1,2}|.)", re.DOTALL)
_CONTROLS = {"n": "\n", "t": "\t", "r": "\r"}


def unquoted(text: str) -> str:
    """A text without the quotes around it and the escapes in it."""
    if len(text) > 1 and text[0] == text[-1] == '"':
        text = text[1:-1]
    if "\\" not in text:
        return text

    def plain(found: re.Match[str]) -> str:
        code = found[1]
        if code[0] in "01234567":
            return chr(int(code, 8) & 0xFF)
        if code[0] == "x" and len(code) > 1:
            return chr(int(code[1:], 16))
        return _CONTROLS.get(code, code)

    unescaped = _ESCAPE.sub(plain, text)
    # Escapes stand for bytes of UTF-8.
    try:
        return unescaped.encode("latin-1").decode()
    except (UnicodeEncodeError, UnicodeDecodeError):
        return unescaped


_ESCAPED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "'": "\\'", "\\": "\\\\"}


def quoted(text: str) -> str:
    """A text in quotes, with the escapes that HLO uses."""
    if text.isascii() and text.isprintable() and not _SPECIAL.search(text):
        return f'"{text}"'
    parts = [_ESCAPED.get(chr(byte)) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}") for byte in text.encode()]
    return f'"{"".join(parts)}"'


_SPECIAL = re.compile(r"[\"'\\]")
