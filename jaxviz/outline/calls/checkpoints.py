"""Which call each piece of a forward pass is of that JAX traced without its callers, as `jax.checkpoint` makes it do.

On the way back the same calls are seen with all their callers, the last one first. A piece is of one that called there
what it is made of; of calls of one function, they are as many and in the same order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column, Graph
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.read.bodies import CHECKPOINTS
from jaxviz.tables import rows_used

#: Nodes of one call or a few that follow each other, and the stacks that may have called them.
Piece = tuple[NDArray[np.intp], list[int]]


def calls_forward(
    graph: Graph, stack: Column, stacks: StackTree, at: NDArray[np.intp], callers: list[int]
) -> list[Piece]:
    """Nodes of one function that lack its callers, which are some of `callers`, as pieces, each with those possible."""
    functions = graph.tables.frames.function
    function = functions[stacks.frame(stacks.root(int(stack[at[0]])))]
    called = called_in_checkpoints(graph, stack, stacks)
    back = [int(stack[owner]) for owner, frame in reversed(called.items()) if functions[frame] == function]
    # What is called outside of a checkpoint lacks nothing.
    callers = [one for one in callers if one in back] or callers
    possible = {one: stacks.callers_among(callers, one) for one in rows_used(stack[at])}
    found: list[Piece] = []
    by_callers = defaultdict[tuple[int, ...], list[NDArray[np.intp]]](list)
    for nodes, common in _pieces(stack, at, possible):
        by_callers[tuple(common)].append(nodes)
    for several, pieces in by_callers.items():
        calls = [one for one in back if one in several]
        begun = [part for nodes in pieces for part in _begun(graph, stack, nodes)]
        each, rest = divmod(len(begun), max(len(calls), 1))
        if len(several) > 1 and calls and not rest:
            # What begins with a loop does so several times in each call.
            found += [(part, [calls[number // each]]) for number, part in enumerate(begun)]
        else:
            found += [(nodes, list(several)) for nodes in pieces]
    return found


def _pieces(stack: Column, at: NDArray[np.intp], callers: Mapping[int, list[int]]) -> Iterator[Piece]:
    """Runs of nodes, cut where none of their callers called all of them."""
    for run in np.split(at, np.flatnonzero(np.diff(at) > 1) + 1):
        start, possible = 0, callers[int(stack[run[0]])]
        own = stack[run]
        for place in (np.flatnonzero(np.diff(own)) + 1).tolist():
            here = callers[int(own[place])]
            both = [one for one in possible if one in here]
            if not both:
                yield run[start:place], possible
                start = place
            possible = both or here
        yield run[start:], possible


def called_in_checkpoints(graph: Graph, stack: Column, stacks: StackTree) -> dict[int, int]:
    """By each checkpoint that says what calls it, in order, the frame that is called there."""
    strings = graph.tables.strings
    found = {}
    for owner, regions in sorted(graph.owned_regions.items()):
        call = int(stack[owner])
        if call < 0 or strings[graph.nodes.op[owner]] not in CHECKPOINTS:
            continue
        start, end = (int(column[regions[0]]) for column in graph.region_intervals)
        inside = next((one for one in stack[start:end].tolist() if one != call and stacks.holds(call, one)), -1)
        if inside >= 0:
            found[owner] = stacks.frames_between(inside, call)[0]
    return found


def _begun(graph: Graph, stack: Column, nodes: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Nodes cut wherever what they begin with comes again."""
    first = nodes[0]
    again = (stack[nodes] == stack[first]) & (graph.nodes.op[nodes] == graph.nodes.op[first])
    return np.split(nodes, np.flatnonzero(again)[1:])
