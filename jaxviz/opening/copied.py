"""Programs in a text that holds more than them: copied from a log, a chat, an issue or the output of a cell.

A program begins at a line that nothing else looks like, wherever in it, and goes on to where its braces are closed.
What stands before its first line may stand before each: what quotes it, who logged it and when.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from jaxviz.opening.contents import text_kind, without_comments
from jaxviz.opening.quoted import quoted_in

_HLO, _MLIR = "HLO", "MLIR"
# The first line of a module, or of a part of one; with how such a line ends.
_HEADS = re.compile(
    r"(?P<HLO>HloModule %?[\w.<>-]++(?=, |,?$))"
    r"|(?P<alias>#loc\d* = loc\()|(?P<module>\bmodule(?: @\S++)?(?= attributes \{| \{$))"
    r"|(?P<function>\bfunc\.func (?:\w++ )?@[^\s(]++ ?\()"
    r"|(?P<computation>(?:\bENTRY )?(?<![\w.%-])%?[\w.-]++ \()"
)
_ENDS = {"HLO": "", "alias": ")", "module": "{", "function": "{", "computation": "{"}
_PARTS_OF_MODULES = ("function", "computation")
# What there can be outside of all braces, beside nothing.
_OUTSIDE = {
    _HLO: re.compile(
        r"HloModule |(?:FileNames|FunctionNames|FileLocations|StackFrames)$|\d+ [\"{]|//(?! -----)"
        r"|(?:ENTRY )?%?[\w.-]+ (?:\(.*)?\{$|(?:ENTRY )?%?[\w.-]+ \([\w.%-]+:(?: |$)|ENTRY$|(?:ENTRY )?%[\w.-]+$"
    ),
    _MLIR: re.compile(r"[#!]\w+ = |module\b|func\.func\b|//(?! -----)|\{-#"),
}
# Where a line ends or begins that was cut between words: the heads of a module and of a computation go on.
_GOES_ON, _IS_GOING_ON = (",", ":", "->"), ("->", "{", "(")
_FENCE = "```"
# What stands before each line, in parts; more characters than these are no such thing.
_PARTS = re.compile(r"\d+|\s+|[^\d\s]+")
_LONGEST = 300
# One quotation mark; three stand around texts of several lines.
_QUOTES = re.compile(r"(?<!\"\")(?<!'')['\"]\Z")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
# So many characters are in the lines of consoles; of those that are cut at their width there are some.
_WIDTHS, _CUT_LINES = range(60, 300), 3
# How consoles colour what they show, and what stands for spaces in pages.
_COLOUR, _FIXED_SPACE = re.compile(rb"\x1b\[[0-9;]*[A-Za-z]"), "\u00a0".encode()
_LAYERS = 4
# Between two modules, for the reader of them.
_MARK = "// -----"


def plain(data: bytes) -> bytes:
    """A text as it was written, without what a console colours it by, and with the spaces that a page replaces."""
    data = _COLOUR.sub(b"", data) if b"\x1b[" in data else data
    return data.replace(_FIXED_SPACE, b" ")


class Copied(NamedTuple):
    """Texts of programs alone, one for each language, with each line where it was, and what was left out of them all,
    in words."""

    texts: tuple[str, ...]
    left_out: str
    #: Whether a line of them has the number that it has in the file.
    is_in_place: bool = True


def copied_in(text: str, layers: int = _LAYERS) -> Copied | None:
    """The programs in a text, None where there is none or nothing else; it may be quoted in so many `layers`.

    >>> copied_in("I get\\n> HloModule m\\n> ENTRY e {\\n>   ROOT p = f32[] parameter(0)\\n> }\\nWhy?").texts
    ('\\nHloModule m\\nENTRY e {\\nROOT p = f32[] parameter(0)\\n}\\n',)
    """
    quoted = quoted_in(text) if layers else None
    if quoted is not None:
        found = copied_in(quoted, layers - 1)
        # What is put together has lines of its own.
        is_in_place = quoted.count("\n") == text.count("\n")
        if found is None:
            is_program = text_kind(without_comments(quoted)) is not None
            return Copied((quoted,), "", is_in_place) if is_program else None
        if is_in_place:
            return found
        return Copied(found.texts, "all but the programs in its texts" if found.left_out else "", False)
    lines = text.replace("\r\n", "\n").split("\n")
    kept_of = _pieces(lines)
    texts = tuple("\n".join(kept) for kept in kept_of.values())
    if not texts or texts == (text,):
        return None
    kept = ["".join(alike) for alike in zip(*kept_of.values(), strict=True)]
    words = _but(kept) if any(line.strip() and not alone for line, alone in zip(lines, kept, strict=True)) else ""
    is_shorter = any(alone and alone.strip() != line.strip() for line, alone in zip(lines, kept, strict=True))
    return Copied(texts, " and ".join(filter(None, (words, "what stands before the lines of it" * is_shorter))))


def uncut_in(text: str) -> Copied | None:
    r"""The text without the ends of lines at the width of what showed it; None where no lines were cut.

    >>> uncut_in("abc\n" * 9) is None, len(uncut_in(("a" * 60 + "\n") * 3 + "end").texts[0])
    (True, 183)
    """
    lines = text.replace("\r\n", "\n").split("\n")
    width = max(map(len, lines))
    if width not in _WIDTHS or sum(len(line) == width for line in lines) < _CUT_LINES:
        return None
    found: list[str] = []
    parts: list[str] = []
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        parts.append(line)
        # One may just be as long as that, and ends with its last bracket.
        may_end = line.endswith((")", "}")) and not following.startswith((",", " ", "."))
        if len(line) < width or (may_end and _is_closed("".join(parts))):
            found.append("".join(parts))
            parts = []
    found += ["".join(parts)] if parts else []
    return Copied(("\n".join(found),), f"the ends of lines at {width} characters", is_in_place=False)


def _is_closed(text: str) -> bool:
    unquoted = _TEXT.sub("", text)
    return all(unquoted.count(begin) == unquoted.count(end) for begin, end in ("()", "{}", "[]"))


def _but(kept: list[str]) -> str:
    """What is left out of a text of which these lines are kept."""
    used = [number for number, line in enumerate(kept, 1) if line and line != _MARK]
    return f"all but lines {used[0]:,} to {used[-1]:,}"


def _pieces(lines: list[str]) -> dict[str, list[str]]:
    """For each language of which there are programs the lines with all that is none of them left out."""
    found: dict[str, list[str]] = {}
    at = dict.fromkeys((_HLO, _MLIR), 0)
    for number, column, kind in _starts(lines):
        if number < max(at.values()):
            continue
        piece = _piece(lines, number, column, kind)
        after, at[kind] = at[kind], number + len(piece)
        if not _is_whole(piece):
            continue
        kept = found.setdefault(kind, [""] * len(lines))
        if after and kind == _MLIR and number > after:
            kept[number - 1] = _MARK
        kept[number : at[kind]] = piece
    return found


def _starts(lines: list[str]) -> list[tuple[int, int, str]]:
    """Where programs may begin: line, column, language."""
    found: list[tuple[int, re.Match[str], str]] = []
    for number, line in enumerate(lines):
        line = line.rstrip()
        # To look at each place of each line takes long.
        may_be = line.endswith("{") or "HloModule" in line or " = loc(" in line
        head = _HEADS.search(line) if may_be else None
        if head is None:
            continue
        kind = str(head.lastgroup)
        # What is in quotes goes on otherwise than a program does.
        is_quoted = _QUOTES.search(line, 0, head.start()) is not None
        if line.endswith(_ENDS[kind]) and not is_quoted and (kind != "computation" or ") -> " in line):
            found.append((number, head, kind))
    # Parts of a module begin one only where nothing says where it does.
    whole = [start for start in found if start[2] not in _PARTS_OF_MODULES]
    return [
        (number, head.start(), _HLO if kind in ("HLO", "computation") else _MLIR)
        for number, head, kind in whole or found
    ]


def _piece(lines: list[str], start: int, column: int, kind: str) -> list[str]:
    """The lines of a program from its first one to where it ends, without what stands before each."""
    before = _before_each(lines, start, column)
    piece: list[str] = []
    depth, end, last = 0, 0, ""
    for number in range(start, len(lines)):
        line = lines[number]
        if number == start:
            line = line[column:]
        elif before is not None:
            found = before.match(line)
            if found is None:
                # What others wrote meanwhile.
                piece.append("")
                continue
            line = line[found.end() :]
        words = line.strip()
        goes_on = last.endswith(_GOES_ON) or words.startswith(_IS_GOING_ON)
        if words.startswith(_FENCE) or (depth <= 0 and words and not goes_on and not _OUTSIDE[kind].match(words)):
            break
        last = words or last
        braces = _TEXT.sub("", words)
        depth += braces.count("{") - braces.count("}")
        piece.append(line.rstrip())
        end = len(piece) if words else end
    return piece[:end]


def _is_whole(piece: list[str]) -> bool:
    """Whether these lines hold a program, and not only its beginning or what belongs to one."""
    has_body = any(line.endswith("{") for line in piece)
    has_entry = any(line.lstrip().startswith("ENTRY") for line in piece)
    return has_body and any(" = " in line for line in piece) and (has_entry or not piece[0].startswith("HloModule"))


def _before_each(lines: list[str], start: int, column: int) -> re.Pattern[str] | None:
    """What stands before each line, as it does before the first; None where it does not."""
    before = lines[start][:column]
    if not before.strip() or len(before) > _LONGEST:
        return None
    # Times and numbers differ.
    parts = (r"\d+" if one.isdigit() else r"\s*" if one.isspace() else re.escape(one) for one in _PARTS.findall(before))
    pattern = re.compile("".join(parts))
    following = next((line for line in lines[start + 1 :] if line.strip()), "")
    return pattern if pattern.match(following) else None
