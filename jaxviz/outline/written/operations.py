"""The frames of operations by their place in the source, for what is a part of an operation that is applied to it."""

from __future__ import annotations

from functools import cached_property

from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.written.source import Place
from jaxviz.tables import Tables


class Operations:
    """Finds the frames of the person's operations. A frame that called another of his frames is no mere operation."""

    def __init__(self, tables: Tables, stacks: StackTree) -> None:
        self._tables = tables
        self._stacks = stacks

    def at(self, frame: int, place: Place) -> int:
        """The operation at a place of the same function as a frame, or -1."""
        frames = self._tables.frames
        return self._frames.get((frames.file[frame], frames.function[frame], *place), -1)

    @cached_property
    def _frames(self) -> dict[tuple[int, ...], int]:
        frames, library = self._tables.frames, self._stacks.library
        calls = self._stacks.calling()
        places = zip(
            frames.file, frames.function, frames.line, frames.column, frames.end_line, frames.end_column, strict=True
        )
        return {place: row for row, place in enumerate(places) if not library[row] and row not in calls}
