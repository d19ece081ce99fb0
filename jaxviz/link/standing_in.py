"""Whether one equation can hold what another one held.

When the compiler removes an operation, what read it reads something else. That need not be the same value: a factor
may have gone elsewhere, a sum may go over more axes at once, operands may have changed places.
"""

from __future__ import annotations

import numpy as np

from jaxviz.graph import Graph

# Operations that compute no value of their own.
_MOVES = frozenset(
    {"transpose", "reshape", "broadcast_in_dim", "squeeze", "expand_dims", "copy", "copy_p", "rev"}
    | {"convert_element_type", "stop_gradient", "optimization_barrier", "reduce_precision", "name"}
)
# Operations that may give what they read, as a sum over an axis of size 1 and a clamp of what is in its bounds do.
_MAY_HAND_ON = (
    *_MOVES,
    *("slice", "dynamic_slice", "gather", "concatenate", "pad", "select_n", "clamp", "reduce", "cum", "sort"),
    *("jit", "pjit", "cond", "custom_", "scatter", "dynamic_update_slice", "split", "scan", "while", "abs", "rem"),
)
# The number that leaves the other operand as it is; of those that are not symmetric, as the second operand.
_NEUTRAL = {"mul": 1.0, "div": 1.0, "add": 0.0, "add_any": 0.0, "sub": 0.0, "pow": 1.0}
_NEUTRAL |= {
    "max": -np.inf,
    "min": np.inf,
}


class StandIns:
    """Of one jaxpr; equations that are `given` need no argument, so that their numbers are not known here."""

    def __init__(self, jaxpr: Graph, given: set[int]) -> None:
        self._jaxpr, self._given = jaxpr, given
        self._strings = jaxpr.tables.strings

    def may(self, node: int, other: int) -> bool:
        """Whether `other` can hold what `node` held."""
        if not self._sizes(node) & self._sizes(other):
            return False
        if other in self._makers(node):
            return self._may_hand_on(node, other)
        return node not in self._makers(other) or self._op(other) in _MOVES

    def _op(self, node: int) -> str:
        return self._strings[self._jaxpr.nodes.op[node]]

    def _operands(self, node: int) -> list[int]:
        first, end = self._jaxpr.first_operand[node : node + 2].tolist()
        return self._jaxpr.operands.source[first:end].tolist()

    def _makers(self, node: int) -> list[int]:
        return [int(self._jaxpr.value_node[source]) for source in self._operands(node) if source >= 0]

    def _sizes(self, node: int) -> set[int]:
        """How many entries each value has that a node makes."""
        first, end = self._jaxpr.first_value[node : node + 2].tolist()
        types = self._jaxpr.values.type[first:end].tolist()
        dims = self._jaxpr.tables.types.dims
        return {int(np.prod(dims[one])) if dims[one] else 1 for one in types}

    def _may_hand_on(self, node: int, other: int) -> bool:
        """Whether an equation may give what it reads of another one."""
        op, operands = self._op(node), self._operands(node)
        if op not in _NEUTRAL:
            return op.startswith(_MAY_HAND_ON)
        others = [source for source in operands if source < 0 or self._jaxpr.value_node[source] != other]
        return all(self._is_neutral(source, _NEUTRAL[op]) for source in others)

    def _is_neutral(self, source: int, number: float) -> bool:
        if source >= 0:
            return int(self._jaxpr.value_node[source]) in self._given
        try:
            return float(self._jaxpr.source_text(source)) == number
        except ValueError:
            return False
