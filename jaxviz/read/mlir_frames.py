"""From the locations of MLIR operations to call stacks in the tables, by the rules for those of an HLO module.

JAX keeps what it traced of a function for all that call it, in this program or in one before. What is in there says who
called it first: of that, only what lies inside of the function holds for the others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from jaxviz.compat import mlir as compat_mlir
from jaxviz.read.blocks import Block, Stack
from jaxviz.read.hlo.frames import HloFrames
from jaxviz.read.hlo.module import DEEPEST_STACK, HloModule, Location
from jaxviz.tables import Tables

_NO_FILE = "-"
# A call of a function that goes by its own name, in a name stack: from 0.7 on with that name.
_BY_NAME = re.compile(r"(?:.*/)?(?:jit\(.*\)|pjit)\Z", re.DOTALL)
# A function that is called in several ways is there once for each, with a number behind its name.
_NUMBER = re.compile(r"_\d+\Z")
_NO_LETTER = re.compile(r"\W")


@dataclass(frozen=True, eq=False)
class _Called:
    """A function that is being read: its name where it goes by one, who calls it, and the stacks found in it."""

    name: str
    caller: tuple[int, ...]
    stacks: list[Stack] = field(default_factory=list)


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
        # The frames of locations, which bindings make anew each time that they are asked for.
        self._known: dict[Any, tuple[int, ...]] = {}
        # The functions that are being read, outermost first.
        self._called: list[_Called] = []

    def place(self, block: Block, operation: Any) -> int:
        """The place of an operation's stack among those of its block.

        What has no frames of its own, as in a function that several calls share, has those of its caller.
        """
        frames = self._frames_of(operation.location)
        places = self._places.setdefault(id(block), {})
        known = places.get(frames)
        if known is None:
            known = places[frames] = len(block.stacks)
            stack = Stack(frames, absolute=bool(frames))
            block.stacks.append(stack)
            if self._called:
                self._called[-1].stacks.append(stack)
        return known

    def enter(self, name: str, call: Any) -> None:
        """What is placed from here on stands in the function `name`, which is called here first in the module."""
        by_name = _BY_NAME.match(compat_mlir.location_name(call.location))
        # JAX calls what has no name by several words.
        name = _symbol(_NUMBER.sub("", name)) if by_name and " " not in name else ""
        self._called.append(_Called(name, self._frames_of(call.location)))

    def leave(self) -> None:
        """The function that was entered last is read: its stacks go on from those of all that call it."""
        called = self._called.pop()
        stacks = [stack for stack in called.stacks if stack.absolute]
        inside = [self._inside(stack.frames, called.name) for stack in stacks]
        others: list[Stack] = []
        for stack, place in zip(stacks, inside, strict=True):
            led = len(called.caller)
            if led and stack.frames[:led] == called.caller:
                stack.frames, stack.absolute = stack.frames[led:], False
            elif place >= 0:
                stack.frames, stack.absolute = stack.frames[place:], False
            else:
                others.append(stack)
        # A function of a library bears one line alone, that of who called it first.
        if called.name and max(inside, default=-1) < 0 and len({stack.frames for stack in others}) == 1:
            for stack in others:
                stack.frames, stack.absolute = (), False

    def _inside(self, frames: tuple[int, ...], name: str) -> int:
        """Which of these frames is the first of a function or a class that is called so; -1 where none is."""
        tables = self._tables
        functions = (tables.strings[tables.frames.function[frame]] for frame in frames)
        found = (place for place, function in enumerate(functions) if name in map(_symbol, function.split(".")))
        return next(found, -1) if name else -1

    def write_excerpts(self) -> None:
        """Put the source that the frames point into into the tables."""
        self._frames.write_excerpts()

    def _frames_of(self, location: Any) -> tuple[int, ...]:
        """The frames of a location: of a name around a call those of the call, which many have in common."""
        names = []
        while (key := compat_mlir.location_key(location)) not in self._known:
            names.append(key)
            part = compat_mlir.location_part(location)
            if part.kind != "name" or compat_mlir.is_file_location(part.inside[0]):
                self._known[key] = self._read(location)
                break
            (location,) = part.inside
        found = self._known[key]
        self._known.update(dict.fromkeys(names, found))
        return found

    def _read(self, location: Any) -> tuple[int, ...]:
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


def _symbol(name: str) -> str:
    """A name of a function as it is written in a module."""
    return _NO_LETTER.sub("_", name)
