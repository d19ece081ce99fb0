"""Where the instructions in a protocol buffer come from: their name stacks and frames."""

from __future__ import annotations

import numpy as np

from jaxviz.read.hlo.columns import Array, Columns, Rows
from jaxviz.read.hlo.module import HloError, HloModule, Location

# Fields of OpMetadata. Old modules name a file and a line in place of a frame.
_OP_NAME, _FILE, _LINE, _FRAME = 2, 3, 4, 15


def read_origins(
    columns: Columns, module: HloModule, start: Array, end: Array, *, frames: bool = True
) -> tuple[list[str], list[int]]:
    """The name stack and the frame, or -1, in each of these messages; files and lines become frames of the module."""
    count = len(start)
    rows = columns.fields(start, end)
    op_names = columns.texts(*columns.span(rows.of(_OP_NAME), count, "a text"))
    return op_names, _read_frames(columns, module, rows, start) if frames else [-1] * count


def _read_frames(columns: Columns, module: HloModule, rows: Rows, start: Array) -> list[int]:
    count = len(start)
    frames = columns.number(rows.of(_FRAME), count)
    for row in np.flatnonzero((frames < 0) | (frames > len(module.frames)))[:1].tolist():
        raise HloError(f"byte {start[row]}: expected a row of the stack frames, not {frames[row]}")
    files = columns.texts(*columns.span(rows.of(_FILE), count, "a text"))
    lines = np.clip(columns.number(rows.of(_LINE), count), 0, 2**31 - 1)
    found = (frames - 1).tolist()
    known: dict[tuple[str, int], int] = {}
    for row, (file, line) in enumerate(zip(files, lines.tolist(), strict=True)):
        if not file or found[row] >= 0:
            continue
        frame = known.get((file, line))
        if frame is None:
            frame = known[file, line] = len(module.frames)
            if file not in module.files:
                module.files.append(file)
            module.frames.append((len(module.locations), -1))
            module.locations.append(Location(module.files.index(file), -1, line, 0, 0, 0))
        found[row] = frame
    return found
