"""What the compiler writes without a name is linked to the equation that it stands for."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxviz as jv


def targets_of(ex: jv.Exploration, op: str) -> list[set[str]]:
    """What each equation of a kind became, by the names of the instructions."""
    links = ex.links("hlo")
    return [{ex.hlo.node(one).op for one in links.targets(node.index)} for node in ex.jaxpr.find(op)]


@pytest.mark.smoke
@pytest.mark.parametrize(
    "function",
    [
        lambda x: (lax.cummax(x), lax.cumlogsumexp(x)),
        lambda x: (jnp.sum(x), lax.cumsum(x)),
        lambda x: (lax.cumsum(x), jnp.sin(lax.cumsum(x * 2.0)) + 1.0),
        lambda x: jnp.tanh(lax.cumsum(jnp.sin(x)) * x),
        lambda x: jax.jit(lambda y: lax.cumprod(y))(x),
        lambda x: jnp.cumsum(x) + jnp.cumprod(x),
    ],
    ids=["beside another", "beside a sum", "twice", "in the midst", "in a call", "added to another"],
)
def test_what_a_running_reduction_becomes_is_linked_to_it(function):
    ex = jv.explore(function, jnp.linspace(0.1, 1.0, 16))
    links = ex.links("hlo")
    running = [node for node in ex.jaxpr if node.op.startswith("cum")]
    windows = [set(links.sources(node.index)) for node in ex.hlo if node.op == "reduce-window"]
    assert all(len(sources) == 1 for sources in windows)
    assert set().union(*windows) == {node.index for node in running}
    alive = {fate.node for fate in ex.fates if fate.alive}
    assert alive >= {node.index for node in running}


@pytest.mark.smoke
def test_what_cuts_a_running_reduction_to_its_size_is_of_it_and_not_of_what_reads_it():
    ex = jv.explore(lambda x: jnp.cumsum(x[:, ::-1], axis=1)[:, ::-1] - lax.cummax(x, axis=1), jnp.ones((12, 30)))
    links = ex.links("hlo")
    running = {node.index for node in ex.jaxpr if node.op.startswith("cum")}
    last = [node for node in ex.hlo if node.op == "slice" and str(node).split(" = ")[0].endswith("[12,30]")]
    assert last
    assert {one for node in last for one in links.sources(node.index)} == running


@pytest.mark.smoke
def test_a_running_reduction_that_reads_a_fusion_without_a_name_is_not_taken_for_what_reads_or_makes_that():
    """`unique` counts by one: an equation of its own until JAX 0.11, and since then in that of `nonzero`."""
    ex = jv.explore(lambda x: jnp.unique(x, size=4), jnp.linspace(0.1, 1.0, 20))
    windows = [node for node in ex.hlo if node.op == "reduce-window"]
    counting = ex.jaxpr.find("cumsum") or ex.jaxpr.find("call_hi_primitive")
    assert len(windows) == 3
    linked = {one for node in windows for one in ex.links("hlo").sources(node.index)}
    assert linked == {node.index for node in counting}


@pytest.mark.smoke
def test_products_of_which_only_what_reads_them_has_a_name_are_found_behind_what_changes_nothing():
    """The gradient of the correlation is one of what is multiplied by 1, the derivative of a sum."""

    def loss(kernel, x):
        return (jnp.correlate(x, kernel, "valid") ** 2).sum()

    ex = jv.explore(jax.grad(loss), jnp.ones(5), jnp.linspace(0.0, 1.0, 32))
    made = ex.jaxpr.find("conv_general_dilated")
    assert len(made) == 2
    assert all("convolution" in ops for ops in targets_of(ex, "conv_general_dilated"))
    links = ex.links("hlo")
    sources = [set(links.sources(node.index)) for node in ex.hlo if node.op == "convolution"]
    assert sorted(sources, key=min) == [{one.index} for one in made]
    fates = {fate.node: fate for fate in ex.fates}
    assert all(fates[one.index].kind == "alone" for one in made)


def test_the_factors_of_a_product_with_itself_are_of_the_product():
    """They have no name, and are of the size of what was summed over an axis of one entry before."""
    ex = jv.explore(lambda x: jnp.dot(*[jnp.sum(jnp.sum(x, 0)[None], 0)] * 2) * 3.0, jnp.ones((8, 32)))
    _, again = ex.jaxpr.find("reduce_sum")
    assert not any("multiply" in ops for ops in targets_of(ex, "reduce_sum"))
    assert not next(fate for fate in ex.fates if fate.node == again.index).alive


def test_what_an_exported_function_computes_is_of_its_call():
    pytest.importorskip("flatbuffers")
    (size,) = jax.export.symbolic_shape("b")
    inner = jax.export.export(jax.jit(lambda x: jnp.sin(x) @ x.T))(jax.ShapeDtypeStruct((size, 8), jnp.float32))
    for function in (inner.call, lambda x: inner.call(x) + 1.0):
        ex = jv.explore(function, jnp.ones((8, 8)))
        (targets,) = targets_of(ex, "call_exported")
        assert targets >= {"sine", "dot"}
        assert all(fate.alive for fate in ex.fates)


def _elman(w, u, h, xs):
    """A recurrent network as it is written for one example: products of a matrix and a vector."""

    def cell(h, x):
        h = jnp.tanh(w @ h + u @ x)
        return h, h.sum()

    return lax.scan(cell, h, xs)[1].sum()


def _descend(a, b, x):
    """Steepest descent, whose loop begins and goes on with a product."""
    going = lambda state: jnp.linalg.norm(state[1]) > 1e-3  # noqa: E731
    return lax.while_loop(going, lambda state: (x := state[0] - 0.1 * (state[1] @ a), a @ x - b), (x, a @ x - b))


def _shapes(*dims: tuple[int, ...]) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(each, jnp.float32) for each in dims]


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (lambda a, b, c, v: a @ (b @ (c @ v)), _shapes((5, 6), (6, 7), (7, 8), (8,))),
        (lambda a, v: a @ lax.scan(lambda v, _: (jnp.sin(v), None), v, length=3)[0], _shapes((6, 7), (7,))),
        (_elman, _shapes((6, 6), (6, 3), (6,), (5, 3))),
        (jax.grad(_elman), _shapes((6, 6), (6, 3), (6,), (5, 3))),
        (_descend, _shapes((6, 4), (6,), (4,))),
    ],
    ids=["of products", "behind a loop", "in a loop", "in the gradient of a loop", "before and in a loop"],
)
def test_products_with_a_vector_are_linked_to_their_equations(function, arguments):
    """The compiler writes them anew, without a name, or in a loop with the name of that."""
    ex = jv.explore(function, *arguments)
    links = ex.links("hlo")
    dots = ex.hlo.find("dot")
    assert dots
    for dot in dots:
        (source,) = map(ex.jaxpr.node, links.sources(dot.index))
        assert source.op == "dot_general"
        matrix = max(_types_read(ex.jaxpr, source), key=len)
        assert matrix in _types_read(ex.hlo, dot)
    linked = {source for dot in dots for source in links.sources(dot.index)}
    assert {fate.node for fate in ex.fates if fate.alive} >= linked
    loops = [node for node in ex.hlo if node.op == "while"]
    assert {ex.jaxpr.node(source).op for loop in loops for source in links.sources(loop.index)} <= {"scan", "while"}


def _types_read(graph, node):
    return [graph.tables.type_text(int(graph.values.type[value])) for value in node.operands if value >= 0]


def test_a_running_sum_of_a_product_is_told_from_the_product():
    ex = jv.explore(lambda a, v: lax.cumsum(a @ v), *_shapes((64, 6), (6,)))
    assert targets_of(ex, "dot_general")[0] >= {"dot"}
    (summing,) = targets_of(ex, "cumsum")
    assert "reduce-window" in summing
    assert "dot" not in summing
    assert "reduce-window" not in targets_of(ex, "dot_general")[0]


@pytest.mark.smoke
def test_convolutions_and_windows_are_linked_to_themselves_not_to_what_reads_them():
    def blurred(x, near, far):
        wide = jnp.convolve(jnp.convolve(x, near, "same"), far, "same")
        return x * 2.0 + wide + lax.reduce_window(x, -jnp.inf, lax.max, (2,), (1,), "SAME")

    ex = jv.explore(blurred, *_shapes((30,), (5,), (3,)))
    assert [ops & {"convolution", "reduce-window"} for ops in targets_of(ex, "conv_general_dilated")] == [
        {"convolution"},
        {"convolution"},
    ]
    assert [ops & {"convolution", "reduce-window"} for ops in targets_of(ex, "reduce_window_max")] == [
        {"reduce-window"}
    ]


def test_what_the_compiler_writes_in_a_loop_is_of_what_is_computed_there_not_of_the_loop():
    """It writes comparisons of floats anew, and gives what they are made of the name of the call of the loop's body."""
    ex = jv.explore(jnp.searchsorted, *_shapes((16,), ()))
    links = ex.links("hlo")
    written = [*ex.hlo.find("xor"), *ex.hlo.find("bitcast-convert")]
    assert written
    # None in 0.6; from 0.12 on there is no call of the body, and it gives them that of the call around the loop.
    around = ("", "closed_call", "jit(_searchsorted_scan_impl)")
    assert all(node.scope.rpartition("/")[2] in around for node in written)
    told = {ex.jaxpr.node(source).op for node in written for source in links.sources(node.index)}
    # There, what it moves out of the loop is of that call.
    assert "le_to" in told
    assert told <= {"ne", "le_to", "jit"}
    counting = [node for node in ex.hlo.find("add") if node.scope.endswith("while/body/add")]
    # Those of 0.6 have no call of the body in their names, so these are also what is added in it.
    others = {"add"} if jax.__version_info__ < (0, 7) else set()
    assert {ex.jaxpr.node(source).op for node in counting for source in links.sources(node.index)} == {"scan"} | others
