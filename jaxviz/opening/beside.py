"""What else a folder of dumps holds of a module of which one file is opened alone, and how to open all of it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from jaxviz.opening.dump_names import FOLDER, LOWERED, Dumped, Kind, dumped_file

#: More files than this are not looked at.
_MOST_FILES = 20_000

# In the order in which it is told.
_TOLD = {
    Kind.GIVEN: "the StableHLO that it was made of",
    Kind.FIRST: "the HLO before optimizations",
    Kind.PASS: "the states between passes",
    Kind.LAST: "the optimized HLO",
    Kind.PLAN: "where its values lie in memory",
}
_STAGES = {Kind.GIVEN: "stablehlo", Kind.PASS: "passes"}


@dataclass(frozen=True)
class Beside:
    """What `kinds` of files there are of a module, and the expression that opens them all, with the one beside them."""

    kinds: frozenset[Kind]
    opened: str

    def __str__(self) -> str:
        *others, last = (text for kind, text in _TOLD.items() if kind in self.kinds)
        told = f"{', '.join(others)} and {last}" if others else last
        return f"of the same dump: {told}; {self.opened} opens all of it"

    def missing(self, kinds: Sequence[str]) -> dict[str, str]:
        """Why a program that has these `kinds` of stages lacks others that the folder has, by their kinds."""
        reason = f"{self.opened} has it, from other files of the same dump"
        return {stage: reason for kind, stage in _STAGES.items() if kind in self.kinds and stage not in kinds}


def beside(path: Path) -> Beside | None:
    """What the folder of a file has of the same module; None for a file of no dump, or where there is nothing more."""
    file = dumped_file(path)
    if file is None:
        return None
    others = list(_dumped_in(file.folder, file.module.split(".")[0]))
    own = [other for other in others if _is_of_same(other, file)]
    kinds = _TOLD.keys() & {other.kind for other in own if (other.kind, other.number) != (file.kind, file.number)}
    if not kinds:
        return None
    # Which of several of one name it is, the list of the folder says.
    name = own[0].program
    alike = {(other.run, other.module) for other in others if other.program == name}
    return Beside(frozenset(kinds), f"jv.open({str(file.folder)!r})" + (f"[{name!r}]" if len(alike) == 1 else ""))


def _dumped_in(folder: Path, number: str) -> Iterator[Dumped]:
    """The files of a dump; of what modules were made of, that of the one with this number."""
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, _MOST_FILES):
                path = Path(entry)
                if FOLDER.match(entry.name) and entry.is_dir():
                    path /= LOWERED
                    if not (entry.name.startswith(f"{number}.") and path.is_file()):
                        continue
                found = dumped_file(path)
                if found is not None and found.kind in _TOLD:
                    yield found
    except OSError:
        return


def _is_of_same(other: Dumped, file: Dumped) -> bool:
    """Whether both are of one module. Names of some files say only its number; of what it was made of, no run."""
    same = file.module in (other.module, other.module.split(".")[0])
    return same and (other.run == file.run or Kind.GIVEN in (other.kind, file.kind))
