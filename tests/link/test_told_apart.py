"""A link goes to what can be the instruction: what is told of it by its number and by what it is computed of, which no
link is made from, agrees."""

from __future__ import annotations

import itertools
import math
import random

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxviz as jv
from jaxviz.graph import Graph
from jaxviz.link.flow import Flow
from jaxviz.link.links import EXACT, MERGED

_LEAST = 1.25


def _program(seed: int):
    """A function of which every product is with a number of its own, in bodies of all kinds."""
    choose, count = random.Random(seed), itertools.count()

    def leaf(x):
        return jnp.sin(x * (_LEAST + 0.0625 * next(count)))

    def body(depth):
        kinds = [_looped, _scanned, _branched, _called, _remembered, _mapped, _differentiated]
        return choose.choice(kinds) if depth else leaf

    def inside(depth):
        """A function that computes something, then something in a body, then something."""
        made = body(depth)
        return leaf if made is leaf else lambda x: leaf(made(inside(depth - 1), leaf(x)))

    return lambda x: [inside(2)(jnp.cos(x)), inside(2)(jnp.tanh(x))]


def _looped(inner, x):
    return lax.fori_loop(0, 3, lambda _, state: inner(state), x)


def _scanned(inner, x):
    return lax.scan(lambda state, one: (inner(state) + one, jnp.cos(state)), x, jnp.arange(3.0))[1].sum(0)


def _branched(inner, x):
    return lax.cond(x[0] > 0, inner, lambda x: inner(inner(x)), x)


def _called(inner, x):
    return jax.jit(inner)(x)


def _remembered(inner, x):
    return jax.grad(lambda x: jax.checkpoint(inner)(x).sum())(x)


def _mapped(inner, x):
    return jax.vmap(inner)(x[:, None] + x).sum(1)


def _differentiated(inner, x):
    return jax.grad(lambda x: (inner(x) ** 2).sum())(x)


def _factors(graph: Graph) -> dict[int, float]:
    """The number that an instruction multiplies by, where that stands beside it."""
    flow, found = Flow(graph), {}
    for node in graph:
        if node.kind != "operation" or node.op not in ("multiply", "mul"):
            continue
        for source in graph.operands.source[slice(*graph.first_operand[node.index : node.index + 2])].tolist():
            number = _number(graph, flow, source)
            if number is not None:
                found[node.index] = number
    return found


def _values(graph: Graph, node: int) -> range:
    return range(*graph.first_value[node : node + 2].tolist())


def _is_in(graph: Graph, node: int, holder: int) -> bool:
    while node >= 0 and node != holder:
        node = int(graph.regions.owner[graph.nodes.region[node]])
    return node == holder


def _number(graph: Graph, flow: Flow, source: int) -> float | None:
    if source < 0:
        return float(graph.source_text(source))
    while (source := flow.source(source)) >= 0:
        maker = graph.node(int(graph.value_node[source]))
        if maker.op == "constant":
            return float(dict(maker.attributes)["value"].strip("{}").split(",")[0])
        if maker.kind != "operation" or maker.op not in ("broadcast", "bitcast", "copy"):
            return None
        source = int(graph.operands.source[graph.first_operand[maker.index]])
    return None


@pytest.mark.smoke
@pytest.mark.parametrize("seed", range(3))
def test_a_product_is_linked_to_the_equations_that_multiply_by_its_number(seed):
    ex = jv.explore(_program(seed), jnp.linspace(0.1, 0.9, 5))
    links, said = ex.links("hlo"), _factors(ex.jaxpr)
    sure = {target for target, kind in zip(links.target.tolist(), links.kind.tolist(), strict=True) if kind <= MERGED}
    # Derivatives are multiplied by other numbers than these.
    products = {node: number for node, number in _factors(ex.hlo).items() if node in sure and number >= _LEAST}
    assert len(products) > 3
    for node, number in products.items():
        # The compiler makes one number of those that stand one behind another.
        assert math.prod(said[one] for one in links.sources(node)) == pytest.approx(number)


@pytest.mark.smoke
def test_a_loop_in_a_second_call_of_a_function_is_of_that_call_with_all_that_is_in_it():
    """Until JAX 0.6 all that is in it has the names of the first."""
    run = jax.jit(lambda x: lax.fori_loop(0, 3, lambda _, state: jnp.sin(state * 1.5), x + 1.0))
    ex = jv.explore(lambda x: (run(x), jnp.tanh(run(jnp.exp(x)))), jnp.linspace(0.1, 0.9, 5))
    links, hlo = ex.links("hlo"), ex.hlo
    first, second = (node.index for node in ex.jaxpr.find("sin"))
    loops = [node for node in hlo.find("while") if node.kind == "operation"]
    assert len(loops) == 2
    (tanh,) = hlo.find("tanh")
    late = next(
        loop
        for loop in loops
        if Flow(hlo).source(int(hlo.operands.source[hlo.first_operand[tanh.index]])) in _values(hlo, loop.index)
    )
    for loop in loops:
        sines = [node for node in hlo.find("sine") if _is_in(hlo, node.index, loop.index)]
        assert sines
        for node in sines:
            assert list(links.sources(node.index)) == [second if loop is late else first]
    linked = set(links.source.tolist())
    assert {fate.node for fate in ex.fates if fate.alive and fate.kind != "context"} <= linked


@pytest.mark.smoke
def test_what_reads_a_number_that_two_calls_share_is_of_the_call_whose_other_values_it_reads():
    @jax.jit
    def shrunk(x):
        return jnp.tanh(x) * jnp.where(x > 0.5, x, 0.3)

    ex = jv.explore(lambda x, y: shrunk(x) + shrunk(y * 1.7), *[jnp.linspace(0.1, 0.9, 5)] * 2)
    links = ex.links("hlo")
    kinds = dict(zip(links.target.tolist(), links.kind.tolist(), strict=True))
    for name, op in (("tanh", "tanh"), ("select_n", "select"), ("mul", "multiply")):
        ours = [node.index for node in ex.jaxpr.find(name) if node.kind == "operation"]
        made = [node.index for node in ex.hlo.find(op) if node.kind == "operation"]
        found = {ours.index(source) for node in made for source in links.sources(node)}
        assert found == set(range(len(ours)))
        assert {kinds[node] for node in made} == {EXACT}


@pytest.mark.smoke
def test_of_two_calls_of_a_function_the_one_that_is_not_chosen_is_gone_with_all_that_is_in_it():
    """Until JAX 0.6 the other one has the same names, and is there to the end."""
    run = jax.jit(lambda x: lax.while_loop(lambda s: s.sum() < 3.0, lambda s: jnp.exp(s * 1.5), x + 1.0))
    ex = jv.explore(lambda x, y: jnp.where(jnp.float32(3) > 2, run(x), 2.0 - run(y)), *[jnp.arange(5.0)] * 2)
    chosen, other = (node.index for node in ex.jaxpr.find("while"))
    loops = {fate.node: fate for fate in ex.fates}
    (one, again) = (node.index for node in ex.jaxpr.find("exp"))
    assert loops[chosen].alive
    assert loops[one].alive
    assert {loops[node].kind for node in (other, again)} == {"consequence"}
    assert "algsimp" in loops[again].where


@pytest.mark.smoke
def test_what_only_a_number_tells_apart_is_linked_for_sure_to_no_other_call():
    """Until JAX 0.6 a number has the name of the first call too, whichever it is read in."""
    scaled = jax.jit(lambda x, half: jnp.sin(x) * (half + half))
    ex = jv.explore(lambda x: jnp.stack([scaled(x, 0.75), scaled(x, 1.25)]), jnp.linspace(0.1, 0.9, 5))
    links, flow = ex.links("hlo"), Flow(ex.hlo)
    kinds = dict(zip(links.target.tolist(), links.kind.tolist(), strict=True))
    ours = [node.index for node in ex.jaxpr.find("mul") if node.kind == "operation"]
    products = [node.index for node in ex.hlo.find("multiply") if node.kind == "operation"]
    assert len(products) == len(ours) == 2
    for node in products:
        first, end = ex.hlo.first_operand[node : node + 2].tolist()
        numbers = [_number(ex.hlo, flow, one) for one in ex.hlo.operands.source[first:end].tolist()]
        meant = ours[[1.5, 2.5].index(next(one for one in numbers if one is not None))]
        assert list(links.sources(node)) == [meant] or kinds[node] > MERGED
