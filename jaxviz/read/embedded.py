"""Kernels that stand as bytes in an attribute of what calls them: told by what they are, and taken out."""

from __future__ import annotations

import base64
import re

# How bytecode of MLIR begins: in base64, as Mosaic for TPU has it, and as text in which the bytes of no character are
# written as ? or in hexadecimal.
_IN_BASE64 = re.compile(r"TUzvUg[\w+/]{26,}+=*+")
_AS_BYTES = re.compile(r"ML(?:\?|\\EF)R(?:[^\"\\]|\\.)*+")
# The same within another text in quotes, as HLO prints it.
_QUOTED_BYTES = re.compile(r"ML\\\\EFR(?:[^\"\\]|\\\\)*+")
_ESCAPED = re.compile(rb"\\([0-9A-F]{2}|\\)")
# Where the lines of a kernel stand in a module of their own (from 0.12 on): a location for each operation and argument.
_LINES = re.compile(r"\btpu\.locs = \[([#\w, ]*)\]")
_ALIAS = re.compile(r"^#loc.*$", re.MULTILINE)
_ALIAS_NAME = re.compile(r"#loc(?=\d*\b)")
# What an operation with bodies opens and closes, and the locations.
_PLACED = re.compile(r"\(\{|\}\)|\bloc\((?:unknown|#loc\d*)\)")
# As operations of its own, which stay the same from version to version, Mosaic writes those of all dialects.
_OF_MOSAIC = re.compile(r'"stable_mosaic(?:_gpu)?\.')


def with_kernels_said(text: str) -> str:
    """A text in which kernels are said instead of written out.

    >>> with_kernels_said('{"body": "TUzvUg' + "FNTElSMjMuMC4wZ2l0AAEnCQED" * 2 + '"}')
    '{"body": "43 bytes of MLIR"}'
    """
    if "TUzvUg" in text:
        text = _IN_BASE64.sub(lambda found: f"{len(found[0].rstrip('=')) * 3 // 4:,} bytes of MLIR", text)
    return _AS_BYTES.sub("MLIR as bytes", text) if "ML?R" in text or "ML\\EFR" in text else text


def kernels_in(source: str | bytes) -> tuple[bytes, ...]:
    r"""The bytecode of the kernels that are written out in a text, or in texts of a protocol buffer, each once.

    >>> kernels_in(r'{ir = "ML\EFR\0DMLIR\\", name = "add"}')
    (b'ML\xefR\rMLIR\\',)
    """
    if isinstance(source, bytes):
        return kernels_in(source.decode("latin-1")) if b"TUzvUg" in source or b"\\EFR" in source else ()
    text = source
    found: list[bytes] = []
    if "TUzvUg" in text:
        written = (one[0].rstrip("=") for one in _IN_BASE64.finditer(text))
        # Of one that is cut off, what there is of it.
        found += [base64.b64decode(one + "=" * (-len(one) % 4)) for one in written if len(one) % 4 != 1]
    if "\\EFR" in text:
        quoted = (one[0].replace(r"\\", "\\") for one in _QUOTED_BYTES.finditer(text))
        for one in (*quoted, *(one[0] for one in _AS_BYTES.finditer(text))):
            found.append(_ESCAPED.sub(_byte, one.encode("latin-1", "replace")))
    return tuple(dict.fromkeys(found))


def _byte(found: re.Match[bytes]) -> bytes:
    return found[1] if found[1] == b"\\" else bytes.fromhex(found[1].decode())


def said_plainly(text: str) -> str:
    """The text of a kernel with its operations as their own dialects call them."""
    return _OF_MOSAIC.sub('"', text)


def lines_in(text: str) -> list[str]:
    """The locations that a module keeps for the kernel before it, in the order of that; none in another module."""
    found = _LINES.search(text)
    return found[1].split(", ") if found is not None else []


def with_lines(text: str, lines: str) -> str:
    """The text of a kernel with the locations that another module keeps for it; as it is where they do not fit."""
    given = lines_in(lines)
    bare = _ALIAS.sub("", text)
    pieces, ended, count = [], 0, 1
    # The module comes first, and its location last.
    opened = [0]
    is_closed = False
    for found in _PLACED.finditer(bare):
        if found[0] == "({":
            opened.append(count)
            count += 1
        elif found[0] == "})":
            is_closed = True
        else:
            if is_closed or found.end() == len(bare.rstrip()):
                place, is_closed = opened.pop(), False
            else:
                place, count = count, count + 1
            if place >= len(given):
                return text
            pieces += [bare[ended : found.start()], f"loc({given[place]})"]
            ended = found.end()
    if count != len(given) or opened:
        return text
    aliases = "\n".join(_ALIAS.findall(lines))
    return _ALIAS_NAME.sub("#line", f"{aliases}\n{''.join(pieces)}{bare[ended:]}")
