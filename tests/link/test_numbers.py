"""Numbers that XLA writes anew without a name are of the equations that read them, and of all of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxviz as jv
from jaxviz.link.links import EXACT, MERGED, link_shares


def _numbers(ex: jv.Exploration) -> dict[float, set[tuple[str, ...]]]:
    """By value, the operations of the equations that numbers in the shape of an array are linked to for certain."""
    graph, links = ex.hlo, ex.links("hlo")
    kind = dict(zip(links.target.tolist(), links.kind.tolist(), strict=True))
    found: dict[float, set[tuple[str, ...]]] = {}
    for node in graph.find("broadcast"):
        maker = graph.node(int(graph.value_node[node.operands[0]]))
        if maker.op == "constant" and kind.get(node.index) in (EXACT, MERGED):
            ops = tuple(sorted(ex.jaxpr.node(one).op for one in links.sources(node.index)))
            found.setdefault(float(dict(maker.attributes)["value"]), set()).add(ops)
    return found


@pytest.mark.smoke
def test_a_number_is_of_the_equation_that_reads_it():
    ex = jv.explore(lambda x, y: (x * 0.9 + y * 0.1, jnp.maximum(x, 0.25)), jnp.ones((8, 8)), jnp.ones((8, 8)))
    found = _numbers(ex)
    numbers = {np.float32(number): ops for number, ops in found.items()}
    assert numbers == {np.float32(0.9): {("mul",)}, np.float32(0.1): {("mul",)}, np.float32(0.25): {("max",)}}


@pytest.mark.smoke
def test_a_number_that_two_equations_read_is_of_both():
    ex = jv.explore(lambda x: jnp.sin(x * 3.0) + jnp.cos(x + 3.0), jnp.ones((8, 8)))
    assert _numbers(ex)[3.0] in ({("add", "mul")}, {("add",), ("mul",)})


def test_a_number_that_an_array_is_filled_with_is_of_the_line_that_fills_it():
    def f(x, at):
        total = jnp.zeros(16)
        return total.at[at].add(x)

    ex = jv.explore(f, jnp.ones(4), jnp.arange(4))
    zeros = [node for node in ex.hlo.find("broadcast") if node.types == ("f32[16]",)]
    assert [node.line - f.__code__.co_firstlineno for node in zeros] == [1]


@pytest.mark.smoke
def test_nearly_all_of_an_optimizer_is_linked_for_certain():
    def step(params, momentum, grads):
        momentum = jax.tree_util.tree_map(lambda m, g: 0.9 * m + g, momentum, grads)
        return jax.tree_util.tree_map(lambda p, m: p - 0.1 * m, params, momentum), momentum

    tree = [jnp.ones((4, 4)), jnp.ones(4)]
    ex = jv.explore(step, tree, tree, tree)
    assert link_shares(ex.hlo, ex.links("hlo"))["inferred"] == 0


@pytest.mark.smoke
def test_the_numbers_of_what_the_compiler_writes_a_function_as_are_of_that_function():
    ex = jv.explore(lambda x: jax.lax.erf_inv(x) * 0.5, jnp.linspace(-0.9, 0.9, 8))
    made = [number for number, ops in _numbers(ex).items() if ops == {("erf_inv",)}]
    assert len(made) > 5
    assert link_shares(ex.hlo, ex.links("hlo"))["inferred"] == 0


@pytest.mark.smoke
def test_a_number_that_has_the_name_of_a_call_alone_is_of_what_reads_it():
    """What has no name gets that of the call that is put in place, and of equal numbers one is left."""

    def f(x, table):
        inside = x % 50
        return table[inside], x < 7

    ex = jv.explore(f, jnp.arange(4), jnp.ones(60))
    links = ex.links("hlo")
    numbers = ex.hlo.find("broadcast")
    assert numbers
    assert not {ex.jaxpr.node(one).op for node in numbers for one in links.sources(node.index)} & {"jit", "pjit"}


@pytest.mark.smoke
@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.sin(jnp.cos(x) * 0.5 * 1.25),
        lambda x: jnp.sin(jnp.cos(x) + 0.25 + 1.125),
        lambda x: jnp.sin(jnp.cos(x) * 0.5 / 1.25),
    ],
    ids=["products", "sums", "a quotient"],
)
def test_what_the_compiler_does_at_once_with_one_number_is_of_both_equations(function):
    ex = jv.explore(function, jnp.ones(8))
    _, first, last, _ = (fate.node for fate in ex.fates)
    links = ex.links("hlo")
    node, *others = (node.index for node in ex.hlo if node.op in ("multiply", "add", "divide"))
    if others:
        # JAX 0.12 does one after the other.
        assert [links.sources(one) for one in (node, *others)] == [[first], [last]]
        return
    assert list(links.sources(node)) == [first, last]
    assert {links.kind[row] for row in (links.target == node).nonzero()[0].tolist()} == {MERGED}


@pytest.mark.smoke
def test_a_number_that_has_a_name_and_does_what_several_equations_did_is_of_all_of_them():
    ex = jv.explore(lambda x: x * 3.0 / 7.0 * jnp.pi, jnp.ones(8))
    first, second, last = ex.fates
    if first.alive:
        # JAX 0.12 does one after the other.
        pytest.skip("this version of XLA leaves all three")
    links = ex.links("hlo")
    for node in (*ex.hlo.find("broadcast"), *ex.hlo.find("constant")):
        assert list(links.sources(node.index)) == [first.node, second.node, last.node]


@pytest.mark.smoke
def test_a_shift_in_place_of_a_division_counts_for_the_division():
    ex = jv.explore(lambda x: jax.jit(lambda value, by: lax.div(value, by))(x, np.uint32(4)), jnp.ones(8, jnp.uint32))
    assert _numbers(ex) == {2.0: {("div",)}}
