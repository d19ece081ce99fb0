"""Every operation of later stages has a place in the jaxpr, also where the compiler left out whence it is."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxviz as jv
from jaxviz.link.links import link_shares
from jaxviz.read.tag_text import MARK

X = jnp.arange(16.0)


def _printed(x):
    jax.debug.print("x {}", x, ordered=True)
    return x + 1.0


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(lambda x: x, id="argument is result"),
        pytest.param(lambda x: (x, {"again": x}, x + 1.0, x + 1.0), id="results that are equal"),
        pytest.param(jax.grad(lambda x: (lax.stop_gradient(x) * x).sum()), id="result that is an argument in the end"),
        pytest.param(lambda x: jnp.ones(3) * 2.0, id="result that is a constant in the end"),
        pytest.param(lambda x: 3, id="result that is a number"),
        pytest.param(lambda x: jnp.concatenate([x[:0], x[:0]]) * 2.0, id="nothing in it"),
        pytest.param(_printed, id="ordered effects"),
        pytest.param(lambda x: lax.composite(lambda y: jnp.sin(y) * 2.0, "my.op")(x), id="composite"),
        pytest.param(lambda x: (jnp.argmax(x), jnp.argmin(x)), id="function without tags"),
    ],
)
def test_all_of_it_is_placed(function):
    ex = jv.explore(function, X)
    assert link_shares(ex.stablehlo, ex.links("stablehlo"))["none"] == 0.0
    assert link_shares(ex.hlo, ex.links())["none"] == 0.0
    assert not any(MARK in text for text in ex.jaxpr.tables.strings)


@pytest.mark.parametrize("function", [lambda x: None, lambda x: {}, lambda x: (), lambda x: 3])
def test_programs_of_nothing_have_all_stages(function):
    ex = jv.explore(function, X)
    [program] = ex.document(passes=True).programs
    assert program.missing == {}
    assert ex.fates == ()
    assert "<svg" in ex.to_svg(stage="hlo")


@pytest.mark.smoke
def test_equations_of_a_composite_live_where_it_was_inlined():
    def f(x):
        y = lax.composite(lambda v: jnp.sin(v) * 2.0, "my.op")(x)
        return y + lax.composite(lambda v: jnp.cos(v) * 3.0, "my.other")(x)

    ex = jv.explore(f, X)
    kinds = {ex.jaxpr.node(fate.node).op: fate.kind for fate in ex.fates}
    assert kinds == {"composite": "context", "sin": "fused", "cos": "fused", "mul": "fused", "add": "fused"}
    [sine] = ex.hlo.find("sine")
    assert _sources(ex, sine) == ["sin"]


def test_what_has_no_tag_belongs_with_what_reads_it_inside_of_a_fusion():
    """The compiler writes products anew, without a name; what reads them in a fusion has that of the product."""
    weights = jnp.eye(16)
    policy = jax.checkpoint_policies.dots_saveable
    ex = jv.explore(jax.grad(jax.checkpoint(lambda x: jnp.sin(x @ weights).sum(), policy=policy)), X)
    products = ex.hlo.find("dot")
    assert [_sources(ex, product) for product in products] == [["dot_general"], ["dot_general"]]


def test_arguments_of_bodies_are_not_named_after_the_operation_around_them():
    def f(x):
        return lax.while_loop(lambda v: v[0] < 9.0, lambda v: v + jnp.argmax(v) + lax.cumsum(v), x)

    ex = jv.explore(f, X)
    assert {node.name for node in ex.stablehlo if node.kind == "argument"} == {"x", ""}


def _sources(ex: jv.Exploration, node: Any) -> list[str]:
    return [ex.jaxpr.node(source).op for source in ex.links().sources(node.index)]


def test_names_in_the_passes_have_no_tags():
    ex = jv.explore(lambda key: jax.random.categorical(key, jnp.ones((3, 3))), jax.random.key(0))
    assert len(ex.passes)
    assert not any(MARK in node.name for each in (ex.passes.start, ex.passes[0].graph) for node in each)
    assert not any(MARK in text for text in ex.jaxpr.tables.strings)


def _scoped(x):
    @jax.named_scope("turn")
    def turn(carry, _):
        return jnp.tanh(carry) * 2.0, None

    with jax.named_scope("first"):
        x = jnp.sin(x)
    with jax.named_scope("loop"):
        x, _ = lax.scan(turn, x, length=3)
    return jax.jit(jnp.cumsum)(x).sum()


@pytest.mark.smoke
@pytest.mark.parametrize("function", [_scoped, jax.grad(_scoped), jax.vmap(jax.grad(lambda x: _scoped(x[None])))])
def test_operations_keep_the_names_that_jax_gives_them_though_only_tags_are_compiled(function):
    ex = jv.explore(function, X)
    compiled = ex._capture.hlo_as_read.names
    assert any(MARK in name for name in compiled)
    assert not any(scope in name for name in compiled for scope in ("first", "turn", "jvp"))
    strings = ex.jaxpr.tables.strings
    shown = {strings[scope] for scope in ex.hlo.nodes.scope} - {""}
    text = jax.jit(function).lower(X).compile().as_text()
    assert shown <= set(re.findall(r'op_name="([^"]*)"', text))
    assert any("first" in name for name in shown)
    assert any("turn" in name for name in shown)


def test_a_scope_of_two_lines_is_shown_as_one():
    def scoped(x):
        with jax.named_scope("one\ntwo"):
            return jnp.sin(x)

    ex = jv.explore(scoped, X)
    # JAX 0.6 names the program itself beside the function.
    within = "jit(scoped)/jit(main)" if jax.__version_info__ < (0, 7) else "jit(scoped)"
    assert ex.hlo.find("sine")[0].scope == f"{within}/one two/sin"
    assert ex.stablehlo.find("sine")[0].scope == f"{within}/one two/sin"


@pytest.mark.smoke
def test_what_is_in_a_function_is_of_the_call_that_it_was_made_for():
    """JAX 0.6 gives it the name of the first call, wherever it is."""

    @jax.jit
    def bent(x):
        return jnp.maximum(jnp.sin(x), 0.25)

    outer = jax.jit(lambda x: bent(x) + 1.0)

    def f(x, y):
        x = bent(x @ y)
        x = outer(x @ y)
        return bent(outer(x @ y)) + bent(y)

    ex = jv.explore(f, *[jnp.ones((4, 4))] * 2)
    for op, made in (("sin", "sine"), ("max", "maximum")):
        sources = [list(ex.links("hlo").sources(node.index)) for node in ex.hlo.find(made)]
        assert sorted(sources) == [[node.index] for node in ex.jaxpr.find(op)]


def test_running_sums_of_several_layers_are_each_of_their_own():
    def deep(x):
        for _ in range(3):
            x = jnp.cumsum(jnp.tanh(x) @ x, axis=0)
        return x

    ex = jv.explore(deep, jnp.ones((8, 8)))
    first = deep.__code__.co_firstlineno
    sums = [node for node in ex.hlo if node.op == "reduce-window"]
    of = [ex.links("hlo").sources(node.index)[0] for node in sums]
    assert sorted(set(of)) == [node.index for node in ex.jaxpr.find("cumsum")]
    assert {node.line - first for node in sums} == {2}
