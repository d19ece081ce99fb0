"""Layers of libraries that compute in the wide type of their parameters, though what they are given is narrow.

A layer that is not told in which type to compute takes the wider one, and all that follows stays wide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from jaxviz.find.finding import ADVICE, Finding, Subject
from jaxviz.find.precision import LARGE, NAMED, WIDTHS, becomes
from jaxviz.graph import CONSTANT
from jaxviz.units import bytes_text

_PRODUCTS = ("dot_general", "conv_general_dilated")
# A wide type that the person's own file asks for somewhere may be meant for this very layer.
_ASKED = re.compile(r"(?:dtype\s*=\s*|astype\(|promote_dtype\()[^,)\n]*(?:float32|float64)")


def find(subject: Subject) -> Iterator[Finding]:
    flow, graph = subject.flow, subject.graph
    found: dict[tuple[str, str], list[int]] = {}
    for node in flow.nodes(*_PRODUCTS):
        if subject.is_own(node) or subject.is_backward(node):
            continue
        operands = flow.operands(node)[:2]
        made = flow.dtype(int(graph.first_value[node]))
        for given, other in (operands, operands[::-1]):
            narrow = _narrow(subject, given)
            wide = flow.dtype(other)
            if (
                narrow is None
                or not _is_parameter(subject, other)
                or wide != made
                or WIDTHS[narrow] >= WIDTHS.get(wide, 0)
            ):
                continue
            if _is_asked(subject, node) or becomes(subject, int(graph.first_value[node]), narrow):
                continue
            found.setdefault((narrow, wide), []).append(node)
    for (narrow, wide), nodes in found.items():
        size = sum(float(graph.tables.types.bytes[int(graph.values.type[graph.first_value[node]])]) for node in nodes)
        if size < LARGE:
            continue
        yield subject.told(
            kind="precision",
            severity=ADVICE,
            title=f"{narrow} becomes {wide} in a layer whose parameters are {wide}",
            text=(
                f"The layer is not told in which type to compute, so it takes the wider of both: its products, and all "
                f"that follows, are computed in {wide}, {bytes_text(size)} of results in place of "
                f"{bytes_text(size * WIDTHS[narrow] / WIDTHS[wide])}."
            ),
            remedy=f"Say in which type it computes, in Flax nn.Dense(..., dtype=jnp.{narrow}); or pass parameters that "
            f"were converted: jax.tree.map(lambda p: p.astype(jnp.{narrow}), params).",
            nodes=nodes,
            figures={"bytes": size},
        )


def _narrow(subject: Subject, source: int) -> str | None:
    """The narrow float that a value is, or was before a library made it wide."""
    flow, graph = subject.flow, subject.graph
    made = flow.back(source)
    node = int(graph.value_node[made]) if made >= 0 else -1
    if node >= 0 and flow.op(node) == "convert_element_type" and not subject.is_own(node):
        source = flow.operands(node)[0]
    dtype = flow.dtype(source)
    return dtype if dtype in ("bfloat16", "float16") else None


def _is_parameter(subject: Subject, source: int) -> bool:
    """Whether a value is an argument of the program as it was given, or a constant that it closes over."""
    origin = subject.flow.origin(source)
    return subject.flow.is_argument(origin) or (
        origin >= 0 and int(subject.graph.nodes.kind[subject.graph.value_node[origin]]) == CONSTANT
    )


def _is_asked(subject: Subject, node: int) -> bool:
    """Whether the person says a type: in the call of the layer, or a wide one anywhere in the file."""
    if NAMED.search(subject.expression(node)[1]):
        return True
    frame = subject.own_frame(int(subject.graph.nodes.stack[node]))
    if frame < 0:
        return False
    tables = subject.graph.tables
    return bool(_ASKED.search(tables.files.text[tables.frames.file[frame]] or ""))
