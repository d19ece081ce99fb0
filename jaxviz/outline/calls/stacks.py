"""Questions about call stacks, which are a tree in the tables: how much two have in common, and the frames between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from jaxviz.graph import Column
from jaxviz.tables import Tables


class StackTree:
    """The call stacks of the tables. A stack is a row, -1 the empty one; its caller stands before it."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        # Copies, since stacks are added here that the tables do not have.
        self._frame = list(tables.stacks.frame)
        self._parent = list(tables.stacks.parent)
        # Of each stack how many frames it has; the last is that of the empty one, which is number -1.
        self._depth = [0] * (len(self._parent) + 1)
        for stack, parent in enumerate(self._parent):
            self._depth[stack] = self._depth[parent] + 1
        #: Of each frame, whether it is none of the person's own: it lies in an installed package.
        self.library = [not tables.is_own(frame) for frame in range(len(tables.frames.file))]
        self._added: dict[tuple[int, int], int] = {}
        # By call, the same without what it calls; and by those, the call.
        self._beside: dict[int, int] = {}
        self._outside: dict[int, int] = {}

    def depth(self, stack: int) -> int:
        return self._depth[stack]

    def parent(self, stack: int) -> int:
        return self._parent[stack] if stack >= 0 else -1

    def frame(self, stack: int) -> int:
        """The innermost frame of a stack that is not empty."""
        return self._frame[stack]

    def root(self, stack: int) -> int:
        """The outermost part of a stack: one frame."""
        parent = self._parent
        while parent[stack] >= 0:
            stack = parent[stack]
        return stack

    def chain(self, stack: int) -> list[int]:
        """A stack that is not empty and all that called it, outermost first."""
        parent, found = self._parent, [stack]
        while (stack := parent[stack]) >= 0:
            found.append(stack)
        found.reverse()
        return found

    def below(self, caller: int, stack: int, without: int = -1) -> int:
        """The stack that has all frames of `caller`, then those of `stack`, less those of its part `without`."""
        for frame in self.frames_between(stack, without):
            caller = self.with_frame(caller, frame)
        return caller

    def with_frame(self, caller: int, frame: int) -> int:
        """The stack that has all frames of `caller`, then this one."""
        called = self._called()
        known = called.get((caller, frame))
        if known is None:
            known = called[caller, frame] = self._add(caller, frame)
        return known

    def _called(self) -> dict[tuple[int, int], int]:
        """By a stack and the frame that it calls, the stack of both; filled when it is first asked for."""
        if not self._added:
            self._added = {pair: row for row, pair in enumerate(zip(self._parent, self._frame, strict=True))}
        return self._added

    def beside(self, call: int) -> int:
        """A stack of the same frames as `call`, for what stands beside that call in its function."""
        known = self._beside.get(call)
        if known is None:
            known = self._beside[call] = self._add(self._parent[call], self._frame[call])
            self._outside[known] = call
        return known

    def call_beside(self, stack: int) -> int:
        """The call that a stack stands beside, or -1."""
        while self._outside and stack >= 0:
            if stack in self._outside:
                return self._outside[stack]
            stack = self._parent[stack]
        return -1

    def outside(self, stack: int) -> int:
        """How deep the call is in a stack that it stands beside, 0 where there is none."""
        return self._depth[self.call_beside(stack)]

    def _add(self, caller: int, frame: int) -> int:
        row = len(self._frame)
        self._frame.append(frame)
        self._parent.append(caller)
        self._depth.insert(row, self._depth[caller] + 1)
        return row

    def calling(self) -> set[int]:
        """The person's frames that called others of his."""
        return {
            self._frame[caller]
            for stack, caller in enumerate(self._parent)
            if caller >= 0 and not self.library[self._frame[stack]] and not self.library[self._frame[caller]]
        }

    def callers_of(self, used: Iterable[int]) -> dict[int, list[int]]:
        """By frame, which stacks called it in some stacks."""
        found: dict[int, dict[int, None]] = defaultdict(dict)
        seen: set[int] = set()
        for stack in used:
            while stack >= 0 and stack not in seen:
                seen.add(stack)
                caller = self._parent[stack]
                if caller >= 0:
                    found[self._frame[stack]][caller] = None
                stack = caller
        return {frame: list(callers) for frame, callers in found.items()}

    def callers_among(self, callers: Iterable[int], stack: int) -> list[int]:
        """Those of some stacks that called the frames of `stack`, as many of them from the outermost on as any did."""
        called, reached = self._called(), {caller: caller for caller in callers}
        for frame in self.frames_between(stack, -1):
            further = {caller: called.get((inner, frame), -1) for caller, inner in reached.items()}
            further = {caller: inner for caller, inner in further.items() if inner >= 0}
            if not further:
                break
            reached = further
        return list(reached)

    def own_frame(self, stack: int) -> int:
        """The innermost of the person's own frames, or -1."""
        while stack >= 0 and self.library[self._frame[stack]]:
            stack = self._parent[stack]
        return self._frame[stack] if stack >= 0 else -1

    def is_in(self, frame: int, function: int) -> bool:
        """Whether a frame is in a function of this name, wherever that was defined."""
        strings, functions = self._tables.strings, self._tables.frames.function
        return strings[functions[frame]].rpartition(".")[2] == strings[function]

    def common(self, one: int, other: int) -> int:
        """The stack that two have in common, from the outermost frame on."""
        parent = self._parent
        while one != other:
            # A caller stands before what it calls, so the later of the two is not around the other.
            if one > other:
                one = parent[one]
            else:
                other = parent[other]
        return one

    def holds(self, outer: int, stack: int) -> bool:
        """Whether `outer` is `stack` or called it."""
        parent = self._parent
        while stack > outer:
            stack = parent[stack]
        return stack == outer

    def deeper(self, one: int, other: int) -> int:
        return one if self._depth[one] >= self._depth[other] else other

    def frames_between(self, stack: int, above: int) -> list[int]:
        """The frames of `stack` that are not in `above`, one of its callers; outermost first."""
        frame, parent = self._frame, self._parent
        found = []
        for _ in range(self._depth[stack] - self._depth[above]):
            found.append(frame[stack])
            stack = parent[stack]
        found.reverse()
        return found

    def totals(self, stacks: Column) -> dict[int, int]:
        """How many of some stacks, none of them empty, each stack is or called; of those that are at least one."""
        count = np.bincount(stacks, minlength=1).tolist()
        found: dict[int, int] = {}
        # Backwards, so that all that a stack called has been counted before it.
        for stack in range(len(count) - 1, -1, -1):
            times = count[stack]
            if times:
                found[stack] = times
                caller = self._parent[stack]
                if caller >= 0:
                    count[caller] += times
        return found
