"""Tangents: what `jvp` and `linearize` compute beside gradients, which is no part of their passes forward.

`jvp` computes a function and its derivative along with it. `linearize` computes the function, and then, each time that
what it gives is called, the derivative alone: equations of the same places of the source once more, all of them linear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.outline.calls.stacks import StackTree
from jaxviz.outline.written.expressions import Expressions
from jaxviz.outline.written.transformations import holds_way_back, takes_tangents
from jaxviz.read.bodies import PLAIN_CALLS
from jaxviz.tables import rows_used

# Operations that a derivative may consist of: all others compute what is differentiated.
_LINEAR = (
    *("add", "add_any", "sub", "neg", "mul", "div", "dot_general", "conv_general_dilated", "reduce_sum", "cumsum"),
    *("reshape", "broadcast_in_dim", "squeeze", "expand_dims", "transpose", "rev", "pad", "concatenate", "split"),
    *("slice", "dynamic_slice", "dynamic_update_slice", "gather", "scatter-add", "select_n", "copy", "copy_p"),
    *("convert_element_type", "real", "imag", "conj", "complex", "iota", "full", "mul_add", "triangular_solve"),
    *("custom_lin", "scan", "while", "cond", "remat", "checkpoint", "remat2", *PLAIN_CALLS),
)


class DerivativeCall(NamedTuple):
    """A call that takes a derivative: its stack, the operations of a body that stand in it, and, of those, the ones
    that compute the derivative alone."""

    stack: int
    held: NDArray[np.bool_]
    tangents: NDArray[np.bool_]
    linearizes: bool


class Tangents:
    """The calls in one graph that take derivatives along a direction."""

    def __init__(self, graph: Graph, stacks: StackTree, expressions: Expressions) -> None:
        self._graph = graph
        self._stacks = stacks
        self._expressions = expressions
        # Of each call stack the part of it down to the outermost call that takes a derivative, or -1.
        self._taking: dict[int, int] = {-1: -1}

    def calls(self, nodes: Column, stack: Column, backward: NDArray[np.bool_]) -> list[DerivativeCall]:
        """Of one body, each call that takes tangents, as `jvp` and `jacfwd` do; what runs `backward` is not held."""
        used = rows_used(stack[stack >= 0])
        taking = {one: self._call_around(one) for one in used}
        found = []
        for call in sorted(set(taking.values()) - {-1}):
            name = self._name(call)
            held = np.isin(stack, [one for one in used if taking[one] == call])
            if takes_tangents(name) or (holds_way_back(name) and not (held & backward).any()):
                alone = np.zeros(len(nodes), bool)
                linearizes = "linearize" in name
                if linearizes:
                    alone[self._alone(nodes, stack, np.flatnonzero(held & ~backward))] = True
                found.append(DerivativeCall(call, held, alone, linearizes))
        return found

    def _name(self, stack: int) -> str:
        frame = self._stacks.frame(stack)
        return "" if self._stacks.library[frame] else self._expressions.at(frame).name

    def _takes_derivative(self, stack: int) -> bool:
        frame = self._stacks.frame(stack)
        own = not self._stacks.library[frame]
        return own and (self._expressions.takes_gradient(frame) or takes_tangents(self._expressions.at(frame).name))

    def _call_around(self, stack: int) -> int:
        chain = []
        while stack not in self._taking:
            chain.append(stack)
            stack = self._stacks.parent(stack)
        found = self._taking[stack]
        for one in reversed(chain):
            if found < 0:
                found = one if self._takes_derivative(one) else -1
            self._taking[one] = found
        return found

    def _alone(self, nodes: Column, stack: Column, held: NDArray[np.intp]) -> NDArray[np.intp]:
        """Of the operations `held` by a call of `linearize`, those that compute the derivative alone, in every turn of
        a loop that Python unrolled around it."""
        at = nodes[held]
        other = ~self._linear(at)
        seen: dict[int, int] = {}
        turn = np.array([seen.setdefault(one, place) for place, one in enumerate(stack[held].tolist())], np.int32)
        # The function is computed once more where its first line is reached again, and with it what is not linear.
        begins = np.flatnonzero((turn == 0) & (np.roll(turn, 1) != 0))
        before = np.concatenate([[0], np.cumsum(other)])
        again = before[np.append(begins[1:], len(at))] > before[begins]
        starts = np.union1d([0], begins[again]).astype(np.intp)
        found = [
            held[self._after_function(at, turn, other, start, end) : end]
            for start, end in zip(starts.tolist(), [*starts[1:].tolist(), len(at)], strict=True)
        ]
        return np.concatenate(found)

    def _after_function(self, at: Column, turn: Column, other: NDArray[np.bool_], start: int, end: int) -> int:
        """Where the derivative alone begins among the operations from `start` to `end`: at the first that stands
        earlier in the source than the one before it, once all that is not linear has been computed."""
        graph, own = self._graph, set(at.tolist())
        computed = np.flatnonzero(other[start:end])
        for place in range(start + int(computed[-1]) + 1 if len(computed) else end, end):
            first, last = graph.first_operand[at[place]], graph.first_operand[at[place] + 1]
            sources = graph.operands.source[first:last]
            outside = any(int(graph.value_node[one]) not in own for one in sources[sources >= 0].tolist())
            if outside and turn[place] < turn[place - 1]:
                return place
        return end

    def _linear(self, at: Column) -> NDArray[np.bool_]:
        """Whether each operation, with all that stands in its bodies, may be part of a derivative."""
        graph = self._graph
        numbers = [number for op in _LINEAR if (number := graph.tables.find_string(op)) is not None]
        other = (graph.nodes.kind == OPERATION) & ~np.isin(graph.nodes.op, numbers)
        before = np.concatenate([[0], np.cumsum(other)])
        end = at + 1
        for place, node in enumerate(at.tolist()):
            for region in graph.owned_regions.get(node, ()):
                end[place] = max(end[place], int(graph.region_intervals[1][region]))
        linear: NDArray[np.bool_] = before[end] == before[at]
        return linear
