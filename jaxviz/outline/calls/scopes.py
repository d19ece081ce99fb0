"""The name stacks of a graph as a person means them: JAX repeats some of what stands around, and leaves some out."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import numpy as np

from jaxviz.graph import Column, Graph
from jaxviz.outline.calls.modules import parse_scope
from jaxviz.outline.calls.moved import LOOPS, loops_of_moved
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.read.bodies import CUSTOM_DERIVATIVES
from jaxviz.tables import rows_used


def with_own_scopes(graph: Graph) -> Graph:
    """From JAX 0.12 on, what stands in a function with a derivative of its own, once that is taken, repeats the scopes
    around the call, which are no modules in modules of their name."""
    nodes = graph.nodes
    owner = graph.regions.owner[nodes.region]
    ops = [op for name in CUSTOM_DERIVATIVES if (op := graph.tables.find_string(name)) is not None]
    repeats = (owner >= 0) & np.isin(nodes.op[owner], ops) & (nodes.scope == nodes.scope[owner])
    if not repeats.any():
        return graph
    # The first string is the empty one.
    return replace(graph, nodes=replace(nodes, scope=np.where(repeats, 0, nodes.scope)))


def with_scopes_of_loops(graph: Graph, stacks: StackTree, stack: Column) -> Graph:
    """What was moved out of a loop lacks the modules that the loop stands in, and stands beside the loop in them."""
    loops = loops_of_moved(graph, stacks, stack)
    if not loops:
        return graph
    scope = graph.nodes.scope.copy()
    scope[list(loops)] = scope[list(loops.values())]
    return replace(graph, nodes=replace(graph.nodes, scope=scope))


def with_scopes_around_loops(graph: Graph, stacks: StackTree, stack: Column) -> Graph:
    """What a library computes beside its loop, which is all of a turn that is known before, lacks the modules around
    the loop as what is in that does.

    It stands in those modules, too: of the loops that repeat what it is of, of the one that is nearest by its call.
    """
    nodes, strings = graph.nodes, graph.tables.strings
    modules = {scope: bool(parse_scope(strings[scope]).modules) for scope in rows_used(nodes.scope)}
    loops: dict[tuple[int, int], list[int]] = defaultdict(list)
    for owner, regions in sorted(graph.owned_regions.items()):
        if strings[nodes.op[owner]] in LOOPS and stack[owner] >= 0 and modules[int(nodes.scope[owner])]:
            first, end = graph.region_intervals[0][regions[0]], graph.region_intervals[1][regions[-1]]
            for scope in rows_used(nodes.scope[first:end]):
                if modules[scope]:
                    loops[int(nodes.region[owner]), scope].append(owner)
    if not loops:
        return graph
    whole = nodes.scope.copy()
    for (region, scope), owners in loops.items():
        for node in np.flatnonzero((nodes.region == region) & (nodes.scope == scope) & (stack >= 0)).tolist():
            shared = {one: stacks.common(int(stack[node]), int(stack[one])) for one in owners}
            beside = [one for one in owners if _is_of_library(stacks, int(stack[node]), int(stack[one]), shared[one])]
            if beside:
                loop = max(beside, key=lambda one: stacks.depth(shared[one]))
                whole[node] = graph.tables.string(f"{strings[nodes.scope[loop]]}/{strings[scope]}")
    return replace(graph, nodes=replace(nodes, scope=whole))


def _is_of_library(stacks: StackTree, stack: int, loop: int, shared: int) -> bool:
    """Whether a call stack goes on from what it shares with that of a loop, and both do so in a library."""
    own, others = (stacks.frames_between(one, shared)[:1] for one in (stack, loop))
    return bool(own) and all(stacks.library[frame] for frame in own + others)
