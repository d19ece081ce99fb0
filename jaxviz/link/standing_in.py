"""Whether one equation can hold what another one held, and which holds it for certain.

When the compiler removes an operation, what read it reads something else. That need not be the same value: a factor
may have gone elsewhere, a sum may go over more axes at once, operands may have changed places. Two equations hold the
same where both have it from one value, by steps that may hand on what they read.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import suppress
from math import inf, prod

import numpy as np

from jaxviz.graph import ARGUMENT, CARRY, ENTER, INIT, LEAVE, OPERATION, Graph
from jaxviz.link.liveness import LOOPS

# Operations that may give what they read, as a sum over an axis of size 1 and a bound of what is within it do.
_MAY_HAND_ON = (
    *("transpose", "reshape", "broadcast_in_dim", "squeeze", "expand_dims", "copy", "rev", "convert_element_type"),
    *("stop_gradient", "optimization_barrier", "reduce", "name", "slice", "dynamic_slice", "gather", "concatenate"),
    *("pad", "select_n", "clamp", "scatter", "dynamic_update_slice", "split", "abs", "rem"),
    *("max", "min"),
)
# Operations that give what they read in another shape, if it has as many entries as before.
_SHAPING = (
    *("transpose", "reshape", "broadcast_in_dim", "squeeze", "expand_dims", "copy", "copy_p", "convert_element_type"),
    *("stop_gradient", "optimization_barrier", "name"),
    *("reduce_sum", "reduce_prod", "reduce_max", "reduce_min", "reduce_and", "reduce_or"),
)
# The number that leaves the other operand as it is; of those that are not symmetric, as the second operand.
_NEUTRAL = {"mul": 1.0, "div": 1.0, "add": 0.0, "add_any": 0.0, "sub": 0.0, "pow": 1.0, "max": -inf, "min": inf}
_SYMMETRIC = frozenset({"mul", "add", "add_any", "max", "min"})
# What leaves an operand of the same shape as it is, by what is said of it.
_AS_IT_IS: dict[str, Callable[[Graph, int], bool]] = {
    "slice": lambda _, node: True,
    "integer_pow": lambda graph, node: graph.attribute(node, "y") == "1",
    "pad": lambda graph, node: not set("123456789").intersection(graph.attribute(node, "padding_config")),
}
# What undoes an operation.
_UNDOES = {"neg": "neg", "not": "not", "conj": "conj", "exp": "log", "log": "exp"}
# What numbers are computed of before the program runs.
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    **{"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "max": max, "min": min},
    **{"eq": operator.eq, "ne": operator.ne},
}
# So many values are looked at in search of what an equation has its own from, and so many steps back in search of a
# number.
_FAR, _STEPS = 64, 8


def changing_nothing(jaxpr: Graph) -> dict[int, int]:
    """The operations that leave an operand as it is, and which operand that is."""
    source, reader, made_by = jaxpr.operands.source, jaxpr.operand_node, jaxpr.operand_maker
    op, type_, stand_ins = jaxpr.nodes.op[reader], jaxpr.values.type, StandIns(jaxpr)
    with_number, alone = (
        np.isin(op, [one for name in names if (one := jaxpr.tables.find_string(name)) is not None])
        for names in (_NEUTRAL, _AS_IT_IS)
    )
    # Most read no number, and what is no number need not be looked at.
    fill = jaxpr.tables.find_string("broadcast_in_dim")
    with_number &= (made_by < 0) | (jaxpr.nodes.op[made_by] == fill)
    values, which = np.unique(source[with_number], return_inverse=True)
    neutral = np.fromiter(
        (stand_ins.number(value) in _NEUTRAL.values() for value in values.tolist()), bool, len(values)
    )
    rows = np.flatnonzero(alone & (source >= 0))
    as_it_is = reader[rows[type_[source[rows]] == type_[jaxpr.first_value[reader[rows]]]]]
    found: dict[int, int] = {}
    for node in [*reader[with_number][neutral[which]].tolist(), *as_it_is.tolist()]:
        first, end = jaxpr.first_operand[node : node + 2].tolist()
        for value in stand_ins.unchanged(node):
            found[node] = jaxpr.operands.source[first:end].tolist().index(value)
    return found


class StandIns:
    """Of one jaxpr."""

    def __init__(self, jaxpr: Graph) -> None:
        self._jaxpr = jaxpr
        self._strings = jaxpr.tables.strings
        self._maker = jaxpr.value_node
        columns = jaxpr.bindings
        bindings = zip(columns.kind.tolist(), columns.start.tolist(), columns.end.tolist(), strict=True)
        #: What comes in at an argument of a body, and what goes out as a value of what holds it.
        self._into: dict[int, list[int]] = {}
        self._out: dict[int, list[int]] = {}
        for kind, start, end in bindings:
            if kind in (ENTER, INIT):
                self._into.setdefault(end, []).append(start)
            elif kind == CARRY:
                self._into.setdefault(end, []).extend(self._operands(start))
            elif kind == LEAVE:
                self._out.setdefault(end, []).extend(self._operands(start))
        self._numbers: dict[int, float | None] = {}

    def may(self, node: int, other: int) -> bool:
        """Whether `other` can hold what `node` held."""
        return not self._origins(node).isdisjoint(self._origins(other))

    def are_alike(self, node: int, other: int) -> bool:
        """Whether two nodes make as many values, of as many entries."""
        first, types = self._jaxpr.first_value, self._jaxpr.values.type
        dims = self._jaxpr.tables.types.dims
        mine, theirs = (types[first[one] : first[one + 1]].tolist() for one in (node, other))
        return [prod(dims[row]) for row in mine] == [prod(dims[row]) for row in theirs]

    def kept_by(self, node: int, holder: Callable[[int], int]) -> int:
        """What holds the value that `node` gave, as it did no more than hand that on; -1 where it computed.

        `holder` says which equation holds what one gives, that one itself where it lives, or -1.
        """
        first, end = self._jaxpr.first_value[node : node + 2].tolist()
        value = first if end - first == 1 else -1
        for _ in range(_FAR):
            before, value = value, self._kept(value) if value >= 0 else -1
            if value < 0:
                maker = int(self._maker[before]) if before >= 0 else node
                return maker if maker != node and self._jaxpr.nodes.kind[maker] == ARGUMENT else -1
            maker = int(self._maker[value])
            if value not in self._out and self._jaxpr.nodes.kind[maker] == OPERATION and holder(maker) >= 0:
                return holder(maker)
        return -1

    def _kept(self, value: int) -> int:
        """The value that one is for certain, in another shape at most; -1 for what is computed."""
        node = int(self._maker[value])
        if value in self._out:
            owner = self._op(node)
            found = self._out[value] if owner not in LOOPS else []
        elif self._jaxpr.nodes.kind[node] == ARGUMENT:
            found = self._into.get(node, [])
        elif self._jaxpr.nodes.kind[node] == OPERATION and self._op(node) in _SHAPING:
            found = self._operands(node)
        else:
            found = [*self.unchanged(node)]
        return found[0] if len(found) == 1 and found[0] >= 0 and self._fits(found[0], value, convert=False) else -1

    def _origins(self, node: int) -> set[int]:
        """The values that those of a node may be, in another form."""
        first, end = self._jaxpr.first_value[node : node + 2].tolist()
        found = set(range(first, end))
        waiting = [*found]
        while waiting and len(found) < _FAR:
            value = waiting.pop()
            new = {source for source in self._handed_on(value) if source >= 0 and self._fits(source, value)}
            waiting.extend(new - found)
            found |= new
        return found

    def _handed_on(self, value: int) -> Iterator[int]:
        """What a value may be, of what is read to make it."""
        node = int(self._maker[value])
        if value in self._out:
            yield from self._out[value]
        elif self._jaxpr.nodes.kind[node] == ARGUMENT:
            yield from self._into.get(node, ())
        else:
            op, operands = self._op(node), self._operands(node)
            if op.startswith(_MAY_HAND_ON):
                yield from operands
            elif op in _NEUTRAL or op in _AS_IT_IS:
                yield from self.unchanged(node)
            elif op in _UNDOES and operands[0] >= 0:
                below = int(self._maker[operands[0]])
                if self._op(below) == _UNDOES[op]:
                    yield from self._operands(below)

    def unchanged(self, node: int) -> Iterator[int]:
        """What an operation leaves as it is, as it is said to, or as its other operand is that number which does."""
        op, operands = self._op(node), self._operands(node)
        if op in _NEUTRAL and len(operands) == 2:
            one, other = operands
            if self.number(other) == _NEUTRAL[op]:
                yield one
            if op in _SYMMETRIC and self.number(one) == _NEUTRAL[op]:
                yield other
        elif op in _AS_IT_IS and _AS_IT_IS[op](self._jaxpr, node):
            yield from (one for one in operands[:1] if one >= 0 and self._fits(one, self._jaxpr.first_value[node]))

    def number(self, source: int, steps: int = _STEPS) -> float | None:
        """The one number that an operand is all of, where it is known before the program runs."""
        if source < 0:
            with suppress(ValueError):
                number = complex(self._jaxpr.source_text(source))
                return None if number.imag else number.real
            return None
        if source not in self._numbers:
            self._numbers[source] = self._computed(source, steps) if steps else None
        return self._numbers[source]

    def _computed(self, source: int, steps: int) -> float | None:
        node = int(self._maker[source])
        op, border = self._op(node), self._out.get(source) or self._into.get(node)
        if op == "iota" and self._entries(source) == 1:
            return 0.0
        if border is None and op not in _ARITHMETIC and not op.startswith(_MAY_HAND_ON):
            return None
        found = [self.number(one, steps - 1) for one in border or self._operands(node)]
        numbers = [number for number in found if number is not None]
        if not numbers or len(numbers) < len(found):
            return None
        if border is None and op in _ARITHMETIC:
            with suppress(ArithmeticError):
                return _ARITHMETIC[op](*numbers)
            return None
        return numbers[0] if len(set(numbers)) == 1 else None

    def _entries(self, value: int) -> int:
        return prod(self._jaxpr.tables.types.dims[self._jaxpr.values.type[value]])

    def _op(self, node: int) -> str:
        return self._strings[self._jaxpr.nodes.op[node]]

    def _operands(self, node: int) -> list[int]:
        first, end = self._jaxpr.first_operand[node : node + 2].tolist()
        return self._jaxpr.operands.source[first:end].tolist()

    def _fits(self, source: int, value: int, *, convert: bool = True) -> bool:
        """Whether a value may be another one that is read to make it: as many entries, of one type if not converted."""
        types, type_ = self._jaxpr.tables.types, self._jaxpr.values.type
        row, other = int(type_[source]), int(type_[value])
        if prod(types.dims[row]) != prod(types.dims[other]):
            return False
        return types.dtype[row] == types.dtype[other] or (convert and "convert" in self._op(int(self._maker[value])))
