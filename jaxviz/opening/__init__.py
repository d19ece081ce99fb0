"""Open files that others made: HLO, MLIR, exported functions, folders of dumps, documents.

`contents.py` takes a file out of its compression and tells what it is, `programs.py` reads the programs in it with the
readers of `read/`, `folder.py` does so for all files of a folder, `archive.py` for one that was packed, and `opened.py`
shows them. `made.py` is for what one has in this very process.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import jax
    from jax import export

    from jaxviz.opening.opened import Opened

# An address in a network, or of a bucket.
_ELSEWHERE = re.compile(r"[a-zA-Z][\w+.-]+://")


def open(
    path: str
    | bytes
    | os.PathLike[str]
    | jax.stages.Traced
    | jax.stages.Lowered
    | jax.stages.Compiled
    | export.Exported,
) -> Opened:
    """Opens a file or folder, and shows it in the explorer, without JAX compiling anything.

    HLO as text or as a protocol buffer (also in a snapshot or a profile), StableHLO and other MLIR as text or bytecode,
    what `jax.export` wrote, what `--xla_dump_to` wrote, and documents; compressed or not, or packed as zip or tar. What
    a file is is told by its contents; in a log, a page of text or a notebook, the programs are found. `OpenError` says
    in one line what is wrong with a file: where in it, and what was expected. What JAX made of a function already is
    opened in the same way, as are the text, the bytes and the modules that one gets from that.

    Example::

        jv.open("module_0001.jit_step.cpu_after_optimizations.txt")
        jv.open(jax.jit(step).lower(x).compile())
    """
    from jaxviz.opening.contents import OpenError, read_bytes, unpacked
    from jaxviz.opening.folder import open_folder
    from jaxviz.opening.made import bytes_of_made, is_made, name_of_made

    __tracebackhide__ = True
    try:
        if is_made(path):
            name = name_of_made(path)
            return _opened(unpacked(bytes_of_made(path), name), Path(name), is_own=not isinstance(path, (str, bytes)))
        if not isinstance(path, (str, os.PathLike)):
            hint = ": jv.explore(function, *arguments) shows what JAX makes of one" if callable(path) else ""
            raise TypeError(f"expected a path, or what JAX lowered or compiled, but got {type(path).__name__}{hint}")
        place = _place(path)
        return open_folder(place) if place.is_dir() else _opened(read_bytes(place), place)
    except (OpenError, OSError) as error:
        # How jaxviz got there says nothing about the error.
        raise error.with_traceback(None) from None


def _opened(data: bytes, path: Path, *, is_own: bool = False) -> Opened:
    from jaxviz.opening.archive import open_archive
    from jaxviz.opening.contents import is_archive
    from jaxviz.opening.file import open_file

    return open_archive(data, path) if is_archive(data) else open_file(data, path, is_own=is_own)


def _place(path: str | os.PathLike[str]) -> Path:
    from jaxviz.opening.contents import OpenError

    text = os.fspath(path)
    if not text or "\0" in text:
        raise OpenError(f"{text!r}: expected the path of a file or a folder")
    if _ELSEWHERE.match(text):
        raise OpenError(f"{text}: expected the path of a file or a folder on this machine: copy it here first")
    try:
        return Path(text).expanduser()
    except RuntimeError:
        raise OpenError(f"{text}: expected a person whose home folder is known after ~") from None
