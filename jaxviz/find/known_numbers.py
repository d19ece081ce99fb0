"""Whole numbers that the program itself says: entries of constants, counted ranges, and counters of loops in each turn.

They are computed as the program computes them, entry by entry, so that what is said of an index is so and not a guess.
Where two things vary that have nothing to do with one another, nothing is said.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jaxviz.find.flow import SAME, Flow
from jaxviz.graph import ARGUMENT, CARRY, CONSTANT, INIT, OPERATION, RESULT, SLICE

# How many numbers are looked at, and how many steps are taken to find them.
_MOST, _STEPS = 1_000_000, 60
_FORMS = SAME | {"expand_dims", "stop_gradient"}
_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "max": np.maximum,
    "min": np.minimum,
    "sign": np.sign,
    "abs": np.abs,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "eq": operator.eq,
    "ne": operator.ne,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "not": np.invert,
    # The sign of a remainder of XLA is that of what is divided.
    "rem": np.fmod,
    "clamp": lambda low, x, high: np.minimum(np.maximum(x, low), high),
}


class Numbers(NamedTuple):
    """Numbers, and what they are the numbers of: nothing where it is one, else what they go along.

    Of a loop, it is the region of its body.
    """

    values: NDArray[Any]
    along: Hashable = None
    loop: int = -1
    #: Whether they are all, and not only the least and the most.
    exact: bool = True


class KnownNumbers:
    def __init__(self, flow: Flow) -> None:
        self._flow, self._graph = flow, flow.graph
        self._bound: dict[int, tuple[int, int]] = {}
        self._carried: dict[int, int] = {}
        #: Of each region, what loops hand on into it, in order.
        self._begun: dict[int, list[int]] = {}
        bindings = self._graph.bindings
        columns = bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist()
        for kind, start, end in zip(*columns, strict=True):
            if kind in (INIT, SLICE):
                self._bound[end] = kind, start
                if kind == INIT:
                    self._begun.setdefault(int(self._graph.nodes.region[end]), []).append(end)
            elif kind == CARRY:
                self._carried[end] = start
        self._found: dict[int, Numbers | None] = {}

    def of(self, source: int, steps: int = _STEPS) -> Numbers | None:
        """The numbers that a source is, in each turn or entry; None where the program does not say them."""
        source = self._flow.back(source)
        if source not in self._found:
            if not steps:
                return None
            self._found[source] = None
            self._found[source] = self._look(source, steps)
        return self._found[source]

    def _look(self, source: int, steps: int) -> Numbers | None:
        graph, flow = self._graph, self._flow
        number = flow.number(source)
        if number is not None:
            return Numbers(np.asarray(number)) if isinstance(number, (int, bool)) else None
        if source < 0:
            return None
        node = int(graph.value_node[source])
        kind = graph.nodes.kind[node]
        if kind == CONSTANT:
            return self._constant(node, source)
        if kind == ARGUMENT:
            return self._counter(node, source, steps) if node in self._bound else None
        if kind != OPERATION or node in graph.owned_regions:
            return None
        op = flow.op(node)
        if op == "iota":
            dims = flow.dims(source)
            return Numbers(np.arange(dims[0]), ("entries", dims[0])) if len(dims) == 1 and dims[0] <= _MOST else None
        operands = [self.of(one, steps - 1) for one in flow.operands(node)]
        if any(one is None for one in operands):
            return None
        known = [one for one in operands if one is not None]
        if op in _FORMS:
            same = prod(flow.dims(source)) == prod(flow.dims(flow.operands(node)[0]))
            inner = known[0]
            # What each entry is spread to is aligned with nothing else any more.
            return inner if same or inner.along is None or inner.loop >= 0 else inner._replace(along=("spread", node))
        return self._computed(op, known)

    def _computed(self, op: str, operands: list[Numbers]) -> Numbers | None:
        along = {one.along for one in operands if one.along is not None}
        if len(along) > 1:
            return None
        values = [one.values for one in operands]
        try:
            with np.errstate(all="ignore"):
                if op == "select_n":
                    made = np.choose(np.asarray(values[0], np.int64), values[1:])
                elif op in _ARITHMETIC:
                    made = np.asarray(_ARITHMETIC[op](*values))
                else:
                    return None
        except (TypeError, ValueError):
            return None
        loop = max(one.loop for one in operands)
        return Numbers(made, next(iter(along), None), loop, all(one.exact for one in operands))

    def _constant(self, node: int, source: int) -> Numbers | None:
        """The entries of a small array; of a large one, the only one there is, or the least and the most."""
        attributes = self._graph.node(node).attributes
        size = prod(self._flow.dims(source))
        if "values" in attributes:
            numbers = _read(attributes["values"].split(", "))
            return Numbers(numbers, ("entries", size)) if numbers is not None and len(numbers) == size else None
        if "fill" in attributes:
            only = _read([attributes["fill"]])
            return Numbers(only[0]) if only is not None else None
        numbers = _read(attributes.get("range", "").split(" to "))
        return Numbers(numbers, ("range", node), exact=False) if numbers is not None and len(numbers) == 2 else None

    def _counter(self, node: int, source: int, steps: int) -> Numbers | None:
        """What an argument of the body of a loop is in each turn: a counter, or an entry of an array."""
        graph, flow = self._graph, self._flow
        region = int(graph.nodes.region[node])
        owner = int(graph.regions.owner[region])
        kind, start = self._bound[node]
        attributes = graph.node(owner).attributes
        length = int(attributes["length"]) if attributes.get("length", "").isdecimal() else -1
        if kind == SLICE:
            entries = self.of(start, steps - 1)
            if entries is None or entries.along != ("entries", length):
                return None
            values = entries.values[::-1] if attributes.get("reverse") == "True" else entries.values
            return Numbers(values, ("loop", region), region)
        step, first = self._step(node, source), flow.number(start)
        if not isinstance(step, int) or not step or not isinstance(first, int):
            return None
        if length < 0:
            length = self._turns(owner, region)
        if not 0 < length <= _MOST:
            return None
        return Numbers(first + step * np.arange(length), ("loop", region), region)

    def _step(self, node: int, source: int) -> float | int | None:
        """What is added to what a loop carries in each turn, where nothing else is done to it."""
        result = self._carried.get(node)
        if result is None:
            return None
        made = self._flow.origin(self._flow.operands(result)[0])
        maker = int(self._graph.value_node[made]) if made >= 0 else -1
        if maker < 0 or self._graph.nodes.kind[maker] != OPERATION or self._flow.op(maker) not in ("add", "sub"):
            return None
        one, other = (self._flow.origin(operand) for operand in self._flow.operands(maker))
        if other == source and self._flow.op(maker) == "add":
            one, other = other, one
        number = self._flow.number(other) if one == source else None
        return -number if number is not None and self._flow.op(maker) == "sub" else number

    def _turns(self, owner: int, body: int) -> int:
        """How often a `while` turns that asks nothing but whether a counter has reached a number."""
        graph, flow = self._graph, self._flow
        for region in graph.owned_regions.get(owner, ()):
            if graph.tables.strings[graph.regions.kind[region]] != "while cond":
                continue
            rows = np.flatnonzero(graph.nodes.region == region)
            asked = flow.origin(flow.operands(int(rows[graph.nodes.kind[rows] == RESULT][0]))[0])
            maker = int(graph.value_node[asked]) if asked >= 0 else -1
            if maker < 0 or flow.op(maker) not in ("lt", "le", "gt", "ge", "ne"):
                return -1
            counter, end = flow.operands(maker)
            node = int(graph.value_node[counter]) if counter >= 0 else -1
            begun = sorted(self._begun.get(region, ()))
            if node not in begun:
                return -1
            inside = sorted(self._begun.get(body, ()))[begun.index(node)]
            first, number = flow.number(self._bound[node][1]), flow.number(end)
            step = self._step(inside, int(graph.first_value[inside]))
            if not (isinstance(first, int) and isinstance(number, int) and isinstance(step, int)):
                return -1
            op = flow.op(maker)
            if op in ("lt", "le") and step > 0:
                return len(range(first, number + (op == "le"), step))
            if op in ("gt", "ge") and step < 0:
                return len(range(first, number - (op == "ge"), step))
        return -1


def _read(texts: list[str]) -> NDArray[Any] | None:
    try:
        return np.array([text == "True" if text in ("True", "False") else int(text) for text in texts])
    except ValueError:
        return None
