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
        # Of each stack that was asked for, itself and its callers, outermost first.
        self._callers: dict[int, list[int]] = {-1: []}

    def depth(self, stack: int) -> int:
        return len(self._way(stack))

    def parent(self, stack: int) -> int:
        return self._parent[stack] if stack >= 0 else -1

    def frame(self, stack: int) -> int:
        """The innermost frame of a stack that is not empty."""
        return self._frame[stack]

    def root(self, stack: int) -> int:
        """The outermost part of a stack: one frame."""
        return self._way(stack)[0]

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
        ways = self._way(one), self._way(other)
        low, high = 0, min(map(len, ways))
        # Stacks that are equal at a depth are so above it.
        while low < high:
            middle = (low + high + 1) // 2
            if ways[0][middle - 1] == ways[1][middle - 1]:
                low = middle
            else:
                high = middle - 1
        return ways[0][low - 1] if low else -1

    def _way(self, stack: int) -> list[int]:
        known = self._callers.get(stack)
        if known is None:
            inner = [stack]
            while (caller := self._parent[inner[-1]]) not in self._callers:
                inner.append(caller)
            known = self._callers[stack] = self._callers[caller] + inner[::-1]
        return known

    def holds(self, outer: int, stack: int) -> bool:
        """Whether `outer` is `stack` or called it."""
        depth = self.depth(outer)
        way = self._way(stack)
        return not depth or (len(way) >= depth and way[depth - 1] == outer)

    def deeper(self, one: int, other: int) -> int:
        return one if self.depth(one) >= self.depth(other) else other

    def frames_between(self, stack: int, above: int) -> list[int]:
        """The frames of `stack` that are not in `above`, one of its callers; outermost first."""
        frame = self._frame
        return [frame[one] for one in self._way(stack)[self.depth(above) :]]
