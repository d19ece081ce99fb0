"""What a reduction applies to two elements is linked to the reduction where it is only a word of that."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxviz as jv
from jaxviz.link.links import LINK_KINDS
from jaxviz.read.tag_text import with_applied

X = jnp.arange(8.0)


def became(ex, stage):
    """For each equation in the body of another the operations that it became, with the kinds of the links."""
    jaxpr, graph, links = ex.jaxpr, getattr(ex, stage), ex.links(stage)
    found: dict[str, set[tuple[str, str]]] = {}
    for source, target, kind in zip(
        *(column.tolist() for column in (links.source, links.target, links.kind)), strict=True
    ):
        if jaxpr.nodes.region[source] and jaxpr.node(source).kind == "operation":
            found.setdefault(jaxpr.node(source).op, set()).add((graph.node(target).op, LINK_KINDS[kind]))
    return found


@pytest.mark.smoke
@pytest.mark.parametrize("stage", ["stablehlo", "hlo"])
@pytest.mark.parametrize(("combine", "op"), [(lambda a, b: a + b, "add"), (lambda a, b: lax.max(a, b), "max")])
def test_the_equation_of_a_reducer_is_in_the_operation_that_applies_it(stage, combine, op):
    found = became(jv.explore(lambda x: lax.reduce(x, 0.0, combine, (0,)), X), stage)
    assert ("reduce", "merged") in found[op]


@pytest.mark.smoke
def test_a_window_that_the_compiler_writes_without_a_name_is_known_by_its_reducer():
    def f(x):
        y = jnp.sin(x)
        windows = lax.reduce_window(y, 0.0, lambda a, b: a + b, (2,), (1,), "SAME")
        return windows * y

    ex = jv.explore(f, X)
    assert ("reduce-window", "merged") in became(ex, "hlo")["add"]
    (window,) = [node for node in ex.hlo if node.op == "reduce-window"]
    owner = next(node for node in ex.jaxpr if node.op == "reduce_window")
    assert ex.links("hlo").sources(window.index)[0] == owner.index
    assert window.line == owner.line


@pytest.mark.smoke
def test_what_a_reducer_calls_is_read_with_it():
    ex = jv.explore(lambda x: lax.reduce(x, 0.0, lambda a, b: jax.jit(lambda c, d: jnp.sin(c) + d)(a, b), (0,)), X)
    assert ("sine", "exact") in became(ex, "stablehlo")["sin"]
    assert ("sine", "exact") in became(ex, "hlo")["sin"]


def test_each_reduction_has_the_reducer_of_its_own():
    def f(x):
        return lax.reduce(x, 0.0, lambda a, b: a + b, (0,)) * lax.reduce(x * x, 0.0, lambda a, b: a + b, (0,))

    ex = jv.explore(f, X)
    links, equations = ex.links("hlo"), [node.index for node in ex.jaxpr if node.op in ("reduce", "add")]
    found = [links.sources(node.index) for node in ex.hlo if node.op == "reduce"]
    assert sorted(found) == [equations[:2], equations[2:]]


def test_the_name_of_a_reducer_counts_only_inside_of_what_applies_it():
    assert with_applied("f/jvE3/reduce", "f/jvE30/jvE7/add") == "f/jvE3/reduce"
    assert with_applied("f/jvE1/jvE3/reduce", "f/jvE1/jvE3/jvE7/add") == "f/jvE1/jvE3/reduce;f/jvE1/jvE3/jvE7/add"
    assert with_applied("", "f/jvE3/jvE7/add") == "f/jvE3/jvE7/add"
    assert with_applied("f/reduce", "f/add") == "f/reduce"
