"""What the branches of a condition are called: by the functions that they are, `bisect` for `case 0`.

Which branch runs where something holds is said with it: `if true: take_step`.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.written.expressions import GENERIC, Expressions
from jaxviz.read.spoken import said

_BRANCH = "branch"
# What a function is called because it is a branch.
_SAYS_NOTHING = re.compile(r"_*((if_)?(true|false|then|else|yes|no)|branch|case)(_?(fun|fn|func|branch|case))?_*\d*")
_NUMBERED = re.compile(r"case \d+")


class Branches:
    """Names the branches of one graph; `stack` are the call stacks of its nodes, in `stacks`."""

    def __init__(self, graph: Graph, stack: Column, stacks: StackTree, expressions: Expressions) -> None:
        self._graph = graph
        self._stack = stack
        self._stacks = stacks
        self._expressions = expressions
        self._known: dict[int, dict[int, str]] = {}

    def name(self, region: int) -> str:
        """What to call a region that is a branch; empty for others, and where its function has no name that tells."""
        graph = self._graph
        owner = int(graph.regions.owner[region])
        if owner < 0 or graph.tables.strings[graph.regions.kind[region]] != _BRANCH:
            return ""
        if owner not in self._known:
            functions = {one: self._function(one, owner) for one in graph.owned_regions[owner]}
            # Those that call the same function are told apart by what they are anyway.
            times = Counter(functions.values())
            self._known[owner] = {one: name for one, name in functions.items() if times[name] == 1}
        name = self._known[owner].get(region, "")
        branch = graph.tables.strings[graph.regions.name[region]]
        return name if not name or _NUMBERED.fullmatch(branch) else f"{branch}: {name}"

    def _function(self, region: int, owner: int) -> str:
        """The function that all of a region is made by, or what the lambda calls that it is made by."""
        graph, stacks = self._graph, self._stacks
        start, end = (int(column[region]) for column in graph.region_intervals)
        # What is inside of these may have been traced for another program, and say that it is called there.
        own = (graph.nodes.kind[start:end] == OPERATION) & (graph.nodes.region[start:end] == region)
        made = np.flatnonzero(own & (self._stack[start:end] >= 0)) + start
        outer = int(self._stack[owner])
        entered = set()
        for stack in np.unique(self._stack[made]).tolist():
            frames = stacks.frames_between(stack, outer) if stacks.holds(outer, stack) else [-1]
            # What JAX fills in for the way back, as the other branches keep more, is of the call of the condition.
            if not frames or (len(frames) == 1 and outer >= 0 and frames[0] == stacks.frame(outer)):
                continue
            entered.add(next((frame for frame in frames if frame >= 0 and not stacks.library[frame]), -1))
        functions = {graph.tables.frames.function[frame] if frame >= 0 else -1 for frame in entered}
        if len(functions) != 1 or -1 in functions:
            return ""
        name = said(graph.tables.strings[functions.pop()]).rpartition(".")[2]
        if name == "<lambda>":
            # One that is only a call says by that what it does.
            called = {self._expressions.at(frame).function for frame in entered}
            name = called.pop() if len(called) == 1 else ""
        return name if name.isidentifier() and name not in GENERIC and not _SAYS_NOTHING.fullmatch(name) else ""
