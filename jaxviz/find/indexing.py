"""Indices out of bounds: JAX does not raise an error, it reads the nearest entry, fills in or drops.

An index that is written in the program and out of bounds is a mistake. One that comes from an argument may be, and it
is good to know what happens then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from jaxviz.find.finding import NOTE, WARNING, Finding, Subject, lines_text, plural
from jaxviz.find.flow import SAME

# Operations through which an index goes on its way from the argument: negative ones are counted from the end.
_ON_THE_WAY = SAME | {"add", "select_n"}
_CLAMPED, _FILLED, _DROPPED = "clamped", "filled", "dropped"
_SAYS = {
    _CLAMPED: "reads the nearest entry instead",
    _FILLED: "gives a number that says so (NaN, or the largest or smallest whole number)",
    _DROPPED: "changes nothing",
}
_REMEDY = (
    "Check the index before the call, say what is meant with x.at[i].get(mode='fill', fill_value=...) or "
    "x.at[i].set(y, mode='clip'), or run it once under jax.experimental.checkify with index checks."
)


def find(subject: Subject) -> Iterator[Finding]:
    loose: dict[str, list[int]] = {}
    for node in subject.flow.nodes("dynamic_slice", "dynamic_update_slice", "gather", *_scatters(subject)):
        if subject.is_derived(node):
            continue
        wrong = _out_of_bounds(subject, node)
        what = _what_happens(subject, node)
        if wrong is not None:
            yield _wrong(subject, node, *wrong, what)
        elif subject.is_own(node) and _from_argument(subject, node):
            loose.setdefault(what, []).append(node)
    # Who trains looks labels and tokens up all the time, and knows what they are.
    if loose and not subject.has_gradient:
        yield _loose(subject, loose)


def _scatters(subject: Subject) -> list[str]:
    strings = subject.graph.tables.strings
    return [strings[op] for op in np.unique(subject.graph.nodes.op).tolist() if strings[op].startswith("scatter")]


def _what_happens(subject: Subject, node: int) -> str:
    op, mode = subject.flow.op(node), subject.graph.node(node).attributes.get("mode", "")
    if op.startswith("scatter"):
        return _CLAMPED if "CLIP" in mode else _DROPPED
    return _FILLED if op == "gather" and "FILL" in mode else _CLAMPED


def _indices(subject: Subject, node: int) -> list[int]:
    """The sources of the indices of a lookup."""
    flow = subject.flow
    operands = flow.operands(node)
    first = {"dynamic_slice": 1, "dynamic_update_slice": 2}.get(flow.op(node))
    return operands[first:] if first is not None else operands[1:2]


def _out_of_bounds(subject: Subject, node: int) -> tuple[int, int] | None:
    """An index of an operation that is out of bounds for all arguments, and the size of its axis."""
    flow, graph = subject.flow, subject.graph
    operands = flow.operands(node)
    dims = flow.dims(operands[0])
    op = flow.op(node)
    if op in ("dynamic_slice", "dynamic_update_slice"):
        piece = flow.dims(int(graph.first_value[node])) if op == "dynamic_slice" else flow.dims(operands[1])
        checks = list(zip(_indices(subject, node), dims, piece, strict=False))
    else:
        axes = _axes(graph.node(node).attributes.get("dimension_numbers", ""))
        # Of one number alone is it known which axis it is for, and that it is not a row of others.
        if len(axes) != 1 or axes[0] >= len(dims):
            return None
        checks = [(operands[1], dims[axes[0]], 1)]
    for source, size, length in checks:
        index = flow.number(source)
        if isinstance(index, int) and size >= 0 and not 0 <= index <= size - length:
            # What is below 0 was counted from the end before.
            return (index if index >= 0 else index - size, size)
    return None


_AXES = re.compile(r"(?:start_index_map|scatter_dims_to_operand_dims)=\(([\d, ]*)\)")


def _axes(text: str) -> tuple[int, ...]:
    found = _AXES.search(text)
    return tuple(int(part) for part in found[1].split(",") if part.strip()) if found else ()


def _from_argument(subject: Subject, node: int) -> bool:
    """Whether an index is an argument of the program, as it was given."""
    flow = subject.flow
    for source in _indices(subject, node):
        source = flow.back(source)
        for _ in range(8):
            if source < 0 or flow.is_argument(source):
                break
            maker = int(subject.graph.value_node[source])
            if flow.op(maker) not in _ON_THE_WAY:
                break
            # Of what is chosen, what was there before it was counted from the end.
            source = flow.origin(flow.operands(maker)[1 if flow.op(maker) == "select_n" else 0])
        if flow.is_argument(source) and flow.dtype(source).startswith(("int", "uint")):
            return True
    return False


def _wrong(subject: Subject, node: int, index: int, size: int, what: str) -> Finding:
    return subject.told(
        kind="indexing",
        severity=WARNING,
        title=f"index {index} is out of bounds for an axis of {size}",
        text=f"JAX does not raise an error for this: it {_SAYS[what]}.",
        remedy=f"Use an index from {-size} to {size - 1}." if size else "There is nothing to index.",
        nodes=[node],
        figures={"index": index, "size": size},
    )


def _loose(subject: Subject, loose: dict[str, list[int]]) -> Finding:
    nodes = [node for found in loose.values() for node in found]
    count = len(subject.lines(np.array(nodes)))
    parts = [
        f"on {lines_text(subject.lines(np.array(found)))} an index that is out of bounds {_SAYS[what]}"
        for what, found in loose.items()
    ]
    text = "; ".join(parts)
    return subject.told(
        kind="indexing",
        severity=NOTE,
        title=f"{plural(count, 'line')} where an index out of bounds is no error",
        text=f"{text[0].upper()}{text[1:]}. JAX cannot raise an error from inside a compiled function.",
        remedy=_REMEDY,
        nodes=nodes,
        figures={what: len(found) for what, found in loose.items()},
    )
