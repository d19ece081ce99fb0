"""How a tag is written in the name of an operation, and how it is read out of it again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

#: How a tag begins.
MARK = "jvE"
# The mark stands first, for which is looked much faster than for what must be before it.
_TAG = re.compile(rf"{MARK}(?<!\w{MARK})(\d+)")
_TAG_OR_LINE = re.compile(rf"{MARK}(?<!\w{MARK})(\d+)|\n")
_TAG_IN_PATH = re.compile(rf"{MARK}(?<![^/(;:\n]{MARK})\d+(?:/|(?=[;:)\n]|$))")
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


#: What `only_tags` says of names without a tag, and of those with several.
NO_TAG, MORE_TAGS = -1, -2


def only_tags(names: Sequence[str]) -> NDArray[np.int64]:
    """The equation whose tag alone is in each name; `NO_TAG` or `MORE_TAGS` for others.

    >>> only_tags(["jit(f)/jvE3/mul", "x", "jvE3/while/body/jvE9/mul"]).tolist()
    [3, -1, -2]
    """
    found = _TAG_OR_LINE.findall(_in_lines(names))
    # What is found in a line, then its end.
    number = np.array([int(digits) if digits else -1 for digits in found], np.int64)
    is_tag = number >= 0
    line = np.cumsum(~is_tag)[is_tag]
    only = np.full(len(names), NO_TAG, np.int64)
    only[line] = number[is_tag]
    only[np.bincount(line, minlength=len(names)) > 1] = MORE_TAGS
    return only


def without_tags(names: Sequence[str]) -> list[str]:
    """The names of operations as they would be had the equations no tags.

    >>> without_tags(["jit(f)/jvE3/while/body/jvE9/mul", "x/"])
    ['jit(f)/while/body/mul', 'x/']
    >>> without_tags(["jit(f)/mul;jvE4/mul"])
    ['jit(f)/mul;mul']
    """
    if not names:
        return []
    lines = _TAG_IN_PATH.sub("", _in_lines(names)).split("\n")
    return [line.rstrip("/") if len(line) < len(name) else name for line, name in zip(lines, names, strict=True)]


def without_tag(name: str) -> str:
    """What follows the tag with which a name begins.

    >>> without_tag("jvE12.3")
    '.3'
    """
    return name.removeprefix(MARK).lstrip("0123456789")


def _in_lines(names: Sequence[str]) -> str:
    text = "\n".join(names)
    if text.count("\n") >= len(names) > 0:
        text = "\n".join(name.replace("\n", " ") for name in names)
    return text
