"""How a tag is written in the name of an operation, and how it is read out of it again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

#: How a tag begins.
MARK = "jvE"
# The mark stands first, for which is looked much faster than for what must be before it.
_TAG = re.compile(rf"{MARK}(?<!\w{MARK})(\d+)")
_TAG_OR_LINE = re.compile(rf"{MARK}(?<!\w{MARK})(\d+)|\n")
_TAG_IN_PATH = re.compile(rf"{MARK}(?<![^/(;:\n]{MARK})(\d+)(/|(?=[;:)\n]|$))")

#: How JAX calls what makes its random numbers, which calls nothing of the person: `_threefry_split`.
GENERATOR = re.compile(r"_*(?:threefry|philox|rbg)(?![a-z])")

#: The numbers of the equations on the way to one, outermost first.
Path = tuple[int, ...]


def paths_of(name: str) -> Iterator[Path]:
    """The equations that the name of an operation tells of: several where the compiler merged operations.

    >>> list(paths_of("jit(f)/jvE3/while/body/jvE9/mul"))
    [(3, 9)]
    >>> list(paths_of("jit(f)/jvE1/add;jit(f)/jvE4/add"))
    [(1,), (4,)]
    """
    if MARK in name:
        for part in name.split(";"):
            yield from _paths_of_part(part)


def with_applied(name: str, applied: str) -> str:
    """The name of an operation that says too what it applies to two elements, where that has a tag of its own.

    What several operations share may have the name of what another one applies.

    >>> with_applied("jit(f)/jvE3/reduce", "jit(f)/jvE3/jvE7/add")
    'jit(f)/jvE3/reduce;jit(f)/jvE3/jvE7/add'
    >>> with_applied("jit(f)/jvE3/reduce_sum", "jit(f)/jvE2/reduce_sum")
    'jit(f)/jvE3/reduce_sum'

    JAX 0.6 begins the names in reducers anew:

    >>> with_applied("jit(f)/jvE3/reduce", "jvE7/add")
    'jit(f)/jvE3/reduce;jit(f)/jvE3/jvE7/add'
    """
    if name == applied or MARK not in applied:
        return name
    outer, inner = ([path for path in paths_of(one) if path] for one in (name, applied))
    if not outer:
        return applied
    inside = any(len(way) > len(path) and way[: len(path)] == path for way in inner for path in outer)
    if not inside and applied.startswith(MARK):
        inside, applied = True, f"{name[: [*_TAG.finditer(name)][-1].end()]}/{applied}"
    return f"{name};{applied}" if inside else name


def _paths_of_part(part: str) -> Iterator[Path]:
    combined = combined_name(part)
    if combined is None:
        yield tuple(map(int, _TAG.findall(part)))
        return
    outer = tuple(map(int, _TAG.findall(combined[0])))
    for inner in combined[1]:
        yield from (outer + path for path in _paths_of_part(inner))


def combined_name(name: str) -> tuple[str, list[str]] | None:
    """Of a name that the compiler made of several, how all of them begin, and how each goes on.

    >>> combined_name("jit(f)/(transpose(jvp(g))/mul:add)")
    ('jit(f)', ['transpose(jvp(g))/mul', 'add'])
    >>> combined_name("jit(f)/vmap(g)") is None
    True
    """
    if ":" not in name or not name.endswith(")"):
        return None
    depth, cuts = 0, [len(name) - 1]
    for place in range(len(name) - 1, -1, -1):
        if name[place] == ")":
            depth += 1
        elif name[place] == ":" and depth == 1:
            cuts.append(place)
        elif name[place] == "(":
            depth -= 1
            if depth == 0:
                break
    if depth or len(cuts) == 1 or name[:place].rpartition("/")[2]:
        return None
    cuts = [place, *reversed(cuts)]
    return name[:place].rstrip("/"), [name[start + 1 : end] for start, end in pairwise(cuts)]


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


def without_tags(names: Sequence[str], scopes: Sequence[str] = ()) -> list[str]:
    """The names of operations as they would be had the equations no tags; `scopes` are what stood in place of these.

    >>> without_tags(["jit(f)/jvE3/while/body/jvE1/mul", "x/"], ["", "Dense_0", "", "jvp(LM)"])
    ['jit(f)/jvp(LM)/while/body/Dense_0/mul', 'x/']
    >>> without_tags(["jit(f)/mul;jvE4/mul", "jit(f)/jvE2"])
    ['jit(f)/mul;mul', 'jit(f)']
    """
    if not names:
        return []
    # Before the first tag, then of each the number, the slash behind it, and what follows.
    pieces = _TAG_IN_PATH.split(_in_lines(names))
    for place in range(1, len(pieces), 3):
        number = int(pieces[place])
        pieces[place] = scopes[number] if number < len(scopes) else ""
        pieces[place + 1] = pieces[place + 1] if pieces[place] else ""
    lines = "".join(pieces).split("\n")
    return [name if line == name else line.rstrip("/") for line, name in zip(lines, names, strict=True)]


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
