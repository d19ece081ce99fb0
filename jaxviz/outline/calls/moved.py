"""What JAX moved out of a loop, as a mask that is the same in every turn: it lacks what called the function that the
loop repeats. That is known from what stayed in the loop. It stands beside the loop, not in the call of it, and in the
same phase: what it is of a gradient that the loop takes says nothing of that.
"""

from __future__ import annotations

import functools
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column, Graph
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.tables import rows_used

#: Operations that repeat a function.
LOOPS = frozenset({"scan", "while"})


def attach_in_bodies(graph: Graph, stacks: StackTree, stack: Column) -> None:
    """Put the callers that are known above those of a body that lack all below the owner of it.

    All of a body begins with one function. What begins with another one of the person's was moved there, or is in a
    checkpoint, of which JAX does not say forward what called it; backward it does.
    """
    functions, owner = graph.tables.frames.function, graph.regions.owner
    # The last is for the program itself, owner -1, whose stack is the empty one.
    base = np.append(stack, -1)[owner][graph.nodes.region]
    at = np.flatnonzero((base >= 0) & (stack >= 0))
    pairs, which = np.unique(base[at].astype(np.int64) << 32 | stack[at], return_inverse=True)
    first = [_first_below(stacks, pair >> 32, pair & 0xFFFFFFFF) for pair in pairs.tolist()]
    begins = np.array([functions[frame] if frame >= 0 else -1 for frame in first], np.int64)[which.reshape(-1)]
    is_own = np.array([frame >= 0 and not stacks.library[frame] for frame in first], np.bool_)[which.reshape(-1)]
    bodies = np.unique(graph.nodes.region[at[is_own]].astype(np.int64) << 32 | begins[is_own]) >> 32
    mixed = np.unique(bodies[1:][bodies[1:] == bodies[:-1]]).tolist()
    everywhere = stacks.callers_of(rows_used(stack[stack >= 0])) if mixed else {}
    for body in mixed:
        _attach_below(graph, stacks, stack, body, int(stack[owner[body]]), everywhere)


def _attach_below(
    graph: Graph, stacks: StackTree, stack: Column, body: int, outer: int, everywhere: dict[int, list[int]]
) -> None:
    """The same in one body, whose owner has the stack `outer`; `everywhere` are the callers in all of the program."""
    functions = graph.tables.frames.function
    start, end = (int(column[body]) for column in graph.region_intervals)
    inside = stack[start:end]
    used = rows_used(inside[inside >= 0])
    first = {one: _first_below(stacks, outer, one) for one in used}
    beginning: dict[int, list[int]] = defaultdict(list)
    for one, frame in first.items():
        if frame >= 0:
            beginning[functions[frame]].append(one)
    here = stacks.callers_of(used)

    def caller_of(function: int) -> int:
        """The stack of another function with which the body begins that called this one, or -1."""
        others = beginning.keys() - {function}
        for callers in (here, everywhere):
            for caller in (caller for one in beginning[function] for caller in callers.get(first[one], ())):
                around = _first_below(stacks, outer, caller)
                if around >= 0 and functions[around] in others:
                    return caller
        return -1

    callers = {function: caller_of(function) for function in beginning}
    attached: dict[int, int] = {}
    for function, lacking in beginning.items():
        caller = callers[function]
        # What calls one another is left as it is.
        if caller >= 0 and callers[functions[_first_below(stacks, outer, caller)]] < 0:
            attached.update({one: stacks.below(caller, one, without=outer) for one in lacking})
    for node in np.flatnonzero(np.isin(inside, list(attached))).tolist():
        inside[node] = attached[int(inside[node])]


def move_out_of_loops(graph: Graph, stacks: StackTree, stack: Column) -> None:
    """Give what the person's function that a loop repeats does outside of it stacks beside the call of the loop.

    Of what a library does in a loop nothing but its own frames may be left; these are told by those that stayed.
    """
    strings, nodes, functions = graph.tables.strings, graph.nodes, graph.tables.frames.function
    loops: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for owner in graph.owned_regions:
        if strings[nodes.op[owner]] in LOOPS and stack[owner] >= 0:
            loops[int(nodes.region[owner])][int(stack[owner])].append(owner)
    known = _used_in(graph, stack, [*loops])
    first_below = functools.cache(lambda outer, one: _first_below(stacks, outer, one))
    calls_own = functools.cache(lambda outer, one: _calls_own(stacks, outer, one))
    is_nobodys = functools.cache(lambda one: stacks.own_frame(one) < 0)
    changed = False
    for region, calls in loops.items():
        used = _used_in(graph, stack, [region])[region] if changed else known[region]
        for call, owners in calls.items():
            first = {one: first_below(call, one) for one in used}
            own = [one for one, frame in first.items() if frame >= 0 and calls_own(call, one)]
            if own:
                repeated = {one for owner in owners for one in _functions_below(graph, stacks, stack, owner)}
                moved = [one for one in own if functions[first[one]] in repeated]
                at = _beside(graph, stack, region, moved).tolist()
                reading = _calls_reading(graph, stacks, stack, at, call)
                for node, read_by in zip(at, reading, strict=True):
                    _set_beside(stacks, stack[node : _end(graph, node)], call, read_by)
                changed |= bool(at)
        nobodys = [one for one in used if is_nobodys(one)]
        for call, owners in calls.items() if nobodys else ():
            repeated = {stacks.frame(one) for owner in owners for one in _stacks_in(graph, stack, owner)}
            moved = [one for one in nobodys if stacks.frame(one) in repeated]
            if moved:
                stack[_beside(graph, stack, region, moved)] = stacks.beside(call)
                changed = True


def _used_in(graph: Graph, stack: Column, regions: list[int]) -> dict[int, list[int]]:
    """The call stacks of what stands right in each of these regions, in order."""
    region = graph.nodes.region
    at = np.flatnonzero(np.isin(region, regions) & (stack >= 0))
    found: dict[int, list[int]] = {one: [] for one in regions}
    for pair in np.unique(region[at].astype(np.int64) << 32 | stack[at]).tolist():
        found[pair >> 32].append(pair & 0xFFFFFFFF)
    return found


def _beside(graph: Graph, stack: Column, region: int, moved: list[int]) -> NDArray[np.intp]:
    """The nodes right in a region that have one of these call stacks."""
    start, end = (int(column[region]) for column in graph.region_intervals)
    right_in = graph.nodes.region[start:end] == region
    return start + np.flatnonzero(right_in & np.isin(stack[start:end], moved))


def loops_of_moved(graph: Graph, stacks: StackTree, stack: Column) -> dict[int, int]:
    """By what was moved out of a loop, as `move_out_of_loops` left it, the loop: the next one of that call."""
    call = {one: stacks.call_beside(one) for one in rows_used(stack[stack >= 0])}
    moved = np.flatnonzero(np.isin(stack, [one for one, beside in call.items() if beside >= 0])).tolist()
    if not moved:
        return {}
    loops: dict[tuple[int, int], list[int]] = defaultdict(list)
    for owner in sorted(graph.owned_regions):
        if graph.tables.strings[graph.nodes.op[owner]] in LOOPS:
            loops[int(graph.nodes.region[owner]), int(stack[owner])].append(owner)
    found = {}
    for node in moved:
        possible = loops.get((int(graph.nodes.region[node]), call[int(stack[node])]))
        if possible:
            found[node] = next((loop for loop in possible if loop > node), possible[-1])
    return found


def _calls_reading(graph: Graph, stacks: StackTree, stack: Column, moved: list[int], call: int) -> list[int]:
    """Of each of what was moved out of a loop, the call of the first loop that it is moved for.

    That is `call`, as its stack says, or another one of the same place: what a function does outside of its loop is
    handed out with the callers that it had first, whoever calls that function again.
    """
    reading: dict[int, int] = {}
    wanted = set(moved)
    for node in reversed(moved):
        values = range(int(graph.first_value[node]), int(graph.first_value[node + 1]))
        readers = [reader for value in values for reader in graph.readers(value)]
        loops = [one for one in readers if graph.tables.strings[graph.nodes.op[one]] in LOOPS]
        loops += [reading[one] for one in readers if one in wanted and one in reading]
        if loops:
            reading[node] = min(loops)
    calls = [int(stack[reading[node]]) if node in reading else call for node in moved]
    return [one if one >= 0 and stacks.frame(one) == stacks.frame(call) else call for one in calls]


def _set_beside(stacks: StackTree, stack: Column, call: int, other: int) -> None:
    """Change those of some stacks that a call holds to such as stand beside another one."""
    for place, one in enumerate(stack.tolist()):
        if stacks.holds(call, one):
            stack[place] = stacks.below(stacks.beside(other), one, without=call)


def _functions_below(graph: Graph, stacks: StackTree, stack: Column, owner: int) -> set[int]:
    """The functions with which all begins that is in the bodies of an operation."""
    first = (_first_below(stacks, int(stack[owner]), one) for one in _stacks_in(graph, stack, owner))
    return {graph.tables.frames.function[frame] for frame in first if frame >= 0}


def _stacks_in(graph: Graph, stack: Column, owner: int) -> list[int]:
    """The call stacks of what is in the bodies of an operation."""
    inside = stack[owner + 1 : _end(graph, owner)]
    return rows_used(inside[inside >= 0])


def _calls_own(stacks: StackTree, outer: int, stack: int) -> bool:
    """Whether any of the frames of a stack that `outer` called, itself or through a library, is the person's."""
    return any(not stacks.library[frame] for frame in stacks.frames_between(stack, outer))


def _first_below(stacks: StackTree, outer: int, stack: int) -> int:
    """The frame of a stack that `outer` called, or -1."""
    if stack == outer or not stacks.holds(outer, stack):
        return -1
    return stacks.frames_between(stack, outer)[0]


def _end(graph: Graph, node: int) -> int:
    """The first node after an operation and all in its bodies."""
    return max((int(graph.region_intervals[1][one]) for one in graph.owned_regions.get(node, ())), default=node + 1)
