"""The file of a process that records: written as it goes, so that one that is killed leaves what it had until then.

After each compilation the file says all that was compiled, before any of it runs: a program that needs too much memory
ends its process there. Beside it lies a small file that says when the process was last there; both are replaced as a
whole, and the small one is gone once the recording has ended. Until something is compiled there is no program to be
written, and a small file says that the process has begun.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from jaxviz import compat
from jaxviz.document import Document, ProcessEntry
from jaxviz.opening.signs import HALF, SEEN, STARTED

if TYPE_CHECKING:
    from jaxviz.measure.processes import Process
    from jaxviz.recorded.process import ProcessWriter

# Seconds between two signs of a process that is there.
_BEAT = 2.0
# Writing takes at most so many seconds, and this share of the time.
_SECONDS, _SHARE = 2.0, 0.05


class ProcessFile:
    """Has what was recorded so far in the file of this process, until `finish`."""

    def __init__(self, writer: ProcessWriter, directory: Path) -> None:
        self._writer = writer
        self._directory = directory
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._news = False
        self._started, self._spent = time.perf_counter(), 0.0
        self._path: Path | None = None
        # Where the file is or will be that the sign of life lies beside.
        self._beside: Path | None = None
        self._beating: threading.Thread | None = None

    def begins(self) -> None:
        """Says that the recording has begun, where it is known by now which of the processes this is."""
        place = compat.place_among_processes()
        if place is None:
            return
        from jaxviz.document.processes import process_json

        process = self._writer.begun(*place)
        text = json.dumps(process_json(ProcessEntry(process)))
        path = self._file(process)
        with suppress(OSError):
            _replace(path.with_suffix(STARTED), lambda half: half.write_text(text, "utf-8"))
            self._begin_to_beat(path)

    def compiled(self) -> None:
        """Something was compiled: it is written at once, or soon where writing takes long."""
        self._news = True
        self._write_in_time()
        if self._path is not None:
            self._begin_to_beat(self._path)

    def _begin_to_beat(self, path: Path) -> None:
        if self._beating is None:
            self._beside = path
            self._beating = threading.Thread(target=self._beat, name="jaxviz recording", daemon=True)
            self._beating.start()

    def finish(self) -> Path:
        """Writes all of it; from now on the process has finished."""
        self._over.set()
        with self._lock:
            try:
                return self._write(self._writer.document(finished=True))
            finally:
                if self._beside is not None:
                    for suffix in (SEEN, STARTED):
                        self._beside.with_suffix(suffix).unlink(missing_ok=True)

    def _beat(self) -> None:
        while not self._over.wait(_BEAT):
            # A folder that cannot be written to for a while is no reason to end.
            with suppress(OSError), self._lock:
                if self._beside is not None and not self._over.is_set():
                    _replace(self._beside.with_suffix(SEEN), lambda half: half.write_text(f"{time.time():.3f}"))
            self._news |= self._writer.profiled()
            self._write_in_time()

    def _write_in_time(self) -> None:
        due = self._spent < _SECONDS + _SHARE * (time.perf_counter() - self._started)
        if not self._news or not due or not self._lock.acquire(blocking=False):
            return
        started = time.thread_time()
        try:
            if self._over.is_set():
                return
            self._news = False
            # The person's program goes on in any case, and tells at its end what could not be written.
            with suppress(Exception):
                self._path = self._write(self._writer.document(finished=False))
        finally:
            self._spent += time.thread_time() - started
            self._lock.release()

    def _write(self, document: Document) -> Path:
        process: Process = document.processes[0].process
        self._directory.mkdir(parents=True, exist_ok=True)
        path = self._file(process)
        _replace(path, document.save)
        path.with_suffix(STARTED).unlink(missing_ok=True)
        return path

    def _file(self, process: Process) -> Path:
        return self._directory / f"process-{process.index:05d}-of-{process.count:05d}.jaxviz"


def _replace(path: Path, write: Callable[[Path], object]) -> None:
    """Writes a file as a whole: another process may look at the folder meanwhile."""
    half = path.with_name(f"{path.name}.{os.getpid()}{HALF}")
    try:
        write(half)
        os.replace(half, path)
    finally:
        half.unlink(missing_ok=True)
