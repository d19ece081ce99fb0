"""What was written into a file: the same text, bytes or data, which at the end of a cell tell the file alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from jaxviz.units import bytes_text


def written_text(path: str | Path | None, text: str) -> str:
    """The text, which is also in the file where a path is given."""
    return text if path is None else _at(_Text(text), path, text.encode())


def written_bytes(path: str | Path | None, data: bytes) -> bytes:
    """The same for bytes."""
    return data if path is None else _at(_Bytes(data), path, data)


def written_json(path: str | Path | None, value: dict[str, Any]) -> dict[str, Any]:
    """The same for what can be told as JSON."""
    return value if path is None else _at(_Data(value), path, json.dumps(value).encode() + b"\n")


class _InFile:
    """Tells where it is in place of all that it is: a notebook would keep a page of 300 kB with the cell."""

    told: str

    def __repr__(self) -> str:
        return self.told


class _Text(_InFile, str):
    pass


class _Bytes(_InFile, bytes):
    pass


class _Data(_InFile, dict[str, Any]):
    pass


_Written = TypeVar("_Written", bound=_InFile)


def _at(value: _Written, path: str | Path, data: bytes) -> _Written:
    Path(path).expanduser().write_bytes(data)
    value.told = f"{path}: {bytes_text(len(data))}"
    return value
