"""Text of HLO that was written by hand, brought to the lines that XLA prints.

To XLA, ends of lines are spaces: a computation may stand in one line, an instruction in several, with comments between
them, and a module may have no name. `relined` gives such a text with one instruction a line, and a computation that is
written out where it is called in lines of its own, which `inline.py` takes out. What a person leaves to XLA is filled
in: a type that follows from the operands stands as `UNKNOWN`, and of an operand that is written out where it is read,
`nested.py` makes an instruction.
"""

from __future__ import annotations

import re

#: Stands in place of a type that is not written.
UNKNOWN = "?"
# A type that has another one in parentheses.
_BUFFER = "b"
#: Longer texts, in characters, were printed by a program.
_LONGEST = 1_000_000
_TOKEN = re.compile(
    r"(?P<text>\"(?:[^\"\\]|\\.)*+\")|(?P<space>(?:\s|/\*(?s:.*?)\*/|//[^\n]*)++)"
    r"|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<comma>,)|(?P<equal>=)|(?P<word>(?:[^\s\"(){}\[\],/=]|/(?![*/]))++)"
)
_ENDS_OF_TYPES = ("]", "}", ")")
# What is said of a computation after its closing brace.
_AFTER = re.compile(r"\s*,\s*\w+\s*=\s*(?:\"[^\"\n]*\"|\w+)")
# What follows the brace of a layout, and not that of a computation.
_IN_LAYOUT = re.compile(r"\s*[\d:}]")
# What follows the brace of a computation that is written out where it is called, and not that of an attribute.
_IN_BODY = re.compile(
    r"(?:\s|/\*(?s:.*?)\*/|//[^\n]*)*+(?:ROOT\s+)?%?[^\s=,(){}%\"]+\s*=\s*(?:\(|[a-z]\w*\s?\[|[a-z][\w-]*\s?\()"
)
_NAMED = re.compile(r"(?:\s|/\*(?s:.*?)\*/|//[^\n]*)*+HloModule\b")
# The tables before the first computation, and a row of one.
_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_ROW = re.compile(r"\s*(\d++)\s+(\"(?:[^\"\\]|\\.)*+\"|\{[^{}\"]*+\})")


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
        # The brackets that are open; in a square one and in a layout, for which it stands too, there is no space.
        self._open: list[str] = []
        self._inside = False
        # How many computations are open that are written out where they are called.
        self._bodies = 0
        # Whether the operands of the instruction, or all of the head of the module, have been read.
        self._whole = False

    def read(self) -> bool:
        """Whether all of the text was read."""
        text, at = self._text, 0
        in_head = _NAMED.match(text) is not None
        if not in_head:
            self.texts.append("HloModule , ")
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
            top = not self._open
            if top and in_head and spaced and before not in ("", "HloModule", ",") and token != ",":
                self._end()
                in_head = False
            if top and not self._inside and token in _TABLES and not self._parts:
                at = self._add_table(token, at)
                spaced = True
                continue
            if top and self._inside and token == "}" and self._bodies:
                self._end()
                self._add(token, at, spaced)
                # The instruction that calls it goes on.
                self._whole = True
                self._bodies -= 1
            elif top and self._inside and token == "{" and before == "=" and _IN_BODY.match(text, found.end()):
                self._end()
                self._add(token, at, spaced)
                self._end()
                self._bodies += 1
            elif top and self._inside and token == "}":
                self._end()
                self._add(token, at, spaced)
                self._end()
                self._inside = False
                if said := _AFTER.match(text, found.end()):
                    spaced, before, at = False, token, said.end()
                    continue
            elif (
                top
                and not self._inside
                and not in_head
                and token == "{"
                and not (before in ("]", "}") and _IN_LAYOUT.match(text, found.end()))
            ):
                self._add(token, at, spaced=True)
                self._end()
                self._inside = True
            else:
                goes_on = before in (",", "=") or token.startswith("<")
                if top and self._inside and self._whole and spaced and kind == "word" and not goes_on:
                    self._end()
                closes = self._open.pop() if kind == "close" and self._open else ""
                if kind == "close" and not closes:
                    return False
                in_type = top and self._inside and not self._whole and before != "="
                is_first = top and not self._whole and token == "("
                # A parenthesis after a word holds operands, any other a type.
                if is_first and (in_type or not spaced) and before not in ("=", _BUFFER):
                    self._whole = True
                    if self._parts[-3:-1] == ["=", " "]:
                        self._parts.insert(-1, f"{UNKNOWN} ")
                self._add(token, at, spaced and not (closes == "[" or (in_type and kind == "open")))
                if kind == "open":
                    self._open.append("[" if before == "]" and (in_type or not spaced) else token)
            spaced, before, at = False, token, found.end()
        self._end()
        return not self._inside and not self._open

    def _add(self, token: str, at: int, spaced: bool) -> None:
        if not self._parts:
            self._number += self._text.count("\n", self._start, at)
            self._start = at
        elif self._is_apart(token, spaced):
            self._parts.append(" ")
        # What is in quotes may have ends of lines too.
        self._parts.append(token if "\n" not in token else token.replace("\n", " "))

    def _add_table(self, name: str, at: int) -> int:
        """Take a table, which begins here with its name; give where it ends."""
        self._add(name, at, spaced=True)
        self._end()
        at += len(name)
        while row := _ROW.match(self._text, at):
            self._add(f"{row[1]} {' '.join(row[2].split())}", row.start(1), spaced=True)
            self._end()
            at = row.end()
        return at

    def _is_apart(self, token: str, spaced: bool) -> bool:
        """Whether a space stands before a part of a line, as XLA prints it."""
        before = self._parts[-1]
        in_type = self._inside and not self._whole
        if not self._open and (before == "," or (in_type and "=" in (before, token))):
            return True
        # Between a type and what it is the type of.
        named = self._open == ["("] if self._open else in_type
        if named and before in _ENDS_OF_TYPES and (token[0] == "%" or token[0].isalpha()):
            return True
        if not spaced or token in ",)]" or before == "(" or self._open[-1:] == ["["]:
            return False
        if self._whole and (before == "{" or token == "}"):
            return False
        # Of an attribute: it is not the one between a name and its type.
        return not (self._whole and "=" in (before, token))

    def _end(self) -> None:
        if self._parts:
            self.texts.append("".join(self._parts))
            self.numbers.append(self._number)
        self._parts.clear()
        self._whole = False
