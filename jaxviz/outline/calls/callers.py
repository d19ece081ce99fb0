"""In HLO before optimization, what is called has the call stack with which it was traced: from the function on that was
called, without its callers. There it is given those of the call that it stands in.
"""

from __future__ import annotations

import numpy as np

from jaxviz.graph import Column, Graph
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.compiled.roles import WRAPPERS, is_owner_of
from jaxviz.read.hlo.frames import each_once


def below_calls(graph: Graph, stack: Column) -> Column:
    """The call stacks of all nodes, with what called the functions in which they begin."""
    callers = _callers(graph)
    if not callers.any():
        return stack
    found, depth, region = stack.copy(), graph.region_depth, graph.nodes.region
    # What is around a body has its call stack before what is in it.
    for level in range(1, int(depth.max()) + 1):
        at = np.flatnonzero((depth[region] == level) & (callers[region] > 0) & (found >= 0))
        call = found[callers[region[at]] - 1]
        at, call = at[call >= 0], call[call >= 0]
        tree = StackTree(graph.tables)
        pairs, which = np.unique(call.astype(np.int64) << 32 | found[at], return_inverse=True)
        below = [_below(graph, tree, pair >> 32, pair & 0xFFFFFFFF) for pair in pairs.tolist()]
        found[at] = np.array(below, np.int32)[which.reshape(-1)]
    return found


def _callers(graph: Graph) -> Column:
    """Of each region the call that it stands in, counted from one; 0 for none."""
    calls, region = is_owner_of(graph, WRAPPERS), graph.nodes.region
    found = np.zeros(len(graph.regions.owner), np.int32)
    # Bodies stand behind what is around them.
    for number, owner in enumerate(graph.regions.owner.tolist()):
        if owner >= 0:
            found[number] = owner + 1 if calls[owner] else found[region[owner]]
    return found


def _below(graph: Graph, tree: StackTree, call: int, stack: int) -> int:
    """A stack below a call; the stack itself where it has callers of its own."""
    if tree.frame(tree.root(call)) == tree.frame(tree.root(stack)):
        return stack
    return graph.tables.stack(each_once([*tree.frames_between(call, -1), *tree.frames_between(stack, -1)]))
