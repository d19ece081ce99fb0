"""What a process that records leaves beside its file: when it was last there, and that it has begun."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from jaxviz.document import DocumentError
from jaxviz.document.processes import read_process
from jaxviz.document.read import JsonReader
from jaxviz.measure.processes import Process

#: The file beside that of a process ends in this.
SEEN = ".seen"
#: The file of a process that has compiled nothing so far ends in this.
STARTED = ".started"
#: What is half written ends in this.
HALF = ".part"


def is_beside(path: Path) -> bool:
    """Whether a file holds no program, and belongs to the file of a process."""
    return path.name.startswith("process-") and path.suffix in (SEEN, HALF, STARTED)


def started(path: Path) -> Process | None:
    """The process of a file that says that it has begun; None where it says nothing of the kind."""
    if path.suffix != STARTED:
        return None
    try:
        text = path.read_text("utf-8")
        process = read_process(JsonReader(str(path)), json.loads(text), "process").process
    except (OSError, ValueError, DocumentError, RecursionError):
        return None
    return replace(process, seen=max(process.seen, last_seen(path), process.began))


def last_seen(path: Path) -> float:
    """When the process of a file was last there, by the file beside it; 0 where none says it."""
    try:
        seen = float(path.with_suffix(SEEN).read_text())
    except (OSError, ValueError):
        return 0.0
    return seen if 0 < seen < float("inf") else 0.0
