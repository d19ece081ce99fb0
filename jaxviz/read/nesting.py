"""How deep a text is nested. MLIR reads what stands in brackets by calls within calls, and too many of those end the
process."""

from __future__ import annotations

import re

import numpy as np

#: So many brackets may stand within one another. What JAX writes has tens; some thousands end the process.
DEEPEST = 1_000

_OPENING, _CLOSING = "([{<", ")]}>"
_ENDS = np.zeros(256, np.int8)
_ENDS[[*map(ord, _OPENING)]], _ENDS[[*map(ord, _CLOSING)]] = 1, -1
_OTHERS = bytes(np.flatnonzero(_ENDS == 0).tolist())
# Brackets in these are none.
_WITHOUT = r'"(?:[^"\\]|\\.)*"|//[^\n]*|->'
_HIDING = re.compile(_WITHOUT)
_TOKEN = re.compile(rf"{_WITHOUT}|[()\[\]{{}}<>]")


def too_deep(text: str) -> tuple[int, int] | None:
    """The line and the column of the first bracket that stands in too many others; None where there is none.

    >>> too_deep("{ " * 1_001), too_deep("{ } " * 1_001)
    ((1, 2001), None)
    """
    if sum(map(text.count, _OPENING)) <= DEEPEST:
        return None
    brackets = _HIDING.sub("", text).encode(errors="replace").translate(None, _OTHERS)
    depth = np.cumsum(_ENDS[np.frombuffer(brackets, np.uint8)], dtype=np.int32)
    if depth.max(initial=0) <= DEEPEST:
        return None
    left = int(np.argmax(depth > DEEPEST))
    places = (match.start() for match in _TOKEN.finditer(text) if match[0] in _OPENING + _CLOSING)
    place = next(place for number, place in enumerate(places) if number == left)
    return text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
