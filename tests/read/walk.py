"""A second, slow way to walk a jaxpr beside its graph, which shares no code with the reader."""

from __future__ import annotations

from typing import Any

from jax.extend import core

from jaxviz.graph import Graph


def bodies(equation: Any) -> list[Any]:
    """The jaxprs in the parameters of an equation, in order."""
    found = []
    for value in equation.params.values():
        items = value if isinstance(value, (tuple, list)) else (value,)
        found += [item for item in items if isinstance(item, (core.Jaxpr, core.ClosedJaxpr))]
    return found


def assert_same(graph: Graph, jaxpr: Any) -> int:
    """Assert that the graph holds every equation once for each call path, as it is; give their number."""
    return _assert_region(graph, 0, jaxpr)


def _assert_region(graph: Graph, region: int, closed: Any) -> int:
    jaxpr = getattr(closed, "jaxpr", closed)
    nodes = [graph.node(i) for i in range(len(graph)) if graph.nodes.region[i] == region]
    shapes = [node.kind for node in nodes]
    assert shapes == (
        ["constant"] * len(jaxpr.constvars)
        + ["argument"] * len(jaxpr.invars)
        + ["operation"] * len(jaxpr.eqns)
        + ["result"] * (len(nodes) - len(jaxpr.constvars) - len(jaxpr.invars) - len(jaxpr.eqns))
    )
    values: dict[Any, int] = {}
    queue = iter(nodes)
    for variable in [*jaxpr.constvars, *jaxpr.invars]:
        node = next(queue)
        _assert_outputs(node, [variable], values)
    count = len(jaxpr.eqns)
    for equation in jaxpr.eqns:
        node = next(queue)
        assert node.op == equation.primitive.name
        _assert_operands(graph, node, equation.invars, values)
        _assert_outputs(node, equation.outvars, values)
        inner = bodies(equation)
        assert len(node.regions) == len(inner)
        for number, body in zip(node.regions, inner, strict=True):
            count += _assert_region(graph, number, body)
    for node, variable in zip(queue, jaxpr.outvars, strict=False):
        _assert_operands(graph, node, [variable], values)
    return count


def _assert_outputs(node: Any, variables: list[Any], values: dict[Any, int]) -> None:
    assert len(node.values) == len(variables)
    for variable, value, text in zip(variables, node.values, node.types, strict=True):
        values[variable] = value
        assert text == variable.aval.str_short(short_dtypes=True)


def _assert_operands(graph: Graph, node: Any, variables: list[Any], values: dict[Any, int]) -> None:
    assert len(node.operands) == len(variables)
    for variable, source in zip(variables, node.operands, strict=True):
        if isinstance(variable, core.Literal):
            assert source < 0
            literal_type = graph.tables.type_text(graph.literals.type[-1 - source])
            assert literal_type == variable.aval.str_short(short_dtypes=True)
        else:
            assert source == values[variable]
