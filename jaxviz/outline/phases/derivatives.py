"""Derivatives: of each node, whether it runs forward, on the way back, or on the way back of a derivative.

JAX wraps the name stack of what a transformation makes: `jvp(...)` is the function with its derivative beside it,
`transpose(jvp(...))` the way back. What is inside belongs to the function that was transformed, so that in
`grad(grad(f))` the second way back is `transpose(jvp(jvp(...)))` where it undoes the forward pass, and
`transpose(jvp(transpose(jvp(...))))` where it undoes the first.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.read.bodies import CHECKPOINTS
from jaxviz.tables import rows_used

_STEPS = re.compile(r"\b(transpose|jvp|linearize)\(")


@dataclass(frozen=True, eq=False)
class Derivatives:
    """Of each node, `order`: 0 forward, 1 on the way back, 2 on the second; `derived`: whether it is of a function that
    is differentiated at all; `levels`: how many derivatives it is part of."""

    order: Column
    derived: NDArray[np.bool_]
    levels: Column


def steps_of(scope: str) -> list[str]:
    """The transformations that a name stack says, the outermost first."""
    return _STEPS.findall(scope)


def levels_of(scope: str) -> tuple[int, int]:
    """How many derivatives a name stack is part of, and the order of the way back: 0 where it is none.

    >>> levels_of("transpose(jvp(Model))/Block_0")
    (1, 1)
    >>> levels_of("jvp(transpose(jvp()))")
    (2, 1)
    >>> levels_of("transpose(jvp(jvp()))")
    (2, 2)
    """
    steps = steps_of(scope)
    levels = len(steps) - steps.count("transpose")
    before = steps.index("transpose") if "transpose" in steps else len(steps)
    # A transpose without a derivative in it is of a linear function that somebody transposed.
    order = levels - before if before < len(steps) else 0
    return levels, max(order, 1 if before < len(steps) else 0)


def derivatives_of(graph: Graph) -> Derivatives:
    """What name stacks say of the nodes of a jaxpr. In a body they begin anew, so what its owner is goes for it too."""
    strings, nodes = graph.tables.strings, graph.nodes
    said = np.zeros((int(nodes.scope.max(initial=0)) + 1, 2), np.int32)
    for scope in rows_used(nodes.scope):
        said[scope] = levels_of(strings[scope])
    said = said[nodes.scope]
    levels, order = said[:, 0].copy(), said[:, 1].copy()
    checkpoints = _named(graph, CHECKPOINTS)
    if checkpoints.any():
        # So do the sums of what comes back out of several.
        sums = _named(graph, {"add_any"}) & np.isin(nodes.scope, nodes.scope[checkpoints])
        again = (checkpoints | sums) & (levels > 1)
        levels[again] -= 1
        order[again & (order > 1)] -= 1
    # On an inner way back JAX 0.6 says the derivative around it again; later ones do for rules of `custom_jvp`.
    again = np.where(order > 0, np.maximum(levels - levels[order == 0].max(initial=0), 0), 0)
    if again.any():
        levels, order = levels - again, np.where(order > 0, np.maximum(order - again, 1), 0)
        if (order > 1).any():
            # Which of several is which, nobody knows.
            levels, order = np.minimum(levels, 1), np.minimum(order, 1)
    if not ((order > 0) & (order < levels)).any():
        # No way back is itself differentiated: that of a function which takes tangents forward is one.
        order = np.minimum(order, 1)
    # A linear solve holds its own transpose, forward too.
    solves = _inside_solves(graph)
    if solves:
        order[(levels == 0) & np.isin(nodes.region, solves)] = 0
    within = np.zeros((len(graph.regions.owner), 2), np.int32)
    for region, owner in enumerate(graph.regions.owner.tolist()):
        if region:
            # Regions stand in the order of their owners, so what is around a region is known.
            within[region] = np.maximum(within[nodes.region[owner]], (levels[owner], order[owner]))
    levels = np.maximum(levels, within[nodes.region, 0])
    return Derivatives(np.maximum(order, within[nodes.region, 1]), levels > 0, levels)


def _inside_solves(graph: Graph) -> list[int]:
    """The bodies of linear solves, and those inside them."""
    strings, found = graph.tables.strings, set[int]()
    for region, kind in enumerate(graph.regions.kind.tolist()):
        if strings[kind] == "linear_solve" or (region and int(graph.region_parent[region]) in found):
            found.add(region)
    return sorted(found)


def _named(graph: Graph, names: Collection[str]) -> NDArray[np.bool_]:
    """The operations of some names."""
    nodes, strings = graph.nodes, graph.tables.strings
    wanted = np.zeros(len(strings), bool)
    wanted[[op for op in rows_used(nodes.op) if strings[op] in names]] = True
    return wanted[nodes.op] & (nodes.kind == OPERATION)
