"""What has no name, and can be of one equation alone, is linked to it as surely as what has one; nothing else is."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxviz as jv
from jaxviz import compat
from jaxviz.link.between import with_between
from jaxviz.link.equations import Equations
from jaxviz.link.flow import Flow
from jaxviz.link.links import EXACT, INFERRED, computing, link_shares, read_tags
from jaxviz.link.taken_in import with_taken_in
from jaxviz.link.unnamed import with_unnamed

NAMED_ALIKE = "on JAX 0.6, all calls of a function have the names of the first"


def _shapes(*dims: tuple[int, ...]) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(each, jnp.float32) for each in dims]


def _convolved(kernel, x):
    window = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    pooled = lax.reduce_window(jnp.tanh(window), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jnp.sum(jnp.sin(pooled))


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("function", "arguments", "ops"),
    [
        (lambda x: jnp.cumsum(x * 2.0, 1) / 3.0, _shapes((8, 100)), {"cumsum", "mul", "div"}),
        (lambda x: jnp.sort(x), _shapes((100,)), {"sort"}),
        (lambda x: lax.top_k(x, 5), _shapes((8, 100)), {"top_k"}),
        (lambda a, b, v: jnp.tanh(a @ jnp.sin(b @ v)), _shapes((6, 6), (6, 6), (6,)), {"dot_general", "sin", "tanh"}),
        (jax.grad(_convolved), _shapes((3, 3, 4, 8), (2, 8, 8, 4)), None),
    ],
    ids=["running sum", "sort", "largest", "products with a vector", "gradient of a convolution"],
)
def test_what_a_pass_wrote_anew_is_of_its_equation_for_sure(function, arguments, ops):
    ex = jv.explore(function, *arguments)
    links = ex.links("hlo")
    assert link_shares(ex.hlo, links)["inferred"] <= 0.1
    working = set(computing(ex.hlo).tolist())
    linked = zip(links.source.tolist(), links.target.tolist(), links.kind.tolist(), strict=True)
    told = {ex.jaxpr.node(source).op for source, target, kind in linked if kind < INFERRED and target in working}
    assert ops is None or told == ops


def _marked_rows(x):
    def mark(row, table):
        return table.at[row].set(jnp.zeros(20).at[jnp.argmax(table[row])].set(1.0))

    return lax.fori_loop(0, 20, mark, x)


def _pooled(kernel, x):
    window = lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return lax.reduce_window(jax.nn.relu(window), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID").mean()


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("function", "arguments", "least"),
    [
        (jnp.searchsorted, _shapes((128,), (16,)), 0.99),
        (_marked_rows, _shapes((20, 20)), 0.95),
        (jax.grad(_pooled), _shapes((3, 3, 3, 8), (2, 16, 16, 3)), 0.95),
    ],
    ids=["moved out of a loop", "written into an array", "places of the largest"],
)
def test_what_is_made_for_one_equation_is_of_it_for_sure(function, arguments, least):
    if compat.NAMED_BY_FIRST_CALL and function is jnp.searchsorted:
        pytest.skip(NAMED_ALIKE)
    ex = jv.explore(function, *arguments)
    shares = link_shares(ex.hlo, ex.links("hlo"))
    assert shares["exact"] + shares["merged"] >= least


@pytest.mark.smoke
@pytest.mark.skipif(compat.NAMED_BY_FIRST_CALL, reason=NAMED_ALIKE)
@pytest.mark.parametrize(
    ("function", "arguments", "least"),
    [
        (lambda x, at: jnp.searchsorted(x, at) * 2 + jnp.digitize(at, x), _shapes((128,), (16,)), 0.967),
        (lambda x, y: jnp.interp(jnp.linspace(0, 1, 20), x, y), _shapes((9,), (9,)), 0.95),
    ],
    ids=["numbers that several read", "NaN"],
)
def test_one_number_that_is_kept_of_several_is_of_what_reads_it_for_sure(function, arguments, least):
    ex = jv.explore(function, *arguments)
    shares = link_shares(ex.hlo, ex.links("hlo"))
    assert shares["exact"] + shares["merged"] >= least


@pytest.mark.smoke
def test_the_products_that_a_small_dot_product_sums_up_are_of_it_for_sure():
    def squares(x):
        rest = jnp.sin(x) - 1.0
        return rest @ rest, lax.fori_loop(0, 9, lambda _, each: each * jnp.dot(each, rest), x)

    ex = jv.explore(squares, jnp.ones(8))
    links = ex.links("hlo")
    kind = dict(zip(links.target.tolist(), links.kind.tolist(), strict=True))
    # Where the compiler writes it so.
    sums = [node for node in ex.hlo.find("multiply") if "dot_general" in _origins(ex, node.index)]
    assert [node for node in sums if kind[node.index] != EXACT] == []


def _origins(ex: jv.Exploration, node: int) -> set[str]:
    return {ex.jaxpr.node(one).op for one in ex.links("hlo").sources(node)}


@pytest.mark.smoke
def test_two_running_reductions_that_one_equation_reads_are_told_apart_by_what_they_are_computed_of():
    ex = jv.explore(lambda x: lax.cummax(jnp.sin(x)) - lax.cummin(x, reverse=True), *_shapes((300,)))
    links = ex.links("hlo")
    for op, name in (("maximum", "cummax"), ("minimum", "cummin")):
        sources = {source for node in ex.hlo.find(op) for source in links.sources(node.index)}
        # That which a reduction applies may be there as well.
        assert {ex.jaxpr.node(source).op for source in sources} == {name}


@pytest.mark.smoke
def test_what_was_made_of_two_equations_is_not_said_to_be_of_one_for_sure():
    """What a value is divided by twice, as in Adam, is multiplied first: that is of both divisions."""

    def step(m, v, n, w, t):
        rest = 1.0 - 0.9**t
        return (m / rest) / (jnp.sqrt(v) + 1e-8), (n / rest) / (jnp.sqrt(w) + 1e-8)

    ex = jv.explore(step, *_shapes((64,), (64,), (8, 8), (8, 8), ()))
    links = ex.links("hlo")
    kinds = dict(zip(links.target.tolist(), links.kind.tolist(), strict=True))
    products = [node for node in ex.hlo.find("multiply") if not node.scope]
    assert products
    assert {kinds[node.index] for node in products} == {INFERRED}


@pytest.fixture(scope="module")
def stage():
    """A gradient as it was read, with what its names say."""

    def loss(w, v, k, x):
        hidden = jnp.tanh(x @ w) * jnp.cumsum(x, 1)[:, :1]
        hidden = jax.nn.softmax(hidden @ v) + jnp.sort(hidden, 1)[:, :4]
        return jnp.sum(jnp.log(jnp.abs(hidden) + 1.0)) + _convolved(k, x.reshape(2, 4, 4, 4))

    shapes = _shapes((8, 8), (8, 4), (3, 3, 4, 2), (16, 8))
    capture = jv.explore(jax.grad(loss, (0, 1, 2)), *shapes)._capture
    read = capture.hlo_as_read
    tagged = read_tags(capture._places, read.graph, read.names, read.name, relative=False)
    return capture.jaxpr, read.graph, with_taken_in(capture.jaxpr, read.graph, tagged)


def test_instructions_whose_names_are_taken_away_are_found_again_or_not_said_for_sure(stage):
    """Of one equation after the other: what is said then is what the names said."""
    jaxpr, graph, tagged = stage
    equations, right, wrong = Equations(jaxpr), 0, []
    for equation in sorted({one for found in tagged for one in found}):
        hidden = {node for node, found in enumerate(tagged) if equation in found}
        left = [() if node in hidden else found for node, found in enumerate(tagged)]
        flow = Flow(graph)
        likely, unsure = with_unnamed(jaxpr, graph, left, flow, equations)
        found, still = with_between(jaxpr, graph, likely, unsure, flow, equations)
        said = [node for node in hidden - still if found[node] and not (likely[node] and node not in unsure)]
        right += sum(set(found[node]) <= set(tagged[node]) for node in said)
        wrong += [
            (graph.node(node).op, tagged[node], found[node])
            for node in said
            if not set(found[node]) <= set(tagged[node])
        ]
    assert wrong == []
    assert right > 20
