"""Operations on floats that equations of a jaxpr take, by their shapes: roughly, to tell much from little."""

from __future__ import annotations

import re
from math import prod

import numpy as np

from jaxviz.find.flow import Flow
from jaxviz.graph import OPERATION

PRODUCTS = frozenset({"dot_general", "conv_general_dilated"})
# What gives another place, shape or type to what is there, and computes nothing.
MOVING = frozenset({"broadcast_in_dim", "reshape", "squeeze", "expand_dims", "transpose", "rev", "copy", "copy_p"})
MOVING |= {"slice", "dynamic_slice", "convert_element_type", "iota", "concatenate", "pad", "stop_gradient", "gather"}
_REDUCING = ("reduce_", "arg", "cum", "sort", "top_k")

# Operations of a square matrix of n rows, by n to the third, as Golub and Van Loan count them.
_DECOMPOSING = {"cholesky": 1 / 3, "lu": 2 / 3, "qr": 8 / 3, "geqrf": 4 / 3, "householder_product": 4 / 3}
_DECOMPOSING |= {"hessenberg": 10 / 3, "eigh": 9.0, "svd": 21.0, "eig": 25.0, "schur": 25.0}

_FEATURE = re.compile(r"rhs_spec=\((\d+)")
_DIMENSIONS = re.compile(r"\(\(\(([\d, ]*)\), \(([\d, ]*)\)\), \(\(([\d, ]*)\)")


def equation_flops(flow: Flow, node: int) -> float:
    """The operations of one equation, without those of its bodies."""
    graph, op = flow.graph, flow.op(node)
    made = sum(prod(flow.dims(value)) for value in range(graph.first_value[node], graph.first_value[node + 1]))
    if op in MOVING:
        return 0.0
    if op in _DECOMPOSING:
        *batch, rows, columns = flow.dims(flow.operands(node)[0])
        return _DECOMPOSING[op] * prod(batch) * rows * columns * min(rows, columns)
    if op == "triangular_solve":
        return float(made * flow.dims(flow.operands(node)[0])[-1])
    if op not in PRODUCTS:
        read = [prod(flow.dims(source)) for source in flow.operands(node)] if op.startswith(_REDUCING) else []
        return float(max([made, *read]))
    left = flow.dims(flow.operands(node)[0])
    if op == "conv_general_dilated":
        # Each number of the result sums over the kernel of its feature.
        kernel = flow.dims(flow.operands(node)[1])
        feature = _FEATURE.search(graph.attribute(node, "dimension_numbers"))
        axis = int(feature[1]) if feature else len(kernel) - 1
        return 2.0 * made * prod(kernel) / max(1, kernel[axis])
    summed = prod(left[axis] for axis in product_axes(flow, node)[0] if axis < len(left))
    return 2.0 * made * summed


def total_flops(flow: Flow, node: int) -> float:
    """The operations of an equation with those of its bodies; a `while` is taken to run once."""
    graph = flow.graph
    regions = graph.owned_regions.get(node, ())
    if not regions:
        return equation_flops(flow, node)
    rows = np.flatnonzero(np.isin(graph.nodes.region, regions) & (graph.nodes.kind == OPERATION))
    return turns_of(flow, node) * sum(total_flops(flow, inner) for inner in rows.tolist())


def turns_of(flow: Flow, node: int) -> int:
    """How often the bodies of an equation run, as far as it says so."""
    length = flow.graph.attribute(node, "length") if flow.op(node) == "scan" else ""
    return int(length) if length.isdigit() else 1


def turns_around(flow: Flow, node: int) -> int:
    """How often an equation runs where the program runs once, as far as the loops around it say so."""
    graph, turns = flow.graph, 1
    while graph.nodes.region[node]:
        node = int(graph.regions.owner[graph.nodes.region[node]])
        turns *= turns_of(flow, node)
    return turns


def product_axes(flow: Flow, node: int) -> tuple[list[int], list[int], list[int]]:
    """Axes of a product: those that are summed over, of both sides, and those that it is done for one by one."""
    found = _DIMENSIONS.match(flow.graph.attribute(node, "dimension_numbers"))
    if not found:
        return [], [], []
    left, right, batch = ([int(part) for part in group.split(",") if part.strip()] for group in found.groups())
    return left, right, batch
