"""Phases by the names that JAX gives, beside phases by what depends on the way back.

    python -m bench phases [--quick]

What runs backward is known by its name stack, `transpose(jvp(f))`; what has no such name, by what stands around it.
Another rule would be to ask for each operation whether any cotangent reaches it: what none reaches runs forward, what
one reaches after the last that is named so is the update. A cotangent itself is no value of a jaxpr (it begins as the
literal 1.0), so names would have to say where it begins. Printed for the programs that have a way back:

forward   operations in phases forward, and how many of them a cotangent reaches
backward  operations in phases backward, how many of them have no name that says so, and how many none reaches;
          of these, how many are computed again on the way back
update    operations in phases update, and how many of them no cotangent reaches: they would be forward

The last line says how many operations the other rule would move, and where to: what is recomputed to the forward part
that it is the copy of, of an optimizer what it does to its old state to before the gradient, and of a second gradient
what runs forward to the update that it reads.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

import jaxviz as jv
from bench.views import programs
from jaxviz.graph import CARRY, LEAVE, OPERATION, STACK, Graph
from jaxviz.outline import Outline, make_outline

_PHASES = ("forward", "backward", "update")
_AGAIN = ("rematted_computation", "checkpoint")


def phases_of(outline: Outline) -> NDArray[np.int64]:
    """Which of the phases each node is in, the innermost one; -1 for none."""
    found = np.full(len(outline.graph), -1)
    for row in outline:
        if row.kind == "phase":
            found[row.first : row.end] = _PHASES.index(row.name) if row.name in _PHASES else -1
    return found


def reached(graph: Graph, seeds: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which nodes read what others make, also in bodies and out of them, from any of the seeds on."""
    read = graph.operands.source >= 0
    maker, reader = graph.value_node[graph.operands.source[read]], graph.operand_node[read]
    start, end, kind = graph.bindings.start, graph.bindings.end, graph.bindings.kind
    out = (kind == LEAVE) | (kind == STACK)
    into = ~out & (kind != CARRY) & (start >= 0)
    source = np.concatenate([maker, graph.value_node[start[into]], start[out]])
    target = np.concatenate([reader, end[into], graph.value_node[end[out]]])
    found, count = seeds.copy(), -1
    while count != (count := int(found.sum())):
        found[target[found[source]]] = True
    return found


def main() -> None:
    print(f"{'jaxpr':20} {'forward':>8} {'reached':>8} {'backward':>9} {'unnamed':>8} {'not':>6} {'again':>6}", end=" ")
    print(f"{'update':>8} {'not':>6}")
    total = np.zeros(8, int)
    for name, make in programs("--quick" in sys.argv).items():
        fn, arguments = make()
        graph = jv.explore(fn, *arguments).jaxpr
        phase = np.where(graph.nodes.kind == OPERATION, phases_of(make_outline(graph)), -1)
        if not (phase == 1).any():
            continue
        strings = graph.tables.strings
        named, again = (
            np.isin(graph.nodes.scope, [row for row in np.unique(graph.nodes.scope) if test(strings[row])])
            for test in (lambda scope: "transpose(" in scope, lambda scope: any(word in scope for word in _AGAIN))
        )
        follows = reached(graph, named & ~again)
        owns = np.isin(np.arange(len(graph)), graph.regions.owner[1:])
        forward, backward, update = ((phase == number) & ~owns for number in range(3))
        columns = [forward, forward & follows, backward, backward & ~named, backward & ~follows]
        columns += [backward & ~follows & again, update, update & ~follows]
        row = np.array([int(column.sum()) for column in columns])
        total += row
        print("{:20} {:8,} {:8,} {:9,} {:8,} {:6,} {:6,} {:8,} {:6,}".format(name, *row.tolist()))
    moved = total[1] + total[4] + total[7]
    print(f"\n{moved:,} of {total[[0, 2, 6]].sum():,} operations would move: {total[1]:,} out of forward,", end=" ")
    print(f"{total[4]:,} out of backward ({total[5]:,} of them recomputed), {total[7]:,} of {total[6]:,} out of update")


if __name__ == "__main__":
    main()
