"""The tables that all graphs of a document share: strings, types of values, source files, frames and call stacks.

They only ever grow, so an index stays good: a reader adds rows, each once; graphs and documents name them by number.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Frame:
    """A place in a source file. Lines count from 1, columns from 0; 0 and -1 where not known."""

    file: str
    label: str
    library: bool
    function: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.label}:{self.line} ({self.function})"


@dataclass
class _Types:
    text: list[int] = field(default_factory=list)
    dtype: list[int] = field(default_factory=list)
    rank: list[int] = field(default_factory=list)
    dims: list[tuple[int, ...]] = field(default_factory=list)
    bytes: list[float] = field(default_factory=list)
    weak: list[int] = field(default_factory=list)


@dataclass
class _Files:
    path: list[int] = field(default_factory=list)
    label: list[int] = field(default_factory=list)
    library: list[int] = field(default_factory=list)
    # The excerpts grow while graphs are read, so they are interned only in a document.
    start: list[int] = field(default_factory=list)
    text: list[str] = field(default_factory=list)


@dataclass
class _Frames:
    file: list[int] = field(default_factory=list)
    function: list[int] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    column: list[int] = field(default_factory=list)
    end_line: list[int] = field(default_factory=list)
    end_column: list[int] = field(default_factory=list)


@dataclass
class _Stacks:
    frame: list[int] = field(default_factory=list)
    parent: list[int] = field(default_factory=list)


class Tables:
    """Columns of what graphs have in common. A method that takes a row returns its number, and adds it if it is new.

    >>> tables = Tables()
    >>> tables.string("add"), tables.string("mul"), tables.string("add")
    (1, 2, 1)
    """

    def __init__(self, *, is_source: Callable[[str], bool] | None = None) -> None:
        # Whether the file of a path, as it is here and now, is the source that is meant; by default it is.
        self.is_source = is_source
        self.strings: list[str] = [""]
        self.types = _Types()
        self.files = _Files()
        self.frames = _Frames()
        self.stacks = _Stacks()
        #: The frames at which programs were given to jaxviz: lines of the person's that no program has itself.
        self.calling: set[int] = set()
        #: The files that were edited since Python read what runs: their lines are other ones by now.
        self.changed: set[int] = set()
        self._strings: dict[str, int] = {"": 0}
        self._types: dict[tuple[Any, ...], int] = {}
        self._files: dict[str, int] = {}
        self._frames: dict[tuple[int, ...], int] = {}
        self._stacks: dict[tuple[int, int], int] = {}

    def string(self, text: str) -> int:
        index = self._strings.get(text)
        if index is None:
            index = self._strings[text] = len(self.strings)
            self.strings.append(text)
        return index

    def strings_of(self, texts: Sequence[str]) -> list[int]:
        """The numbers of many strings."""
        # Without a step of Python for each.
        new = [text for text in dict.fromkeys(texts) if text not in self._strings]
        self._strings.update(zip(new, range(len(self.strings), len(self.strings) + len(new)), strict=True))
        self.strings += new
        return list(map(self._strings.__getitem__, texts))

    def find_string(self, text: str) -> int | None:
        """The number of a string, if it is there."""
        return self._strings.get(text)

    def type(self, text: str, dtype: str, dims: Sequence[int] | None, size: float, weak: bool) -> int:
        """A type of values: `dims` is None for what is no array, -1 in it an open dimension; `size` in bytes or -1."""
        row = (text, dtype, None if dims is None else tuple(dims), size, weak)
        index = self._types.get(row)
        if index is None:
            types = self.types
            index = self._types[row] = len(types.text)
            types.text.append(self.string(text))
            types.dtype.append(self.string(dtype))
            types.rank.append(-1 if dims is None else len(dims))
            types.dims.append(() if dims is None else tuple(dims))
            types.bytes.append(size)
            types.weak.append(int(weak))
        return index

    def file(self, path: str, label: str = "", library: bool = False) -> int:
        """A source file; where no label is given, it is the base name of the path. -1 for an empty path."""
        if not path:
            return -1
        index = self._files.get(path)
        if index is None:
            files = self.files
            index = self._files[path] = len(files.path)
            files.path.append(self.string(path))
            files.label.append(self.string(label or os.path.basename(path)))
            files.library.append(int(library))
            files.start.append(0)
            files.text.append("")
        return index

    def source_is_here(self, file: int) -> bool:
        """Whether a source file may be read: of what was made elsewhere, or long ago, it may be another one by now."""
        if file in self.changed:
            return False
        return self.is_source is None or self.is_source(self.strings[self.files.path[file]])

    def frame(self, file: int, function: str, line: int, column: int, end_line: int, end_column: int) -> int:
        row = (file, self.string(function), line, column, end_line, end_column)
        index = self._frames.get(row)
        if index is None:
            frames = self.frames
            index = self._frames[row] = len(frames.file)
            frames.file.append(row[0])
            frames.function.append(row[1])
            frames.line.append(line)
            frames.column.append(column)
            frames.end_line.append(end_line)
            frames.end_column.append(end_column)
        return index

    def stack(self, frames: Iterable[int], parent: int = -1) -> int:
        """The call stack of `frames`, outermost first, called from the stack `parent`; -1 if both are empty."""
        known = self._stacks
        for frame in frames:
            row = (frame, parent)
            index = known.get(row)
            if index is None:
                index = known[row] = len(self.stacks.frame)
                self.stacks.frame.append(frame)
                self.stacks.parent.append(parent)
            parent = index
        return parent

    def is_own(self, frame: int) -> bool:
        """Whether a frame is a line of the person's in a program: not in a library, nor where it was given to us."""
        return not self.files.library[self.frames.file[frame]] and frame not in self.calling

    def frames_of(self, stack: int) -> tuple[Frame, ...]:
        """The frames of a call stack, outermost first."""
        found: list[Frame] = []
        while stack >= 0:
            found.append(self.frame_at(self.stacks.frame[stack]))
            stack = self.stacks.parent[stack]
        return tuple(reversed(found))

    def frame_at(self, index: int) -> Frame:
        files, frames, strings = self.files, self.frames, self.strings
        file = frames.file[index]
        return Frame(
            file=strings[files.path[file]],
            label=strings[files.label[file]],
            library=bool(files.library[file]),
            function=strings[frames.function[index]],
            line=frames.line[index],
            column=frames.column[index],
            end_line=frames.end_line[index],
            end_column=frames.end_column[index],
        )

    def type_text(self, index: int) -> str:
        return self.strings[self.types.text[index]]

    def fill(
        self,
        strings: Sequence[str],
        types: Mapping[str, Sequence[Any]],
        dims: Sequence[int],
        files: Mapping[str, Sequence[int]],
        frames: Mapping[str, Sequence[int]],
        stacks: Mapping[str, Sequence[int]],
    ) -> None:
        """Take over the columns of a saved document, which were checked before, into empty tables."""
        # An excerpt is held in its own column while tables are in memory.
        for text in strings[1:]:
            self._strings.setdefault(text, len(self.strings))
            self.strings.append(text)
        first = 0
        for row in zip(*(types[name] for name in ("text", "dtype", "rank", "bytes", "weak")), strict=True):
            text, dtype, rank, size, weak = row
            own = None if rank < 0 else tuple(dims[first : first + rank])
            first += max(rank, 0)
            self._types.setdefault((strings[text], strings[dtype], own, size, bool(weak)), len(self.types.text))
            self.types.dims.append(own or ())
            self.types.text.append(text)
            self.types.dtype.append(dtype)
            self.types.rank.append(rank)
            self.types.bytes.append(size)
            self.types.weak.append(weak)
        for name in ("path", "label", "library", "start"):
            setattr(self.files, name, list(files[name]))
        self.files.text = [strings[text] for text in files["text"]]
        self._files = {strings[path]: index for index, path in enumerate(files["path"])}
        self.frames = _Frames(
            *(list(frames[name]) for name in ("file", "function", "line", "column", "endLine", "endColumn"))
        )
        self._frames = {row: index for index, row in enumerate(zip(*vars(self.frames).values(), strict=True))}
        self.stacks = _Stacks(list(stacks["frame"]), list(stacks["parent"]))
        self._stacks = {row: index for index, row in enumerate(zip(self.stacks.frame, self.stacks.parent, strict=True))}


def rows_used(rows: NDArray[Any]) -> list[int]:
    """The different ones among many rows of a table, in order.

    >>> rows_used(np.array([2, 0, 2]))
    [0, 2]
    """
    # Tables are short, so counting is quicker than sorting.
    used: list[int] = np.flatnonzero(np.bincount(rows)).tolist()
    return used
