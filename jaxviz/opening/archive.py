"""A folder that was packed into one file, as people send each other dumps: zip, tar, and tar in any compression."""

from __future__ import annotations

import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO

from jaxviz.opening.contents import MOST_BYTES, OpenError
from jaxviz.opening.folder import MOST_FILES, open_folder
from jaxviz.opening.opened import Opened

_CHUNK = 1 << 20
_ERRORS = (tarfile.TarError, zipfile.BadZipFile, zlib.error, LZMAError, EOFError, NotImplementedError, RuntimeError)


def open_archive(data: bytes, path: Path) -> Opened:
    """Opens the files of an archive, which holds these bytes, as those of a folder."""
    # The passes of a dump are read only when they are asked for.
    kept = TemporaryDirectory(prefix="jaxviz-")
    folder = Path(kept.name, path.name)
    folder.mkdir()
    try:
        left_out = _unpack(data, folder)
        opened = open_folder(folder)
    except OpenError as error:
        raise OpenError(str(error).replace(str(folder), str(path))) from None
    told = [each.replace(str(folder), str(path)) for each in (*opened.left_out, *left_out)]
    return opened.packed_in(path, told, kept)


def _unpack(data: bytes, folder: Path) -> list[str]:
    """Writes the files of an archive into a folder, and says which it does not."""
    room, left_out = MOST_BYTES, list[str]()
    try:
        for count, (name, stream) in enumerate(_files(data)):
            if count == MOST_FILES:
                left_out.append(f"{folder}: what comes after the first {MOST_FILES:,} files")
                break
            # What a name says of places above the folder, or of a drive, does not lead out of it.
            parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", "..")]
            file = folder.joinpath(*(part.replace(":", "_") for part in parts))
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
                room = _write(stream, file, room)
            except OSError as error:
                left_out.append(f"{file}: {error.strerror or error}")
    except _ERRORS as error:
        reason = str(error) or "it ends there"
        raise OpenError(f"{folder}: expected an archive that can be unpacked, but {reason}") from None
    return left_out


def _files(data: bytes) -> Iterator[tuple[str, IO[bytes]]]:
    if data.startswith(b"PK"):
        with zipfile.ZipFile(BytesIO(data)) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    with archive.open(entry) as stream:
                        yield entry.filename, stream
        return
    with tarfile.open(fileobj=BytesIO(data), mode="r:") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None:
                yield member.name, content


def _write(stream: IO[bytes], file: Path, room: int) -> int:
    """Writes one file, and gives how many bytes there is room for after it."""
    with file.open("wb") as written:
        while chunk := stream.read(_CHUNK):
            room -= len(chunk)
            if room < 0:
                raise OpenError(f"{file}: expected an archive of at most {MOST_BYTES >> 30} GB")
            written.write(chunk)
    return room
