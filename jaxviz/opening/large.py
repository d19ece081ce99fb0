"""What takes so long to read that it is said before."""

from __future__ import annotations

import os
from pathlib import Path

from jaxviz.units import bytes_text, seconds_text

#: Nothing is said of fewer bytes: they are read in some five seconds.
FEW_BYTES = 20_000_000
#: Of text. What is compressed, or a protocol buffer, takes longer.
_SECONDS_A_BYTE = 0.25e-6


def long_to_read(path: str | os.PathLike[str]) -> str:
    """That a file is long and how long it takes to read, in one line; empty where it is not.

    A folder is no file: of what is in it, much is not read at all.
    """
    path = Path(path).expanduser()
    size = path.stat().st_size if path.is_file() else 0
    if size < FEW_BYTES:
        return ""
    # No more digits than are known.
    seconds = float(f"{_SECONDS_A_BYTE * size:.1g}")
    return f"jaxviz: {path.name} has {bytes_text(size)}: to read it takes {seconds_text(seconds)} or more"
