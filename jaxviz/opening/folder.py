"""A folder of files: what can be opened is, what cannot is listed with its reason."""

from __future__ import annotations

from pathlib import Path

from jaxviz.opening.contents import OpenError, read_bytes
from jaxviz.opening.file import programs_of
from jaxviz.opening.opened import Opened, OpenedProgram


def open_folder(path: Path) -> Opened:
    """Opens all files of a folder that hold programs."""
    programs: list[OpenedProgram] = []
    left_out: list[str] = []
    for file in sorted(path.iterdir()):
        if not file.is_file():
            continue
        try:
            programs += programs_of(read_bytes(file), str(file))
        except (OpenError, OSError) as error:
            left_out.append(str(error))
    if not programs:
        raise OpenError(f"{path}: expected a file that can be opened; {left_out[0] if left_out else 'it has none'}")
    return Opened(path, sorted(programs, key=lambda program: -program.size), left_out)
