"""Whether the source files that an opened program names are here, as they were when it was compiled."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

from jaxviz.read.frames import is_library


def sources_of(file: str) -> Callable[[str], bool]:
    """Tells of a path that the program in `file` names whether it is the source that it was compiled from.

    It is, where it is a Python file in the folder in which one works and was last written before `file` was. Elsewhere
    nothing is read: a file that somebody else made can name whatever it likes. What was written since may be another
    program by now, and its lines would be told of operations that they did not make.
    """
    written = _written(file)
    here = Path.cwd().resolve()

    @cache
    def is_source(path: str) -> bool:
        if not path.endswith(".py") or is_library(path) or not 0 < _written(path) <= written:
            return False
        return here != here.parent and Path(path).resolve().is_relative_to(here)

    return is_source


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return 0
