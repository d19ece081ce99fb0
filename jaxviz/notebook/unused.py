"""Whether the value of a magic is used by the line that it stands in.

IPython shows the value of a cell's last line. In a loop, under `with`, or on a line before the last, the value would be
lost without a word: there the magic shows it itself.
"""

from __future__ import annotations

import dis
import sys
from types import FrameType
from typing import Any

#: What stands between a call and what is done with its value.
_BETWEEN = frozenset({"CACHE", "NOP", "EXTENDED_ARG"})


def value_is_unused(names: dict[str, Any]) -> bool:
    """True where the line of the person, whose names these are, drops the value of the magic that runs now."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "run_line_magic":
        frame = frame.f_back
    person = frame.f_back if frame is not None else None
    if person is None or person.f_globals is not names:
        return False
    for instruction in dis.get_instructions(person.f_code):
        if instruction.offset > person.f_lasti and instruction.opname not in _BETWEEN:
            return instruction.opname == "POP_TOP"
    return False
