"""Call stacks that begin in the middle are given the callers that they lack.

What `jax.checkpoint` and `custom_vjp` trace on their own has only the frames inside that function in the forward
pass. The backward pass runs the same places with all their callers, so there the missing ones are found.
Branches that `jax.vmap` makes a choice of are seen nowhere with their callers: these are what the nodes before and
after them have in common.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from jaxviz.graph import Column, Graph
from jaxviz.outline.calls.checkpoints import calls_forward
from jaxviz.outline.calls.first_calls import call_where_they_are
from jaxviz.outline.calls.moved import attach_in_bodies, move_out_of_loops
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.tables import Tables, rows_used


def attached_stacks(graph: Graph, stacks: StackTree) -> Column:
    """The call stack of each node, with the callers that it lacks where they are known."""
    stack = _from_root(graph, stacks, _in_program(graph, stacks))
    call_where_they_are(graph, stacks, stack)
    attach_in_bodies(graph, stacks, stack)
    move_out_of_loops(graph, stacks, stack)
    return stack


def _from_root(graph: Graph, stacks: StackTree, stack: Column) -> Column:
    """The same for those that lack all callers."""
    used = rows_used(stack[stack >= 0])
    functions = graph.tables.frames.function
    root = {one: stacks.root(one) for one in used}
    if len({functions[stacks.frame(one)] for one in root.values()}) < 2:
        return stack
    callers = stacks.callers_of(used)
    beginning: dict[int, list[int]] = defaultdict(list)
    for one in used:
        beginning[functions[stacks.frame(root[one])]].append(one)
    found = stack.copy()
    without: dict[int, list[int]] = {}
    for function, lacking in beginning.items():
        calls = {
            (caller, stacks.frame(root[one])): None
            for one in lacking
            for caller in callers.get(stacks.frame(root[one]), ())
            # A function that calls itself begins nowhere but at its start.
            if functions[stacks.frame(stacks.root(caller))] != function
        }
        # What JAX traced for another call of it stands in the stack of that, and seems to call it.
        first = [call for call in calls if not _is_in(stacks, graph.tables, *call)]
        possible = dict.fromkeys(caller for caller, _ in first or calls)
        if possible:
            _attach(graph, stack, stacks, list(possible), lacking, found)
        else:
            without[function] = lacking
    _attach_between(graph, stack, stacks, without, found)
    return found


def _is_in(stacks: StackTree, tables: Tables, stack: int, frame: int) -> bool:
    """Whether the function that a frame is of stands in a stack, one without a name in the same line."""
    functions, lines = tables.frames.function, tables.frames.line
    line = lines[frame] if tables.strings[functions[frame]].endswith("<lambda>") else None
    around = stacks.frames_between(stack, -1)
    return any(functions[one] == functions[frame] and line in (None, lines[one]) for one in around)


def _in_program(graph: Graph, stacks: StackTree) -> Column:
    """The call stack of each node from where it is in the program, not where that was given to jaxviz."""
    calling, stack = graph.tables.calling, graph.nodes.stack
    called = [one for one in rows_used(stack[stack >= 0]) if calling and stacks.frame(stacks.root(one)) in calling]
    own = stack.copy()
    for one in called:
        own[stack == one] = stacks.below(-1, one, without=stacks.root(one))
    return own


def _attach(
    graph: Graph, stack: Column, stacks: StackTree, callers: list[int], lacking: list[int], found: Column
) -> None:
    """Put one of the callers above stacks that lack it; one for each call that they are of."""
    at = np.flatnonzero(np.isin(stack, lacking))
    pieces = calls_forward(graph, stack, stacks, at, callers) if len(callers) > 1 else [(at, callers)]
    for nodes, possible in pieces:
        caller = possible[0] if len(possible) == 1 else _fitting(stack, stacks, possible, int(nodes[0]), graph.tables)
        for node in nodes.tolist():
            found[node] = stacks.below(caller, int(found[node]))


def _attach_between(
    graph: Graph, stack: Column, stacks: StackTree, without: dict[int, list[int]], found: Column
) -> None:
    """Put what nodes before and after have in common above stacks whose callers are seen nowhere.

    Of these, the one that most nodes have is the program itself, in which the others stand. What a library made
    before is nobody's branch.
    """
    region = graph.nodes.region
    nodes = {function: np.flatnonzero(np.isin(stack, ones)) for function, ones in without.items()}
    program = max(nodes, key=lambda function: len(nodes[function]), default=-1)
    known = nodes.pop(program, np.zeros(0, int))
    for function, lacking in nodes.items():
        if stacks.library[stacks.frame(stacks.root(without[function][0]))]:
            continue
        after = np.searchsorted(known, lacking)
        for node, place in zip(lacking.tolist(), after.tolist(), strict=True):
            if 0 < place < len(known) and region[known[place - 1]] == region[node] == region[known[place]]:
                caller = stacks.common(int(stack[known[place - 1]]), int(stack[known[place]]))
                found[node] = stacks.below(caller, int(stack[node]))


def _fitting(stack: Column, stacks: StackTree, callers: list[int], node: int, tables: Tables) -> int:
    """Of several callers, the one that shares most with what stands before a node, and comes after it."""
    before = int(stack[node - 1]) if node else -1
    lines = tables.frames.line

    def fit(caller: int) -> tuple[int, bool, int]:
        common = stacks.common(caller, before)
        inside = stacks.frames_between(before, common)
        line = lines[stacks.frame(caller)]
        return stacks.depth(common), not inside or line >= lines[inside[0]], -line

    return max(callers, key=fit)
