"""One number in place of several: of `x * 0.5 * 1.25` the compiler makes `x * 0.625`, under the name of the last.

That product is as much of the one equation as of the other. What an equation and those before it multiply by, or add,
says which they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isclose

import numpy as np

from jaxviz.graph import Graph
from jaxviz.link.links import Found
from jaxviz.link.makers import Makers

#: What is done with the number that an operation reads, and what of two such numbers is the one that does both.
_MULTIPLIED = {"mul": lambda number: number, "div": lambda number: 1 / number if number else 0.0}
_ADDED = {"add": lambda number: number, "sub": lambda number: -number}
# Operations of HLO that do both at once.
_AT_ONCE = ("multiply", "divide", "add", "subtract")
# So many equations before one may be in its number.
_MOST = 4


class Folded:
    """Of a jaxpr, of which it is known which numbers each equation reads."""

    def __init__(self, jaxpr: Graph, read: Mapping[int, Mapping[float, int]], makers: Makers) -> None:
        self._strings, self._op = jaxpr.tables.strings, jaxpr.nodes.op
        self._read, self._makers = read, makers

    def within(
        self, graph: Graph, tagged: Sequence[Found], number: Mapping[int, float], unsure: Collection[int]
    ) -> Sequence[Found]:
        """The tags of a stage, where what computes with such a number, and the number, are of all of them; `number`
        are the nodes that are one number in any shape."""
        ops = [op for name in _AT_ONCE if (op := graph.tables.find_string(name)) is not None]
        made_by, reader = graph.operand_maker, graph.operand_node
        rows = np.isin(graph.nodes.op[reader], ops) & np.isin(made_by, [*number])
        found, read = list(tagged), self._read
        for node, maker in zip(reader[rows].tolist(), made_by[rows].tolist(), strict=True):
            if len(tagged[node]) != 1 or node in unsure or number[maker] in read.get(tagged[node][0], ()):
                # Most say their number themselves.
                continue
            if folded := self._of(number[maker], *tagged[node]):
                found[node] = folded
                # The number itself stands behind its shapes.
                while maker in number and tagged[maker] == tagged[node]:
                    found[maker] = folded
                    first, end = graph.first_operand[maker : maker + 2].tolist()
                    maker = int(made_by[first]) if first < end else -1
        return found

    def _of(self, number: float, equation: int) -> Found:
        """The equations that are done at once with this number, that of `equation` being the last; none if it alone
        is."""
        multiplied = self._strings[self._op[equation]] not in _ADDED
        known: list[tuple[float, Found]] = [(1.0 if multiplied else 0.0, ())]
        node = equation
        for _ in range(_MOST):
            numbers = [*self._numbers(node, multiplied=multiplied)]
            known = [
                (one * other if multiplied else one + other, (*nodes, node))
                for one, nodes in known
                for other in numbers
            ]
            found = next((nodes for one, nodes in known if isclose(one, number, rel_tol=1e-6)), ())
            before = self._makers.of_operands(node)
            if found or not known or len(before) != 1:
                return tuple(sorted(found)) if len(found) > 1 else ()
            (node,) = before
        return ()

    def _numbers(self, node: int, *, multiplied: bool) -> Iterator[float]:
        """What an equation multiplies by, or adds."""
        op = self._strings[self._op[node]]
        if multiplied and op == "neg":
            yield -1.0
        done = (_MULTIPLIED if multiplied else _ADDED).get(op)
        if done is not None:
            yield from map(done, self._read.get(node, ()))
