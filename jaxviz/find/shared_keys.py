"""Random numbers that are drawn once where each should have its own: for all elements of a `vmap`, on all devices.

A key that is not mapped gives one set of numbers, whatever is mapped beside it. That is told where these numbers meet
what is another for each element or device, entry by entry, as noise and masks do; what is multiplied as a matrix, or
never meets such a thing, is the same for all on purpose.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from jaxviz.find.finding import ADVICE, Finding, Subject
from jaxviz.graph import ARGUMENT, ENTER, INIT, LEAVE, OPERATION, RESULT, SLICE, Graph

# Operations that draw with a key, which is their first operand.
_DRAWING = ("random_bits", "random_gamma")
# Operations that go entry by entry or only give numbers another form: what was drawn is seen in their results.
_ENTRYWISE = frozenset(
    {"add", "sub", "mul", "div", "max", "min", "pow", "integer_pow", "rem", "neg", "sign", "abs", "square", "sqrt"}
)
_ENTRYWISE |= {"rsqrt", "cbrt", "exp", "exp2", "log", "log1p", "expm1", "tanh", "logistic", "sin", "cos", "erf"}
_ENTRYWISE |= {"erf_inv", "floor", "ceil", "round", "lt", "le", "gt", "ge", "eq", "ne", "and", "or", "xor", "not"}
_ENTRYWISE |= {"select_n", "clamp", "nextafter", "shift_left", "shift_right_logical", "shift_right_arithmetic"}
_ENTRYWISE |= {"bitcast_convert_type", "convert_element_type", "broadcast_in_dim", "reshape", "squeeze", "expand_dims"}
_ENTRYWISE |= {"transpose", "copy", "copy_p", "sharding_constraint", "pvary", "pcast", "optimization_barrier"}
_MAPPED = "vmap("
_BY_DEVICE = frozenset({"shard_map", "pmap", "xla_pmap"})
# What is looked at, at most, to find out what a value is made of or who reads it.
_STEPS = 2_000


def find(subject: Subject) -> Iterator[Finding]:
    draws = [node for node in subject.flow.nodes(*_DRAWING) if not subject.is_backward(node)]
    if not draws:
        return
    walk = _Walk(subject.graph)
    mapped, alike = [], []
    for node in draws:
        home = walk.device_region(node)
        key = walk.operands(node)[0]
        if home >= 0 and key >= 0 and not walk.varies(key, home) and walk.meets(node, home):
            alike.append((node, home))
        elif key >= 0 and not walk.dims(key) and walk.is_mapped(node) and walk.meets(node, -1):
            mapped.append(node)
    if mapped:
        yield _of_elements(subject, mapped)
    if alike:
        yield _of_devices(subject, walk, alike)


def _of_elements(subject: Subject, nodes: list[int]) -> Finding:
    return subject.told(
        kind="key",
        severity=ADVICE,
        title="all elements of a vmap get the same random numbers",
        text="The key is not mapped, so what is drawn with it is drawn once, and each element gets the same.",
        remedy="keys = jax.random.split(key, n) with one for each element, and map over them too: "
        "jax.vmap(f, in_axes=(0, 0))(keys, x). Leave it where all should share them.",
        nodes=nodes,
        figures={"uses": len(nodes)},
    )


def _of_devices(subject: Subject, walk: _Walk, draws: list[tuple[int, int]]) -> Finding:
    axes = walk.axes(draws[0][1])
    index = repr(axes[0]) if len(axes) == 1 else f"({', '.join(map(repr, axes))})" if axes else "'devices'"
    return subject.told(
        kind="key",
        severity=ADVICE,
        title="all devices draw the same random numbers",
        text="The key is the same on each device, so each draws the same numbers for its own part of the data.",
        remedy=f"Inside of the mapped function, key = jax.random.fold_in(key, jax.lax.axis_index({index})). Leave it "
        "where all devices should share them.",
        nodes=[node for node, _ in draws],
        figures={"uses": len(draws)},
    )


class _Walk:
    """Where values go and what they are made of, across the borders of bodies."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._entering: dict[int, tuple[int, int]] = {}
        self._arguments: dict[tuple[int, int], list[int]] = {}
        self._leaving: dict[int, int] = {}
        self._left: dict[int, list[int]] = {}
        bindings = graph.bindings
        columns = bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist()
        for kind, start, end in zip(*columns, strict=True):
            if kind in (ENTER, INIT, SLICE):
                self._entering[end] = kind, start
                owner = int(graph.regions.owner[graph.nodes.region[end]])
                self._arguments.setdefault((owner, start), []).append(int(graph.first_value[end]))
            elif kind == LEAVE:
                self._leaving[start] = end
                self._left.setdefault(end, []).append(start)
        self._order = np.argsort(graph.operands.source, kind="stable")
        self._sources = graph.operands.source[self._order]

    def op(self, node: int) -> str:
        return self._graph.tables.strings[self._graph.nodes.op[node]]

    def operands(self, node: int) -> list[int]:
        first = self._graph.first_operand
        return self._graph.operands.source[first[node] : first[node + 1]].tolist()

    def dims(self, value: int) -> tuple[int, ...]:
        return self._graph.tables.types.dims[int(self._graph.values.type[value])] or ()

    def is_mapped(self, node: int) -> bool:
        """Whether a `vmap` is around it: its name stack says so, or that of what it stands in."""
        graph = self._graph
        while _MAPPED not in graph.tables.strings[graph.nodes.scope[node]]:
            region = int(graph.nodes.region[node])
            if not region:
                return False
            node = int(graph.regions.owner[region])
        return True

    def device_region(self, node: int) -> int:
        """The innermost body around a node that each device runs on its own part, or -1."""
        graph = self._graph
        region = int(graph.nodes.region[node])
        while region > 0 and graph.tables.strings[graph.regions.kind[region]] not in _BY_DEVICE:
            region = int(graph.region_parent[region])
        return region if region > 0 else -1

    def axes(self, region: int) -> list[str]:
        """The axes of the mesh that a body of each device goes over."""
        attributes = self._graph.node(int(self._graph.regions.owner[region])).attributes
        text = attributes.get("newly_manual_axes") or attributes.get("manual_axes") or attributes.get("axis_name", "")
        return text.split("'")[1::2] if "'" in text else [text] if text.isidentifier() else []

    def varies(self, value: int, home: int) -> bool:
        """Whether a value is another on each device: made of its part of the data, or of its number."""
        graph, known, waiting = self._graph, {value}, [value]
        while waiting:
            value = waiting.pop()
            node = int(graph.value_node[value])
            sources: list[int] = []
            if graph.nodes.kind[node] == ARGUMENT and node in self._entering:
                kind, source = self._entering[node]
                if graph.nodes.region[node] == home:
                    if kind == SLICE:
                        return True
                    continue
                sources = [source]
            elif self.op(node) == "axis_index":
                return True
            elif graph.nodes.kind[node] == OPERATION:
                sources = self.operands(node)
                sources += [source for result in self._left.get(value, ()) for source in self.operands(result)]
            for source in sources:
                if source >= 0 and source not in known and len(known) < _STEPS:
                    known.add(source)
                    waiting.append(source)
        return False

    def meets(self, draw: int, home: int) -> bool:
        """Whether what is drawn meets, entry by entry, what is another for each: of more entries, under a `vmap`; or
        another on each device, in the body `home`."""
        graph = self._graph
        first = int(graph.first_value[draw])
        size = prod(self.dims(first))
        drawn, waiting = {first}, [first]
        while waiting and len(drawn) < _STEPS:
            value = waiting.pop()
            for reader in self._readers(value):
                made: list[int] = []
                if graph.nodes.kind[reader] == RESULT:
                    made = [self._leaving[reader]] if reader in self._leaving else []
                elif reader in graph.owned_regions:
                    made = self._arguments.get((reader, value), [])
                elif self.op(reader) in _ENTRYWISE:
                    made = [int(graph.first_value[reader])]
                    others = [one for one in self.operands(reader) if one >= 0 and one not in drawn]
                    if any(self._is_each(other, home, size) for other in others):
                        return True
                waiting += [one for one in made if one not in drawn]
                drawn.update(made)
        return False

    def _is_each(self, value: int, home: int, size: int) -> bool:
        if home >= 0:
            return self.varies(value, home)
        return prod(self.dims(value)) > size

    def _readers(self, value: int) -> list[int]:
        low, high = np.searchsorted(self._sources, [value, value + 1])
        return sorted(set(self._graph.operand_node[self._order[low:high]].tolist()))
