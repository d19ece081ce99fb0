"""The tables at the top of HLO text: files, functions, locations, and the frames that name them.

From JAX 0.8 on; older text has file and line in each instruction.
"""

from __future__ import annotations

import re

from jaxviz.read.hlo.module import HloError, HloModule, Location
from jaxviz.read.hlo.pairs import HloTextError, first_column, unquoted

_NAMED, _NUMBERED = ("FileNames", "FunctionNames"), ("FileLocations", "StackFrames")
_NAMED_ROW = re.compile(r'\s*(\d+) "(.*)"\s*$')
_NUMBERED_ROW = re.compile(r"\s*(\d+) \{([^{}]*)\}\s*$")
_NUMBER = re.compile(r"(\w+)=(-?\d+)")
# A row as XLA writes it, which is read in a third of the time.
_COLUMNS = {
    "FileLocations": ("file_name_id", "function_name_id", "line", "end_line", "column", "end_column"),
    "StackFrames": ("file_location_id", "parent_frame_id"),
}
_USUAL_ROW = {
    table: re.compile(rf"(\d{{1,9}}) \{{{' '.join(rf'{column}=([0-9]{{1,9}})' for column in columns)}\}}$")
    for table, columns in _COLUMNS.items()
}

_Row = dict[str, int]


def read_tables(lines: list[str], at: int, module: HloModule) -> int:
    """Read the tables, if there are any, from line `at` on; give the first line after them."""
    names: dict[str, list[str]] = {table: [] for table in _NAMED}
    rows: dict[str, list[_Row]] = {table: [] for table in _NUMBERED}
    table = ""
    while at < len(lines):
        text = lines[at].strip()
        if text in _NAMED or text in _NUMBERED:
            table = text
        elif table in _NUMBERED and (usual := _USUAL_ROW[table].match(text)) is not None:
            number, *values = map(int, usual.groups())
            if number != 1 + len(rows[table]):
                raise _unexpected(lines, at, table, 1 + len(rows[table]))
            rows[table].append(dict(zip(_COLUMNS[table], values, strict=True)))
        elif table and text[:1].isdigit():
            found = (_NAMED_ROW if table in _NAMED else _NUMBERED_ROW).match(lines[at])
            expected = 1 + len(names[table] if table in _NAMED else rows[table])
            if found is None or found[1] != str(expected):
                raise _unexpected(lines, at, table, expected)
            if table in _NAMED:
                names[table].append(unquoted(found[2]))
            else:
                pairs = _NUMBER.findall(found[2])
                rows[table].append({key: int(value) if len(value) < 10 else _bounded(value) for key, value in pairs})
        elif text:
            break
        at += 1
    module.files, module.functions = names["FileNames"], names["FunctionNames"]
    _add_locations(module, rows["FileLocations"], at)
    _add_frames(module, rows["StackFrames"], at)
    return at


def _unexpected(lines: list[str], at: int, table: str, row: int) -> HloError:
    return HloTextError(at + 1, first_column(lines[at]), f"row {row} of {table}")


def _bounded(digits: str) -> int:
    return min(max(int(digits[:12]), -1), 2**31 - 1)


def _add_locations(module: HloModule, rows: list[_Row], at: int) -> None:
    for number, row in enumerate(rows):
        file, function = row.get("file_name_id", 0) - 1, row.get("function_name_id", 0) - 1
        if not -1 <= file < len(module.files) or not -1 <= function < len(module.functions):
            raise HloTextError(at, 1, f"a file and a function for row {number + 1} of FileLocations")
        lines = max(row.get("line", 0), 0), max(row.get("end_line", 0), 0)
        columns = max(row.get("column", 0), 0), max(row.get("end_column", 0), 0)
        module.locations.append(Location(file, function, *lines, *columns))


def _add_frames(module: HloModule, rows: list[_Row], at: int) -> None:
    """Number frames as the protocol buffer does."""
    callers = [row.get("parent_frame_id", 0) for row in rows]
    # XLA prints the number of the calling frame one too large, so that 1 says that there is none.
    shift = 1 if 0 in callers else 2
    for number, (row, caller) in enumerate(zip(rows, callers, strict=True)):
        location = row.get("file_location_id", 0) - 1
        if not 0 <= location < len(module.locations) or not -1 <= caller - shift < len(rows):
            raise HloTextError(at, 1, f"a location and a caller for row {number + 1} of StackFrames")
        module.frames.append((location, caller - shift))
