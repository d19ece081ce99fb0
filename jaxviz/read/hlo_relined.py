"""Text of HLO that was written by hand, brought to the lines that XLA prints.

To XLA, ends of lines are spaces: a computation may stand in one line, an instruction in several, with comments between
them, and a module may have no name. `relined` gives such a text with one instruction a line.
"""

from __future__ import annotations

import re

#: Longer texts, in characters, were printed by a program.
_LONGEST = 100_000
_TOKEN = re.compile(
    r"(?P<text>\"(?:[^\"\\]|\\.)*+\")|(?P<space>(?:\s|/\*(?s:.*?)\*/|//[^\n]*)++)"
    r"|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<comma>,)|(?P<word>(?:[^\s\"(){}\[\],/]|/(?![*/]))++)"
)
_NAMED = re.compile(r"(?:\s|/\*(?s:.*?)\*/|//[^\n]*)*+HloModule\b")


def relined(text: str) -> tuple[list[str], list[int]]:
    """The lines, and the number of each in the text; none where its braces do not match."""
    if len(text) > _LONGEST:
        return [], []
    lines = _Lines(text)
    return (lines.texts, lines.numbers) if lines.read() else ([], [])


class _Lines:
    def __init__(self, text: str) -> None:
        self._text = text
        self.texts: list[str] = []
        self.numbers: list[int] = []
        # Of the line that is being written: its parts, where in the text it begins, and the number of that.
        self._parts: list[str] = []
        self._start, self._number = 0, 1
        self._depth = 0
        # Whether the operands of the instruction, or all of the head of the module, have been read.
        self._whole = False

    def read(self) -> bool:
        """Whether all of the text was read."""
        text, at, inside = self._text, 0, False
        in_head = _NAMED.match(text) is not None
        if not in_head:
            self.texts.append("HloModule entry")
            self.numbers.append(1)
        spaced, before = True, ""
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                return False
            kind, token = found.lastgroup, found[0]
            if kind == "space":
                spaced, at = True, found.end()
                continue
            top = self._depth == 0
            if top and in_head and spaced and before not in ("", "HloModule", ",") and token != ",":
                self._end()
                in_head = False
            if top and inside and token == "}":
                self._end()
                self._add(token, at, spaced)
                self._end()
                inside = False
            elif top and not inside and not in_head and token == "{" and (spaced or before[-1:] not in "]}"):
                self._add(token, at, spaced=True)
                self._end()
                inside = True
            else:
                if top and inside and self._whole and kind == "word" and before != "," and not before.endswith("="):
                    self._end()
                self._depth += (kind == "open") - (kind == "close")
                if self._depth < 0:
                    return False
                self._add(token, at, spaced)
                # A parenthesis at the end of a word holds operands, any other a type.
                self._whole |= top and token == "(" and not spaced and not before.endswith("=")
            spaced, before, at = False, token, found.end()
        self._end()
        return not inside and self._depth == 0

    def _add(self, token: str, at: int, spaced: bool) -> None:
        if not self._parts:
            self._number += self._text.count("\n", self._start, at)
            self._start = at
        elif spaced and token not in ",)" and self._parts[-1] != "(":
            self._parts.append(" ")
        # What is in quotes may have ends of lines too.
        self._parts.append(token if "\n" not in token else token.replace("\n", " "))

    def _end(self) -> None:
        if self._parts:
            self.texts.append("".join(self._parts))
            self.numbers.append(self._number)
        self._parts.clear()
        self._whole = False
