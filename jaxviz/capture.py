"""Every stage of a program, each made once when it is first asked for, with its links to the jaxpr.

Python -> jaxpr -> StableHLO -> optimized HLO. The jaxpr that is lowered is a tagged copy (`link/tags.py`), so that
operations of later stages say which equations they come from; what is lowered and compiled is the same otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import ARGUMENT, OPERATION, RESULT, Column, Graph
from jaxviz.link.applied import with_applying
from jaxviz.link.asked import with_asked
from jaxviz.link.between import with_between
from jaxviz.link.calls import with_calls_told_apart
from jaxviz.link.carried import with_carried_variables
from jaxviz.link.equations import Equations
from jaxviz.link.evidence import Evidence
from jaxviz.link.fates import Fates
from jaxviz.link.flow import Flow
from jaxviz.link.folded import Folded
from jaxviz.link.for_loops import Beginnings, with_copies
from jaxviz.link.judging import make_fates
from jaxviz.link.links import Found, Links, make_links, read_tags
from jaxviz.link.merged import with_merged
from jaxviz.link.numbers import Numbers, numbers_of, with_numbers
from jaxviz.link.tags import Places, Tags
from jaxviz.link.taken_in import with_taken_in
from jaxviz.link.unnamed import with_unnamed
from jaxviz.link.variables import with_variables
from jaxviz.meanwhile import meanwhile
from jaxviz.measure.waiting import Work
from jaxviz.outline import Outline, make_outline
from jaxviz.outline.compiled.combined import order_of_waiting, waiting_operands
from jaxviz.outline.compiled.linked import CONDITIONS, linked_outline
from jaxviz.outline.compiled.mixed_kernels import places_of_mixed
from jaxviz.outline.compiled.order import program_order, reordered
from jaxviz.outline.compiled.turns import LOOPS, with_turns
from jaxviz.program.optimize import Optimized, Snapshot, optimize
from jaxviz.program.program import Program
from jaxviz.read.garbage import without_collections
from jaxviz.read.hlo.graph import HloGraph, read_hlo
from jaxviz.read.hlo.module import HloModule
from jaxviz.read.hlo.proto import parse_hlo_proto
from jaxviz.read.jaxpr import read_jaxpr
from jaxviz.read.stablehlo import read_stablehlo
from jaxviz.read.tag_text import MARK
from jaxviz.tables import Tables

if TYPE_CHECKING:
    from jaxviz.link.changes import Passes

#: Up to so many equations, snapshots are taken after every pass of the compiler.
ALL_PASSES = 20_000
#: Of larger ones only around those that change most: each snapshot is megabytes of text.
TELLING_PASSES = "fusion|cse|layout-assignment|call-inliner"


# How far the place of an operation is handed on to what it reads.
_TURNS = 16


class Linked(NamedTuple):
    """A stage after the jaxpr: its graph, what its tags say, and its links."""

    graph: Graph
    tagged: Sequence[Found]
    links: Links
    outline: Outline
    #: Where each node stood in the stage as it was read.
    order: Column


class Capture:
    """The stages of one program. `seconds` says for each stage what each step cost: JAX's own, and what was added.

    While XLA optimizes, which does not hold Python up, all that needs no HLO is read and linked in another thread; so
    what was added is counted in seconds of a processor.
    """

    def __init__(
        self, program: Program, tables: Tables | None = None, ahead: Callable[[], object] | None = None
    ) -> None:
        self.program = program
        # What else can be done while XLA optimizes.
        self._ahead = ahead
        self.tables = Tables() if tables is None else tables
        self.seconds: dict[str, dict[str, float]] = {"jaxpr": {}, "stablehlo": {}, "hlo": {}}

    @contextmanager
    def _timed(self, stage: str, step: str) -> Iterator[None]:
        start = thread_time()
        yield
        self.seconds[stage][step] = self.seconds[stage].get(step, 0.0) + thread_time() - start

    @cached_property
    @without_collections
    def jaxpr(self) -> Graph:
        jaxpr = self.program.jaxpr
        if not self.program.traced_before:
            self.seconds["jaxpr"]["trace"] = self.program.seconds["trace"]
        with self._timed("jaxpr", "read"):
            return read_jaxpr(
                jaxpr,
                self.tables,
                argument_names=self.program.argument_names,
                result_names=self.program.result_names,
                result_variables=self.program.returned_names,
                constant_name=self.program.constant_name,
                constant_scope=self.program.constant_scope,
                donated=self.program.donated,
                calling=self.program.calling,
            )

    @cached_property
    def stablehlo(self) -> Linked:
        module = self._lowered.compiler_ir("stablehlo")
        with self._timed("stablehlo", "read"):
            located = read_stablehlo(module, self.tables, scopes=self._tags.scopes)
        places, outline = self._places, self.outline
        with self._timed("stablehlo", "link"):
            tagged = read_tags(places, located.graph, located.names, located.name, relative=True)
            return self._linked(self._with_names(located.graph), tagged, outline)

    @cached_property
    def hlo_as_read(self) -> HloGraph:
        """The optimized HLO in the order in which it runs."""
        optimized = self._optimized
        with self._timed("hlo", "read"):
            module = parse_hlo_proto(optimized.proto, frames=False)
            return read_hlo(module, self.tables, frames=False, scopes=self._tags.scopes)

    @property
    def hlo_module(self) -> HloModule:
        """The optimized module, whose instructions are named as those of the person's own executable."""
        return self.hlo_as_read.module

    @cached_property
    def hlo_instructions(self) -> tuple[str, ...]:
        """The name of the instruction of each node of the HLO; empty for results."""
        names = self.hlo_as_read.instruction
        return tuple(names[place] for place in self.hlo.order.tolist())

    @cached_property
    @without_collections
    def hlo(self) -> Linked:
        found = self.hlo_as_read
        places, outline, numbers = self._places, self.outline, self._numbers
        with self._timed("hlo", "link"):
            tagged = read_tags(places, found.graph, found.names, found.name, relative=False)
            graph = self._with_names(found.graph)
            apart, likely = with_calls_told_apart(self.jaxpr, graph, tagged, places)
            return self._linked(graph, apart, outline, numbers, likely)

    @cached_property
    def outline(self) -> Outline:
        """The tree by which the jaxpr is folded for reading."""
        graph = self.jaxpr
        with self._timed("jaxpr", "outline"):
            return make_outline(graph)

    @cached_property
    def fates(self) -> Fates:
        """The fate of every equation; where it went is known from the passes of the compiler."""
        evidence = Evidence(
            self.jaxpr,
            self._places,
            self.stablehlo.graph,
            self.stablehlo.tagged,
            self.hlo.graph,
            self.hlo.tagged,
            self.snapshots,
            self.hlo.links,
            self.program.renamed_arguments,
        )
        return make_fates(evidence)

    @cached_property
    def links(self) -> Links:
        """The links to HLO with what the fates tell: an equation that was merged with another became what that did."""
        try:
            fates = self.fates
        except Exception:
            # That is told where fates are asked for; they need StableHLO, which HLO does not.
            return self.hlo.links
        return with_merged(self.hlo.links, fates)

    @property
    def made(self) -> tuple[str, ...]:
        """The stages after the jaxpr that are made."""
        return tuple(stage for stage in ("stablehlo", "hlo") if stage in self.__dict__)

    @property
    def complete(self) -> bool:
        """Whether every stage is made, and the fates are known."""
        return "fates" in self.__dict__

    @cached_property
    def snapshots(self) -> tuple[Snapshot, ...]:
        """The module after every pass of the compiler that changed it; none for a program that is too large."""
        if len(self.jaxpr) > ALL_PASSES:
            return ()
        return self._compiled(".*").snapshots

    @cached_property
    def passes(self) -> Passes:
        """The passes of the compiler that changed something; fewer of them for a large program."""
        # The reader of text is only needed for them.
        from jaxviz.passes import make_passes
        from jaxviz.read.passes import PassState, read_states

        start = perf_counter()
        large = len(self.jaxpr) > ALL_PASSES
        snapshots = self._compiled(TELLING_PASSES).snapshots if large else self.snapshots
        self.seconds["passes"] = {"snapshots": perf_counter() - start}
        outline, scopes, numbers = self.outline, self._tags.scopes, self._numbers
        with self._timed("passes", "read"):
            return make_passes(
                [PassState(each.after, each.pipeline, 0, each.text) for each in snapshots],
                self.tables,
                lambda states: read_states(states, self.tables, scopes=scopes),
                lambda read: read_tags(self._places, read.graph, read.names, read.name, relative=False),
                lambda graph, tagged: self._linked(graph, tagged, outline, numbers),
            )

    def costs(self, stage: str) -> Mapping[str, float]:
        """What a stage cost in seconds, by step."""
        return dict(self.seconds[stage])

    # On the way.

    @cached_property
    def _tags(self) -> Tags:
        jaxpr = self.program.jaxpr
        with self._timed("stablehlo", "tag"):
            return Tags(jaxpr)

    @cached_property
    def _places(self) -> Places:
        graph, tags = self.jaxpr, self._tags
        with self._timed("stablehlo", "link"):
            return Places(graph, tags)

    @cached_property
    def _numbers(self) -> Numbers:
        jaxpr = self.jaxpr
        try:
            lowered = self.stablehlo
        except Exception:
            # That is told where it is asked for; the jaxpr has most numbers by itself.
            return numbers_of(jaxpr)
        with self._timed("stablehlo", "link"):
            return numbers_of(jaxpr, lowered.graph, lowered.tagged)

    @cached_property
    def _equations(self) -> Equations:
        return Equations(self.jaxpr)

    @cached_property
    def _lowered(self) -> Any:
        jaxpr = self._tags.jaxpr
        # So many objects are new by then that Python would begin to walk all that there are.
        lowered = without_collections(self.program.lower)(jaxpr)
        self.seconds["stablehlo"]["lower"] = self.program.seconds["lower"]
        return lowered

    @cached_property
    def _optimized(self) -> Optimized:
        # Before others that need it too.
        self._lowered  # noqa: B018
        with meanwhile(self._read_ahead):
            optimized = self._compiled()
        self.seconds["hlo"]["optimize"] = optimized.seconds
        return optimized

    def _compiled(self, passes: str = "") -> Optimized:
        """The program as the compiler leaves it, with snapshots around the passes of these names.

        In a thread that is waited for: JAX gives a compiler up that is interrupted, which then goes on alone and takes
        the process with it when that ends.
        """
        lowered = self._lowered
        self.program.check_lengths()
        return Work(lambda _: optimize(lowered, mark=MARK.encode(), passes=passes)).wait()

    @without_collections
    def _read_ahead(self) -> None:
        """All that can be read before there is HLO. What fails is not there, and fails again where it is asked for."""
        # The parsed source that is looked through is many objects that soon go.
        with suppress(Exception):
            self.outline  # noqa: B018
            self._numbers  # noqa: B018
            with self._timed("stablehlo", "link"):
                self._equations.makers  # noqa: B018
            if self._ahead is not None:
                self._ahead()

    def _with_names(self, graph: Graph) -> Graph:
        """A stage whose arguments and results are called as those of the jaxpr: JAX hands on the paths in what it got,
        and of results the compiler keeps their order alone."""
        return with_argument_names(with_result_names(graph, self.jaxpr), self.program.renamed_arguments)

    @without_collections
    def _linked(
        self,
        graph: Graph,
        tagged: Sequence[Found],
        outline: Outline,
        numbers: Numbers | None = None,
        likely: frozenset[int] = frozenset(),
    ) -> Linked:
        """The stage in the order of the jaxpr, with its links and its outline; what some tags say is only `likely`."""
        applied = with_applying(self.jaxpr, graph, tagged)
        known, asked = with_asked(self.jaxpr, graph, with_taken_in(self.jaxpr, graph, applied))
        flow = Flow(graph)
        known, unnamed = with_unnamed(self.jaxpr, graph, known, flow, self._equations)
        known, unsure = with_between(self.jaxpr, graph, known, asked | unnamed, flow, self._equations)
        known, unsure = with_copies(graph, known, unsure, flow)
        begins = Beginnings(self.jaxpr, graph, known, flow, self._equations).of
        theirs = known
        if numbers:
            folded = Folded(self.jaxpr, numbers.read, self._equations.makers)
            theirs = with_numbers(graph, known, numbers, unsure, flow, begins, folded)
        links = make_links(self.jaxpr, graph, theirs, unsure | likely)
        waits = waiting_operands(graph, last_places(graph, links), (links.source, links.target))
        source = places_in_program(graph, links, waits)
        source = places_of_mixed(graph, source, (links.source, links.target), outline)
        order = program_order(graph, order_of_waiting(graph, source, waits, outline))
        links = links.renumbered(order)
        graph = with_stacks(reordered(graph, order), links, self.jaxpr.nodes.stack)
        graph = with_variables(with_turns(graph, source[order], self.jaxpr), self.jaxpr)
        graph = with_carried_variables(graph, self.jaxpr, links)
        told = list(tagged)
        for node in unnamed:
            told[node] = known[node]
        told = list(map(told.__getitem__, order.tolist()))
        linked = linked_outline(graph, source[order], outline, last_places(graph, links))
        return Linked(graph, told, links, linked, order)


def last_places(graph: Graph, links: Links) -> Column:
    """For each node the last node of the jaxpr that it is linked to, or -1."""
    place = np.full(len(graph), -1, np.int32)
    np.maximum.at(place, links.target, links.source)
    return place


def places_in_program(graph: Graph, links: Links, waits: NDArray[np.bool_]) -> Column:
    """For each node the node of the jaxpr at which it stands in the program, or -1: the last that it is linked to.

    What is read before that stands where it is read, unless the reader waits for it. Of two equal operations the
    compiler keeps one, with the tag of either: in backward, an operation that forward reads too would tear forward
    apart.
    """
    count, place = len(graph), last_places(graph, links)
    source, reader = graph.operands.source, graph.operand_node
    read = (source >= 0) & (graph.nodes.kind[reader] == OPERATION) & ~waits
    maker, reader = graph.value_node[source[read]], reader[read]
    # What stands in a body and is known to be of the loop alone may stand anywhere in it: it draws nothing forward.
    around = _turning_around(graph)
    vague = (around >= 0) & (place == place[around])
    maker, reader = maker[~vague[reader]], reader[~vague[reader]]
    size = 1 + max(int(links.source.max(initial=0)), int(place.max(initial=0)))
    # Before the first of what its operands are linked to, a node stands nowhere: what it shares with that is a copy.
    first = np.full(count, size, np.int64)
    np.minimum.at(first, links.target, links.source)
    floor = np.zeros(count, np.int64)
    made = first[maker] < size
    np.maximum.at(floor, reader[made], first[maker[made]])
    ranked = links.target.astype(np.int64) * size + links.source
    # What a change means for those that it reads shows in the next turn.
    for _ in range(_TURNS):
        limit = np.full(count, size, np.int64)
        known = place[reader] >= 0
        np.minimum.at(limit, maker[known], place[reader[known]])
        late = np.flatnonzero(place > limit)
        if not len(late):
            break
        # Of what it is linked to, the last that comes early enough, if there is any.
        row = np.maximum(np.searchsorted(ranked, late * size + limit[late], side="right") - 1, 0)
        early = (links.target[row] == late) & (links.source[row] <= limit[late])
        early &= links.source[row] >= np.minimum(floor[late], limit[late])
        place[late] = np.where(early, links.source[row], limit[late])
    return place


def _turning_around(graph: Graph) -> Column:
    """The innermost loop or condition that each node is in, also in a kernel that is in it, or -1."""
    ops = [op for name in LOOPS | CONDITIONS if (op := graph.tables.find_string(name)) is not None]
    is_turning = np.isin(graph.nodes.op, ops)
    owner = graph.regions.owner[graph.nodes.region]
    around = owner
    while (other := (around >= 0) & ~is_turning[around]).any():
        around = np.where(other, owner[around], around)
    return around


def with_result_names(graph: Graph, original: Graph) -> Graph:
    """A graph whose results have the names that they have in the jaxpr: the compiler keeps their order alone."""
    own, first = (np.flatnonzero((one.nodes.kind == RESULT) & (one.nodes.region == 0)) for one in (graph, original))
    if len(own) != len(first):
        return graph
    name = graph.nodes.name.copy()
    name[own] = original.nodes.name[first]
    return replace(graph, nodes=replace(graph.nodes, name=name))


def with_argument_names(graph: Graph, renamed: Mapping[str, str]) -> Graph:
    """A graph whose arguments have other names."""
    if not renamed:
        return graph
    strings, name = graph.tables.strings, graph.nodes.name.copy()
    for node in np.flatnonzero((graph.nodes.kind == ARGUMENT) & (graph.nodes.region == 0)).tolist():
        known = renamed.get(strings[name[node]])
        name[node] = name[node] if known is None else graph.tables.string(known)
    return replace(graph, nodes=replace(graph.nodes, name=name))


def with_stacks(graph: Graph, links: Links, stacks: Column) -> Graph:
    """A graph whose nodes have the call stacks of the first nodes that they are linked to."""
    stack = np.full(len(graph), -1, np.int32)
    # Backwards, so that the first link of a node is the last to be written.
    stack[links.target[::-1]] = stacks[links.source[::-1]]
    return replace(graph, nodes=replace(graph.nodes, stack=stack))
