"""How a tag is written in the name of an operation, and how it is read out of it again."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: How a tag begins.
MARK = "jvE"
_TAG = re.compile(rf"\b{MARK}(\d+)")
_TAG_IN_PATH = re.compile(rf"(?:^|(?<=/)|(?<=\())(?:{MARK}\d+)(?:/|(?=[;:)]|$))")
_COMBINED = re.compile(r"^(.*?)/?\(([^()]*(?:\([^()]*\)[^()]*)*:.*)\)$")

#: The numbers of the equations on the way to one, outermost first.
Path = tuple[int, ...]


def paths_of(name: str) -> Iterator[Path]:
    """The equations that the name of an operation tells of: several where the compiler merged operations.

    >>> list(paths_of("jit(f)/jvE3/while/body/jvE9/mul"))
    [(3, 9)]
    >>> list(paths_of("jit(f)/jvE1/add;jit(f)/jvE4/add"))
    [(1,), (4,)]
    """
    if MARK not in name:
        return
    for part in name.split(";"):
        combined = _COMBINED.match(part) if ":" in part else None
        if combined is None:
            yield tuple(map(int, _TAG.findall(part)))
            continue
        outer = tuple(map(int, _TAG.findall(combined[1])))
        for inner in combined[2].split(":"):
            yield outer + tuple(map(int, _TAG.findall(inner)))


def without_tags(name: str) -> str:
    """The name of an operation as it would be had the equations no tags.

    >>> without_tags("jit(f)/jvE3/while/body/jvE9/mul")
    'jit(f)/while/body/mul'
    """
    if MARK not in name:
        return name
    return _TAG_IN_PATH.sub("", name).rstrip("/")
