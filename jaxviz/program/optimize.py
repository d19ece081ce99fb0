"""From a lowered program to optimized HLO, without generating code where JAX has a hook for that.

The hook (JAX 0.10.2 and later, CPU) is called when the compiler has finished with the HLO; raising there stops it
before LLVM, which is most of the time. Elsewhere the program is compiled to the end. The persistent compilation cache
is neither asked, for it knows the program without tags, nor written to.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from jaxviz import compat
from jaxviz.compat.threads import outside_the_cache
from jaxviz.program.passing_folder import passing_folder


@dataclass(frozen=True)
class Optimized:
    """What the compiler made: the module as a serialized `HloModuleProto`."""

    proto: bytes
    #: Whether code was generated too.
    complete: bool
    seconds: float
    snapshots: tuple[Snapshot, ...] = ()
    #: Where code was generated and the compiler says it.
    memory: Memory | None = None


@dataclass(frozen=True)
class Memory:
    """What the compiled program takes on its device, in bytes."""

    arguments: int
    results: int
    #: Of the results, what lies in arguments that were donated.
    aliased: int
    temporary: int
    code: int


@dataclass(frozen=True)
class Snapshot:
    """The module as text at one point of the compiler: after `after`, before `before`, in `pipeline`."""

    pipeline: str
    after: str
    before: str
    text: str


# What the compiler still removes after the hook (from 0.11 on): such a module is not yet what runs.
_UNFINISHED = b"opt-barrier"


class _Enough(Exception):
    """Raised inside the compiler to stop it."""


# One at a time: the hook is there for every thread of the process.
_compiling = threading.Lock()


def optimize(lowered: Any, *, mark: bytes = b"", passes: str = "") -> Optimized:
    """Compile a `jax.stages.Lowered` as far as its HLO needs it; to the end if there is no `mark` that tells it.

    `mark` is found in this program and in no other that may be compiled meanwhile. `passes` is a regular expression for
    the names of the compiler passes around which snapshots are taken.
    """
    start = perf_counter()
    with _compiling, outside_the_cache(), passing_folder() if passes else nullcontext() as folder:
        options = {"xla_dump_to": str(folder), "xla_dump_hlo_pass_re": passes} if passes else None
        proto, compiled = _compiled(lowered, mark, options)
        seconds = perf_counter() - start
        snapshots = () if folder is None else tuple(read_snapshots(folder))
        return Optimized(proto, compiled is not None, seconds, snapshots, _memory_of(compiled))


def _compiled(lowered: Any, mark: bytes, options: dict[str, Any] | None) -> tuple[bytes, Any]:
    """The optimized module, and what was compiled; None where the compiler was stopped."""
    with _hook(mark) as caught:
        try:
            compiled = lowered.compile(compiler_options=options)
        except Exception:
            if not caught:
                raise
            return caught[0], None
        return caught[0] if caught else compat.optimized_proto(compiled), compiled


def _memory_of(compiled: Any) -> Memory | None:
    stats = compat.memory_of(compiled) if compiled is not None else None
    if stats is None:
        return None
    return Memory(
        arguments=stats.argument_size_in_bytes,
        results=stats.output_size_in_bytes,
        aliased=stats.alias_size_in_bytes,
        temporary=stats.temp_size_in_bytes,
        code=stats.generated_code_size_in_bytes,
    )


@contextmanager
def _hook(mark: bytes) -> Iterator[list[bytes]]:
    """Collects the module when the compiler has finished with it, and stops the compiler."""
    caught: list[bytes] = []
    hooks = compat.compiler_hooks() if mark else None
    if hooks is None:
        yield caught
        return

    _wanted.append((mark, caught))
    hooks.add(_stop, "jaxviz")
    try:
        yield caught
    finally:
        hooks.remove("jaxviz")
        _wanted.clear()


# The mark of the program that is compiled for its HLO, and where that goes.
_wanted: list[tuple[bytes, list[bytes]]] = []


# One function for ever: a program of the person's that another thread compiles meanwhile may be the last to let go of
# it, and the compiler does that without Python's lock, which ends the process where the function goes with it.
def _stop(proto: bytes) -> None:
    # Called on a thread of the compiler, so only the mark says whose module it is: others compile on.
    for mark, caught in tuple(_wanted):
        if mark in proto and _UNFINISHED not in proto:
            caught.append(bytes(proto))
            raise _Enough


_FILE = re.compile(
    r"^module_(?P<module>\d+)\..*?\.(?P<number>\d{4})\."
    r"(?P<pipeline>.+?)\.(?:after_(?P<after>.+?)\.)?(?:before_(?P<before>.+?))?\.txt$"
)


def read_snapshots(folder: Path) -> Iterator[Snapshot]:
    """The snapshots in a folder that XLA dumped to, in the order in which they were taken."""
    found = []
    for path in folder.iterdir():
        match = _FILE.match(path.name)
        if match is not None:
            found.append((int(match["module"]), int(match["number"]), match, path))
    for _, _, match, path in sorted(found, key=lambda entry: entry[:2]):
        text = path.read_text(errors="replace")
        yield Snapshot(match["pipeline"], match["after"] or "", match["before"] or "", text)
