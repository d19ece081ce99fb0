"""The stages between StableHLO and optimized HLO: what each pass of the compiler left, as a series of graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from jaxviz.graph import Column, Graph
from jaxviz.link.changes import Passes, changed_lineages
from jaxviz.link.lineage import Lineages, Named
from jaxviz.link.links import Found, Links
from jaxviz.outline import Outline
from jaxviz.read.garbage import without_collections
from jaxviz.read.passes import PassState, chosen_states
from jaxviz.series import State
from jaxviz.series.write import SeriesWriter
from jaxviz.tables import Tables

_Read = TypeVar("_Read", bound=Named)


class Placed(Protocol):
    """The graph of a state in the order of the program (`order` says where its nodes were read), with its links."""

    @property
    def graph(self) -> Graph: ...
    @property
    def order(self) -> Column: ...
    @property
    def links(self) -> Links: ...
    @property
    def outline(self) -> Outline: ...


class NoSnapshots(ValueError):
    """The compiler left nothing between its passes."""


@without_collections
def make_passes(
    taken: Sequence[PassState],
    tables: Tables,
    read_all: Callable[[Sequence[PassState]], Iterable[_Read]],
    tags: Callable[[_Read], Sequence[Found]],
    place: Callable[[Graph, Sequence[Found]], Placed],
) -> Passes:
    """The passes that changed something. `read_all` gives the graphs of states one at a time, `tags` says what a
    state's tags say, `place` where its nodes belong."""
    states, note = chosen_states(taken)
    if not states:
        raise NoSnapshots("the compiler gave no snapshots between its passes")
    lineages = Lineages()
    writer = SeriesWriter(tables)
    before: State | None = None
    joined = 0
    for state, read in zip(states, read_all(states), strict=True):
        tagged = tags(read)
        lineage = lineages.of(read, tagged)
        placed = place(read.graph, tagged)
        after = State(placed.graph, lineage[placed.order], placed.links, placed.outline)
        if before is not None and not any(changed_lineages(before, after).values()):
            # Only what is not drawn changed, such as the order or the layout of values.
            joined += state.joined
            continue
        writer.add(after, name=state.name, pipeline=state.pipeline, joined=state.joined + joined)
        before, joined = after, 0
    return Passes(writer.series(), note)
