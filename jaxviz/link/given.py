"""Which equations are computed of numbers that are known before the program runs."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from jaxviz.graph import ARGUMENT, CONSTANT, ENTER, OPERATION, Graph
from jaxviz.link.liveness import is_acting

# By graph: numbers, links and fates ask the same.
_known: WeakKeyDictionary[Graph, frozenset[int]] = WeakKeyDictionary()


def given_nodes(graph: Graph) -> frozenset[int]:
    """The equations that are computed of literals and constants alone, by no loop or branch, without effects."""
    if graph not in _known:
        _known[graph] = frozenset(_find_given(graph))
    return _known[graph]


def _find_given(graph: Graph) -> set[int]:
    strings = graph.tables.strings
    operands, first = graph.operands.source.tolist(), graph.first_operand.tolist()
    kinds, maker, owned = graph.nodes.kind.tolist(), graph.value_node.tolist(), graph.owned_regions
    bindings = graph.bindings
    enters = bindings.kind == ENTER
    handed = dict(zip(bindings.end[enters].tolist(), bindings.start[enters].tolist(), strict=True))
    region_kind = graph.regions.kind.tolist()
    found: set[int] = set()
    for node, kind in enumerate(kinds):
        sources = operands[first[node] : first[node + 1]]
        if kind == ARGUMENT and node in handed:
            sources = [handed[node]]
        elif kind not in (OPERATION, CONSTANT):
            continue
        # That most are computed of arguments is seen soonest.
        for source in sources:
            if source >= 0 and maker[source] not in found:
                break
        else:
            calls = all(strings[region_kind[region]] == "jit" for region in owned.get(node, ()))
            if calls and not is_acting(graph, node):
                found.add(node)
    return found
