"""Kernels that stand in an attribute of the operation that calls them, as bytes: told by what they are."""

from __future__ import annotations

import re

# How bytecode of MLIR begins: in base64, as Mosaic for TPU has it, and as text in which the bytes of no character are
# written as ? or in hexadecimal.
_IN_BASE64 = re.compile(r"TUzvUg[\w+/]{26,}+=*+")
_AS_BYTES = re.compile(r"ML(?:\?|\\EF)R(?:[^\"\\]|\\.)*+")


def with_kernels_said(text: str) -> str:
    """A text in which kernels are said instead of written out.

    >>> with_kernels_said('{"body": "TUzvUg' + "FNTElSMjMuMC4wZ2l0AAEnCQED" * 2 + '"}')
    '{"body": "43 bytes of MLIR"}'
    """
    if "TUzvUg" in text:
        text = _IN_BASE64.sub(lambda found: f"{len(found[0].rstrip('=')) * 3 // 4:,} bytes of MLIR", text)
    return _AS_BYTES.sub("MLIR as bytes", text) if "ML?R" in text or "ML\\EFR" in text else text
