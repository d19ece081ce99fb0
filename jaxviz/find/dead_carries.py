"""Values that a loop carries and updates though nothing reads them: neither the result, nor what decides when the loop
ends, nor another value of it.

Liveness takes what is carried as needed with its loop (`link/liveness.py`), as JAX does; here each is looked at alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxviz.costs.flops import total_flops, turns_of
from jaxviz.find.finding import ADVICE, NOTE, Finding, Subject
from jaxviz.graph import CARRY, LEAVE, OPERATION, RESULT, STACK, Column
from jaxviz.link.liveness import is_acting, needed_nodes
from jaxviz.units import flops_text, plural

# Operations from which a cost is worth a word.
_COSTLY = 1e6
_WORTH = 3


class _Loop(NamedTuple):
    """A loop: the region of its body, and by result of the body the arguments that it becomes in the next turn."""

    body: int
    carried: dict[int, list[int]]


def find(subject: Subject) -> Iterator[Finding]:
    """One finding for each loop that carries what nothing reads."""
    graph = subject.graph
    bindings = graph.bindings
    loops: dict[int, _Loop] = {}
    outside: dict[int, int] = {}
    for kind, start, end in zip(bindings.kind.tolist(), bindings.start.tolist(), bindings.end.tolist(), strict=True):
        if kind == CARRY:
            body = int(graph.nodes.region[start])
            loops.setdefault(int(graph.regions.owner[body]), _Loop(body, {})).carried.setdefault(start, []).append(end)
        elif kind in (LEAVE, STACK):
            outside[start] = end
    if not loops:
        return
    needed = needed_nodes(graph)
    read = np.zeros(len(graph.values.type), bool)
    sources = graph.operands.source[(graph.operands.source >= 0) & (needed[graph.operand_node] > 0)]
    read[sources] = True
    for owner, loop in loops.items():
        if needed[owner] and not subject.is_derived(owner):
            yield from _dead(subject, owner, loop, outside, read)


def _dead(subject: Subject, owner: int, loop: _Loop, outside: dict[int, int], read: Column) -> Iterator[Finding]:
    graph = subject.graph
    walk = _Back(subject, loop.body)
    results = _results(subject, loop.body)
    wanted = [one for one in results if one not in loop.carried or (one in outside and read[outside[one]])]
    wanted += walk.acting
    asked = _asked(subject, owner, loop)
    wanted += [result for result, arguments in loop.carried.items() if asked.intersection(arguments)]
    alive = walk.back(wanted)
    while True:
        more = [
            result
            for result, arguments in loop.carried.items()
            if result not in alive and alive.intersection(arguments)
        ]
        if not more:
            break
        alive |= walk.back(more)
    own = {
        result: [node for node in walk.back([result]) - alive if graph.nodes.kind[node] == OPERATION]
        for result in loop.carried
        if result not in alive
    }
    # A number that is only counted up costs nothing; loops of JAX count so themselves.
    dead = {result: nodes for result, nodes in own.items() if not _only_counts(subject, nodes)}
    nodes = sorted({node for some in dead.values() for node in some})
    # What a loop that JAX itself has written carries comes from where it is called, and is its own matter.
    stacks = graph.nodes.stack
    if not any(subject.is_own(node) and stacks[node] != stacks[owner] for node in nodes):
        return
    names = [_name(subject, result, loop) for result in dead]
    named = ", ".join(f"`{name}`" for name in dict.fromkeys(filter(None, names)))
    what, it = (named or plural(len(names), "value")), "them" if len(names) > 1 else "it"
    flops = sum(total_flops(subject.flow, node) for node in nodes) * max(turns_of(subject.flow, owner), 1)
    cost = f" In all its turns, it would take {flops_text(flops)}." if flops >= _COSTLY else ""
    goes = "are" if len(names) > 1 else "is"
    yield subject.told(
        kind="dead",
        severity=ADVICE if len(nodes) >= _WORTH or flops >= _COSTLY else NOTE,
        title=f"{what} {goes} carried round a loop and never read",
        text=f"Each turn makes {it} anew ({plural(len(nodes), 'equation')}), but no result, no other value of the loop "
        "and not its end depends on that." + cost,
        remedy="Leave it out of what the loop carries, or return it if it was meant to be.",
        nodes=nodes,
        figures={"equations": len(nodes), "flops": flops},
    )


def _asked(subject: Subject, owner: int, loop: _Loop) -> set[int]:
    """The arguments of the body of a `while` whose values decide whether it goes on."""
    graph = subject.graph
    decides: set[int] = set()
    for region in graph.owned_regions.get(owner, ()):
        if region == loop.body:
            continue
        decides |= _Back(subject, region).back(_results(subject, region))
    # What a result of the body becomes in the next turn is an argument of both bodies.
    return {end for ends in loop.carried.values() if decides.intersection(ends) for end in ends}


def _only_counts(subject: Subject, nodes: list[int]) -> bool:
    """Whether nothing is done but to add a number, or nothing at all."""
    return not nodes or (len(nodes) == 1 and subject.flow.op(nodes[0]) in ("add", "sub"))


def _results(subject: Subject, region: int) -> list[int]:
    graph = subject.graph
    inside = np.arange(*(int(ends[region]) for ends in graph.region_intervals))
    return inside[(graph.nodes.region[inside] == region) & (graph.nodes.kind[inside] == RESULT)].tolist()


def _name(subject: Subject, result: int, loop: _Loop) -> str:
    """What the body calls a carried value."""
    graph = subject.graph
    inside = [argument for argument in loop.carried[result] if graph.nodes.region[argument] == loop.body]
    return graph.tables.strings[graph.nodes.name[inside[0]]] if inside else ""


class _Back:
    """What nodes of one body are made of, in that body; what stands further inside counts with its owner."""

    def __init__(self, subject: Subject, body: int) -> None:
        self._graph, self._body = subject.graph, body
        start, end = self._graph.region_intervals
        inside = np.arange(int(start[body]), int(end[body]))
        acting = [node for node in inside.tolist() if is_acting(self._graph, node)]
        self.acting = sorted({self._lifted(node) for node in acting})

    def back(self, nodes: list[int]) -> set[int]:
        """Nodes with all that they are made of."""
        graph = self._graph
        known, waiting = set(nodes), list(nodes)
        while waiting:
            node = waiting.pop()
            sources = graph.operands.source[graph.first_operand[node] : graph.first_operand[node + 1]].tolist()
            for source in sources:
                maker = self._lifted(int(graph.value_node[source])) if source >= 0 else -1
                if maker >= 0 and maker not in known:
                    known.add(maker)
                    waiting.append(maker)
        return known

    def _lifted(self, node: int) -> int:
        """The node of the body that a node is, or stands in; -1 where it stands around it."""
        graph = self._graph
        while node >= 0 and graph.nodes.region[node] != self._body:
            node = int(graph.regions.owner[graph.nodes.region[node]])
        return node
