"""From the traceback of an equation to the frames of a person's program: the call stack in the tables.

JAX's own frames are left out, and so is everything around the function that was traced: the notebook's machinery, the
test runner, jaxviz. Frames of libraries above JAX (flax, optax) stay, marked as such. Nothing of `linecache` is touched
for them: only the person's own files are read, for columns in characters and for excerpts.
"""

from __future__ import annotations

import ast
import contextlib
import linecache
import os
import re
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import CodeType
from typing import Any, NamedTuple

from jaxviz import compat
from jaxviz.read.blocks import Stack
from jaxviz.read.spoken import kept_name
from jaxviz.tables import Tables

#: The longest excerpt of one file, in lines.
EXCERPT_LINES = 2_000

# Up to so many places in one function are looked up one by one.
_FEW_PLACES = 16

#: Where the frames of jaxviz itself lie.
OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def _folders(*names: str) -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({os.path.abspath(paths[name]) + os.sep for name in names if name in paths})


_STANDARD_FOLDERS = _folders("stdlib", "platstdlib")
_LIBRARY_FOLDERS = _STANDARD_FOLDERS + _folders("purelib", "platlib")
# What decorators of `contextlib` put around a function, as JAX 0.6 does around its own, is no place of a program.
_WRAPPING = contextlib.__file__


@dataclass(slots=True, eq=False)
class _Code:
    """What is the same for all frames of a code object. `file` is below 0 for those that are left out."""

    code: CodeType
    file: int
    name: str = ""
    #: Whether columns in bytes are columns in characters.
    plain: bool = True
    #: Whether each frame widens the excerpt of the file by its own lines.
    grows: bool = False
    looked_up: int = 0
    places: list[tuple[int | None, int | None, int | None, int | None]] | None = None

    def location(self, traceback: Any, instruction: int) -> tuple[int, int, int, int]:
        """The place of an instruction. One look-up costs the length of the function, so many are looked up at once."""
        self.looked_up += 1
        if self.looked_up <= _FEW_PLACES:
            return compat.location(traceback, self.code, instruction)
        if self.places is None:
            self.places = list(self.code.co_positions())
        # Instructions take two bytes.
        line, end_line, column, end_column = self.places[instruction // 2]
        return line or 0, _known(column), end_line or 0, _known(end_column)


class CallingLine(NamedTuple):
    """The place in a file where the person gave a program to jaxviz. Columns are in bytes; 0 and -1 where not known."""

    file: str
    function: str
    line: int
    column: int = -1
    end_line: int = 0
    end_column: int = -1


class _Way(NamedTuple):
    """The functions that a traceback leads through: which of its frames are kept, outermost first."""

    kept: tuple[int, ...]
    #: Whether it begins at the function that was being traced.
    anchored: bool
    #: Whether it begins where jaxviz called the program: a body that is traced for a derivative has no other beginning.
    whole: bool


class FrameReader:
    """Call stacks of equations, each frame and each code object looked at once.

    What no line of the person's is on the stack of was called by the one that is `calling`.
    """

    def __init__(self, tables: Tables, calling: CallingLine | None = None) -> None:
        self._tables = tables
        self._calling = calling
        # By id of the code object, which the entry keeps alive.
        self._codes: dict[int, _Code] = {}
        self._frames: dict[tuple[int, int], int] = {}
        # By the function that was traced and the ids of the code objects.
        self._ways: dict[tuple[Any, ...], _Way] = {}
        self._touched: dict[int, tuple[int, int]] = {}
        self._plain: dict[str, bool] = {}
        # Tracebacks are equal where their frames are, as in each turn of a Python loop.
        self._stacks: dict[tuple[Any, compat.Function | None, tuple[int, ...]], Stack] = {}

    def stack(self, traceback: Any, function: compat.Function | None, around: tuple[int, ...]) -> Stack:
        """The frames from `function` inward, or, where it is not on the stack, those inside the frames `around`."""
        key = traceback, function, around
        found = self._stacks.get(key)
        if found is None:
            read = self._read(traceback, function, around) if traceback is not None else Stack((), absolute=False)
            found = self._stacks[key] = read if around and not read.absolute else self._called(read)
        return found

    def _called(self, stack: Stack) -> Stack:
        """A whole stack, with the line that gave the program to jaxviz where it has no other line of the person's."""
        library, file = self._tables.files.library, self._tables.frames.file
        if self._calling is None or not all(library[file[frame]] for frame in stack.frames):
            return stack
        return Stack((self._calling_frame, *stack.frames), stack.absolute)

    @cached_property
    def _calling_frame(self) -> int:
        assert self._calling is not None  # it is asked before
        path, function, line, column, end_line, end_column = self._calling
        end_line = max(line, end_line)
        file = add_file(self._tables, path)
        typed = _magic(linecache.getline(path, line)) if line == end_line else None
        if typed is not None:
            column, end_column = typed.column, typed.column + len(typed.text)
        else:
            column, end_column = characters(path, line, column), characters(path, end_line, end_column)
        self._touch(file, line, end_line)
        frame = self._tables.frame(file, function, line, column, end_line, end_column)
        self._tables.calling.add(frame)
        return frame

    def _read(self, traceback: Any, function: compat.Function | None, around: tuple[int, ...]) -> Stack:
        codes, instructions = compat.raw_frames(traceback)
        # Most tracebacks lead through the same functions, and differ in where these stand.
        path = (function, *map(id, codes))
        way = self._ways.get(path)
        if way is None:
            way = self._ways[path] = self._way(codes, function)
        frames: list[int] = []
        for position in way.kept:
            code, instruction = codes[position], instructions[position]
            frame = self._frames.get((id(code), instruction))
            if frame is None:
                frame = self._add_frame(traceback, code, instruction)
            frames.append(frame)
        found = tuple(frames)
        if way.anchored:
            return Stack(found, absolute=False)
        if around and found[: len(around)] == around:
            return Stack(found[len(around) :], absolute=False)
        if way.whole:
            return Stack(found, absolute=bool(around))
        if not found or not _begins_at_interpreter(codes[-1]):
            return Stack(found, absolute=False)
        return Stack(self._without_root(found), absolute=True)

    def _way(self, codes: Sequence[CodeType], function: compat.Function | None) -> _Way:
        end = _end_of(codes, function)
        anchored, whole = end > 0, False
        kept: list[int] = []
        for position, code in enumerate(codes[: end or None]):
            known = self._codes.get(id(code))
            if known is None:
                known = self._codes[id(code)] = self._look_at(code)
            if known.file >= 0:
                kept.append(position)
            elif known.file == _OWN:
                whole = True
                break
        kept.reverse()
        return _Way(tuple(kept), anchored, whole)

    def _without_root(self, frames: tuple[int, ...]) -> tuple[int, ...]:
        """Without the libraries around the person's outermost frame: what starts an interpreter or a notebook."""
        library, file = self._tables.files.library, self._tables.frames.file
        for position, frame in enumerate(frames):
            if not library[file[frame]]:
                return frames[position:]
        return frames

    def _add_frame(self, traceback: Any, code: CodeType, instruction: int) -> int:
        known = self._codes[id(code)]
        line, column, end_line, end_column = known.location(traceback, instruction)
        if not known.plain:
            column = characters(code.co_filename, line, column)
            end_column = characters(code.co_filename, end_line, end_column)
        if known.grows:
            self._touch(known.file, line, max(line, end_line))
        frame = self._tables.frame(known.file, known.name, line, column, end_line, end_column)
        self._frames[id(code), instruction] = frame
        return frame

    def _look_at(self, code: CodeType) -> _Code:
        path = code.co_filename
        of_jax = path.startswith(compat.JAX_FOLDERS) and not path.startswith(compat.JAX_SOLVERS)
        if of_jax or path == _WRAPPING:
            return _Code(code, _LEFT_OUT)
        if path.startswith(OWN_FOLDER):
            return _Code(code, _OWN)
        file = add_file(self._tables, path)
        name = kept_name(getattr(code, "co_qualname", code.co_name))
        if self._tables.files.library[file]:
            return _Code(code, file, name)
        lines = linecache.getlines(path)
        if lines and not _is_defined_in(lines, code):
            self._tables.changed.add(file)
        plain = self._plain.get(path)
        if plain is None:
            plain = self._plain[path] = all(line.isascii() for line in lines)
        module = code.co_name == "<module>"
        if not module:
            self._touch(file, code.co_firstlineno, max((row[2] or 0 for row in code.co_lines()), default=0))
        return _Code(code, file, name, plain, grows=module)

    def _touch(self, file: int, first: int, last: int) -> None:
        """Widen the excerpt of a file: by the function that a frame stands in, or by its line."""
        known_first, known_last = self._touched.get(file, (first, last))
        self._touched[file] = min(first, known_first), max(last, known_last)

    def write_excerpts(self) -> None:
        """Put the source that the frames point into into the tables."""
        for file, (first, last) in self._touched.items():
            if file not in self._tables.changed:
                add_excerpt(self._tables, file, first, last)


# In place of a file: a frame of JAX, and one of jaxviz, at which the person's program begins.
_LEFT_OUT, _OWN = -1, -2


def add_file(tables: Tables, path: str) -> int:
    """The row of a source file or notebook cell."""
    cell = cell_number(path)
    if cell is not None:
        return tables.file(path, f"In [{cell}]", library=False)
    return tables.file(path, os.path.basename(path) or path, library=is_library(path))


def last_line_of(code: CodeType) -> int:
    """The last line of a function, of those inside it too."""
    inside = [last_line_of(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return max([row[2] or 0 for row in code.co_lines()] + inside, default=0)


def add_excerpt(tables: Tables, file: int, first: int, last: int) -> None:
    """Widen the excerpt of a file to these lines; a notebook cell is taken whole."""
    path = tables.strings[tables.files.path[file]]
    lines = linecache.getlines(path)
    if not lines or first <= 0:
        return
    if cell_number(path) is not None:
        first, last = 1, len(lines)
    elif tables.files.text[file]:
        known = tables.files.start[file]
        first = min(first, known)
        last = max(last, known + tables.files.text[file].count("\n"))
    end = min(last, first + EXCERPT_LINES - 1)
    text = "".join(map(_as_typed, lines[first - 1 : end]))
    tables.files.start[file] = first
    # One that is cut is told by its length.
    tables.files.text[file] = text.rstrip("\n") if end == last else text.removesuffix("\n")


# Where a function begins, or a class, with its name.
_BEGINS = re.compile(r"\b(?:def|class)\s+(\w+)")


def _is_defined_in(lines: Sequence[str], code: CodeType) -> bool:
    """Whether a function begins where its code says that it does: in a file that was edited since, it may not."""
    first, name = code.co_firstlineno - 1, code.co_name
    if not name.isidentifier():
        return name != "<lambda>" or any("lambda" in line for line in lines[first : first + 1])
    is_decorated = any(line.lstrip().startswith("@") for line in lines[first : first + 1])
    begun = map(_BEGINS.search, lines[first:] if is_decorated else lines[first : first + 1])
    return next((found[1] for found in begun if found), "") == name


def _known(column: int | None) -> int:
    return -1 if column is None else column


def _end_of(codes: Sequence[CodeType], function: compat.Function | None) -> int:
    """How many code objects, innermost first, lead to the outermost call of a function; 0 where it is not there."""
    if function is not None:
        for position in range(len(codes) - 1, -1, -1):
            code = codes[position]
            if code.co_firstlineno == function.line and code.co_filename == function.file:
                return position + 1
    return 0


# How IPython rewrites a line magic before Python sees it.
_MAGIC = re.compile(r"^(\s*(?:[^=()]+=\s*)?)get_ipython\(\)\.run_line_magic(\(.*\))\s*$")


def _as_typed(line: str) -> str:
    """A line of a notebook cell as the person typed it."""
    read = _magic(line)
    return f"{line[: read.column]}{read.text}\n" if read is not None else line


class _Magic(NamedTuple):
    """A line magic as it was typed, and where it began."""

    column: int
    text: str


def _magic(line: str) -> _Magic | None:
    match = _MAGIC.match(line)
    try:
        name, rest = ast.literal_eval(match[2]) if match is not None else ("", "")
    except (ValueError, SyntaxError):
        return None
    return _Magic(len(match[1]), f"%{name} {rest}".rstrip()) if match is not None else None


# Also in files that were written on other machines, and in paths that somebody shortened.
_INSTALLED = re.compile(r"(?:^|[/\\])(?:site|dist)-packages[/\\]")


def _begins_at_interpreter(outermost: CodeType) -> bool:
    """Whether a traceback is whole. From 0.7 on JAX cuts it at the function that was being traced."""
    path = outermost.co_filename
    # Packages that are installed lie among Python's own files.
    standard = path.startswith(_STANDARD_FOLDERS) and not _INSTALLED.search(path)
    return outermost.co_name == "<module>" or path.startswith("<frozen ") or standard


def is_library(path: str) -> bool:
    return path.startswith(_LIBRARY_FOLDERS) or path.startswith("<frozen ") or _INSTALLED.search(path) is not None


def cell_number(path: str) -> int | None:
    """The number of the notebook cell that was compiled under this file name."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    # Private to IPython, there since 7.24: file name -> execution count.
    cells = getattr(getattr(shell, "compile", None), "_filename_map", {})
    number = cells.get(path) if isinstance(cells, dict) else None
    return number if isinstance(number, int) else None


def characters(path: str, line: int, column: int) -> int:
    """A column in characters; Python counts bytes of UTF-8."""
    if column <= 0:
        return column
    text = linecache.getline(path, line)
    if not text or text.isascii():
        return column
    return len(text.encode()[:column].decode(errors="ignore"))
