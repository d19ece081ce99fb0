"""Programs as data: saved, sent to the browser and reopened.

`model.py` says what a document consists of, `write.py` and `read.py` turn it into JSON and back. What only some
documents have stands in a file of its own, both ways: `passes.py`, `measures.py`, `memory.py`, `values.py`.
"""

from __future__ import annotations

from jaxviz.document.model import (
    DOCUMENT_VERSION,
    STAGE_KINDS,
    CompilingEntry,
    Document,
    DocumentError,
    ErrorEntry,
    FatesEntry,
    FindingEntry,
    LinksEntry,
    MeasuresEntry,
    MemoryEntry,
    OutlineEntry,
    PassesEntry,
    ProcessEntry,
    ProgramEntry,
    ResidualsEntry,
    StageEntry,
    TargetEntry,
    ValuesEntry,
    load,
    no_constant,
)

__all__ = [
    "DOCUMENT_VERSION",
    "STAGE_KINDS",
    "CompilingEntry",
    "Document",
    "DocumentError",
    "ErrorEntry",
    "FatesEntry",
    "FindingEntry",
    "LinksEntry",
    "MeasuresEntry",
    "MemoryEntry",
    "OutlineEntry",
    "PassesEntry",
    "ProcessEntry",
    "ProgramEntry",
    "ResidualsEntry",
    "StageEntry",
    "TargetEntry",
    "ValuesEntry",
    "load",
    "no_constant",
]
