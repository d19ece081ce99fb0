"""MLIR read by a process of its own: what is damaged may end that process, but not this one.

Bytecode is given as text. Text of dialects that JAX does not write is only tried there.

The process is started with the first bytecode and waits for more; it ends when this one does.
"""

from __future__ import annotations

import atexit
import os
import struct
import subprocess
import sys
import threading
from typing import IO, Any

from jaxviz.read.frames import OWN_FOLDER

#: Seconds after which a reading is given up, and how many more for each megabyte.
_SECONDS, _MORE_SECONDS = 20, 5

# Constants of more elements are left out of the text.
_WRITTEN_ELEMENTS = 16

_ARTIFACT = b"StableHLO_v"
# The dialect in which it is written.
_VERSIONED = b"vhlo"

# What is asked about, and how many bytes it has; of an answer, whether all is well.
_HEAD = struct.Struct("<?Q")
_BYTECODE, _TEXT = True, False
# Shorter texts, in bytes, are tried in one context: to make one takes longer.
_SMALL = 50_000


class BytecodeError(ValueError):
    """Bytecode that cannot be read, in the words of the parser."""


def text_of_bytecode(data: bytes) -> str:
    """The module as text; `BytecodeError` for what is none."""
    with _reader.lock:
        well, answer = _reader.answer(_BYTECODE, data)
    if not well:
        raise BytecodeError(answer)
    return answer


def try_text(text: str) -> None:
    """Raise `BytecodeError` for a text that ends the process that reads it; what else may be wrong is not said."""
    with _reader.lock:
        # Of a part of a longer text there are empty lines before it.
        _reader.answer(_TEXT, text.strip().encode(errors="replace"))


class _Reader:
    """The process that reads, while there is one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def answer(self, is_bytecode: bool, data: bytes) -> tuple[bool, str]:
        """Whether that could be read, and its text or the reason."""
        process = self._started()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Timer(_SECONDS + _MORE_SECONDS * (len(data) >> 20), process.kill)
        late.start()
        try:
            process.stdin.write(_HEAD.pack(is_bytecode, len(data)) + data)
            process.stdin.flush()
            well, answer = _received(process.stdout)
        except (EOFError, OSError):
            self.end()
            what = "bytecode that is not damaged" if is_bytecode else "MLIR"
            raise BytecodeError(f"expected {what}, but reading it ended the parser") from None
        except BaseException:
            # What comes after an interrupt would be the answer to another question.
            self.end()
            raise
        finally:
            late.cancel()
        return well, answer.decode(errors="replace")

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            # Where this jaxviz lies, if it was imported from a folder that the other process does not look into.
            own = f"import sys; sys.path.append({os.path.dirname(OWN_FOLDER[:-1])!r})"
            command = [sys.executable, "-c", f"{own}; from jaxviz.read.bytecode import serve; serve()"]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        return self._process

    def end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


_reader = _Reader()
atexit.register(_reader.end)


# The other process.


def serve() -> None:
    """Answers until there are no more questions: each is MLIR, each answer its text or what is wrong with it."""
    from jaxviz.compat import mlir as compat_mlir

    source, target = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    # Whatever else is printed here is no answer.
    os.dup2(2, 1)
    # A context keeps the constants of all that is read in it.
    shared = compat_mlir.mlir_context(kernels=True)
    while True:
        try:
            is_bytecode, data = _received(source)
        except EOFError:
            return
        try:
            context = compat_mlir.mlir_context(kernels=True) if is_bytecode or len(data) > _SMALL else shared
            well, answer = True, _text(data, context) if is_bytecode else _tried(data, context)
        except Exception as error:
            well, answer = False, str(error)
        encoded = answer.encode(errors="replace")
        target.write(_HEAD.pack(well, len(encoded)) + encoded)
        target.flush()


def _text(data: bytes, context: Any) -> str:
    from jaxlib.mlir import ir

    from jaxviz.compat import mlir as compat_mlir

    # A StableHLO artifact is of a version of its own, which is brought up to that of jaxlib. The first did not say it.
    is_artifact = _ARTIFACT in data[:64] or _VERSIONED in data
    module = compat_mlir.portable_module(context, data) if is_artifact else None
    with context:
        if module is None:
            module = ir.Module.parse(data, context)
        return str(module.operation.get_asm(enable_debug_info=True, large_elements_limit=_WRITTEN_ELEMENTS))


def _tried(data: bytes, context: Any) -> str:
    from jaxlib.mlir import ir

    with context:
        ir.Module.parse(data, context)
    return ""


def _received(stream: IO[bytes]) -> tuple[bool, bytes]:
    """Whether all is well, and what was sent."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise EOFError
    well, size = _HEAD.unpack(head)
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return well, data
