"""From the frames of an HLO module to call stacks in the tables, the same rows that a jaxpr's tracebacks give."""

from __future__ import annotations

from jaxviz import compat
from jaxviz.read.frames import OWN_FOLDER, add_file
from jaxviz.read.hlo_module import HloModule
from jaxviz.tables import Tables


class HloFrames:
    """Call stacks of instructions, each looked at once."""

    def __init__(self, module: HloModule, tables: Tables, *, wanted: bool = True) -> None:
        self._wanted = wanted
        self._module = module
        self._tables = tables
        self._stacks: dict[int, int] = {-1: -1}

    def stack(self, frame: int) -> int:
        """The person's frames and those of libraries between them; without JAX's and those around the program."""
        if not self._wanted:
            return -1
        known = self._stacks.get(frame)
        if known is None:
            known = self._stacks[frame] = self._read(frame)
        return known

    def _read(self, frame: int) -> int:
        module, tables = self._module, self._tables
        frames: list[int] = []
        for place in module.locations_of(frame):
            path = module.files[place.file] if place.file >= 0 else ""
            if path.startswith(OWN_FOLDER):
                break
            if not path or path.startswith(compat.JAX_FOLDERS):
                continue
            file = add_file(tables, path)
            function = module.functions[place.function].rpartition("<locals>.")[2] if place.function >= 0 else ""
            frames.append(
                tables.frame(file, function, place.line, place.column - 1, place.end_line, place.end_column - 1)
            )
        # What starts an interpreter or a notebook is none of the program.
        while frames and tables.files.library[tables.frames.file[frames[-1]]]:
            frames.pop()
        return tables.stack(reversed(frames))
