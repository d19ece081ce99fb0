"""Precision that changes without being asked for: narrow floats that become wide, and floats cut to whole numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from jaxviz.find.finding import ADVICE, NOTE, WARNING, Finding, Subject
from jaxviz.graph import OPERATION, Graph
from jaxviz.units import bytes_text

# Bytes of an entry.
WIDTHS = {"bfloat16": 2, "float16": 2, "float32": 4, "float64": 8}
# A call that names a type gives what it names.
NAMED = re.compile(r"astype|dtype|float\d|bfloat|convert_element_type|asarray|\.array\(|\.view\(|promote")
# Bytes from which a value that is twice as large as meant is worth a word.
LARGE = 1_000
# Operations between what widens a value and what shows that it is meant.
_NEAR = 8


def find(subject: Subject) -> Iterator[Finding]:
    yield from _widened(subject)
    yield from _cut(subject)
    yield from _there_and_back(subject)


def _widened(subject: Subject) -> Iterator[Finding]:
    """Narrow floats that meet a wide one: JAX computes on in the wide type."""
    flow, graph = subject.flow, subject.graph
    found: dict[tuple[str, str], list[int]] = {}
    for node in flow.nodes("convert_element_type", "dot_general"):
        made = int(graph.first_value[node])
        types = [flow.dtype(source) for source in flow.operands(node)]
        wide = flow.dtype(made)
        # A product takes both types as they are, and gives the wider one.
        mixed = types[0] if flow.op(node) == "convert_element_type" else min(types, key=lambda one: WIDTHS.get(one, 0))
        if WIDTHS.get(mixed, 8) >= WIDTHS.get(wide, 0) or (len(types) > 1 and wide not in types):
            continue
        if graph.tables.types.bytes[int(graph.values.type[made])] < LARGE:
            continue
        if _is_written_into(subject, made):
            continue
        if not subject.is_own(node) or subject.is_derived(node) or not _is_unasked(subject, node):
            continue
        if flow.op(node) == "dot_general" or not _is_meant(subject, node, mixed):
            found.setdefault((mixed, wide), []).append(node)
    for (one, wide), nodes in found.items():
        size = sum(float(graph.tables.types.bytes[int(graph.values.type[graph.first_value[node]])]) for node in nodes)
        yield subject.told(
            kind="precision",
            severity=ADVICE,
            title=f"{one} becomes {wide} where it meets a {wide} value",
            text=(
                f"Nothing asks for it: JAX takes the wider type of two arrays, and computes on in {wide}, with "
                f"{bytes_text(size)} of values in place of {bytes_text(size * WIDTHS[one] / WIDTHS[wide])}. "
                "A NumPy number is such an array; a Python number is not."
            ),
            remedy=f"Convert the other one: y.astype(x.dtype), or write the number as a Python float. "
            f"If {wide} is meant, say so with x.astype.",
            nodes=nodes,
            figures={"bytes": size},
        )


def _is_written_into(subject: Subject, value: int) -> bool:
    """Whether it is an array that something is written into; what becomes of that is told by itself."""
    graph, flow = subject.graph, subject.flow
    readers = graph.readers(value)
    return any(flow.op(node).startswith("scatter") and flow.operands(node)[0] == value for node in readers)


def _is_unasked(subject: Subject, node: int) -> bool:
    """Whether a conversion comes of an operator, or of a call that names no type and is given a wide value as well."""
    expression, text = subject.expression(node)
    if subject.flow.op(node) == "dot_general":
        return bool(text) and not NAMED.search(text) and "preferred_element_type" not in text
    if isinstance(expression, (ast.BinOp, ast.AugAssign, ast.Compare)):
        return True
    return bool(text) and not NAMED.search(text) and _meets_another(subject, node)


def _is_meant(subject: Subject, node: int, narrow: str) -> bool:
    """Whether computing on in the wide type is meant: the result is made narrow again, what it meets was made wide on
    purpose, or it is added to an array that is given back, as a step is to weights."""
    graph, flow = subject.graph, subject.flow
    for reader in _readers(graph, int(graph.first_value[node])):
        others = [source for source in map(flow.back, flow.operands(reader)) if source >= 0]
        others = [source for source in others if graph.value_node[source] != node]
        made = int(graph.first_value[reader])
        if becomes(subject, made, narrow) or any(_was_widened(subject, source) for source in others):
            return True
        first = flow.back(flow.operands(reader)[0])
        is_given = first in others and flow.is_argument(first)
        if is_given and flow.op(reader) in ("add", "sub") and graph.values.type[first] == graph.values.type[made]:
            return True
    return False


def becomes(subject: Subject, value: int, narrow: str) -> bool:
    """Whether a value is made as narrow as it was a few operations on, entry by entry."""
    graph, flow = subject.graph, subject.flow
    shape = graph.tables.types.dims[int(graph.values.type[value])]
    waiting = [value]
    for _ in range(_NEAR):
        after = {reader for one in waiting for reader in _readers(graph, one) if graph.nodes.kind[reader] == OPERATION}
        made = [int(graph.first_value[reader]) for reader in after]
        if any(WIDTHS.get(flow.dtype(one), 8) <= WIDTHS[narrow] for one in made):
            return True
        waiting = [one for one in made if graph.tables.types.dims[int(graph.values.type[one])] == shape]
    return False


def _was_widened(subject: Subject, source: int) -> bool:
    """Whether a value is made of one that the program made wide, a few operations before."""
    graph, flow = subject.graph, subject.flow
    waiting = [source]
    for _ in range(_NEAR):
        before = {int(graph.value_node[one]) for one in waiting}
        for node in before:
            if flow.op(node) == "convert_element_type" and _is_float(flow.dtype(flow.operands(node)[0])):
                return not _is_unasked(subject, node)
        waiting = [back for node in before for back in map(flow.back, flow.operands(node)) if back >= 0]
    return False


def _readers(graph: Graph, value: int) -> list[int]:
    found: list[int] = graph.readers(value)
    return found


def _meets_another(subject: Subject, node: int) -> bool:
    """Whether an operation takes what a conversion made together with a value from somewhere else."""
    graph, flow = subject.graph, subject.flow
    stacks = graph.nodes.stack
    readers = graph.readers(graph.first_value[node])
    for operand in (operand for reader in readers for operand in flow.operands(reader)):
        source = flow.back(operand)
        if source >= 0 and stacks[graph.value_node[source]] != stacks[node]:
            return True
    return False


def _is_float(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat"))


def _is_whole(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


def _cut(subject: Subject) -> Iterator[Finding]:
    """Floats written into an array of whole numbers, which cuts them, or of narrower floats, which rounds them."""
    flow, graph = subject.flow, subject.graph
    cut: list[int] = []
    rounded: list[int] = []
    for node in flow.nodes("convert_element_type"):
        source, made = flow.back(flow.operands(node)[0]), int(graph.first_value[node])
        if source < 0 or not _is_float(flow.dtype(source)) or not subject.is_own(node):
            continue
        whole = _is_whole(flow.dtype(made))
        if not whole and WIDTHS.get(flow.dtype(made), 8) >= WIDTHS.get(flow.dtype(source), 0):
            continue
        maker = int(graph.value_node[source])
        op = flow.op(maker)
        if not op.startswith("scatter") and op != "dynamic_update_slice":
            continue
        # The array was of the narrow type before.
        before = flow.operands(maker)[0]
        origin = int(graph.value_node[before]) if before >= 0 else -1
        widened = origin >= 0 and flow.op(origin) == "convert_element_type"
        if widened and flow.dtype(flow.operands(origin)[0]) == flow.dtype(made):
            (cut if whole else rounded).append(node)
    if cut:
        yield subject.told(
            kind="precision",
            severity=WARNING,
            title="floats are cut to whole numbers where they are written into an array",
            text="The array holds whole numbers, so what is behind the point of the written numbers is lost.",
            remedy="Make the array one of floats first: x.astype(jnp.float32).at[...].set(...), or round on purpose.",
            nodes=cut,
        )
    if rounded:
        narrow = flow.dtype(int(graph.first_value[rounded[0]]))
        wide = flow.dtype(flow.operands(rounded[0])[0])
        yield subject.told(
            kind="precision",
            severity=ADVICE,
            title=f"{wide} is rounded to {narrow} where it is written into an array",
            text=f"The array holds {narrow}, and keeps it: JAX makes the whole array {wide}, writes, and rounds "
            f"all of it.",
            remedy="Convert what is written: x.at[...].set(y.astype(x.dtype)); or keep the array in the wider type.",
            nodes=rounded,
        )


def _there_and_back(subject: Subject) -> Iterator[Finding]:
    """Floats that are made narrow and wide again, with nothing computed in between: only their digits are lost."""
    flow, graph = subject.flow, subject.graph
    found: dict[tuple[str, str], list[int]] = {}
    for node in flow.nodes("convert_element_type"):
        made = int(graph.first_value[node])
        wide, narrow = flow.dtype(flow.operands(node)[0]), flow.dtype(made)
        if WIDTHS.get(narrow, 8) >= WIDTHS.get(wide, 0) or not subject.is_own(node) or subject.is_derived(node):
            continue
        readers = _readers(graph, made)
        # What a function is given narrow by another may be meant so.
        places = {subject.statement(one)[1] for one in (node, *readers)}
        back = all(
            flow.op(one) == "convert_element_type" and flow.dtype(int(graph.first_value[one])) == wide
            for one in readers
        )
        if readers and back and len(places) == 1 and all(map(subject.is_own, readers)):
            found.setdefault((wide, narrow), []).extend([node, *readers])
    for (wide, narrow), nodes in found.items():
        yield subject.told(
            kind="precision",
            severity=NOTE,
            title=f"{wide} is rounded to {narrow}, and made {wide} again",
            text=f"Nothing is computed or kept in {narrow}: what is left of it is that the digits are lost.",
            remedy="Leave both conversions out; or, where the rounding is what is wanted, say so with "
            "jax.lax.reduce_precision.",
            nodes=nodes,
        )
