"""Where values come from: through calls, into bodies; and what numbers they are, where that is in the program."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from jaxviz.graph import ARGUMENT, CONSTANT, ENTER, LEAVE, OPERATION, Graph

#: Operations that hand on the numbers of their first operand.
SAME = frozenset({"broadcast_in_dim", "reshape", "squeeze", "expand_dims", "copy", "copy_p", "convert_element_type"})
SAME |= {"pvary", "optimization_barrier", "device_put", "sharding_constraint"}

_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "max": max,
    "min": min,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
}
# Steps that are taken to find out what a value is.
_STEPS = 40


class Flow:
    """What flows into the values of a graph. Sources are values, or -1 - i for literal i."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        bindings = graph.bindings
        rows = zip(bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist(), strict=True)
        #: The source that an argument of a body is, and the result of a body that a value of its call is.
        self._entering: dict[int, int] = {}
        self._leaving: dict[int, int] = {}
        branches: set[int] = set()
        for kind, start, end in rows:
            if kind == ENTER:
                self._entering[end] = start
            elif kind == LEAVE:
                if end in self._leaving:
                    branches.add(end)
                self._leaving[end] = start
        for value in branches:
            del self._leaving[value]
        strings = graph.tables.strings
        self._loops = {row for row, kind in enumerate(graph.regions.kind.tolist()) if "while" in strings[kind]}
        self._loops |= {row for row, kind in enumerate(graph.regions.kind.tolist()) if strings[kind] == "scan"}

    def op(self, node: int) -> str:
        return self.graph.tables.strings[self.graph.nodes.op[node]]

    def operands(self, node: int) -> list[int]:
        first = self.graph.first_operand
        return self.graph.operands.source[first[node] : first[node + 1]].tolist()

    def back(self, source: int) -> int:
        """The same value where it is made: outside the bodies that it was handed into, inside the call that gave it."""
        for _ in range(_STEPS):
            if source < 0:
                return source
            node = int(self.graph.value_node[source])
            if node in self._entering:
                source = self._entering[node]
            elif source in self._leaving and int(self.graph.nodes.region[self._leaving[source]]) not in self._loops:
                source = self.operands(self._leaving[source])[0]
            else:
                return source
        return source

    def origin(self, source: int, through: Iterable[str] = SAME) -> int:
        """What a source is, looking also through operations that hand on numbers as they are."""
        for _ in range(_STEPS):
            source = self.back(source)
            if source < 0:
                return source
            node = int(self.graph.value_node[source])
            if self.graph.nodes.kind[node] != OPERATION or self.op(node) not in through:
                return source
            source = self.operands(node)[0]
        return source

    def is_argument(self, source: int) -> bool:
        """Whether it is an argument of the program."""
        if source < 0:
            return False
        node = int(self.graph.value_node[source])
        return bool(self.graph.nodes.kind[node] == ARGUMENT and self.graph.nodes.region[node] == 0)

    def number(self, source: int, steps: int = _STEPS) -> float | int | bool | None:
        """The number that a source is for all arguments, where the program says it; of an array, each entry."""
        source = self.back(source)
        if steps == 0:
            return None
        graph = self.graph
        if source < 0:
            return _parsed(graph.tables.strings[graph.literals.text[-1 - source]])
        node = int(graph.value_node[source])
        if graph.nodes.kind[node] == CONSTANT:
            return _parsed(graph.node(node).attributes.get("value", ""))
        if graph.nodes.kind[node] != OPERATION:
            return None
        op, operands = self.op(node), self.operands(node)
        if op in SAME:
            return self.number(operands[0], steps - 1)
        if op == "select_n" and len(operands) == 3:
            chosen = self.number(operands[0], steps - 1)
            return None if chosen is None else self.number(operands[2 if chosen else 1], steps - 1)
        if op in _ARITHMETIC and len(operands) == 2:
            one = self.number(operands[0], steps // 2)
            other = self.number(operands[1], steps // 2) if one is not None else None
            return None if one is None or other is None else _ARITHMETIC[op](one, other)
        return None

    def dtype(self, source: int) -> str:
        """The name of the type of the entries, as NumPy has it: float32."""
        graph = self.graph
        type_ = graph.values.type[source] if source >= 0 else graph.literals.type[-1 - source]
        return graph.tables.strings[graph.tables.types.dtype[int(type_)]]

    def dims(self, source: int) -> tuple[int, ...]:
        graph = self.graph
        type_ = graph.values.type[source] if source >= 0 else graph.literals.type[-1 - source]
        return graph.tables.types.dims[int(type_)]

    def nodes(self, *ops: str) -> list[int]:
        """The operations with one of these names, in order."""
        found = [number for op in ops if (number := self.graph.tables.find_string(op)) is not None]
        graph = self.graph
        return np.flatnonzero(np.isin(graph.nodes.op, found) & (graph.nodes.kind == OPERATION)).tolist()


def _parsed(text: str) -> float | int | bool | None:
    if text in ("True", "False"):
        return text == "True"
    for reader in (int, float):
        try:
            return reader(text)
        except ValueError:
            continue
    return None
