"""Files that XLA writes with `--xla_dump_to`: of each module its states between passes, and its plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from jaxviz.opening.buffers import read_buffers, with_buffers
from jaxviz.opening.contents import OpenError, check_start, contents_of, read_bytes
from jaxviz.opening.dump_names import SHARDY, Dumped, Kind
from jaxviz.opening.opened import OpenedPass, OpenedProgram
from jaxviz.opening.programs import OpenedStage, lowered_in, programs_in
from jaxviz.opening.states import StateFile
from jaxviz.tables import Tables
from jaxviz.units import plural

# Begins the tables of call stacks in the text of a module.
_STACKS = b"\nFileNames\n"

_ASK_FOR_HLO = "--xla_dump_hlo_as_text or --xla_dump_hlo_as_proto writes it"

_OF_LAST_RUN = (Kind.GIVEN, Kind.SPLIT)


def dumped_programs(files: Iterable[Dumped], root: Path, left_out: list[str]) -> list[OpenedProgram]:
    """One program for each module that is there in any state, below `root`; what cannot be opened is added to
    `left_out`."""
    groups: dict[tuple[Path, str, str], list[Dumped]] = defaultdict(list)
    others: dict[Path, list[Dumped]] = defaultdict(list)
    last: dict[tuple[Path, str], str] = {}
    # What a module was made of has no run in its name: it is that of the last one.
    for file in sorted(files, key=lambda file: file.kind in _OF_LAST_RUN):
        if file.kind == Kind.OTHER:
            others[file.folder].append(file)
            continue
        known = last.get((file.folder, file.module), "")
        run = known if file.kind in _OF_LAST_RUN else file.run
        last[file.folder, file.module] = max(known, run)
        groups[file.folder, run, file.module].append(file)
    programs = []
    for (folder, run, module), group in groups.items():
        program = _program(group, left_out) or _lowered_program(group, left_out)
        split = _split_program(group, left_out)
        for found in filter(None, (program, split)):
            name = ".".join(filter(None, (run, module.split(".")[0])))
            # What is opened may be the folder of one module in that of the dump.
            within = folder.relative_to(root) if folder.is_relative_to(root) else Path()
            found.where = str(within / name)
            programs += [found, *found.kernels(left_out)]
    known_modules = {(folder, module.split(".")[0]) for folder, _, module in groups}
    for folder, rest in others.items():
        renamed = {file: _renamed(file, root) for file in rest if (folder, file.module) not in known_modules}
        programs += filter(None, renamed.values())
        rest = [file for file in rest if renamed.get(file) is None]
        if not rest:
            continue
        suffixes = sorted({file.path.suffix for file in rest})
        counted = f"{plural(len(rest), 'other file')} of the dump ({', '.join(suffixes)})"
        left_out.append(f"{folder}: {counted}" + ("" if programs else f", which has no HLO: {_ASK_FOR_HLO}"))
    return programs


def _renamed(file: Dumped, root: Path) -> OpenedProgram | None:
    """The program in a file that XLA does not name so, of a module of which there is no state; None if it has none."""
    with suppress(OpenError, OSError):
        check_start(file.path)
        stage = read_state(file.path)
        return OpenedProgram(stage.name, stage, where=str(file.path.relative_to(root)))
    return None


def _lowered_program(group: Sequence[Dumped], left_out: list[str]) -> OpenedProgram | None:
    """What XLA was given, where there is nothing that it made of it."""
    for file in (file for file in group if file.kind == Kind.GIVEN):
        stage = _readable(file.path, left_out)
        return None if stage is None else OpenedProgram(stage.name, stage)
    return None


def _split_program(group: Sequence[Dumped], left_out: list[str]) -> OpenedProgram | None:
    """The steps on the way to a program for each device: the last that can be read, after those before it."""
    steps = sorted((file for file in group if file.kind == Kind.SPLIT), key=lambda file: file.number)
    while steps:
        stage = _readable(steps[-1].path, left_out)
        if stage is not None:
            break
        steps.pop()
    else:
        return None
    states = [StateFile(file.after if number else "", SHARDY, file.path) for number, file in enumerate(steps)]
    return OpenedProgram(f"{stage.name} ({SHARDY})", stage, passes=tuple(map(_pass, steps[1:])), states=states)


def _readable(path: Path, left_out: list[str]) -> OpenedStage | None:
    try:
        return read_state(path)
    except (OpenError, OSError) as error:
        left_out.append(str(error))
        return None


def _given(group: Sequence[Dumped], tables: Tables, left_out: list[str]) -> OpenedStage | None:
    """The StableHLO that a module was made of, beside its HLO."""
    try:
        files = (file.path for file in group if file.kind == Kind.GIVEN)
        return next((lowered_in(read_bytes(path), str(path), tables) for path in files), None)
    except (OpenError, OSError) as error:
        left_out.append(str(error))
        return None


def _program(group: Sequence[Dumped], left_out: list[str]) -> OpenedProgram | None:
    """The last state of a module that can be read, with what belongs to it."""
    states = [file for file in group if file.kind in (Kind.FIRST, Kind.PASS, Kind.LAST)]
    as_text = _has_stacks(states)
    states.sort(key=lambda file: (-file.kind, -file.number, _is_text(file) != as_text))
    for state in states:
        stage = _readable(state.path, left_out)
        if stage is None:
            continue
        for plan in (file for file in group if file.kind == Kind.PLAN and state.kind == Kind.LAST):
            try:
                stage = with_buffers(stage, read_buffers(read_bytes(plan.path), str(plan.path)))
            except (OpenError, OSError) as error:
                left_out.append(str(error))
        between = _between(group, as_text)
        # Written as the others are, it is told whether the first pass changed it.
        begun = sorted((file for file in group if file.kind == Kind.FIRST), key=lambda file: _is_text(file) != as_text)
        first = [StateFile("", "", file.path) for file in begun if between]
        steps = [StateFile(file.after, file.pipeline, file.path) for file in between]
        given = _given(group, stage.graph.tables, left_out)
        passes = tuple(map(_pass, between))
        return OpenedProgram(stage.name, stage, passes=passes, states=(*first[:1], *steps), lowered=given)
    return None


def _has_stacks(states: Sequence[Dumped]) -> bool:
    """Whether text has all that a protocol buffer of the same state has: that of JAX before 0.8 has no call stacks."""
    text = max((file for file in states if _is_text(file)), key=lambda file: (file.kind, file.number), default=None)
    try:
        return text is not None and _STACKS in read_bytes(text.path)
    except (OpenError, OSError):
        return False


def _between(group: Sequence[Dumped], as_text: bool) -> list[Dumped]:
    """The states between passes, in order, each once; as text or not where it is there in both ways."""
    states: dict[int, Dumped] = {}
    for file in group:
        known = states.get(file.number)
        if file.kind == Kind.PASS and (known is None or _is_text(file) == as_text):
            states[file.number] = file
    return [file for _, file in sorted(states.items())]


def _is_text(file: Dumped) -> bool:
    return any(suffix in (".txt", ".hlo") for suffix in file.path.suffixes) and ".pb" not in file.path.suffixes


def _pass(file: Dumped) -> OpenedPass:
    return OpenedPass(file.after, file.pipeline, file.path, lambda: read_state(file.path).graph)


def read_state(path: Path) -> OpenedStage:
    """The module in one file of a dump."""
    data = read_bytes(path)
    return programs_in(data, contents_of(data, str(path)), str(path), [])[0]
