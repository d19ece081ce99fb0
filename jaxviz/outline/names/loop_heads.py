"""The head of the loop that a function of the person's consists of, `for block in blocks`: so its turns are told."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jaxviz.outline.chains import Label
from jaxviz.outline.draft import Draft
from jaxviz.outline.written.expressions import Expressions

_WITH_HEAD = re.compile(r"(\S+): (?:for|while) ")


def without_head(name: str) -> str:
    """The function alone, of one that is named with the head of the loop that it consists of.

    >>> without_head("smooth: for _ in range(n)"), without_head("for w in ws")
    ('smooth', 'for w in ws')
    """
    found = _WITH_HEAD.match(name)
    return found[1] if found else name


class LoopHeads:
    """Finds the loops of stacks. `after` is, of each row, the next one that is not inside it."""

    def __init__(self, draft: Draft, labels: Sequence[Label], expressions: Expressions, after: Sequence[int]) -> None:
        self._draft, self._labels, self._expressions, self._after = draft, labels, expressions, after
        self._known: dict[tuple[int, ...], str] = {}

    def of(self, row: int) -> str:
        """The head of the loop that a function consists of, empty where it is no loop of its own.

        The call of the function is not what is repeated.
        """
        draft, after = self._draft, self._after
        if not draft.added[row + 1] or row + 2 >= len(draft) or draft.rows.parent[row + 2] != row + 1:
            return ""
        first = last = row + 2
        while after[last] < after[row + 1]:
            last = after[last]
        key = (*draft.label[[row, first, last]].tolist(), bool(draft.count[first] > 1))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._head_of(*key)
        return known

    def _head_of(self, call: int, first: int, last: int, is_stack: bool) -> str:
        """The head of the loop that the frames of one label stand in, if those of the call are not of the same.

        Where that label is the one of a stack, the innermost loop is that of its turns, and so is a comprehension
        where the last thing in a turn is of another statement.
        """
        called, ends = (
            {self._expressions.at(frame).statement for frame in self._labels[one].frames} if one >= 0 else set()
            for one in (call, last)
        )
        for frame in self._labels[first].frames:
            expression = self._expressions.at(frame)
            statement = expression.statement
            collects = any(place[:2] >= statement[:2] for place in expression.loop_places[-1:])
            is_inner = is_stack or (collects and bool(ends) and statement not in ends)
            loops = expression.loops[: -1 if is_inner else None]
            if loops and statement not in called:
                return loops[-1]
        return ""
