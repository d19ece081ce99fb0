"""JAX traces a jitted function once: its body has the call stack of its first call wherever else it is called. There it
is given the call that it stands in.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column, Graph
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.read.bodies import PLAIN_CALLS

_CALLS = PLAIN_CALLS | {"custom_jvp_call", "custom_vjp_call"}

# What is called: its name, and in how many of that name it stands, as the `clip` of JAX does in one of the person.
_Called = tuple[int, int]


def call_where_they_are(graph: Graph, stacks: StackTree, stack: Column) -> None:
    """Give the bodies of calls that have the stack of another call that of their own, and what they call below it."""
    regions, depth = graph.regions, graph.region_depth
    called = _called(graph)
    if not called:
        return
    # The stacks that call a function, by the frame that does.
    calls: dict[tuple[_Called, int], list[int]] = defaultdict(list)
    callers = stack[regions.owner].tolist()
    for what, call in {(what, callers[region]) for region, what in called.items()}:
        if call >= 0:
            calls[what, stacks.frame(call)].append(call)
    is_call = np.zeros(len(regions.owner), np.bool_)
    is_call[list(called)] = True
    known: dict[tuple[int, int, _Called], int] = {}
    for level in range(1, int(depth.max(initial=0)) + 1):
        at = _nodes_in(graph, is_call & (depth == level), stack)
        pairs, which = np.unique(graph.nodes.region[at].astype(np.int64) << 32 | stack[at], return_inverse=True)
        found = []
        inside, own = pairs >> 32, pairs & 0xFFFFFFFF
        callers = stack[regions.owner[inside]].tolist()
        for region, one, caller in zip(inside.tolist(), own.tolist(), callers, strict=True):
            key = caller, one, called[region]
            if key not in known:
                known[key] = _called_there(stacks, *key, calls) if key[0] >= 0 else one
            found.append(known[key])
        stack[at] = np.array(found, np.int32)[which.reshape(-1)]


def _called(graph: Graph) -> dict[int, _Called]:
    """By the regions that are bodies of calls, what is called there."""
    strings, regions, around = graph.tables.strings, graph.regions, graph.region_parent.tolist()
    found: dict[int, _Called] = {}
    if not len(graph):
        return found
    names, owners, ops = regions.name.tolist(), regions.owner.tolist(), graph.nodes.op[regions.owner].tolist()
    for region, owner in enumerate(owners):
        if owner >= 0 and strings[ops[region]] in _CALLS:
            outer = around[region]
            while outer in found and names[outer] != names[region]:
                outer = around[outer]
            found[region] = names[region], found[outer][1] + 1 if outer in found else 0
    return found


def _nodes_in(graph: Graph, wanted: NDArray[np.bool_], stack: Column) -> NDArray[np.intp]:
    """The nodes in some regions whose call stacks are known."""
    return np.flatnonzero(wanted[graph.nodes.region] & (stack >= 0)) if wanted.any() else np.zeros(0, np.intp)


def _called_there(
    stacks: StackTree, call: int, stack: int, what: _Called, calls: dict[tuple[_Called, int], list[int]]
) -> int:
    """The stack of what a function does where `call` calls it; `stack` where it has that of no other call of it."""
    below = stacks.frames_between(stack, stacks.common(call, stack))
    lengths = range(len(below), 0, -1)
    elsewhere = next((length for length in lengths if _is_of_another(stacks, below[:length], what, calls)), 0)
    line = stacks.frame(call)
    if not elsewhere and line in below:
        # A call of another program, which JAX traced before, ends at the line of this one, before what it calls.
        before = next((place for place, frame in enumerate(below) if stacks.is_in(frame, what[0])), len(below))
        elsewhere = next((length for length in range(before, 0, -1) if below[length - 1] == line), 0)
    if not elsewhere:
        return stack
    for frame in below[elsewhere:]:
        call = stacks.with_frame(call, frame)
    return call


def _is_of_another(
    stacks: StackTree, frames: list[int], what: _Called, calls: dict[tuple[_Called, int], list[int]]
) -> bool:
    """Whether frames are the last ones of a call of a function."""
    count = len(frames)
    return any(
        stacks.depth(other) >= count and stacks.frames_between(other, -1)[-count:] == frames
        for other in calls.get((what, frames[-1]), ())
    )
