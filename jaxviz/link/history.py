"""The program between the passes of the compiler: which equations are still named, and what reads what."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

from jaxviz import compat
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
        nodes, named = set[int](), set[int]()
        ends = self.ends_of_calls
        for number in range(len(self.snapshots)):
            told = self._told.of(self._text(number))
            if told != before:
                before = told
                working, shaping, filled = (
                    {node for name in names for node in known.nodes_named(name)} for names in told
                )
                named = known.with_instances(working | (shaping - known.computing) | (filled & known.filling))
                nodes = known.with_owners(node for node in named if node not in known.reducers)
            if ends:
                there = (node for node in named if ends.get(node, number) >= number and node not in known.reducers)
                nodes = known.with_owners(there)
            last.update(dict.fromkeys(nodes, number))
        return last

    @cached_property
    def ends_of_calls(self) -> dict[int, int]:
        """The last snapshot that holds the equations of a call that are gone where those of another call of the same
        names are left: more instructions have these names until then."""
        if not compat.NAMED_BY_FIRST_CALL or not self.snapshots:
            return {}
        counts = [self._told.count(self._text(number)) for number in range(len(self.snapshots))]
        # Kernels have copies of what they compute of.
        fused = next((number for number, one in enumerate(self.snapshots) if "fusion" in one.after), len(counts))
        known, found = self._evidence, dict[int, int]()
        unsure: set[int] = set()
        for name in counts[-1]:
            meant = known.with_instances(set(known.nodes_named(name)))
            gone = meant - known.linked
            times = [count[name] for count in counts[: max(fused, 1)]]
            most = times.index(max(times))
            end = times.index(min(times[most:]), most) - 1
            if end >= most and len(gone) * times[most] <= len(meant) * (times[most] - times[end + 1]):
                found.update((node, max(end, found.get(node, 0))) for node in gone)
            else:
                unsure |= gone
        return self._with_bodies(found, unsure)

    def _with_bodies(self, ends: dict[int, int], unsure: set[int]) -> dict[int, int]:
        """With all that is in a body of what is gone, or that most of is gone, and what holds that."""
        if not ends:
            return ends
        graph = self._evidence.jaxpr
        region, owner = graph.nodes.region.tolist(), graph.regions.owner.tolist()
        inside: dict[int, Counter[int]] = {}
        left = {region[node] for node in self._evidence.linked}
        for node, end in ends.items():
            if region[node] not in left:
                inside.setdefault(region[node], Counter())[end] += 1
        # What holds a body stands before it.
        gone: dict[int, int] = {}
        for body in range(1, len(owner)):
            told = inside[body].most_common(1)[0][0] if body in inside else len(self.snapshots)
            end = min(told, ends.get(owner[body], told), gone.get(region[owner[body]], told))
            if end < len(self.snapshots):
                gone[body] = end
        held = {node: gone[body] for node, body in enumerate(region) if body in gone}
        held.update((owner[body], end) for body, end in gone.items() if owner[body] in unsure)
        return {node: min(end, held.get(node, end)) for node, end in {**held, **ends}.items()}

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
