"""Text of HLO with the bodies of computations inside the instructions that call them, as XLA prints it canonically.

Each body becomes a computation by itself, and the instruction names it. Lines stay where they were, so that what is
said of one is said of the line in the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_OPENS = re.compile(r"([a-z_]+)=(\{?)$")
# The first line of a body, with or without its arguments.
_BEGINS = re.compile(r"(?:\(.*\) -> .* )?\{$")


@dataclass
class Body:
    """The lines of one computation, by number from 0."""

    name: str
    start: int
    texts: dict[int, str] = field(default_factory=dict)
    #: An instruction that goes on after the bodies it calls: its first line, what is known of it, and whether the
    #: bodies are in a list.
    waiting: int = -1
    text: str = ""
    key: str = ""
    listed: bool = False

    def lines(self) -> list[str]:
        """The lines as a parser reads them, empty where others stand."""
        return _lines(self.texts, max(self.texts, default=-1) + 1)


def inline_bodies(lines: list[str]) -> list[Body]:
    """Take bodies out of the lines, which are changed; nothing is where braces do not match."""
    outermost = Body("", 0)
    open_bodies, found = [outermost], list[Body]()
    for number, line in enumerate(lines):
        body, stripped = open_bodies[-1], line.strip()
        if body.waiting >= 0:
            if _BEGINS.match(stripped):
                open_bodies.append(Body(f"{body.key}_at_line_{number + 1}", number + 1))
            elif body.listed and stripped.startswith("}"):
                _go_on(body, stripped)
            elif stripped:
                return []
        elif stripped.startswith("}") and len(open_bodies) > 1:
            body.texts[number] = "}"
            found.append(open_bodies.pop())
            _go_on(open_bodies[-1], body.name + stripped[1:])
        elif opening := _OPENS.search(stripped):
            body.waiting, body.text, body.key, body.listed = number, line.rstrip(), opening[1], bool(opening[2])
        else:
            body.texts[number] = line
    if len(open_bodies) > 1 or outermost.waiting >= 0:
        return []
    lines[:] = _lines(outermost.texts, len(lines))
    return found


def _go_on(body: Body, text: str) -> None:
    """An instruction goes on after one of the bodies that it calls, maybe to the next."""
    if text.startswith("}"):
        body.listed = False
    opening = _OPENS.search(text)
    if body.listed:
        text = text.replace(",", ", ")
    elif opening is None:
        body.texts[body.waiting] = body.text + text
        body.waiting = -1
        return
    else:
        body.key, body.listed = opening[1], bool(opening[2])
    body.text += text


def _lines(texts: Mapping[int, str], count: int) -> list[str]:
    return [texts.get(number, "") for number in range(count)]
