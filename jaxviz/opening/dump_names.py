"""What a file of a dump is by its name, in which XLA says the module that it is about and the pass that left it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

#: The pipeline of the steps of a partitioner.
SHARDY = "Shardy"


class Kind(IntEnum):
    """States of a module in the order in which it comes to them; then what else there is of it."""

    FIRST = 0
    PASS = 1
    LAST = 2
    # Where its values lie in memory.
    PLAN = 3
    # The StableHLO that it was made of, and the steps of a partitioner of that.
    GIVEN = 4
    SPLIT = 5
    OTHER = 6


# What compilers for TPU add to the name of each module: of which version they are.
_VERSION = re.compile(r"\.cl_\d+(?=\.|\Z)")
# With when it was compiled in front of it, if that was asked for.
_FILE = re.compile(r"(?:(.*)\.)?(module_\d+)\.(.+?)\.((?:hlo\.pb|txt|hlo|pb|\w+?)(?:\.(?:gz|zst|xz|bz2))?)$")
_PASS = re.compile(r"(.+?)\.(\d{4})\.(.+?)\.after_(.+?)(?:\.before_(.+))?$")
_LAST = re.compile(r"(.+?)\.(?:[\w.-]+[._])?after_optimizations$")
_FIRST = re.compile(r"(.+?)\.before_optimizations$")
# What was run, with its arguments; one for each time that it was.
_RUN = re.compile(r"(.+?)\.snapshot\.-?\d+$")
_RUN_FIRST = re.compile(r"(.+?)\.execution_\d+\.hlo_unoptimized_snapshot$")
_BUFFERS = re.compile(r"(.+?)\.(?:[\w.-]+[._])?after_optimizations-buffer-assignment$")

#: What XLA was given, in a folder of its own for each module.
FOLDER = re.compile(r"module_\d+\..+$")
LOWERED = "module.mlir"
_SETTINGS = ("compile_options", "topology")
# What is made of that where it is split over devices, step by step.
_STEP = re.compile(r"(\d+)\.(.+)\.mlir$")

_NAMED = (
    *((Kind.LAST, _LAST), (Kind.LAST, _RUN)),
    *((Kind.FIRST, _FIRST), (Kind.FIRST, _RUN_FIRST), (Kind.PLAN, _BUFFERS)),
)


@dataclass(frozen=True)
class Dumped:
    """A file by its name: the module it is about, what it is, and, of a state between passes, which. A `run` that
    wrote into the folder of others has put when it compiled the module in front of the names."""

    path: Path
    module: str
    kind: Kind
    run: str = ""
    number: int = 0
    pipeline: str = ""
    after: str = ""

    @property
    def folder(self) -> Path:
        """The folder of the dump that it is in."""
        return self.path.parent.parent if FOLDER.match(self.path.parent.name) else self.path.parent

    @property
    def program(self) -> str:
        """The name that the module itself has; empty where the name of the file does not say it."""
        return self.module.partition(".")[2]


def dumped_file(path: Path) -> Dumped | None:
    """What a file is by its name, None for one that no compiler names so."""
    if FOLDER.match(path.parent.name):
        return _in_folder(path)
    found = _FILE.match(_VERSION.sub("", path.name, count=1))
    if found is None:
        return None
    run, module, rest, suffix = found[1] or "", *found.groups()[1:]
    if suffix.split(".")[0] in ("txt", "hlo", "pb"):
        if step := _PASS.match(rest):
            return Dumped(path, f"{module}.{step[1]}", Kind.PASS, run, int(step[2]), step[3], step[4])
        for kind, pattern in _NAMED:
            if named := pattern.match(rest):
                return Dumped(path, f"{module}.{named[1]}", kind, run)
    return Dumped(path, module, Kind.OTHER, run)


def _in_folder(path: Path) -> Dumped | None:
    module = _VERSION.sub("", path.parent.name)
    if path.name == LOWERED:
        return Dumped(path, module, Kind.GIVEN)
    if step := _STEP.match(path.name):
        return Dumped(path, module, Kind.SPLIT, "", int(step[1]), SHARDY, step[2].replace("_", " "))
    return Dumped(path, module.split(".")[0], Kind.OTHER) if path.stem in _SETTINGS else None
