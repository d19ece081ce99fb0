"""Whether a body is a step of training: what follows its gradient brings it into the values that go round.

The body of a loop may take a gradient as one step among others, as a minimizer does. Then what stands before and after
that is told by itself. In a step of training the gradient is most of what is written, whatever the number of
parameters, and the update after it reads what the gradient was taken of, or what the loop carries.
In a program as a whole an optimizer may be more than the gradient, and there need be none. There the gradient is one
step among others where most is something else that updates nothing, or nearly all is and has loops, as a solver does.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import CARRY, OPERATION, Column, Graph

# Of all places of the source in a step of training, the share that its gradient has at least.
_SHARE = 0.5
# The same of a program with loops beside its gradient, which an optimizer has none of.
_SHARE_BESIDE_LOOPS = 0.2
_LOOPS = ("scan", "while")


class Training:
    """Tells steps of training in one graph."""

    def __init__(self, graph: Graph, stack: Column, wrappers: Collection[str]) -> None:
        """`stack` are the call stacks of the nodes; `wrappers` operations whose bodies are no more than a call."""
        self._graph = graph
        self._stack = stack
        bindings = graph.bindings
        self._carried = np.zeros(len(graph), np.bool_)
        self._carried[bindings.end[bindings.kind == CARRY]] = True
        # Of each region, whether it is the program itself, or a call that stands right in it.
        self.is_top = np.zeros(len(graph.regions.owner), np.bool_)
        self.is_top[0] = True
        strings, ops = graph.tables.strings, graph.nodes.op
        for region, owner in enumerate(graph.regions.owner.tolist()):
            if owner >= 0 and self.is_top[graph.nodes.region[owner]]:
                self.is_top[region] = strings[ops[owner]] in wrappers

    def is_step(self, nodes: Column, gradient: NDArray[np.bool_], update: NDArray[np.bool_]) -> bool:
        """Whether some operations of one body, in order, are a step of training; which of them are the gradient's, and
        which stand after it."""
        if not update.any():
            return False
        return self._share(nodes, gradient) >= _SHARE and self._brings_in(nodes, gradient, update)

    def is_one_step_of_program(self, nodes: Column, gradient: NDArray[np.bool_], update: NDArray[np.bool_]) -> bool:
        """Whether the gradient that a program takes is clearly one step among others; arguments as of `is_step`."""
        share = self._share(nodes, gradient)
        if share >= _SHARE:
            return False
        if share < _SHARE_BESIDE_LOOPS and self._holds_loops(nodes[~gradient]):
            return True
        return not self._brings_in(nodes, gradient, update)

    def _holds_loops(self, nodes: Column) -> bool:
        """Whether any of some operations is a loop, or has one in its bodies."""
        graph = self._graph
        loops = [op for name in _LOOPS if (op := graph.tables.find_string(name)) is not None]
        return bool(np.isin(graph.nodes.op[self._with_bodies(nodes)], loops).any())

    def _share(self, nodes: Column, gradient: NDArray[np.bool_]) -> float:
        """The gradient's part of the places of the source; what comes of one place for many parameters is one."""
        of_gradient, of_others = len(self._places(nodes[gradient])), len(self._places(nodes[~gradient]))
        return of_gradient / max(of_gradient + of_others, 1)

    def _places(self, nodes: Column) -> NDArray[np.int64]:
        """The different places that operations and all in their bodies come from, each with its operation."""
        inside = self._with_bodies(nodes)
        key = self._stack[inside].astype(np.int64) * len(self._graph.tables.strings) + self._graph.nodes.op[inside]
        found: NDArray[np.int64] = np.unique(key)
        return found

    def _with_bodies(self, nodes: Column) -> NDArray[np.intp]:
        """Some operations and all in their bodies."""
        graph = self._graph
        end = nodes + 1
        for place, node in enumerate(nodes.tolist()):
            for region in graph.owned_regions.get(node, ()):
                end[place] = max(end[place], int(graph.region_intervals[1][region]))
        change = np.zeros(len(graph) + 1, np.int32)
        np.add.at(change, nodes, 1)
        np.add.at(change, end, -1)
        return np.flatnonzero((np.cumsum(change)[:-1] > 0) & (graph.nodes.kind == OPERATION))

    def _brings_in(self, nodes: Column, gradient: NDArray[np.bool_], update: NDArray[np.bool_]) -> bool:
        """Whether anything after a gradient joins what came of it with what it was taken of, or what is carried."""
        slopes = set(nodes[gradient].tolist())
        kept = set(np.flatnonzero(self._carried).tolist())
        for node in nodes[gradient].tolist():
            kept |= self._makers(node) - slopes
        for node in nodes[update].tolist():
            makers = self._makers(node)
            of_gradient, of_kept = not makers.isdisjoint(slopes), not makers.isdisjoint(kept)
            if of_gradient and of_kept:
                return True
            if of_gradient:
                slopes.add(node)
            elif of_kept:
                kept.add(node)
        return False

    def _makers(self, node: int) -> set[int]:
        """The nodes whose values an operation reads."""
        graph = self._graph
        sources = graph.operands.source[graph.first_operand[node] : graph.first_operand[node + 1]]
        return set(graph.value_node[sources[sources >= 0]].tolist())
