"""Links between two stages that were opened from files, by the names that both keep of what they were made from.

There are no tags. JAX names an operation by where it made it (`jit(step)/jvp(Block)/dot_general`), and the instructions
that the compiler makes of it keep that name. Where several operations share one, those of the instruction's own kind
are meant; whether it was made of all of these, the name does not say: such a link is inferred.
"""

from __future__ import annotations

import numpy as np

from jaxviz.graph import OPERATION, Graph
from jaxviz.link.links import INFERRED, Found, Links, computing, make_links

#: A name that more operations share says where they stand, not which of them is meant.
_MOST_OF_A_NAME = 16


def links_by_name(lowered: Graph, compiled: Graph) -> Links:
    """From the operations that JAX gave to the compiler to the instructions that it made of them."""
    operations = _Named(lowered)
    strings, nodes = compiled.tables.strings, compiled.nodes
    meant: list[Found] = [()] * len(compiled)
    for node in np.flatnonzero(nodes.kind == OPERATION).tolist():
        name, op = strings[nodes.scope[node]], strings[nodes.op[node]]
        meant[node] = operations.meant_by(name, op)
    links = make_links(lowered, compiled, meant)
    unsure = np.array([len(found) > 1 for found in meant], bool)[links.target]
    return Links(links.source, links.target, np.where(unsure, INFERRED, links.kind).astype(np.int32))


class _Named:
    """The operations of a stage that compute something, by name."""

    def __init__(self, graph: Graph) -> None:
        self._ops = [_words(graph.tables.strings[op]) for op in graph.nodes.op.tolist()]
        self._nodes: dict[str, list[int]] = {}
        names = _whole_names(graph)
        for node in computing(graph).tolist():
            if names[node]:
                self._nodes.setdefault(names[node], []).append(node)

    def meant_by(self, name: str, op: str) -> Found:
        """Those that an instruction of this name may have been made of."""
        nodes = self._nodes.get(name, [])
        if len(nodes) > 1:
            words = _words(op)
            nodes = [node for node in nodes if self._ops[node].startswith(words)] or nodes
        return tuple(nodes) if len(nodes) <= _MOST_OF_A_NAME else ()


def _words(op: str) -> str:
    """An operation in the spelling of both stages: `shift-left` is `shift_left`, `dot` begins `dot_general`."""
    return op.replace("-", "_")


def _whole_names(graph: Graph) -> list[str]:
    """The name of each node as the compiler has it: in a function it goes on from the name of the call."""
    strings, owner, region = graph.tables.strings, graph.regions.owner.tolist(), graph.nodes.region.tolist()
    is_call = [strings[kind] in ("call", "manual_computation") for kind in graph.regions.kind.tolist()]
    begins: dict[int, str] = {0: ""}
    names: list[str] = []
    for node, scope in enumerate(graph.nodes.scope.tolist()):
        inside = region[node]
        if inside not in begins:
            # The node that owns a region stands before all that is in it.
            holder = owner[inside]
            begins[inside] = names[holder] if is_call[inside] else begins[region[holder]]
        names.append(_going_on(begins[inside], strings[scope]))
    return names


def _going_on(begin: str, name: str) -> str:
    """A name in a function that is called by this one. Until JAX 0.6 it is whole as it stands."""
    is_whole = not begin or name.startswith(begin.split("/")[0] + "/")
    return name if is_whole else f"{begin}/{name}".rstrip("/")
