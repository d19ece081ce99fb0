"""Which equations optimized HLO holds, and whether in a fusion, as operations of their own, or both."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import CONSTANT, Graph
from jaxviz.link.evidence import Evidence, is_op
from jaxviz.link.fates import ALONE, BOTH, FOLDED, FUSED, NONE
from jaxviz.link.snapshots import SHAPES


def living(evidence: Evidence) -> dict[int, int]:
    """The equations that optimized HLO holds, by their fate."""
    hlo = evidence.hlo
    constant = (hlo.nodes.kind == CONSTANT) | is_op(hlo, "constant")
    # What a fusion is made of is told by what is in it.
    working, inside = ~constant & ~is_op(hlo, "fusion"), np.array(_inside_fusions(hlo), bool)
    shaped = np.logical_or.reduce([is_op(hlo, op) for op in SHAPES])
    # A constant in the shape of what it meets.
    filled = is_op(hlo, "broadcast") & _reads_one_of(hlo, constant)
    folded = _told_by(evidence, constant | filled)
    fused, alone = (
        _told_by(evidence, rows & ~shaped)
        | (_told_by(evidence, rows & shaped & ~filled) - evidence.computing)
        | (_told_by(evidence, rows & filled) & evidence.filling)
        | evidence.filled_by(rows & shaped)
        for rows in (working & inside, working & ~inside)
    )
    states = (folded, FOLDED), (fused, FUSED), (alone, ALONE), (fused & alone, BOTH)
    # What is more than folded is in a later one too.
    return {equation: state for equations, state in states for equation in equations}


def state_of(evidence: Evidence, ops: set[str]) -> int:
    """Where operations of these kinds that have no tag are in optimized HLO."""
    hlo = evidence.hlo
    strings, in_fusion = hlo.tables.strings, _inside_fusions(hlo)
    # What is called may have the name of its call, which does nothing itself.
    calls = evidence.jaxpr.owned_regions.keys()
    rows = zip(hlo.nodes.op.tolist(), evidence.hlo_tags, strict=True)
    states = {
        FUSED if in_fusion[node] else ALONE
        for node, (op, found) in enumerate(rows)
        if strings[op] in ops and calls >= {*found}
    }
    return NONE if not states else BOTH if len(states) > 1 else states.pop()


def _told_by(evidence: Evidence, rows: NDArray[np.bool_]) -> set[int]:
    """The equations that these rows of HLO hold; a reducer is a word of the equation that holds it."""
    return {evidence.reducers.get(equation, equation) for equation in evidence.told_by(rows)}


def _reads_one_of(graph: Graph, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The nodes that read a value of one of these."""
    made_by = graph.operand_maker
    found = np.zeros(len(graph), bool)
    found[graph.operand_node[(made_by >= 0) & rows[made_by]]] = True
    return found


def _inside_fusions(graph: Graph) -> list[bool]:
    strings = graph.tables.strings
    inside = np.zeros(len(graph), bool)
    start, end = graph.region_intervals
    for region, kind in enumerate(graph.regions.kind.tolist()):
        if strings[kind] == "fusion":
            inside[start[region] : end[region]] = True
    return inside.tolist()
