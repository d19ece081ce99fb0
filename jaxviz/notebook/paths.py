"""`%jaxviz PATH`: what of a magic's line names a file or folder, and what that holds."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any

from IPython.core.error import UsageError

from jaxviz.opening import open as open_path
from jaxviz.opening.contents import OpenError
from jaxviz.opening.large import long_to_read
from jaxviz.opening.made import is_made
from jaxviz.opening.opened import Opened

_SUFFIX = re.compile(r"\.(hlo|txt|pb|mlir|mlirbc|jaxexport|jaxviz)(\.(gz|zst|xz|bz2))?\Z")


def path_in(text: str) -> Path | None:
    """The file or folder that a text names, quoted or not; None for one that names none."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if isinstance(value, str):
        return Path(value).expanduser()
    if text.isidentifier() or "(" in text:
        return None
    path = Path(text).expanduser()
    try:
        return path if _SUFFIX.search(text) or path.exists() else None
    except (OSError, ValueError):
        return None


def opened(path: Any, stage: str | None, height: int | None) -> Opened:
    """What a file or folder holds, or what JAX made; a one-line `UsageError` where it cannot be opened."""
    try:
        if not is_made(path) and (said := long_to_read(path)):
            print(said, file=sys.stderr, flush=True)
        found = open_path(path)
    except OpenError as error:
        raise UsageError(f"%jaxviz: {error}") from None
    except OSError as error:
        raise UsageError(f"%jaxviz: {path}: {error.strerror or error}") from None
    found.height = height
    if stage is not None:
        if stage not in found.kinds:
            raise UsageError(f"%jaxviz --stage: there is no {stage} in {found.path}: it holds {', '.join(found.kinds)}")
        found.stage = stage
    return found
