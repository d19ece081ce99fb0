"""What a file holds: taken out of its compression, and told by its first bytes, not by its name."""

from __future__ import annotations

import bz2
import codecs
import filecmp
import gzip
import importlib
import json
import lzma
import re
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from enum import Enum
from io import BytesIO
from pathlib import Path
from typing import Any

from jaxviz.read.hlo.wrapping import after_length

#: A few bytes can be the compression of more than any memory holds.
MOST_BYTES = 2 << 30

_LAYERS = 4
_START = 4096
_CHUNK = 1 << 20
_MLIR_BYTECODE = b"ML\xefR"
_MLIR_TEXT = re.compile(r'^\s*(?:module\b|func\.func\b|#\w+|"?\w+(?:\.\w+)+"?[ (@]|%\w+ = |!\w+\s+= )')


# Of HLO that a person wrote without the line that names the module: a computation, and in it an instruction.
_HLO_WITHOUT_HEAD = re.compile(
    r"(?:ENTRY\s+)?%?[\w.-]+\s*(?:\([^{]*)?\{(?:\s|//[^\n]*)*+(?:ROOT\s+)?%?[\w.-]+\s*=\s*(?:[a-z]\w*\[|\(|[a-z-]+\()"
    r"|ENTRY %?[\w.-]+\s*\(|%[\w.-]+ \([\w.%-]+: "
)
_PROTO_TEXT = re.compile(r"\w+ \{\s*\n\s+\w+(?:: | \{)|name: \"[^\"\n]*\"\n(?:\w+: .*\n)*\w+ \{\n")
_PROTO_IN_WORDS = (
    "a protocol buffer written as text: its bytes (--xla_dump_hlo_as_proto) "
    "or the text of HLO (--xla_dump_hlo_as_text) are read"
)
_TRACE = re.compile(r'\{\s*"(?:displayTimeUnit|traceEvents)"')
_PLAN = re.compile(r"BufferAssignment:|HloLiveRange \(|Memory Space: |Total bytes used: ")
_PICTURE = re.compile(r"digraph \w+ \{|<!DOCTYPE html>|https?://|Error rendering graph")
_OBJECT = re.compile(r"<(?:jax|jaxlib)\b[\w.]* object at")
_JAXPR = re.compile(r"(?:let \w+ = )?\{ ?lambda ")
_KERNEL = re.compile(r"; ModuleID = |\.version \d|target triple = ")
_OPTIONS = re.compile(r"xla_\w+: ")
_TUNED = re.compile(r"version: \d+\s+results \{")
_NOTEBOOK = re.compile(r'\{\s*"cells": \[')
_IN_WORDS = (
    (_PROTO_TEXT, _PROTO_IN_WORDS),
    (_PLAN, "a plan of memory, which XLA dumps beside a module: the folder of the dump is opened with both"),
    (_PICTURE, "a picture: the text of HLO (--xla_dump_hlo_as_text) or its bytes (--xla_dump_hlo_as_proto) are read"),
    (_OBJECT, "an object as Python prints it: jv.open takes the object itself, or save its text: print(it.as_text())"),
    (_JAXPR, "a jaxpr, which says too little of itself: show its function, with jv.explore(function, *arguments)"),
    (_KERNEL, "the code of a kernel: the HLO that it was made of is read"),
    (_OPTIONS, "options of the compiler, which XLA dumps beside a module: the folder of the dump is opened"),
    (_TUNED, "what XLA measured to choose among kernels: the optimized HLO says what it chose"),
    (_NOTEBOOK, "a notebook in which no cell printed a program"),
    (_TRACE, "the events of a profile alone: the .xplane.pb beside them has the programs, too"),
)
# What no text holds.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_REPLACED = "\ufffd".encode()
# Comments and space at the beginning of a text: licences, and the options of a test.
_COMMENTS = re.compile(r"\A(?:\s++|//[^\n]*+|/\*(?s:.*?)(?:\*/|\Z))++")


class OpenError(ValueError):
    """A file that cannot be opened: which, where in it, and what was expected there; in one line."""

    def __init__(self, text: str) -> None:
        # What is quoted from a file may hold what breaks lines.
        super().__init__(" ".join(text.splitlines()))


class Contents(Enum):
    DOCUMENT = "a jaxviz document"
    HLO_TEXT = "HLO text"
    HLO_PROTO = "an HLO protocol buffer"
    MLIR = "MLIR"
    EXPORT = "a jax.export artifact"


def read_bytes(path: Path) -> bytes:
    """The bytes of a file, without its compression."""
    # What the shell hands over; to one with a name in a folder, nobody may ever write.
    is_pipe = path.is_absolute() and path.parts[1:2] in (("dev",), ("proc",)) and path.is_fifo()
    if path.exists() and not (path.is_file() or is_pipe):
        raise OpenError(f"{path}: expected a file or a folder")
    if path.stat().st_size > MOST_BYTES:
        raise OpenError(f"{path}: expected a file of at most {MOST_BYTES >> 30} GB")
    data = _from_pipe(path) if is_pipe else path.read_bytes()
    return unpacked(data, str(path))


def _from_pipe(path: Path) -> bytes:
    found = bytearray()
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            found += chunk
            if len(found) > MOST_BYTES:
                raise OpenError(f"{path}: expected at most {MOST_BYTES >> 30} GB")
    return bytes(found)


def check_start(path: Path) -> None:
    """Raise `OpenError` for a file that is none to be opened by its first bytes alone."""
    with path.open("rb") as stream:
        start = stream.read(_START)
    if _compression(start) or len(start) < _START:
        return
    start = _without_wide_characters(start)
    text = text_of(start)
    # What comes after long comments is not seen here.
    if text is None or without_comments(text):
        contents_of(start, str(path))


def hold_the_same(one: Path, other: Path) -> bool:
    """Whether two files do; what is compressed says, beside what it holds, when it was."""
    if filecmp.cmp(one, other, shallow=False):
        return True
    with one.open("rb") as stream:
        is_compressed = _compression(stream.read(_START)) is not None
    with suppress(OpenError):
        return is_compressed and read_bytes(one) == read_bytes(other)
    return False


def _compression(data: bytes) -> tuple[str, Callable[[BytesIO], Any]] | None:
    """Which compression a file begins with, and what opens it."""
    return next(((label, opener) for magic, label, opener in _COMPRESSIONS if data.startswith(magic)), None)


def unpacked(data: bytes, name: str) -> bytes:
    """Without compression, of whichever kind and however often; `name` stands in front of errors."""
    for _ in range(_LAYERS):
        found = _compression(data)
        if found is None:
            return _without_wide_characters(data)
        label, opener = found
        data = _read_all(opener, data, name, label)
    raise OpenError(f"{name}: byte 0: expected a file that is compressed at most {_LAYERS} times")


def _without_wide_characters(data: bytes) -> bytes:
    """Text as UTF-8, also where a shell of Windows wrote it with two bytes for each character."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        with suppress(UnicodeDecodeError):
            return data.decode("utf-16").encode()
    return data


def contents_of(data: bytes, name: str) -> Contents:
    """What kind of file these bytes are; `OpenError` where they are none that can be opened."""
    if data.startswith(_MLIR_BYTECODE):
        return Contents.MLIR
    # A name in it may be in another encoding.
    text = text_of(data[:_START]) or text_of(data[:_START], "replace")
    if text is None:
        if _MLIR_BYTECODE in data[:1_000_000]:
            return Contents.EXPORT
        # The first field of every message that holds a module is one of bytes.
        if data[:1] == b"\n" or after_length(data) is not None:
            return Contents.HLO_PROTO
        raise OpenError(f"{name}: {_why_no_text(data)}")
    # A message that begins with a short name looks like text.
    if data[:1] == b"\n" and text_of(data) is None and _CONTROL.search(data):
        return Contents.HLO_PROTO
    start = without_comments(text)
    if not start and len(data) > _START:
        text = text_of(data) or text
        start = without_comments(text)
    line = 1 + text[: len(text) - len(start)].count("\n")
    if (found := text_kind(start)) is not None:
        return found
    if not start:
        reason = "there are only comments in it" if text.strip() else "the file is empty"
        raise OpenError(f"{name}: line {line}:1: expected {_KNOWN}, but {reason}")
    known = (words for pattern, words in _IN_WORDS if pattern.match(start))
    words = next(known, "") or _beginning(start)
    raise OpenError(f"{name}: line {line}:1: expected {_KNOWN}, not {words}")


def text_kind(start: str) -> Contents | None:
    """What a text is that begins like this; None for one that cannot be opened."""
    if start.startswith("{") and '"jaxviz"' in start:
        return Contents.DOCUMENT
    if start.startswith("HloModule"):
        return Contents.HLO_TEXT
    if _MLIR_TEXT.match(start):
        return Contents.MLIR
    return Contents.HLO_TEXT if _HLO_WITHOUT_HEAD.match(start) else None


def _why_no_text(data: bytes) -> str:
    """Where bytes are not what was expected: of what begins as a text, where it goes on as none."""
    if is_archive(data):
        return f"byte 0: expected {_KNOWN}, not an archive in a folder: unpack it"
    at = _CONTROL.search(data)
    begun = data[: at.start()].decode(errors="replace") if at else ""
    if at and text_kind(without_comments(begun)) is not None:
        return f"byte {at.start()}: expected text, not the byte 0x{data[at.start()]:02x}"
    return f"byte 0: expected {_KNOWN}, not these bytes"


def is_replaced(data: bytes) -> bool:
    """Whether bytes that are no text went through a program that takes all for text, and replaces what is none."""
    if _REPLACED not in data or not _CONTROL.search(data):
        return False
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_archive(data: bytes) -> bool:
    """Whether these bytes are those of a zip or a tar file."""
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06")) or data[257:262] == b"ustar"


_KNOWN = "HLO, MLIR, a jax.export artifact or a jaxviz document"


def text_of(data: bytes, errors: str = "strict") -> str | None:
    """The bytes as text, None where they are none. The last character may be cut off."""
    try:
        text = data.decode(errors=errors)
    except UnicodeDecodeError as error:
        if error.start < len(data) - 3:
            return None
        text = data[: error.start].decode()
    return None if _CONTROL.search(text.encode()) else text.removeprefix("\ufeff")


def without_comments(text: str) -> str:
    """From the first line on that is neither empty nor a comment."""
    return _COMMENTS.sub("", text)


def _beginning(text: str) -> str:
    return json.dumps(text.split("\n", 1)[0][:40], ensure_ascii=False)


# Compression.


def _read_all(opener: Callable[[BytesIO], Any], data: bytes, name: str, label: str) -> bytes:
    chunks: list[bytes] = []
    size = 0
    try:
        with opener(BytesIO(data)) as stream:
            # One piece at a time: of what is damaged, all before that is read.
            while chunk := stream.read1(_CHUNK):
                chunks.append(chunk)
                size += len(chunk)
                if size > MOST_BYTES:
                    raise OpenError(f"byte {size} inside {label}: expected at most {MOST_BYTES >> 30} GB")
    except OpenError as error:
        raise OpenError(f"{name}: {error}") from None
    except EOFError:
        cut = f"the file seems to be cut off at its byte {len(data)}"
        raise OpenError(f"{name}: byte {size} inside {label}: expected more of it: {cut}") from None
    except (OSError, ValueError, zlib.error, lzma.LZMAError, _zstd_error()) as error:
        # What stands behind it is none of it, as for the tools that unpack it.
        if not (chunks and str(error).startswith("Not a gzipped file")):
            raise OpenError(f"{name}: byte {size} inside {label}: expected {label}, but {_reason(error)}") from None
    return b"".join(chunks)


def _reason(error: Exception) -> str:
    return (" ".join(str(error).split()) or type(error).__name__)[:150]


def _zstd(stream: BytesIO) -> Any:
    library = _zstd_library()
    if library is None:
        raise OpenError("this file is compressed with zstd, which needs: pip install zstandard")
    return library.ZstdFile(stream) if hasattr(library, "ZstdFile") else closing(_ZstdFrames(library, stream))


class _ZstdFrames:
    """What frames of zstd hold, one after another, with the package: its own reader does not tell one that is cut."""

    # A few bytes can be the compression of very many.
    _PIECE = 4096

    def __init__(self, library: Any, stream: BytesIO) -> None:
        self._library = library
        self._stream = stream
        self._frame: Any = None
        self._rest = b""

    def read1(self, size: int) -> bytes:
        """Some of what is there; nothing at the end."""
        while piece := self._rest or self._stream.read(self._PIECE):
            self._frame = self._frame or self._library.ZstdDecompressor().decompressobj()
            found: bytes = self._frame.decompress(piece)
            self._rest = b""
            if self._frame.eof:
                self._rest, self._frame = self._frame.unused_data, None
            if found:
                return found
        if self._frame is not None:
            raise EOFError
        return b""

    def close(self) -> None:
        self._stream.close()


def _zstd_library() -> Any | None:
    """Python's own from 3.14 on, else a package."""
    for module in ("compression.zstd", "zstandard"):
        try:
            return importlib.import_module(module)
        except ImportError:
            continue
    return None


def _zstd_error() -> type[Exception]:
    error: type[Exception] = getattr(_zstd_library(), "ZstdError", EOFError)
    return error


_COMPRESSIONS: tuple[tuple[bytes, str, Callable[[BytesIO], Any]], ...] = (
    (b"\x1f\x8b", "gzip", lambda stream: gzip.GzipFile(fileobj=stream)),
    (b"\xfd7zXZ\x00", "xz", lzma.LZMAFile),
    (b"]\x00\x00", "lzma", lzma.LZMAFile),
    (b"BZh", "bzip2", bz2.BZ2File),
    (b"\x28\xb5\x2f\xfd", "zstd", _zstd),
)
