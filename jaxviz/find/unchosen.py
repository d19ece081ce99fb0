"""What XLA removed because it is never chosen: what goes into a `where`, a branch or a product with zero of which the
program itself says what comes out.

JAX traces and lowers all of it, so `dead.py` does not tell of it: only the compiler looks at what decides.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from jaxviz.costs.flops import total_flops
from jaxviz.find.finding import NOTE, Finding, Subject, lines_text
from jaxviz.find.known_numbers import KnownNumbers
from jaxviz.find.removed import is_costly
from jaxviz.graph import ENTER, OPERATION, RESULT, Graph
from jaxviz.link.fates import CONSEQUENCE, IMPORTED, SIMPLIFIED, UNLOWERED, Fates
from jaxviz.link.liveness import needed_nodes
from jaxviz.units import flops_text, plural

_GONE = (IMPORTED, SIMPLIFIED, CONSEQUENCE, UNLOWERED)
_WORDS = {
    "select_n": "a choice that is the same for all arguments",
    "cond": "a branch that is never taken",
    "mul": "a product with zero",
}
# Operations from which a cost is worth a word.
_COSTLY = 1e6

Mask = NDArray[np.bool_]


def find(subject: Subject) -> Iterator[Finding]:
    compiled = subject.compiled
    if compiled is None or compiled.fates is None:
        return
    gone = _gone(subject, compiled.fates)
    # Most programs lose nothing that costs something, and what is never read takes long to tell.
    if not any(is_costly(subject, node) for node in gone):
        return
    graph, deciding, known = subject.graph, {}, KnownNumbers(subject.flow)
    unread = np.zeros(len(graph.operands.source), bool)
    for node in subject.flow.nodes(*_WORDS):
        rows = _never_read(subject, known, node)
        if rows:
            deciding[node] = subject.flow.op(node)
            unread[rows] = True
    if not deciding:
        return
    frames = {subject.own_frame(int(graph.nodes.stack[node])) for node in deciding}
    # Of what is decided inside of a function of JAX, nobody wrote what goes into it.
    gone = [
        node for node in gone if node not in deciding and subject.own_frame(int(graph.nodes.stack[node])) not in frames
    ]
    if not any(is_costly(subject, node) for node in gone):
        return
    needless = _needed(graph, np.zeros_like(unread)) & ~_needed(graph, unread)
    nodes = [node for node in gone if needless[node]]
    if any(is_costly(subject, node) for node in nodes):
        yield _finding(subject, compiled.fates, nodes, sorted(set(deciding.values())))


def _gone(subject: Subject, fates: Fates) -> list[int]:
    """What a line of the person's computes and XLA removed. What is computed for its derivative alone is JAX's own."""
    rows = np.flatnonzero((subject.graph.nodes.kind == OPERATION) & np.isin(fates.kind, _GONE))
    return [node for node in rows.tolist() if subject.is_own(node) and not subject.is_derived(node)]


def _finding(subject: Subject, fates: Fates, nodes: list[int], deciding: list[str]) -> Finding:
    graph = subject.graph
    lines = subject.lines(np.array(nodes))
    passes = sorted({graph.tables.strings[fates.where[node]] for node in nodes} - {""})
    where = f"in the pass {' and '.join(passes)}" if passes else "before its first pass"
    outer = [node for node in nodes if not graph.nodes.region[node] or _owner(graph, node) not in set(nodes)]
    flops = sum(total_flops(subject.flow, node) for node in outer)
    cost = f" Executed, it would take {flops_text(flops)}." if flops >= _COSTLY else ""
    return subject.told(
        kind="unchosen",
        severity=NOTE,
        title=f"{plural(len(nodes), 'equation')} that XLA removes, as nothing chooses them",
        text=(
            f"What {lines_text(lines)} compute{'s' * (len(lines) == 1)} goes into "
            f"{' and '.join(_WORDS[op] for op in deciding)}. XLA removes it {where}: it is never executed, but traced, "
            f"lowered and compiled up to there each time.{cost}{subject.tracing(len(nodes))}"
        ),
        remedy="Let Python decide while JAX traces: an `if` on what decides computes one of the two alone.",
        nodes=nodes,
        figures={"equations": len(nodes), "flops": flops},
    )


def _owner(graph: Graph, node: int) -> int:
    return int(graph.regions.owner[graph.nodes.region[node]])


def _only(known: KnownNumbers, source: int) -> int | None:
    """The number that all entries of a source are in each turn, where the program says it."""
    numbers = known.of(source)
    if numbers is None or not numbers.values.size or (numbers.values != numbers.values.flat[0]).any():
        return None
    return int(numbers.values.flat[0])


def _never_read(subject: Subject, known: KnownNumbers, node: int) -> list[int]:
    """The rows of operands that an operation, or a branch of it, does not read whatever the arguments are."""
    graph, flow = subject.graph, subject.flow
    first, op, operands = int(graph.first_operand[node]), flow.op(node), flow.operands(node)
    if op == "mul" and not flow.dtype(operands[0]).startswith(("int", "uint")):
        # Of floats, NaN times zero is none.
        return []
    numbers = [_only(known, source) for source in (operands if op == "mul" else operands[:1])]
    if op == "mul":
        return [first + 1 - numbers.index(0)] if 0 in numbers and None in numbers else []
    if numbers[0] is None:
        return []
    regions = graph.owned_regions.get(node, ())
    count = len(regions) if op == "cond" else len(operands) - 1
    chosen = min(max(numbers[0], 0), count - 1)
    if op == "select_n":
        return [first + 1 + number for number in range(count) if number != chosen]
    left = [region for number, region in enumerate(regions) if number != chosen]
    results = np.flatnonzero(np.isin(graph.nodes.region, left) & (graph.nodes.kind == RESULT))
    return np.flatnonzero(np.isin(graph.operand_node, results)).tolist()


def _needed(graph: Graph, unread: Mask) -> Mask:
    """The nodes that are needed where some operands are not read; what goes into a body that does not is none."""
    while True:
        needed = needed_nodes(graph, unread=unread).astype(bool)
        more = _unread_by_bodies(graph, needed) & ~unread
        if not more.any():
            return needed
        unread = unread | more


def _unread_by_bodies(graph: Graph, needed: Mask) -> Mask:
    """The operands that are the argument of bodies, all of whose readers there are not needed."""
    bindings = graph.bindings
    entering = bindings.kind == ENTER
    owner = graph.regions.owner[graph.nodes.region[bindings.end[entering]]]
    pairs = zip(owner.tolist(), bindings.start[entering].tolist(), bindings.end[entering].tolist(), strict=True)
    read: dict[tuple[int, int], bool] = {}
    for node, source, argument in pairs:
        read[node, source] = read.get((node, source), False) or bool(needed[argument])
    rows = zip(graph.operand_node.tolist(), graph.operands.source.tolist(), strict=True)
    return np.array([not read.get(row, True) for row in rows], bool)
