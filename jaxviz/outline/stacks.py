"""Questions about call stacks, which are a tree in the tables: how much two have in common, and the frames between."""

from __future__ import annotations

from jaxviz.tables import Tables


class StackTree:
    """The call stacks of the tables. A stack is a row, -1 the empty one."""

    def __init__(self, tables: Tables) -> None:
        # Copies, since stacks are added here that the tables do not have.
        self._frame = list(tables.stacks.frame)
        self._parent = list(tables.stacks.parent)
        library, file = tables.files.library, tables.frames.file
        #: Of each frame, whether it lies in an installed package.
        self.library = [bool(library[row]) for row in file]
        self._common: dict[tuple[int, int], int] = {}
        self._added: dict[tuple[int, int], int] = {}
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

    def root(self, stack: int) -> int:
        """The outermost part of a stack: one frame."""
        while self._parent[stack] >= 0:
            stack = self._parent[stack]
        return stack

    def below(self, caller: int, stack: int) -> int:
        """The stack that has all frames of `caller`, then those of `stack`."""
        if not self._added:
            self._added = {pair: row for row, pair in enumerate(zip(self._parent, self._frame, strict=True))}
        for frame in self.frames_between(stack, -1):
            known = self._added.get((caller, frame))
            if known is None:
                known = self._added[caller, frame] = len(self._frame)
                self._frame.append(frame)
                self._parent.append(caller)
                self._depth.append(self.depth(caller) + 1)
            caller = known
        return caller

    def calling(self) -> set[int]:
        """The person's frames that called others of his."""
        return {
            self._frame[caller]
            for stack, caller in enumerate(self._parent)
            if caller >= 0 and not self.library[self._frame[stack]] and not self.library[self._frame[caller]]
        }

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
