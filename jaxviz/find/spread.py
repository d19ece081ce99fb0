"""What is another on each device, inside of what devices run on their own part of the data."""

from __future__ import annotations

import re

import numpy as np

from jaxviz.graph import ARGUMENT, CARRY, ENTER, INIT, LEAVE, OPERATION, SLICE, Graph

#: Regions that each device runs by itself.
BY_DEVICE = frozenset({"shard_map", "pmap", "xla_pmap"})
#: Operations after which all devices along some axes have the same.
GATHERING = frozenset({"psum", "psum_invariant", "psum2", "pmax", "pmin", "all_gather", "all_gather_invariant"})
# What is looked at, at most, to find out what a value is made of.
_STEPS = 2_000
_SPEC = re.compile(r"\bP(?:artitionSpec)?\(((?:[^()]|\([^()]*\))*)\)")
_NAME = re.compile(r"'([^']*)'")


class Spread:
    """Where values go and what they are made of, across the borders of bodies."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        #: Of the argument of a body, how it enters and what it is; of one that is carried, also the result of a turn.
        self.entering: dict[int, tuple[int, int]] = {}
        self.carried: dict[int, int] = {}
        #: Of an operation with bodies and a value that it reads, the values that this is inside.
        self.arguments: dict[tuple[int, int], list[int]] = {}
        #: Of the result of a body, the value that it is outside; and the other way round.
        self.leaving: dict[int, int] = {}
        self._left: dict[int, list[int]] = {}
        bindings = graph.bindings
        columns = bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist()
        for kind, start, end in zip(*columns, strict=True):
            if kind in (ENTER, INIT, SLICE):
                self.entering[end] = kind, start
                owner = int(graph.regions.owner[graph.nodes.region[end]])
                self.arguments.setdefault((owner, start), []).append(int(graph.first_value[end]))
            elif kind == CARRY:
                self.carried[end] = start
            else:
                self._left.setdefault(end, []).append(start)
                if kind == LEAVE:
                    self.leaving[start] = end

    def op(self, node: int) -> str:
        return self.graph.tables.strings[self.graph.nodes.op[node]]

    def operands(self, node: int) -> list[int]:
        first = self.graph.first_operand
        return self.graph.operands.source[first[node] : first[node + 1]].tolist()

    def dims(self, value: int) -> tuple[int, ...]:
        return self.graph.tables.types.dims[int(self.graph.values.type[value])] or ()

    def readers(self, value: int) -> list[int]:
        """The nodes that read a value, each once."""
        return sorted(set(self.graph.readers(value)))

    def home(self, node: int) -> int:
        """The innermost body around a node that each device runs on its own part, or -1."""
        graph = self.graph
        region = int(graph.nodes.region[node])
        while region > 0 and graph.tables.strings[graph.regions.kind[region]] not in BY_DEVICE:
            region = int(graph.region_parent[region])
        return region if region > 0 else -1

    def axes(self, home: int) -> list[str]:
        """The axes of the mesh that such a body goes over."""
        attributes = self.graph.node(int(self.graph.regions.owner[home])).attributes
        # Older versions of JAX call them by a shorter name.
        axes = attributes.get("newly_manual_axes") or attributes.get("manual_axes") or attributes.get("axis_name", "")
        return _names(axes)

    def axes_of(self, node: int) -> list[str]:
        """The axes that an operation between devices goes over; none where it goes over groups of them."""
        attributes = self.graph.node(node).attributes
        if attributes.get("axis_index_groups"):
            return []
        return _names(attributes.get("axes") or attributes.get("axis_name", ""))

    def varies(self, value: int, home: int, axis: str = "") -> bool:
        """Whether a value is another on each device along an axis, or along any."""
        return self.made_of(value, home, axis)[0]

    def made_of(self, value: int, home: int, axis: str = "") -> tuple[bool, list[int]]:
        """Whether a value varies, and the operations on the way that made it the same along the axis.

        What varies is made of a device's part of the data, or of its number.
        """
        graph, known, waiting = self.graph, {value}, [value]
        same: list[int] = []
        while waiting:
            value = waiting.pop()
            node = int(graph.value_node[value])
            sources: list[int] = []
            if graph.nodes.kind[node] == ARGUMENT and node in self.entering:
                kind, source = self.entering[node]
                if graph.nodes.region[node] == home:
                    if self._is_cut_along(home, node, axis, kind == SLICE):
                        return True, same
                    continue
                sources = [source]
                if node in self.carried:
                    sources += self.operands(self.carried[node])
            elif self.op(node) == "axis_index":
                if not axis or axis in self.axes_of(node):
                    return True, same
            elif self.op(node) in GATHERING and (axis in self.axes_of(node) if axis else self._gathers(node, home)):
                same.append(node)
            elif graph.nodes.kind[node] == OPERATION:
                sources = self.operands(node)
                sources += [source for result in self._left.get(value, ()) for source in self.operands(result)]
            if len(known) > _STEPS:
                # What is not known is not told.
                return True, same
            new = [source for source in sources if source >= 0 and source not in known]
            known.update(new)
            waiting += new
        return False, same

    def _gathers(self, node: int, home: int) -> bool:
        """Whether after an operation all devices have the same."""
        axes = self.axes(home)
        return bool(axes) and set(axes) <= set(self.axes_of(node))

    def _is_cut_along(self, home: int, node: int, axis: str, smaller: bool) -> bool:
        """Whether an argument of a body is cut along an axis, or any, or may be; over one device it is no `smaller`."""
        owner = int(self.graph.regions.owner[home])
        specs = _SPEC.findall(self.graph.node(owner).attributes.get("in_specs", ""))
        if len(specs) != len(self.operands(owner)):
            return smaller
        names = _NAME.findall(specs[node - int(np.flatnonzero(self.graph.nodes.region == home)[0])])
        return axis in names if axis else bool(names)


def _names(text: str) -> list[str]:
    """The names in a text, quoted or plain: `('i', 'j')`, `(i,)`, `i`."""
    return _NAME.findall(text) or re.findall(r"\w+", text)
