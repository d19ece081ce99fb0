"""A folder for what the compiler writes. It goes once that is read, and at the latest with the process.

A compiler that was given up goes on while the process ends, and makes a folder anew that it does not find any more. So
another process removes it, once this one is gone.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

# Its input ends with the process that holds the other end.
_REMOVE = "import shutil, sys; sys.stdin.read(); shutil.rmtree(sys.argv[1], ignore_errors=True)"


@contextmanager
def passing_folder() -> Iterator[Path]:
    """A folder that is gone after the body, and also where the process ends before it does."""
    folder = Path(tempfile.mkdtemp(prefix="jaxviz-"))
    at_exit = partial(_remove_once_this_ends, folder)
    atexit.register(at_exit)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        atexit.unregister(at_exit)


def _remove_once_this_ends(folder: Path) -> None:
    # Closed by the system alone: Python would do it while its threads go on.
    theirs, _ = os.pipe()
    command = [sys.executable, "-I", "-S", "-c", _REMOVE, str(folder)]
    # Where no process can be made, it stays.
    with suppress(OSError):
        # Who interrupts this process does not mean that one.
        subprocess.Popen(
            command, stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
