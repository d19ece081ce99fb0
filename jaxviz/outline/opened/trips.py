"""How often the loops of an opened stage turn, where that can be read: a number goes from one constant to another."""

from __future__ import annotations

from collections.abc import Iterator

from jaxviz.graph import ARGUMENT, ENTER, INIT, Graph
from jaxviz.outline.compiled.roles import is_owner_of
from jaxviz.outline.compiled.turns import LOOPS, with_attributes
from jaxviz.outline.opened.counted import carried, fixed_nodes

_KEY = "known_trip_count"


def with_trip_counts(graph: Graph) -> Graph:
    """The graph whose loops say how often they turn, also where the compiler has not said so yet."""
    attributes, tables = graph.attributes, graph.tables
    key = tables.string(_KEY)
    known = set(attributes.node[attributes.key == key].tolist())
    counts = [(node, count) for node, count in _counts(graph) if node not in known]
    return with_attributes(graph, [(node, key, tables.string(str(count))) for node, count in counts])


def _counts(graph: Graph) -> Iterator[tuple[int, int]]:
    """Loops, and how often each turns."""
    is_loop = is_owner_of(graph, LOOPS)
    loops = [owner for owner in graph.owned_regions if is_loop[owner]]
    if not loops:
        return
    read = _Read(graph, loops)
    for owner in loops:
        if (turns := read.turns(owner)) is not None:
            yield owner, turns


class _Read:
    """What operations read, and the numbers among that."""

    def __init__(self, graph: Graph, loops: list[int]) -> None:
        self._graph = graph
        self._made = graph.operand_maker
        self._fixed = fixed_nodes(graph, self._made, loops)
        bindings = graph.bindings
        given = (bindings.kind == INIT) | (bindings.kind == ENTER)
        # What each argument of a body is given before the first turn.
        self._given = dict(zip(bindings.end[given].tolist(), bindings.start[given].tolist(), strict=True))

    def turns(self, owner: int) -> int | None:
        """How often a loop turns; None where it asks for anything but how far a number has gone."""
        graph = self._graph
        arguments, results = carried(graph, owner)
        goes_on = graph.region_intervals[1][graph.owned_regions[owner][0]] - 1
        match self._operands(int(goes_on)):
            case [compare] if arguments and self._is(compare, "compare"):
                said = graph.node(compare).attributes
            case _:
                return None
        match self._operands(compare):
            case [counter, limit] if counter in (given := arguments[0].tolist()):
                place = given.index(counter)
            case _:
                return None
        own = int(arguments[-1][place])
        match self._operands(int(results[place])):
            case [add] if self._is(add, "add"):
                added = [one for one in self._operands(add) if one != own]
            case _:
                return None
        low, high = self._number(self._before(own)), self._number(limit)
        step = self._number(added[0]) if len(added) == 1 else None
        if low is None or high is None or step is None or step <= 0:
            return None
        match said.get("comparison_direction") or said.get("direction"):
            case "LT":
                return max(0, (high - 1 - low) // step + 1)
            case "LE":
                return max(0, (high - low) // step + 1)
            case _:
                return None

    def _before(self, argument: int) -> int:
        """What makes the value that an argument of a body has before the first turn; -1 where that is not known."""
        value = self._given.get(argument, -1)
        return int(self._graph.value_node[value]) if value >= 0 else -1

    def _operands(self, node: int) -> list[int]:
        """What makes each operand of a node, -1 for a literal."""
        first = self._graph.first_operand
        made: list[int] = self._made[first[node] : first[node + 1]].tolist()
        return made

    def _is(self, node: int, op: str) -> bool:
        return node >= 0 and self._graph.tables.strings[self._graph.nodes.op[node]] == op

    def _number(self, node: int) -> int | None:
        """The number that a node always is, as far as that is written down."""
        while node >= 0 and self._graph.nodes.kind[node] == ARGUMENT and self._fixed[node]:
            node = self._before(node)
        text = self._graph.node(node).attributes.get("value", "") if self._is(node, "constant") else ""
        return int(text) if text.lstrip("-").isdecimal() else None
