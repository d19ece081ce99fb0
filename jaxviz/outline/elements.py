"""The steps that paths in an outline are made of, and the tree of all paths.

Elements and paths are numbers, so equal ones are one, and what is asked of them is asked once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column

# Kinds of elements, in the words of the outline.
PROGRAM, PHASE, MODULE, CALL, STATEMENT, FUNCTION, LOOP, COND, BODY, RECOMPUTED = range(10)
#: In the key and the token of what a call does itself beside what it is given to do.
ITSELF = "itself"
# More than there are, of rows too.
_KINDS = 32


class Element(NamedTuple):
    """One step of a path. `token` is equal for steps that may be copies of each other; `frame` is a row or -1."""

    kind: int
    key: tuple[object, ...]
    name: str
    token: tuple[object, ...]
    frame: int = -1
    detail: str = ""


class Paths:
    """A tree of elements: a path is its last element and the path before it. Path 0 is the program itself."""

    def __init__(self) -> None:
        self.elements = [Element(PROGRAM, (), "", ())]
        #: Of each path: the path before it, how many that makes, and its last element.
        self.parent = [-1]
        self.depth = [0]
        self.step = [0]
        # Of each path, the last statement on it, or -1.
        self._statement = [-1]
        self._known: dict[tuple[int, int], int] = {}
        self._extended: dict[tuple[int, tuple[int, ...]], int] = {}
        self._numbers: dict[tuple[int, tuple[object, ...]], int] = {}

    def number(self, element: Element) -> int:
        """The number of an element; elements of the same kind and key are one."""
        row = element.kind, element.key
        known = self._numbers.get(row)
        if known is None:
            known = self._numbers[row] = len(self.elements)
            self.elements.append(element)
        return known

    def add(self, path: int, step: int) -> int:
        """The path one element further."""
        known = self._known.get((path, step))
        if known is None:
            known = self._known[path, step] = len(self.parent)
            self.parent.append(path)
            self.depth.append(self.depth[path] + 1)
            self.step.append(step)
            self._statement.append(step if self.elements[step].kind == STATEMENT else self._statement[path])
        return known

    def extend(self, path: int, steps: tuple[int, ...]) -> int:
        """The path with elements added, but for a statement right inside itself, as that of a lambda is."""
        key = path, steps
        extended = self._extended.get(key)
        if extended is None:
            known, statement = self._known, self._statement
            for step in steps:
                if step != statement[path]:
                    found = known.get((path, step))
                    path = self.add(path, step) if found is None else found
            extended = self._extended[key] = path
        return extended

    def element(self, path: int) -> Element:
        """The last element of a path."""
        return self.elements[self.step[path]]

    def kinds(self) -> Column:
        """The kind of each path's last element."""
        return np.array([element.kind for element in self.elements], np.int32)[self.step]

    def ancestors(self) -> Column:
        """A row for each path: the paths that it goes through, itself the last; -1 beyond."""
        depth, parent = np.array(self.depth, np.int32), np.array(self.parent, np.int32)
        most = max(self.depth)
        table = np.full((len(parent), most + 1), -1, np.int32)
        table[0, 0] = 0
        for level in range(1, most + 1):
            paths = np.flatnonzero(depth == level)
            table[paths, :level] = table[parent[paths], :level]
            table[paths, level] = paths
        return table


def is_kind(kind: Column, wanted: Iterable[int]) -> NDArray[np.bool_]:
    """Whether each kind, of an element or of a row, is one of those wanted: a tenth of the time of `np.isin`."""
    table = np.zeros(_KINDS, bool)
    table[list(wanted)] = True
    return table[kind]
