"""Bodies that an error left unfinished, in the graph of what was traced until then."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxviz as jv
from jaxviz.graph import ENTER, INIT, SLICE


@jax.jit
def layer(x, w):
    s = jnp.tanh(x)
    return s @ w @ w


def in_jit(x, w):
    return layer(x + 1, w * 2)


def in_a_scan(x, w):
    def body(carry, _):
        return jnp.sin(carry) @ w @ w, None

    return jax.lax.scan(body, x * 2, None, length=3)[0]


def in_a_while_loop(x, w):
    return jax.lax.while_loop(lambda state: state.sum() < 3, lambda state: jnp.sin(state) @ w @ w, x * 2)


def in_a_branch(x, w):
    y = x * 2
    return jax.lax.cond(y.sum() > 0, lambda y: jnp.sin(y) @ w @ w, lambda y: y, y)


def in_jit_in_jit(x, w):
    @jax.jit
    def inner(x):
        return layer(jnp.sin(x), w)

    return inner(x * 2)


def in_jit_that_closes_over_both(x, w):
    y = jnp.sin(x) @ w

    @jax.jit
    def inner(z):
        return y @ w + z

    return inner(x * 2)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("fn", "owners"),
    [
        (in_jit, ["jit"]),
        (in_a_scan, ["scan"]),
        (in_a_while_loop, ["while"]),
        (in_a_branch, ["cond"]),
        (in_jit_in_jit, ["jit", "jit"]),
        (in_jit_that_closes_over_both, ["jit"]),
    ],
)
def test_what_has_an_unfinished_body_stands_where_it_was_called(fn, owners):
    with pytest.raises(TypeError) as caught:
        jv.explore(fn, jnp.ones((4, 8)), jnp.ones((8, 3)))
    document = caught.value.jaxviz.document()
    graph = document.graphs[0]
    (failed,) = document.programs[0].error.nodes
    around = [int(graph.regions.owner[region]) for region in _regions_around(graph, int(failed))]
    assert [graph.node(node).op for node in around] == owners
    calls = [document.tables.frames_of(int(graph.nodes.stack[node])) for node in (*around, failed)]
    # The call of a body leads to all that is inside of it.
    for depth, call in enumerate(calls):
        assert [frame.function for frame in call] == [frame.function for frame in calls[-1]][: depth + 1]
    assert calls[0][-1].line > fn.__code__.co_firstlineno
    # Both sides of the product, be they made inside or outside of the body.
    types = [document.tables.type_text(graph.values.type[value]) for value in graph.node(int(failed)).operands]
    assert types == ["f32[4,3]", "f32[8,3]"]


@jax.jit
def product(x, w):
    return jnp.dot(x, w)


def fails_first_in_jit(x, w):
    return product(jnp.tanh(x), w)


def is_only_a_call(x, w):
    return product(x, w)


def fails_first_in_a_scan(x, w):
    return jax.lax.scan(lambda carry, _: (carry @ w @ w, None), x, None, length=3)[0]


def fails_in_a_function_of_jax(x, w):
    return jnp.dot(jnp.tanh(x), w) @ w


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("fn", "owners", "before"),
    [
        (fails_first_in_jit, ["jit"], ["tanh"]),
        (is_only_a_call, ["jit"], []),
        (fails_first_in_a_scan, ["scan"], []),
        (fails_in_a_function_of_jax, [], ["tanh"]),
    ],
)
def test_a_function_that_fails_on_its_first_operation_is_a_body_too(fn, owners, before):
    with pytest.raises(TypeError) as caught:
        jv.explore(fn, jnp.ones((4, 8)), jnp.ones((8, 3) if fn is fails_first_in_a_scan else (9, 3)))
    document = caught.value.jaxviz.document()
    graph = document.graphs[0]
    (failed,) = document.programs[0].error.nodes
    around = [int(graph.regions.owner[region]) for region in _regions_around(graph, int(failed))]
    assert [graph.node(node).op for node in around] == owners
    outermost = [
        node for node in np.flatnonzero(graph.nodes.region == 0).tolist() if node not in (*around, int(failed))
    ]
    assert [graph.node(node).op for node in outermost if graph.node(node).kind == "operation"] == before
    # Its arguments are those of the function that failed.
    assert len(graph.node(int(failed)).operands) == 2


def in_a_scan_over_rows(x, w):
    def body(carry, row):
        return carry @ w + row @ w @ w, None

    return jax.lax.scan(body, x[0] * 2, jnp.tanh(x))[0]


def in_a_scan_of_each(x, w):
    return jax.vmap(lambda row: in_a_scan(row, w))(jnp.tanh(x))


def in_a_fori_loop(x, w):
    return jax.lax.fori_loop(0, 3, lambda turn, state: state @ w @ w, x * 2)


def in_jit_of_each(x, w):
    return jax.vmap(lambda row: layer(row * 2, w))(jnp.tanh(x))


def in_jit_of_a_gradient(x, w):
    return jax.grad(lambda x: layer(jnp.tanh(x), w).sum())(x)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("fn", "joins"),
    [
        (in_jit, [(ENTER, "add", 0), (ENTER, "mul", 1)]),
        (in_a_branch, [(ENTER, "mul", 0)]),
        (in_a_scan, [(INIT, "mul", 0)]),
        (in_a_while_loop, [(INIT, "mul", 0)]),
        (in_a_fori_loop, [(INIT, "mul", 1)]),
        (in_a_scan_over_rows, [(INIT, "mul", 0), (SLICE, "tanh", 1)]),
        (in_a_scan_of_each, [(INIT, "mul", 0)]),
        (in_jit_of_each, [(ENTER, "mul", 0), (ENTER, "argument", 1)]),
        (in_jit_of_a_gradient, [(ENTER, "tanh", 0), (ENTER, "argument", 1)]),
    ],
)
def test_what_goes_into_an_unfinished_body_is_joined_to_its_arguments(fn, joins):
    with pytest.raises(TypeError) as caught:
        jv.explore(fn, jnp.ones((4, 8)), jnp.ones((8, 3)))
    graph = caught.value.jaxviz.document().graphs[0]
    arguments = [node.index for node in graph if graph.nodes.region[node.index] == 1 and node.kind == "argument"]
    bound = graph.bindings
    found = [
        (kind, graph.node(graph.value_node[start]).op, arguments.index(end))
        for kind, start, end in zip(bound.kind.tolist(), bound.start.tolist(), bound.end.tolist(), strict=True)
    ]
    assert found == joins


def _regions_around(graph, node):
    """The regions that a node lies in, outermost first, without the program itself."""
    regions, region = [], int(graph.nodes.region[node])
    while region:
        regions.append(region)
        region = int(graph.region_parent[region])
    return regions[::-1]


def branches_on_a_sum(x):
    return x if x.sum() > 0 else -x


def branches_in_a_helper(x):
    return branches_on_a_sum(jnp.sin(x)) + 1


@pytest.mark.parametrize(
    ("fn", "around"), [(branches_on_a_sum, "branches_on_a_sum"), (branches_in_a_helper, "branches_on_a_sum")]
)
def test_what_failed_stands_beside_what_its_expression_did_until_then(fn, around):
    with pytest.raises(jax.errors.TracerBoolConversionError) as caught:
        jv.explore(fn, jnp.ones(8))
    document = caught.value.jaxviz.document()
    (failed,) = document.programs[0].error.nodes
    outline = document.outlines[0].outline
    holding = [row for row in outline if row.first <= failed < row.end]
    innermost = max(holding, key=lambda row: row.depth)
    assert (innermost.name or document.programs[0].name) == around
