"""Links: which nodes of one stage became which nodes of another.

A link is exact where the tag of one equation is on the operation, merged where those of several are, and inferred where
the operation has none (the compiler made it) and its neighbours say where it belongs. Where what stands around it
leaves no other equation than one, it has the tag of that; a number without a tag is of the equations that are known to
read it. The picture never pretends: the kind is kept with every link.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from jaxviz.graph import ARGUMENT, CONSTANT, ENTER, OPERATION, RESULT, Column, Graph
from jaxviz.link.reading import Beyond, Inside, Reading
from jaxviz.link.tags import Places
from jaxviz.read.distinct import in_order
from jaxviz.read.garbage import without_collections
from jaxviz.read.tag_text import MORE_TAGS, NO_TAG, only_tags, paths_of

LINK_KINDS = ("exact", "merged", "inferred", "changed")
EXACT, MERGED, INFERRED, CHANGED = range(4)
#: How links between the stages of one program are found; those between two programs tell too what differs.
_STAGE_KINDS = LINK_KINDS[:CHANGED]

#: Operations that hand values on and compute nothing.
PLUMBING = frozenset({"constant", "parameter", "tuple", "get-tuple-element", "get_tuple_element", "bitcast"})


@dataclass(frozen=True, eq=False)
class Links:
    """Rows of node of the first graph, node of the second, kind; ordered by the second, then the first."""

    source: Column
    target: Column
    kind: Column

    def __len__(self) -> int:
        return len(self.kind)

    def renumbered(self, order: Column) -> Links:
        """The same links where the nodes of the second graph stand in this order."""
        place = np.zeros(len(order), np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        target = place[self.target]
        rows = np.lexsort((self.source, target))
        return Links(self.source[rows], target[rows], self.kind[rows])

    @cached_property
    def _by_source(self) -> dict[int, list[int]]:
        return grouped(self.source, self.target)

    @cached_property
    def _by_target(self) -> dict[int, list[int]]:
        return grouped(self.target, self.source)

    def targets(self, source: int) -> Sequence[int]:
        """What a node of the first graph became."""
        return self._by_source.get(source, [])

    def sources(self, target: int) -> Sequence[int]:
        """What a node of the second graph was made from."""
        return self._by_target.get(target, [])


def grouped(keys: Column, values: Column) -> dict[int, list[int]]:
    """By key, the values that stand beside it."""
    groups: dict[int, list[int]] = {}
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        groups.setdefault(key, []).append(value)
    return groups


def link_shares(graph: Graph, links: Links) -> dict[str, float]:
    """The share of each kind among the nodes of the second graph that compute something, `none` included."""
    counted = computing(graph)
    kind_of = np.full(len(graph), len(_STAGE_KINDS), np.int64)
    kind_of[links.target] = links.kind
    counts = np.bincount(kind_of[counted], minlength=len(_STAGE_KINDS) + 1)
    total = max(int(counts.sum()), 1)
    return {name: int(count) / total for name, count in zip((*_STAGE_KINDS, "none"), counts, strict=True)}


def computing(graph: Graph) -> Column:
    """The nodes that compute something, by number."""
    idle = np.zeros(len(graph.tables.strings), bool)
    idle[list(_idle_ops(graph))] = True
    return np.flatnonzero((graph.nodes.kind == OPERATION) & ~idle[graph.nodes.op]).astype(np.int32)


def _idle_ops(graph: Graph) -> set[int]:
    """What hands values on, by their rows among the strings."""
    found = (graph.tables.find_string(op) for op in PLUMBING)
    return {number for number in found if number is not None}


#: The nodes of the jaxpr that a node of another stage was made from.
Found = tuple[int, ...]


@without_collections
def read_tags(places: Places, graph: Graph, names: Sequence[str], name: Column, *, relative: bool) -> list[Found]:
    """What the tags alone say: for each node n of a stage, whose tagged name is `names[name[n]]`.

    Names are `relative` in StableHLO: in a function that is called they go on from the name of the call.
    """
    inner = (graph.nodes.kind == OPERATION) | (graph.nodes.kind == CONSTANT)
    # One more for the nodes that have none.
    row = np.where(inner, name, len(names))
    absolute = [*_found_in_program(places, names, anywhere=not relative), ()]
    tagged = [absolute[each] for each in row.tolist()]
    if relative:
        _read_relative(places, graph, names, name, tagged)
    else:
        _narrow_by_calls(places, graph, tagged)
    return tagged


def _found_in_program(places: Places, names: Sequence[str], *, anywhere: bool) -> list[Found]:
    """What each name says, read from the program itself on; or from any body, where the compiler left out the way."""
    only = only_tags(names)
    nodes = places.in_program(only)
    found: list[Found] = list(zip(nodes.tolist()))
    for row in np.flatnonzero(nodes < 0).tolist():
        if anywhere and only[row] != NO_TAG:
            found[row] = places.named(names[row])
        else:
            found[row] = _nodes_of(places, names[row], -1) if only[row] == MORE_TAGS else ()
    return found


def _nodes_of(places: Places, name: str, start: int) -> Found:
    nodes = (places.node(path, start) for path in paths_of(name) if path)
    return tuple(dict.fromkeys(node for node in nodes if node >= 0))


def _narrow_by_calls(places: Places, graph: Graph, tagged: list[Found]) -> None:
    """Of names that leave out the way to a function that is called several times, the call says which of them it is.

    Before the compiler inlines calls, names in functions begin anew.
    """
    region = graph.nodes.region
    owner = graph.regions.owner
    open_ = [node for node, found in enumerate(tagged) if len(found) > 1 and region[node]]
    # The node that owns a region stands in one before it.
    for node in sorted(open_, key=region.__getitem__):
        around = tagged[owner[region[node]]]
        if around:
            inside = tuple(one for one in tagged[node] if places.holds(around, one))
            tagged[node] = inside or tagged[node]


def _read_relative(places: Places, graph: Graph, names: Sequence[str], name: Column, tagged: list[Found]) -> None:
    """Read the names in functions anew, from the calls of these on."""
    start_of = _Starts(graph, tagged)
    region = graph.nodes.region
    order = np.argsort(region, kind="stable")
    bounds = np.searchsorted(region[order], np.arange(len(graph.regions.owner) + 1))
    kind, op = graph.nodes.kind, graph.nodes.op
    idle = _idle_ops(graph)
    # The node that owns a region stands in one before it.
    for number in range(len(graph.regions.owner)):
        start, applying = start_of(number), start_of.applying(number)
        if start < 0 and applying < 0:
            continue
        known: dict[int, Found] = {}
        for node in order[bounds[number] : bounds[number + 1]].tolist():
            if kind[node] not in (OPERATION, CONSTANT):
                continue
            row = int(name[node])
            found = known.get(row)
            if found is None:
                found = _nodes_of(places, names[row], start) if start >= 0 else tagged[node]
                if applying >= 0 and found in ((), (start,)):
                    found = _nodes_of(places, names[row], applying)
                known[row] = found
            if not found and kind[node] == OPERATION and op[node] not in idle:
                # JAX lowered one equation to a function of many operations, which have no tags of their own.
                found = (start,)
            tagged[node] = found


def make_links(jaxpr: Graph, graph: Graph, tagged: Sequence[Found], inferred: Collection[int] = ()) -> Links:
    """Links from the graph of the jaxpr to another stage, by its tags and, where it has none, by its neighbours.

    Of nodes that are `inferred`, the tags were.
    """
    return _Linker(jaxpr, graph, tagged, inferred).links()


class _Linker:
    def __init__(self, jaxpr: Graph, graph: Graph, tagged: Sequence[Found], inferred: Collection[int]) -> None:
        self.jaxpr, self.graph = jaxpr, graph
        # For each node of the other stage the nodes of the jaxpr, and how they were found.
        self.found = list(tagged)
        counts = np.fromiter(map(len, tagged), np.int64, len(tagged))
        self.kind: list[int] = np.where(counts > 1, MERGED, EXACT).tolist()
        self._reading = Reading(graph)
        for node in inferred:
            self.kind[node] = INFERRED

    def links(self) -> Links:
        self._return_lent()
        self._gather_fusions()
        self._infer_rounded()
        self._infer()
        self._join_borders()
        counts = list(map(len, self.found))
        target = np.repeat(np.arange(len(counts)), counts)
        source = np.fromiter(chain.from_iterable(self.found), np.int64, len(target))
        # In order, and each once.
        size = max(len(self.jaxpr), 1)
        target, source = np.divmod(in_order(target * size + source), size)
        kind = np.array(self.kind, np.int32)[target]
        return Links(source.astype(np.int32), target.astype(np.int32), kind)

    def _return_lent(self) -> None:
        """Of equal numbers the compiler keeps one, with the name of any equation that reads it: where others read it,
        and that equation does its work elsewhere, the number is theirs."""
        graph, found = self.graph, self.found
        constant, broadcast = (graph.tables.find_string(op) for op in ("constant", "broadcast"))
        is_number = graph.nodes.op == (-1 if constant is None else constant)
        spread = np.flatnonzero(graph.nodes.op == (-1 if broadcast is None else broadcast))
        sources = graph.operands.source[graph.first_operand[spread]]
        spread = spread[is_number[graph.value_node[sources]] & (sources >= 0)]
        is_number[spread] = True
        numbers = [node for node in np.flatnonzero(is_number).tolist() if found[node]]
        if not numbers:
            return
        works = np.flatnonzero(
            (graph.nodes.kind == OPERATION) & ~is_number & ~np.isin(graph.nodes.op, [*_idle_ops(graph)])
        )
        working = set(chain.from_iterable(map(found.__getitem__, works.tolist())))
        numbers = [node for node in numbers if working.issuperset(found[node])]
        # What reads a number stands behind it.
        for node, readers in zip(reversed(numbers), self._reading.of(numbers[::-1]), strict=True):
            named = [set(found[reader]) for reader in readers if reader not in graph.owned_regions]
            if named and len(named) == len(readers) and all(one and one.isdisjoint(found[node]) for one in named):
                found[node] = found[readers[0]]
                self.kind[node] = INFERRED

    def _gather_fusions(self) -> None:
        """A fusion is made from all that its instructions are made from."""
        strings, graph, found = self.graph.tables.strings, self.graph, self.found
        start, end = (column.tolist() for column in graph.region_intervals)
        kinds, owners = graph.regions.kind.tolist(), graph.regions.owner.tolist()
        # What only hands values on may have the tag of what made these, or of what reads them.
        computes = np.zeros(len(graph), bool)
        computes[computing(graph)] = True
        for region in range(len(owners) - 1, 0, -1):
            if strings[kinds[region]] != "fusion":
                continue
            owner = owners[region]
            nodes = range(int(start[region]), int(end[region]))
            inside = [found[node] for node in nodes if computes[node]]
            told = inside if any(inside) else [found[node] for node in nodes]
            gathered = tuple(dict.fromkeys(chain(*told, found[owner])))
            found[owner] = gathered
            if len(gathered) > 1:
                self.kind[owner] = MERGED

    def _infer_rounded(self) -> None:
        """What rounds a value that was computed in a wider type than the program says belongs with what computed it."""
        graph, found, types = self.graph, self.found, self.graph.values.type
        sizes = graph.tables.types.bytes
        convert = graph.tables.find_string("convert")
        entered = graph.bindings.kind == ENTER
        outside = dict(zip(graph.bindings.end[entered].tolist(), graph.bindings.start[entered].tolist(), strict=True))
        counted = computing(graph)
        alone = np.bincount(graph.nodes.region[counted], minlength=len(graph.regions.owner)) == 1
        alone &= graph.regions.kind == graph.tables.find_string("fusion")
        for node in counted[graph.nodes.op[counted] == (-1 if convert is None else convert)].tolist():
            source = int(graph.operands.source[graph.first_operand[node]])
            if found[node] or source < 0 or sizes[types[graph.first_value[node]]] >= sizes[types[source]]:
                continue
            source = outside.get(int(graph.value_node[source]), source)
            region = int(graph.nodes.region[node])
            if source >= 0 and self._take(node, (int(graph.value_node[source]),), max) and alone[region]:
                self._take(int(graph.regions.owner[region]), (node,))

    def _infer(self) -> None:
        """Nodes without a tag belong with what reads them, else with what they read, else with what holds them.

        Of several readers with the first in the program, of several operands with the last: so it stands between them.
        """
        graph = self.graph
        kinds = graph.nodes.kind
        inner = (kinds == OPERATION) | (kinds == CONSTANT)
        missing = [node for node in np.flatnonzero(inner).tolist() if not self.found[node]]
        if not missing:
            return
        reading = self._reading
        inside, beyond = Inside(graph, reading, missing), Beyond(graph, reading, missing)
        for node, readers in zip(reversed(missing), reading.of(missing[::-1]), strict=True):
            for others in (beyond.readers(node), inside.readers(node), readers):
                if self._take(node, others):
                    break
        maker, first = graph.value_node, graph.first_operand
        missing = [node for node in missing if not self.found[node]]
        for node in missing:
            sources = graph.operands.source[first[node] : first[node + 1]]
            self._take(node, maker[sources[sources >= 0]].tolist(), max)
        for node in missing:
            region = int(graph.nodes.region[node])
            while not self.found[node] and region > 0:
                holder = int(graph.regions.owner[region])
                self._take(node, (holder,))
                region = int(graph.nodes.region[holder])
        self._infer_from_results()

    def _infer_from_results(self) -> None:
        """What is left and is a result of the program belongs with what makes that result in the jaxpr."""
        ours, theirs = _borders(self.jaxpr, RESULT), _borders(self.graph, RESULT)
        if len(ours) != len(theirs):
            return
        for mine, other in zip(ours, theirs, strict=True):
            made_by = _maker(self.graph, other)
            if made_by < 0 or self.found[made_by] or self.graph.nodes.kind[made_by] == ARGUMENT:
                continue
            source = _maker(self.jaxpr, mine)
            for node in (made_by, *_nodes_inside(self.graph, made_by)):
                self.found[node] = (source if source >= 0 else mine,)
                self.kind[node] = INFERRED

    def _take(self, node: int, others: Iterable[int], choose: Callable[[Iterable[int]], int] = min) -> bool:
        """Of what others are made from, only the first of each, and of these one: enough to be found."""
        found = self.found
        places = [known[0] for other in others if (known := found[other])]
        if not places:
            return False
        found[node] = (choose(places) if len(places) > 1 else places[0],)
        self.kind[node] = INFERRED
        return True

    def _join_borders(self) -> None:
        """Arguments and results of the program, by their names and else by their places."""
        for kind in (ARGUMENT, RESULT):
            ours, theirs = _borders(self.jaxpr, kind), _borders(self.graph, kind)
            by_name = {self.jaxpr.nodes.name[node]: node for node in ours}
            for number, node in enumerate(theirs):
                match = by_name.get(self.graph.nodes.name[node]) if self.graph.nodes.name[node] else None
                if match is None and len(ours) == len(theirs):
                    match = ours[number]
                if match is not None:
                    self.found[node] = (match,)
                    self.kind[node] = EXACT


def _borders(graph: Graph, kind: int) -> list[int]:
    return np.flatnonzero((graph.nodes.kind == kind) & (graph.nodes.region == 0)).tolist()


def _maker(graph: Graph, node: int) -> int:
    """The node that makes the first operand of another; -1 where that is a literal, or there is none."""
    first, end = graph.first_operand[node : node + 2].tolist()
    source = int(graph.operands.source[first]) if first < end else -1
    return int(graph.value_node[source]) if source >= 0 else -1


def _nodes_inside(graph: Graph, node: int) -> list[int]:
    """The operations and constants in the bodies of a node."""
    start, end = graph.region_intervals
    kinds = graph.nodes.kind
    regions = graph.owned_regions.get(node, ())
    inside = chain.from_iterable(range(int(start[region]), int(end[region])) for region in regions)
    return [each for each in inside if kinds[each] in (OPERATION, CONSTANT)]


class _Starts:
    """From which node of the jaxpr on the names in a region are to be read.

    Names in a function that is called, or in what runs on each device, go on from the name of the call; those of other
    regions begin anew.
    """

    def __init__(self, graph: Graph, tagged: Sequence[Found]) -> None:
        self._graph, self._tagged = graph, tagged
        strings = graph.tables.strings
        self._is_call = [strings[kind] in ("call", "manual_computation") for kind in graph.regions.kind]
        self._known: dict[int, int] = {0: -1}

    def __call__(self, region: int) -> int:
        known = self._known.get(region)
        if known is None:
            owner = int(self._graph.regions.owner[region])
            around = self(int(self._graph.nodes.region[owner]))
            # The owner comes before what it holds, so its own place is known.
            found = self._tagged[owner]
            known = self._known[region] = found[0] if self._is_call[region] and found else around
        return known

    def applying(self, region: int) -> int:
        """What applies a region whose names JAX 0.6 begins anew, as if nothing were around it; -1 for others."""
        graph = self._graph
        if graph.tables.strings[graph.regions.kind[region]] not in ("reduce", "scatter"):
            return -1
        return next(iter(self._tagged[graph.regions.owner[region]]), -1)
