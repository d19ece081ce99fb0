"""Indices out of bounds: JAX does not raise an error, it reads the nearest entry, fills in or drops.

An index that is written in the program and out of bounds is a mistake. One that comes from an argument may be, and it
is good to know what happens then.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from jaxviz.find.finding import NOTE, WARNING, Finding, Subject, lines_text
from jaxviz.find.flow import SAME
from jaxviz.find.known_numbers import KnownNumbers
from jaxviz.units import plural

# Operations through which an index goes on its way from the argument, none of which keeps it within bounds: negative
# ones are counted from the end, and indices of several axes stand beside one another.
_ON_THE_WAY = {"add", "sub", "mul", "select_n", "concatenate"}
_CLAMPED, _OVERWRITTEN, _FILLED, _DROPPED, _MOVED = "clamped", "overwritten", "filled", "dropped", "moved"
_SAYS = {
    _CLAMPED: "reads the nearest entry instead",
    _OVERWRITTEN: "writes over the nearest entry instead",
    _FILLED: "gives a number that says so (NaN, or the largest or smallest whole number)",
    _DROPPED: "changes nothing",
    _MOVED: "makes the slice begin where all of it fits, at other entries than are named",
}
_REMEDY = (
    "Check the index before the call, say what is meant with x.at[i].get(mode='fill', fill_value=...) or "
    "x.at[i].set(y, mode='clip'), or run it once under jax.experimental.checkify with index checks."
)


def find(subject: Subject) -> Iterator[Finding]:
    loose: dict[str, list[int]] = {}
    known = KnownNumbers(subject.flow)
    for node in subject.flow.nodes("dynamic_slice", "dynamic_update_slice", "gather", *_scatters(subject)):
        if subject.is_derived(node):
            continue
        wrong = _out_of_bounds(subject, known, node)
        what = _what_happens(subject, node)
        if wrong is not None:
            if not _is_said(subject, node):
                yield _wrong(subject, node, wrong, what)
        elif subject.is_own(node) and _from_argument(subject, node) and not _is_said(subject, node):
            loose.setdefault(what, []).append(node)
    # Who trains looks labels and tokens up all the time, and knows what they are.
    if loose and not subject.has_gradient:
        yield _loose(subject, loose)


def _is_said(subject: Subject, node: int) -> bool:
    """Whether the program says what should happen then: who wrote that knows that it does."""
    return "mode=" in subject.expression(node)[1]


def _scatters(subject: Subject) -> list[str]:
    strings = subject.graph.tables.strings
    return [strings[op] for op in np.unique(subject.graph.nodes.op).tolist() if strings[op].startswith("scatter")]


def _what_happens(subject: Subject, node: int) -> str:
    op, mode = subject.flow.op(node), subject.graph.node(node).attributes.get("mode", "")
    if op in ("dynamic_slice", "dynamic_update_slice") and any(length > 1 for *_, length in _cut(subject, node)):
        return _MOVED
    if op.startswith("scatter"):
        return _OVERWRITTEN if "CLIP" in mode else _DROPPED
    if op == "dynamic_update_slice":
        return _OVERWRITTEN
    return _FILLED if op == "gather" and "FILL" in mode else _CLAMPED


def _indices(subject: Subject, node: int) -> list[int]:
    """The sources of the indices of a lookup."""
    flow = subject.flow
    operands = flow.operands(node)
    first = {"dynamic_slice": 1, "dynamic_update_slice": 2}.get(flow.op(node))
    return operands[first:] if first is not None else operands[1:2]


def _cut(subject: Subject, node: int) -> list[tuple[int, int, int]]:
    """Of a slice, the axes that are not taken whole: the source of the beginning, the size and the length."""
    return [check for check in _checks(subject, node) if check[1] != check[2]]


class _Wrong(NamedTuple):
    """Indices that are out of bounds: the first of them, the size of the axis, how much is taken from there, how many
    are and of how many."""

    first: int
    size: int
    length: int
    wrong: int
    of: int
    in_turns: bool


def _out_of_bounds(subject: Subject, known: KnownNumbers, node: int) -> _Wrong | None:
    """The first index of an operation that is out of bounds for all arguments."""
    for source, size, length in _checks(subject, node):
        numbers = known.of(source)
        if numbers is None or size < 0:
            continue
        wrong = (numbers.values < 0) | (numbers.values > size - length)
        if not wrong.any() or numbers.values.dtype == bool:
            continue
        single = numbers.along is None
        if not single and not subject.is_own(node):
            continue
        if numbers.loop >= 0 and (_is_guarded(subject, node, numbers.loop) or _is_chosen_from(subject, node)):
            continue
        index = int(numbers.values.ravel()[int(np.argmax(wrong))])
        # What is below 0 was counted from the end before.
        index = index if index >= 0 else index - size
        # Of a large array only the least and the most are known.
        of = numbers.values.size if numbers.exact else 1
        return _Wrong(index, size, length, int(np.count_nonzero(wrong)), of, numbers.loop >= 0)
    return None


def _checks(subject: Subject, node: int) -> list[tuple[int, int, int]]:
    """The sources of indices, each with the size of its axis and the length of what is taken or written there."""
    flow, graph = subject.flow, subject.graph
    operands, op = flow.operands(node), flow.op(node)
    dims = flow.dims(operands[0])
    if op in ("dynamic_slice", "dynamic_update_slice"):
        piece = flow.dims(int(graph.first_value[node])) if op == "dynamic_slice" else flow.dims(operands[1])
        return list(zip(_indices(subject, node), dims, piece, strict=False))
    attributes = graph.node(node).attributes
    numbers = attributes.get("dimension_numbers", "")
    axes = _axes(_AXES, numbers)
    sources = [operands[1]]
    if len(axes) > 1:
        # Indices of several axes stand beside one another.
        source = flow.back(operands[1])
        maker = int(graph.value_node[source]) if source >= 0 else -1
        sources = flow.operands(maker) if maker >= 0 and flow.op(maker) == "concatenate" else []
    if len(sources) != len(axes) or any(axis >= len(dims) for axis in axes):
        return []
    if op == "gather":
        lengths = [int(size) for size in re.findall(r"\d+", attributes.get("slice_sizes", ""))]
        if len(lengths) != len(dims):
            return []
        return [(source, dims[axis], lengths[axis]) for source, axis in zip(sources, axes, strict=True)]
    single = _axes(_INSERTED, numbers)
    return [(source, dims[axis], 1) for source, axis in zip(sources, axes, strict=True) if axis in single]


def _is_guarded(subject: Subject, node: int, loop: int) -> bool:
    """Whether a condition inside of a loop decides whether something is looked up at all."""
    graph, region = subject.graph, int(subject.graph.nodes.region[node])
    while region > 0 and region != loop:
        if graph.tables.strings[graph.regions.kind[region]] == "branch":
            return True
        region = int(graph.region_parent[region])
    return False


def _is_chosen_from(subject: Subject, node: int, steps: int = 8) -> bool:
    """Whether what is looked up is only one of several that are chosen from, as in `jnp.where(i < n, x[i], 0)`."""
    graph, flow = subject.graph, subject.flow
    value = int(graph.first_value[node])
    readers = graph.readers(value)
    for reader in readers:
        if flow.op(reader) == "select_n" or graph.tables.strings[graph.nodes.name[reader]] == "_where":
            continue
        if not steps or flow.op(reader) not in SAME or not _is_chosen_from(subject, reader, steps - 1):
            return False
    return bool(readers)


# A jaxpr has `=(0,)` where StableHLO has ` = [0]`.
_AXES = re.compile(r"(?:start_index_map|scatter_dims_to_operand_dims) ?= ?[(\[]([\d, ]*)[)\]]")
_INSERTED = re.compile(r"inserted_window_dims ?= ?[(\[]([\d, ]*)[)\]]")


def _axes(pattern: re.Pattern[str], text: str) -> tuple[int, ...]:
    found = pattern.search(text)
    return tuple(int(part) for part in found[1].split(",") if part.strip()) if found else ()


def _from_argument(subject: Subject, node: int) -> bool:
    """Whether an index is an argument of the program, as it was given."""
    return any(_is_given(subject, source) for source in _indices(subject, node))


def _is_given(subject: Subject, source: int, steps: int = 8) -> bool:
    flow = subject.flow
    source = flow.origin(source)
    if flow.is_argument(source):
        return flow.dtype(source).startswith(("int", "uint"))
    maker = int(subject.graph.value_node[source]) if source >= 0 else -1
    if not steps or maker < 0 or flow.op(maker) not in _ON_THE_WAY:
        return False
    # Of what is chosen, what was there before it was counted from the end.
    operands = flow.operands(maker)[1:2] if flow.op(maker) == "select_n" else flow.operands(maker)
    return any(_is_given(subject, one, steps - 1) for one in operands)


def _wrong(subject: Subject, node: int, wrong: _Wrong, what: str) -> Finding:
    size = wrong.size
    title = f"index {wrong.first} is out of bounds for an axis of {size}"
    text = f"JAX does not raise an error for this: it {_SAYS[what]}."
    remedy = f"Use an index from {-size} to {size - 1}." if size else "There is nothing to index."
    if wrong.length > 1:
        title = f"a slice of {wrong.length:,} from {wrong.first} does not fit into an axis of {size}"
        remedy = f"Begin at 0 to {size - wrong.length}." if wrong.length <= size else "Take a slice that fits."
    if wrong.in_turns and wrong.length > 1:
        title += f" in {plural(wrong.wrong, 'turn')} of {wrong.of:,}"
    elif wrong.in_turns:
        title += f" in {plural(wrong.wrong, 'turn')} of {wrong.of:,}"
        remedy = (
            "Let the loop turn as often as the axis has entries, or choose with jnp.where(i < n, x[i], ...) what it "
            f"should be beyond them: the last index is {size - 1}."
        )
    elif wrong.of > 1 and wrong.wrong > 1 and wrong.length == 1:
        title = f"{wrong.wrong:,} indices, the first {wrong.first}, are out of bounds for an axis of {size}"
    figures = {"index": wrong.first, "size": size}
    if wrong.of > 1:
        figures |= {"count": wrong.wrong, "of": wrong.of}
    return subject.told("indexing", WARNING, title, text, remedy, [node], figures)


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
