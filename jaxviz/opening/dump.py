"""Files that XLA writes with `--xla_dump_to`: of each module its states between passes, and its plans."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxviz.opening.buffers import read_buffers, with_buffers
from jaxviz.opening.contents import OpenError, contents_of, read_bytes
from jaxviz.opening.opened import OpenedPass, OpenedProgram
from jaxviz.opening.programs import OpenedStage, programs_in
from jaxviz.opening.states import StateFile

_FILE = re.compile(r"(?:.*\.)?(module_\d+)\.(.+?)\.((?:hlo\.pb|txt|hlo|pb|\w+?)(?:\.(?:gz|zst|xz|bz2))?)$")
_PASS = re.compile(r"(.+?)\.(\d{4})\.(.+?)\.after_(.+?)(?:\.before_(.+))?$")
_LAST = re.compile(r"(.+?)\.(?:[\w.-]+[._])?after_optimizations$")
_FIRST = re.compile(r"(.+?)\.before_optimizations$")
# What was run, with its arguments; one for each time that it was.
_RUN = re.compile(r"(.+?)\.snapshot\.-?\d+$")
_RUN_FIRST = re.compile(r"(.+?)\.execution_\d+\.hlo_unoptimized_snapshot$")
_BUFFERS = re.compile(r"(.+?)\.(?:[\w.-]+[._])?after_optimizations-buffer-assignment$")

_FIRST_STATE, _PASS_STATE, _LAST_STATE, _PLAN, _OTHER = range(5)

_NAMED = (
    *((_LAST_STATE, _LAST), (_LAST_STATE, _RUN)),
    *((_FIRST_STATE, _FIRST), (_FIRST_STATE, _RUN_FIRST), (_PLAN, _BUFFERS)),
)


@dataclass(frozen=True)
class Dumped:
    """A file by its name: the module it is about, what it is, and, of a state between passes, which."""

    path: Path
    module: str
    kind: int
    number: int = 0
    pipeline: str = ""
    after: str = ""


def dumped_file(path: Path) -> Dumped | None:
    """What a file is by its name, None for one that no compiler names so."""
    found = _FILE.match(path.name)
    if found is None:
        return None
    module, rest, suffix = found.groups()
    if suffix.split(".")[0] in ("txt", "hlo", "pb"):
        if step := _PASS.match(rest):
            return Dumped(path, f"{module}.{step[1]}", _PASS_STATE, int(step[2]), step[3], step[4])
        for kind, pattern in _NAMED:
            if named := pattern.match(rest):
                return Dumped(path, f"{module}.{named[1]}", kind)
    return Dumped(path, module, _OTHER)


def dumped_programs(files: Iterable[Dumped], left_out: list[str]) -> list[OpenedProgram]:
    """One program for each module that is there in any state; what cannot be opened is added to `left_out`."""
    groups: dict[str, list[Dumped]] = defaultdict(list)
    others: dict[str, list[Dumped]] = defaultdict(list)
    for file in files:
        (others if file.kind == _OTHER else groups)[file.module].append(file)
    programs = []
    for group in groups.values():
        program = _program(group, left_out)
        if program is not None:
            programs.append(program)
    for module, rest in others.items():
        suffixes = sorted({file.path.suffix for file in rest})
        left_out.append(f"{rest[0].path.parent / module}: {len(rest)} files that hold no HLO ({', '.join(suffixes)})")
    return programs


def _program(group: Sequence[Dumped], left_out: list[str]) -> OpenedProgram | None:
    """The last state of a module that can be read, with what belongs to it."""
    states = [file for file in group if file.kind in (_FIRST_STATE, _PASS_STATE, _LAST_STATE)]
    # The same state may be there as text and as a protocol buffer: of these text has more to say where it is wrong.
    states.sort(key=lambda file: (-file.kind, -file.number, not file.path.name.endswith(".txt")))
    for state in states:
        try:
            stage = read_state(state.path)
        except (OpenError, OSError) as error:
            left_out.append(str(error))
            continue
        for plan in (file for file in group if file.kind == _PLAN and state.kind == _LAST_STATE):
            try:
                stage = with_buffers(stage, read_buffers(read_bytes(plan.path), str(plan.path)))
            except (OpenError, OSError) as error:
                left_out.append(str(error))
        between = _between(group)
        first = [StateFile("", "", file.path) for file in group if file.kind == _FIRST_STATE and between]
        steps = [StateFile(file.after, file.pipeline, file.path) for file in between]
        return OpenedProgram(stage.name, stage, passes=tuple(map(_pass, between)), states=(*first[:1], *steps))
    return None


def _between(group: Sequence[Dumped]) -> list[Dumped]:
    """The states between passes, in order, each once; as text where it is there as text."""
    states: dict[int, Dumped] = {}
    for file in group:
        known = states.get(file.number)
        if file.kind == _PASS_STATE and (known is None or _is_text(file)):
            states[file.number] = file
    return [file for _, file in sorted(states.items())]


def _is_text(file: Dumped) -> bool:
    return ".txt" in file.path.suffixes


def _pass(file: Dumped) -> OpenedPass:
    return OpenedPass(file.after, file.pipeline, file.path, lambda: read_state(file.path).graph)


def read_state(path: Path) -> OpenedStage:
    """The module in one file of a dump."""
    data = read_bytes(path)
    return programs_in(data, contents_of(data, str(path)), str(path))[0]
