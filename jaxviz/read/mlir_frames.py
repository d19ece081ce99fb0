"""From the locations of MLIR operations to call stacks in the tables, by the rules for those of an HLO module."""

from __future__ import annotations

from typing import Any

from jaxviz import compat_mlir
from jaxviz.read.blocks import Block, Stack
from jaxviz.read.hlo_frames import HloFrames
from jaxviz.read.hlo_module import DEEPEST_STACK, HloModule, Location
from jaxviz.tables import Tables

_NO_FILE = "-"


class MlirFrames:
    """Call stacks of the operations of one module."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._module = HloModule()
        self._frames = HloFrames(self._module, tables)
        self._rows: dict[tuple[Location, int], int] = {}
        self._names: dict[tuple[int, str], int] = {}
        # Of each block the places of its stacks, by their frames.
        self._places: dict[int, dict[tuple[int, ...], int]] = {}

    def place(self, block: Block, operation: Any) -> int:
        """The place of an operation's stack among those of its block.

        What has no frames of its own, as in a function that several calls share, has those of its caller.
        """
        frames = self._frames_of(operation.location)
        places = self._places.setdefault(id(block), {})
        known = places.get(frames)
        if known is None:
            known = places[frames] = len(block.stacks)
            block.stacks.append(Stack(frames, absolute=bool(frames)))
        return known

    def write_excerpts(self) -> None:
        """Put the source that the frames point into into the tables."""
        self._frames.write_excerpts()

    def _frames_of(self, location: Any) -> tuple[int, ...]:
        row = -1
        for place in reversed(list(self._locations(location))):
            key = place, row
            known = self._rows.get(key)
            if known is None:
                known = self._rows[key] = len(self._module.frames)
                self._module.frames.append((len(self._module.locations), row))
                self._module.locations.append(place)
            row = known
        stack = self._frames.stack(row)
        stacks = self._tables.stacks
        frames: list[int] = []
        while stack >= 0:
            frames.append(stacks.frame[stack])
            stack = stacks.parent[stack]
        return tuple(reversed(frames))

    def _locations(self, location: Any) -> list[Location]:
        """The frames of a location, innermost first."""
        found: list[Location] = []
        function = ""
        waiting = [location]
        while waiting and len(found) < DEEPEST_STACK:
            part = compat_mlir.location_part(waiting.pop())
            # What has no location gets its place in the text that was parsed, which has no name.
            if part.kind == "file" and part.text != _NO_FILE:
                file = self._name(self._module.files, 0, part.text)
                name = self._name(self._module.functions, 1, function)
                line, column, end_line, end_column = part.place
                found.append(Location(file, name, line, end_line, column, end_column))
            function = part.text if part.kind == "name" else ""
            waiting += part.inside[::-1]
        return found

    def _name(self, names: list[str], table: int, text: str) -> int:
        if not text:
            return -1
        key = table, text
        known = self._names.get(key)
        if known is None:
            known = self._names[key] = len(names)
            names.append(text)
        return known
