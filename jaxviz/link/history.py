"""The program between the passes of the compiler: which equations are still named, and what reads what."""

from __future__ import annotations

from functools import cached_property

from jaxviz.link.called import called_text
from jaxviz.link.evidence import Evidence
from jaxviz.link.snapshots import Instruction, Lines, ToldNames, different


class History:
    """The snapshots that differ from the one before, by their numbers."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self.snapshots = different(evidence.snapshots)
        self._texts: dict[int, str] = {}
        self._read: dict[int, Lines] = {}
        self._told = ToldNames()
        self._instructions: dict[str, Instruction | None] = {}

    @cached_property
    def last_seen(self) -> dict[int, int]:
        """The last snapshot that holds each equation, or something inside it."""
        known = self._evidence
        last: dict[int, int] = {}
        before: tuple[set[str], ...] = ()
        nodes: set[int] = set()
        for number in range(len(self.snapshots)):
            told = self._told.of(self._text(number))
            if told != before:
                before = told
                working, shaping, filled = (
                    {node for name in names for node in known.nodes_named(name)} for names in told
                )
                named = known.with_instances(working | (shaping - known.computing) | (filled & known.filling))
                nodes = known.with_owners(node for node in named if node not in known.reducers)
            last.update(dict.fromkeys(nodes, number))
        return last

    def around(self, number: int) -> tuple[Lines, Lines]:
        """A snapshot and the next, by the names of their instructions."""
        return self._lines(number), self._lines(number + 1)

    def _lines(self, number: int) -> Lines:
        lines = self._read.get(number)
        if lines is None:
            lines = self._read[number] = Lines(self._text(number), self._instructions)
        return lines

    def _text(self, number: int) -> str:
        """The text of a snapshot without the bodies that are called no more, which some later pass clears away: what is
        in them went with the last call, as the sum of two elements did with the second of two sums that were merged."""
        text = self._texts.get(number)
        if text is None:
            text = self._texts[number] = called_text(self.snapshots[number].text)
        return text
