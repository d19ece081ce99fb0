"""The line of a person's that gives a program to jaxviz: a call of `explore`, a cell with `%jaxviz`.

What JAX makes of one of its own functions, as of `jax.nn.softmax`, comes from no other line of the person's.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from itertools import islice
from types import CodeType

from jaxviz import compat
from jaxviz.read.frames import OWN_FOLDER, CallingLine, is_library

# What lies there starts programs of others: tests, the building of documentation, our own command.
_SCRIPTS = os.path.abspath(sysconfig.get_path("scripts")) + os.sep


def calling_line() -> CallingLine | None:
    """The innermost line of the person's that is being run now; None where no code of the person's called us."""
    frame = sys._getframe(1)
    while not _is_of_a_person(frame.f_code.co_filename):
        if frame.f_back is None:
            return None
        frame = frame.f_back
    code = frame.f_code
    name = getattr(code, "co_qualname", code.co_name).rpartition("<locals>.")[2]
    line, column, end_line, end_column = _place(code, frame.f_lasti)
    return CallingLine(code.co_filename, name, line or frame.f_lineno, column, end_line, end_column)


def _is_of_a_person(path: str) -> bool:
    return not (path.startswith((OWN_FOLDER, _SCRIPTS, *compat.JAX_FOLDERS)) or is_library(path))


def _place(code: CodeType, instruction: int) -> tuple[int, int, int, int]:
    # Instructions take two bytes.
    line, end_line, column, end_column = next(
        islice(code.co_positions(), instruction // 2, None), (None, None, None, None)
    )
    return line or 0, -1 if column is None else column, end_line or 0, -1 if end_column is None else end_column
