"""From the frames of an HLO module to call stacks in the tables: the rows that a jaxpr's tracebacks give.

JAX writes the call stack of an operation in a loop as that of the loop and then its own, which begins at the function
that was traced once more. Here each frame is taken once; so recursion shows its innermost turn.
"""

from __future__ import annotations

import linecache
import re

from jaxviz import compat
from jaxviz.read.frames import OWN_FOLDER, add_excerpt, add_file, characters
from jaxviz.read.hlo.module import HloModule, Location
from jaxviz.read.spoken import kept_name
from jaxviz.tables import Tables


class HloFrames:
    """Call stacks of instructions, each looked at once."""

    def __init__(self, module: HloModule, tables: Tables, *, wanted: bool = True) -> None:
        #: Whether anything is read; else no instruction has a call stack.
        self.wanted = wanted
        self._module = module
        self._tables = tables
        self._stacks: dict[int, int] = {-1: -1}
        self._touched: dict[int, tuple[int, int]] = {}

    def stack(self, frame: int) -> int:
        """The person's frames and those of libraries between them; without JAX's and those around the program."""
        if not self.wanted:
            return -1
        known = self._stacks.get(frame)
        if known is None:
            known = self._stacks[frame] = self._read(frame)
        return known

    def write_excerpts(self) -> None:
        """Put the source that the frames point into into the tables, from the files of this machine."""
        for file, (first, last) in self._touched.items():
            path = self._tables.strings[self._tables.files.path[file]]
            add_excerpt(self._tables, file, _begin_of_function(path, first), last)

    def _read(self, frame: int) -> int:
        module, tables = self._module, self._tables
        frames: list[int] = []
        for place in module.locations_of(frame):
            path = module.files[place.file] if place.file >= 0 else ""
            # The program was lowered from here.
            if path.startswith(OWN_FOLDER):
                break
            if not path or path.startswith(compat.JAX_FOLDERS) or any(folder in path for folder in _JAX_FOLDERS):
                continue
            frames.append(self._frame(place, path))
        # What starts an interpreter or a notebook is none of the program.
        while frames and tables.files.library[tables.frames.file[frames[-1]]]:
            frames.pop()
        return tables.stack(each_once(frames[::-1]))

    def _frame(self, place: Location, path: str) -> int:
        tables = self._tables
        file = add_file(tables, path)
        function = self._module.functions[place.function] if place.function >= 0 else ""
        # As in frames of Python: without the functions that it was defined in.
        function = kept_name(function.rpartition("<locals>.")[2])
        column, end_column = place.column, place.end_column
        if not place.end_line:
            end_column = -1
            # Old text has lines only.
            column = column or -1
        if not tables.files.library[file] and tables.source_is_here(file):
            column = characters(path, place.line, column)
            end_column = characters(path, place.end_line, end_column)
            last_line = max(place.line, place.end_line)
            first, last = self._touched.get(file, (place.line, last_line))
            self._touched[file] = min(first, place.line), max(last, last_line)
        return tables.frame(file, function, place.line, column, place.end_line, end_column)


_DEFINITION = re.compile(r"(?:async )?def |class ")


def _begin_of_function(path: str, line: int) -> int:
    """The line at which the outermost definition around a line begins, decorators included; the line itself if none."""
    lines = linecache.getlines(path)
    if not 0 < line <= len(lines):
        return line
    indent, begin = _indent_of(lines[line - 1]), line
    for number in range(line - 1, 0, -1):
        text = lines[number - 1].lstrip()
        here = _indent_of(lines[number - 1])
        is_around = here < indent and _DEFINITION.match(text) is not None
        if is_around or (number == begin - 1 and here == indent and text.startswith("@")):
            indent, begin = here, number
    return begin


def _indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


# JAX on the machine where a file was written.
_JAX_FOLDERS = ("-packages/jax/", "-packages/jaxlib/")


def each_once(frames: list[int]) -> list[int]:
    """Without what lies between the first and the last time that a frame occurs."""
    last = {frame: place for place, frame in enumerate(frames)}
    kept: list[int] = []
    place = 0
    while place < len(frames):
        place = last[frames[place]]
        kept.append(frames[place])
        place += 1
    return kept
