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
