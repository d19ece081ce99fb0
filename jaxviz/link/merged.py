"""With which other equations those were merged that hold, or stand in, what was."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, RESULT, Column, Graph
from jaxviz.link import fates as kinds
from jaxviz.link.fates import Fates
from jaxviz.link.links import INFERRED, MERGED, Links


def with_merged(links: Links, fates: Fates) -> Links:
    """The links to optimized HLO, those of the equations that were merged with others too: they became what these did.

    >>> column = lambda *numbers: np.array(numbers, np.int32)
    >>> fates = Fates(column(kinds.ALONE, kinds.MERGED), column(0, 0), column(-1, 0))
    >>> found = with_merged(Links(column(0), column(7), column(0)), fates)
    >>> found.source.tolist(), found.target.tolist(), found.kind.tolist()
    ([0, 1], [7, 7], [1, 1])
    """
    merged = np.flatnonzero((fates.kind == kinds.MERGED) & (fates.by >= 0))
    # Which instructions are the part that another one does, is not known.
    merged = merged[~np.isin(merged, [*fates.parts])]
    if not len(merged):
        return links
    other = fates.by[merged]
    # Of what was merged with what was merged itself.
    while (further := (fates.kind[other] == kinds.MERGED) & (fates.by[other] > -1) & (fates.by[other] < other)).any():
        other = np.where(further, fates.by[other], other)
    order = np.argsort(links.source, kind="stable")
    begin, end = (np.searchsorted(links.source[order], other, side) for side in ("left", "right"))
    rows = order[np.concatenate([np.arange(low, high) for low, high in zip(begin, end, strict=True)]).astype(np.int64)]
    source, target = np.repeat(merged, end - begin).astype(np.int32), links.target[rows]
    known = links.kind[rows] < INFERRED
    own = np.unique(links.source.astype(np.int64) << 32 | links.target)
    known &= ~np.isin(source.astype(np.int64) << 32 | target, own)
    source, target = source[known], target[known]
    several = (links.kind < INFERRED) & np.isin(links.target, target)
    columns = (
        np.concatenate([links.source, source]),
        np.concatenate([links.target, target]),
        np.concatenate([np.where(several, MERGED, links.kind), np.full(len(source), MERGED)]).astype(np.int32),
    )
    place = np.lexsort(columns[:2])
    return Links(*(column[place] for column in columns))


def merge_calls(graph: Graph, merged: NDArray[np.bool_], by: Column) -> None:
    """A call that gives what another one does, as its body was merged with that of this, was merged with that call."""
    owner, op = graph.regions.owner[graph.nodes.region], graph.nodes.op
    results: dict[int, list[int]] = {}
    for result in np.flatnonzero((graph.nodes.kind == RESULT) & (owner >= 0)).tolist():
        source = int(graph.operands.source[graph.first_operand[result]])
        results.setdefault(int(owner[result]), []).append(source)

    def given_by(call: int) -> list[int]:
        """What holds each result; a literal by itself."""
        makers = [int(graph.value_node[source]) if source >= 0 else source for source in results.get(call, ())]
        return [int(by[maker]) if maker >= 0 and by[maker] >= 0 else maker for maker in makers]

    # The calls in a call stand after it.
    for node in np.flatnonzero(merged & (by < 0)).tolist()[::-1]:
        inside = by[(owner == node) & merged & (by >= 0)]
        others = set(owner[inside].tolist()) - {-1}
        if len(others) != 1 or node in others:
            continue
        (other,) = others
        if op[other] == op[node] and given_by(other) == given_by(node):
            by[node] = other


def merge_bodies(graph: Graph, merged: NDArray[np.bool_], by: Column) -> None:
    """What is in a loop or call that was merged with another was merged with what stands there in the other."""
    region, ops, owned = graph.nodes.region, graph.nodes.op, graph.owned_regions
    inside: dict[int, list[int]] = {}
    for node in np.flatnonzero(graph.nodes.kind == OPERATION).tolist():
        inside.setdefault(int(region[node]), []).append(node)
    # What is in a call in a call stands after it.
    for node in np.flatnonzero(merged).tolist():
        other = int(by[node])
        for mine, theirs in zip(owned.get(node, ()), owned.get(other, ()), strict=False):
            left, right = inside.get(mine, []), inside.get(theirs, [])
            if ops[left].tolist() == ops[right].tolist():
                for one, twin in zip(left, right, strict=True):
                    if merged[one] and by[one] < 0:
                        by[one] = twin
