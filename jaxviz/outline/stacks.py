"""Questions about call stacks, which are a tree in the tables: how much two have in common, and the frames between."""

from __future__ import annotations

from jaxviz.tables import Tables


class StackTree:
    """The call stacks of the tables. A stack is a row, -1 the empty one."""

    def __init__(self, tables: Tables) -> None:
        self._frame = tables.stacks.frame
        self._parent = tables.stacks.parent
        library, file = tables.files.library, tables.frames.file
        #: Of each frame, whether it lies in an installed package.
        self.library = [bool(library[row]) for row in file]
        self._common: dict[tuple[int, int], int] = {}
        self._depth: list[int] = []
        for parent in self._parent:
            self._depth.append(self._depth[parent] + 1 if parent >= 0 else 1)

    def depth(self, stack: int) -> int:
        return self._depth[stack] if stack >= 0 else 0

    def parent(self, stack: int) -> int:
        return self._parent[stack] if stack >= 0 else -1

    def frame(self, stack: int) -> int:
        """The innermost frame of a stack that is not empty."""
        return self._frame[stack]

    def own_frame(self, stack: int) -> int:
        """The innermost of the person's own frames, or -1."""
        while stack >= 0 and self.library[self._frame[stack]]:
            stack = self._parent[stack]
        return self._frame[stack] if stack >= 0 else -1

    def common(self, one: int, other: int) -> int:
        """The stack that two have in common, from the outermost frame on."""
        if one == other or one < 0 or other < 0:
            return one if one == other else -1
        key = one, other
        known = self._common.get(key)
        if known is None:
            known = self._common[key] = self._find_common(one, other)
        return known

    def _find_common(self, one: int, other: int) -> int:
        while one != other:
            if self.depth(one) >= self.depth(other):
                one = self.parent(one)
            else:
                other = self.parent(other)
        return one

    def holds(self, outer: int, stack: int) -> bool:
        """Whether `outer` is `stack` or called it."""
        return self.common(outer, stack) == outer

    def deeper(self, one: int, other: int) -> int:
        return one if self.depth(one) >= self.depth(other) else other

    def frames_between(self, stack: int, above: int) -> list[int]:
        """The frames of `stack` that are not in `above`, one of its callers; outermost first."""
        found: list[int] = []
        depth = self.depth(above)
        while self.depth(stack) > depth:
            found.append(self._frame[stack])
            stack = self._parent[stack]
        found.reverse()
        return found
