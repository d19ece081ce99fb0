"""Tables of a document whose rows are records: written as columns, and read back with every value checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxviz.document.read import JsonReader

_TEXTS = ("name", "kind", "file", "call", "print", "program")
_COUNTS = ("runs", "line", "calls", "equations", "device")


def columns_of(rows: Sequence[Any], columns: Sequence[str]) -> dict[str, list[Any]]:
    """The columns of some records; seconds to four digits."""
    return {name: [short(getattr(row, name)) for row in rows] for name in columns}


def short(value: Any) -> Any:
    return float(f"{value:.4g}") if isinstance(value, float) else value


def rows_of(
    reader: JsonReader, value: dict[str, Any], key: str, position: str, columns: Sequence[str]
) -> list[dict[str, Any]]:
    """The rows of a table, each with a value for each column."""
    table = reader.object(value, key, position)
    at = f"{position}.{key}"
    found = {name: reader.list(table, name, at) for name in columns}
    count = len(found[columns[0]])
    for name, column in found.items():
        if len(column) != count:
            raise reader.fail(f"{at}.{name}", f"{count} rows")
        for number, item in enumerate(column):
            if not _fits(name, item):
                raise reader.fail(f"{at}.{name}[{number}]", "a string" if name in _TEXTS else "a number, at least 0")
    return [{name: column[row] for name, column in found.items()} for row in range(count)]


def _fits(name: str, item: Any) -> bool:
    if name in _TEXTS:
        return isinstance(item, str)
    if name == "parent":
        return type(item) is int and item >= -1
    if name in _COUNTS:
        return type(item) is int and item >= 0
    return type(item) in (int, float) and 0 <= item < float("inf")
