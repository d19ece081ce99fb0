"""A folder of files: what can be opened is, what cannot is listed with its reason.

Files that XLA dumped for one module are one program: its last state, with the passes before it and its buffers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from jaxviz.document import Document, ProcessEntry
from jaxviz.measure.processes import Process, clock_text
from jaxviz.opening.contents import OpenError, check_start, read_bytes
from jaxviz.opening.dump import dumped_programs
from jaxviz.opening.dump_names import Dumped, dumped_file
from jaxviz.opening.file import programs_of, with_names_of_their_own
from jaxviz.opening.opened import Opened, OpenedProgram
from jaxviz.opening.profile_files import ProfileFiles
from jaxviz.opening.signs import is_beside, last_seen, started

#: More files than this are not looked at.
MOST_FILES = 20_000


def open_folder(path: Path) -> Opened:
    """Opens all files of a folder, and of those in it, that hold programs."""
    programs: list[OpenedProgram] = []
    left_out: list[str] = []
    recorded: list[Document] = []
    begun: list[Process] = []
    dumped: list[Dumped] = []
    files = list(islice(_files(path, left_out), MOST_FILES + 1))
    profiles = ProfileFiles(files)
    for file in files[:MOST_FILES]:
        if profiles.holds(file):
            continue
        if is_beside(file):
            process = started(file)
            begun += [] if process is None else [process]
            continue
        found = dumped_file(file)
        if found is not None:
            dumped.append(found)
            continue
        try:
            check_start(file)
            own = programs_of(read_bytes(file), str(file), left_out)
            for program in own:
                program.where = str(file.relative_to(path))
            recorded += [_last_seen(program.document, file) for program in own if program.is_of_process]
            programs += [program for program in own if not program.is_of_process]
        except (OpenError, OSError) as error:
            left_out += [] if profiles.owns(file) else [str(error)]
    if len(files) > MOST_FILES:
        left_out.append(f"{path}: what comes after the first {MOST_FILES:,} files")
    programs += dumped_programs(dumped, path, left_out)
    if recorded:
        from jaxviz.opening.processes import joined_processes

        together = joined_processes(recorded, left_out, begun)
        others = with_names_of_their_own([*programs])
        return Opened(path, [together, *others], left_out)
    if not programs:
        reason = left_out[0] if left_out else _only_begun(begun) if begun else "it is empty"
        raise OpenError(f"{path}: expected a folder with a file that can be opened, but {reason}")
    return Opened(path, with_names_of_their_own(programs), left_out)


def _only_begun(begun: list[Process]) -> str:
    """Of processes none of which came as far as a program."""
    last = max(begun, key=lambda process: process.seen)
    count = f"{len(begun)} of {last.count} processes" if last.count > 1 else "one process"
    when = clock_text(last.seen, last.began)
    return f"{count} began to record there and compiled nothing; process {last.index} was last seen {when}"


def _last_seen(document: Document, file: Path) -> Document:
    """What one of several processes recorded; of one that has not finished, when it was last there."""
    process = document.processes[0].process
    if process.finished:
        return document
    process = replace(process, seen=max(process.seen, last_seen(file)))
    return replace(document, processes=(ProcessEntry(process),))


def _files(path: Path, left_out: list[str]) -> Iterator[Path]:
    """All files in a folder and those in it; what cannot be looked into is added to `left_out`."""

    def refused(error: OSError) -> None:
        left_out.append(f"{error.filename}: {error.strerror or error}")

    for folder, inner, names in os.walk(path, onerror=refused):
        inner.sort()
        links = (link for name in inner if (link := Path(folder, name)).is_symlink())
        left_out.extend(f"{link}: a link to a folder, which is opened by itself" for link in links)
        for name in sorted(names):
            file = Path(folder, name)
            if file.is_file():
                yield file
            elif file.is_symlink():
                left_out.append(f"{file}: a link to {os.readlink(file)}, which is not there")
