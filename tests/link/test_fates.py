"""The fates of equations that a person would check: what is gone says where and why, and what lives does not."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from styles import STYLES

import jaxviz as jv
from jaxviz.link.snapshots import working_names


def _fates(function, *arguments):
    """The fate of each equation of a function, by its operation; one at least has no fate of its own."""
    ex = jv.explore(function, *arguments)
    return ex, [(ex.jaxpr.node(fate.node).op, fate) for fate in ex.fates]


@pytest.mark.smoke
def test_of_a_chain_that_is_merged_each_says_with_which():
    def f(x):
        return jnp.sin(x) * 3.0 + jnp.sin(x) * 3.0, jnp.cos(x), jnp.cos(x)

    ex, fates = _fates(f, jnp.ones(4))
    pairs = {(op, ex.jaxpr.node(fate.by).op) for op, fate in fates if fate.kind == "merged"}
    assert pairs == {("sin", "sin"), ("mul", "mul"), ("cos", "cos")}


@pytest.mark.smoke
def test_of_two_sums_that_are_merged_the_second_goes_then_and_not_when_its_body_is_cleared_away():
    _, fates = _fates(lambda x: jnp.sum(x) * 3.0 + jnp.sum(x) + jnp.mean(x), jnp.arange(16.0))
    first, *others = (fate for op, fate in fates if op == "reduce_sum")
    assert first.alive
    assert {(fate.kind, fate.where, fate.by) for fate in others} == {("merged", "cse", first.node)}


@pytest.mark.smoke
def test_of_two_sums_in_calls_of_one_function_the_second_goes_when_they_are_merged():
    """What both add two elements by has one name, whichever call it is of."""

    @jax.jit
    def norm(a):
        return jnp.sqrt(jnp.sum(a * a, axis=-1, keepdims=True) + 1e-6)

    _, fates = _fates(lambda a: a / norm(a) + a * norm(a), jnp.ones((8, 16)))
    for name in ("mul", "reduce_sum", "add"):
        first, second, *_ = (fate for op, fate in fates if op == name)
        assert first.alive
        assert (second.kind, second.where, second.by) == ("merged", "cse", first.node)


@pytest.mark.smoke
def test_what_a_merged_reduction_applies_is_merged_with_what_the_other_does():
    def larger_and_sum(one, other):
        return jnp.where(one[0] > other[0], one[0], other[0]), one[1] + other[1] * 2

    @jax.jit
    def both(a):
        most, total = jax.lax.reduce((a, a * 2), (0.0, 0.0), larger_and_sum, (1,))
        return most + total

    ex, fates = _fates(lambda a: a.T / both(a) + a.T * both(a), jnp.ones((8, 16)))
    (first, again) = (node.index for node in ex.jaxpr.find("reduce"))
    parts = [ex.jaxpr.region(region) for node in (first, again) for region in ex.jaxpr.owned_regions[node]]
    found = {fate.node: fate for _, fate in fates}
    applied, twins = ([node for node in range(part.start, part.end) if node in found] for part in parts)
    assert len(applied) == 5
    assert not any(found[node].kind == "merged" for node in (first, *applied))
    told = [(found[node].kind, found[node].by) for node in (again, *twins)]
    assert told == [("merged", node) for node in (first, *applied)]


@pytest.mark.smoke
def test_a_call_whose_body_is_merged_with_that_of_another_is_merged_with_it():
    def nested():
        @jax.jit
        def inner(x):
            return jnp.sin(x) * jnp.cos(x)

        return jax.jit(lambda x: inner(x) * 2.0)

    # Of two calls of one function, JAX 0.6 hands one alone to the compiler.
    first, second = nested(), nested()
    ex, fates = _fates(lambda x: jnp.exp(first(x)) + second(x), jnp.ones(8))
    calls = [node for op in ("jit", "pjit") for node in ex.jaxpr.find(op)]
    (inner_call, inner_again), (outer_call, outer_again) = (
        [node.index for node in calls if node.name == name] for name in ("inner", "<lambda>")
    )
    found = {fate.node: (fate.kind, fate.by) for _, fate in fates}
    assert found[outer_again] == ("merged", outer_call)
    assert found[inner_again] == ("merged", inner_call)


@pytest.mark.smoke
def test_of_several_calls_of_one_function_those_on_the_same_values_are_merged_with_the_first_of_these():
    @jax.jit
    def inner(x):
        return jnp.sin(x) * 2.0

    _, fates = _fates(lambda x, y: inner(x) + jnp.exp(inner(y)) * inner(inner(x)) + inner(inner(x)), *[jnp.ones(8)] * 2)
    of_x, of_y, again, twice, last, once_more = (fate for op, fate in fates if op == "sin")
    assert of_x.alive
    assert of_y.alive
    assert twice.alive
    assert [(fate.kind, fate.by) for fate in (again, last)] == [("merged", of_x.node)] * 2
    assert (once_more.kind, once_more.where, once_more.by) == ("merged", "cse", twice.node)


@pytest.mark.smoke
def test_a_loop_in_a_call_on_the_same_values_is_merged_with_that_of_the_first_such_call():
    @jax.jit
    def settled(x, y):
        return jax.lax.fori_loop(0, 9, lambda _, z: jnp.sin(z) * y, x)

    ex, fates = _fates(lambda x, y: (settled(x, y) + settled(x, y), settled(y, x)), jnp.ones(8), jnp.zeros(8))
    loops = [fate for op, fate in fates if op == "scan"]
    assert [fate.kind == "merged" for fate in loops] == [False, True, False]
    assert loops[1].by == loops[0].node
    sines = [fate for op, fate in fates if op == "sin"]
    assert [fate.kind == "merged" for fate in sines] == [False, True, False]
    assert sines[1].by == sines[0].node
    assert len(ex.hlo.find("while")) == 2


def test_what_a_pass_writes_as_several_others_is_alive():
    """The sums of parts that a running sum becomes carry no name of it."""

    def f(x):
        return jnp.cumsum(jnp.sin(x), axis=0) * x, jax.lax.cummax(x, axis=1)

    _, fates = _fates(f, jnp.ones((64, 64)))
    kinds = {op: fate.kind for op, fate in fates}
    assert kinds["cumsum"] in ("alone", "fused", "both")
    assert kinds["cummax"] in ("alone", "fused", "both")


@pytest.mark.smoke
@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("large", [False, True])
def test_a_product_that_takes_in_the_transpose_of_itself_is_alive(mapped, large, monkeypatch):
    """XLA keeps the name of the transpose for the product of both, which nothing else would tell from the transpose.

    Of a large program there are no snapshots, which would say which replaced which.
    """
    if large:
        monkeypatch.setattr("jaxviz.capture.ALL_PASSES", 0)

    def f(w, x):
        return jnp.sin(jax.vmap(lambda row: w @ row)(x) if mapped else (w @ x.T).T)

    ex, fates = _fates(f, jnp.ones((32, 16)), jnp.ones((8, 16)))
    product = next(fate for op, fate in fates if op == "dot_general")
    turned = [fate for op, fate in fates if op == "transpose"][-1]
    assert product.alive
    assert (turned.kind, turned.by) == ("moved", product.node)
    assert {node.index for node in ex.hlo if node.op == "dot"} <= {*ex.links().targets(product.node)}


def test_a_product_of_which_one_part_is_taken_and_turned_is_where_the_compiler_computes_it():
    """As in the derivative of a function of one argument, which JAX splits into as many parts as it has arguments."""

    def f(w, x):
        (whole,) = jax.lax.split(x @ w, (8,))
        return jnp.sin(whole.T)

    ex, fates = _fates(f, jnp.ones((4, 4)), jnp.ones((8, 4)))
    product = next(fate for op, fate in fates if op == "dot_general")
    assert product.alive
    assert {node.index for node in ex.hlo if node.op == "dot"} <= {*ex.links().targets(product.node)}


def test_a_product_whose_transpose_leaves_a_copy_behind_is_alive():
    function, arguments = STYLES["sharded_step"]()
    ex, fates = _fates(function, *arguments)
    products = [fate for op, fate in fates if op == "dot_general"]
    assert all(fate.alive for fate in products)
    assert all(ex.links().targets(fate.node) for fate in products)


def test_a_factor_that_becomes_part_of_another_does_not_do_the_work_of_what_it_reads():
    _, fates = _fates(lambda x: jax.lax.erf_inv(x) * np.float32(2.5) * np.float32(3.5), jnp.linspace(-0.9, 0.9, 64))
    inverse, first, second = (fate for op, fate in fates if op in ("erf_inv", "mul"))
    assert (inverse.kind, second.kind) == ("fused", "fused")
    # JAX 0.12 keeps both factors; where the first is gone, what it read is not what it gave.
    assert first.alive or (first.kind, first.by) == ("simplified", -1)


def test_what_stands_in_for_a_value_holds_it():
    """Neither what it was made of, before a factor, nor what was made of it, nor what has other entries."""
    types = jnp.ones((4, 8)), jnp.ones((4, 8))
    ex, fates = _fates(lambda x, g: (jnp.tanh(x) * 2.0) * jnp.sin(g) * 3.0, *types)
    assert all(fate.by < 0 for op, fate in fates if op == "mul")
    ex, fates = _fates(lambda x, g: jnp.tanh(x.sum(axis=1).sum()), *types)
    rows = next(fate for op, fate in fates if op == "reduce_sum")
    assert rows.by < 0 or ex.jaxpr.node(rows.by).types == ("f32[4]",)
    ex, fates = _fates(lambda x, g: jnp.sin(jax.lax.max(jnp.tanh(x), -jnp.inf)), *types)
    (clipped,) = (fate for op, fate in fates if op == "max")
    assert clipped.alive or ex.jaxpr.node(clipped.by).op == "tanh"


def test_what_a_reduction_does_with_two_elements_has_the_fate_of_the_reduction():
    """It is a word of the operation in StableHLO and in HLO; a pass may write the operation anew without its name."""

    def f(x):
        every = jax.lax.reduce(x, 0.0, lambda a, b: a + b, (0,))
        return every, jax.lax.reduce_window(x, 0.0, lambda a, b: a + b, (2,), (1,), "SAME")

    _, fates = _fates(f, jnp.ones(8))
    kinds = [(op, fate.kind) for op, fate in fates if op in ("reduce", "reduce_window", "add")]
    assert [op for op, _ in kinds] == ["reduce", "add", "reduce_window", "add"]
    assert all(fate.alive for _, fate in fates)
    assert kinds[0][1] == kinds[1][1]
    assert kinds[2][1] == kinds[3][1]


def test_of_what_is_merged_over_copies_of_its_value_each_says_with_which():
    function, arguments = STYLES["own_optimizer"]()
    _, fates = _fates(function, *arguments)
    assert all(fate.by >= 0 for _, fate in fates if fate.kind == "merged")


def test_what_is_merged_with_a_part_of_another_equation_is_not_told_to_be_equal_to_it():
    """What turns a sparse matrix is a part of a product with it."""
    sparse = pytest.importorskip("jax.experimental.sparse")
    matrix = sparse.BCOO.fromdense(jnp.arange(12.0).reshape(3, 4) % 5)

    def f(m, x):
        y = m @ x
        return y, m.T @ y

    ex, fates = _fates(f, matrix, jnp.ones((4, 2)))
    merged = [fate for _, fate in fates if fate.kind == "merged" and fate.by >= 0]
    assert all(ex.jaxpr.node(fate.node).op == ex.jaxpr.node(fate.by).op for fate in merged)


def test_a_product_that_becomes_a_sum_has_not_taken_in_the_sum_that_it_reads():
    function, arguments = STYLES["own_optimizer"]()
    _, fates = _fates(function, *arguments)
    assert all(fate.kind != "moved" for op, fate in fates if op == "dot_general")


def test_what_a_checkpoint_computes_again_is_merged_with_what_it_repeats_where_the_compiler_merges_their_kernels():
    """Of two fusions that are merged late, the body of the second stays, uncalled, until dead code is removed."""

    @jax.checkpoint
    def layer(x, w):
        return jnp.sin(jnp.tanh(x @ w) @ w)

    ex, fates = _fates(jax.grad(lambda w, x: layer(layer(x, w), w).sum()), jnp.ones((16, 16)), jnp.ones((16, 16)))
    gone = [fate for op, fate in fates if op == "dot_general" and not fate.alive and fate.kind != "dead"]
    # Newer compilers leave the barriers in, and compute all of it again.
    assert gone or jax.__version_info__ >= (0, 11)
    assert all(fate.kind == "merged" and ex.jaxpr.node(fate.by).op == "dot_general" for fate in gone)


def test_a_loop_that_never_turns_goes_where_it_is_removed():
    """A value that is taken out of what was the loop keeps its name for a while."""

    def f(x):
        return jax.lax.while_loop(lambda c: c[0] < 0, lambda c: (c[0] + 1, jnp.sin(c[1])), (0, x))[1]

    _, fates = _fates(f, jnp.ones(4))
    assert {(fate.kind, fate.where) for _, fate in fates} == {("simplified", "simplify-while-loops")}


@pytest.mark.smoke
def test_what_only_goes_round_a_loop_is_dead():
    def f(x):
        return jax.lax.fori_loop(0, 5, lambda i, c: (c[0] * 2.0, jnp.sin(c[1])), (x, x))[0]

    _, fates = _fates(f, jnp.ones(4))
    kinds = {op: fate.kind for op, fate in fates}
    assert kinds["sin"] == "dead"
    assert kinds["mul"] != "dead"


def test_what_a_loop_is_given_for_what_only_goes_round_is_dead():
    """Also beside literals, which nothing makes."""

    def f(x):
        def body(carry, y):
            return (carry[0] + y, carry[1] * 2.0, carry[2] - 1.0), carry[0]

        return jax.lax.scan(body, (0.0, jnp.cos(x[0]), 1.0), jnp.sin(x))[1]

    _, fates = _fates(f, jnp.ones(4))
    kinds = {op: fate.kind for op, fate in fates}
    assert [kinds[op] for op in ("cos", "mul", "sub")] == ["dead"] * 3
    assert "dead" not in (kinds["sin"], kinds["add"], kinds["scan"])


def test_what_goes_round_a_loop_in_a_loop_for_nothing_is_dead():
    def f(x):
        def outer(carry, y):
            def inner(carried, z):
                return (carried[0] + z, carried[1] * carry[1]), carried[0]

            carry, sums = jax.lax.scan(inner, carry, jnp.arange(3.0) - y)
            return carry, jnp.tanh(sums).sum()

        return jax.lax.scan(outer, (x[0], jnp.cos(x[1])), x)[1]

    _, fates = _fates(f, jnp.ones(4))
    kinds = {op: fate.kind for op, fate in fates}
    assert [kinds[op] for op in ("cos", "mul")] == ["dead"] * 2
    assert "dead" not in (kinds["add"], kinds["sub"], kinds["tanh"])


def test_what_is_known_to_the_compiler_is_folded():
    """On the way to HLO and after it."""

    def f(x):
        return jax.lax.fori_loop(0, 1, lambda i, c: c * jnp.sin(2.0) + i, x)

    _, fates = _fates(f, jnp.ones(4))
    kinds = {op: (fate.kind, fate.where) for op, fate in fates}
    assert kinds["sin"] == ("folded", "")
    assert kinds["convert_element_type"] == ("folded", "constant_folding")


@pytest.mark.smoke
def test_what_is_computed_of_numbers_alone_is_folded_by_whatever_simplifies_it():
    """But for what only fills a shape, which nothing reads any more, where the compiler gets it as an operation."""
    _, fates = _fates(lambda x: jnp.sin(x) / jnp.sum(jnp.ones(64)), jnp.ones(64))
    kinds = {op: fate.kind for op, fate in fates}
    assert kinds["reduce_sum"] == "folded"
    assert kinds["broadcast_in_dim"] == ("folded" if jax.__version_info__ < (0, 7) else "consequence")


@pytest.mark.smoke
def test_an_argument_can_be_what_took_the_place_of_an_equation():
    arrays = {"w": jnp.ones(64)}
    ex, fates = _fates(lambda p, y: jnp.sin(y) * jax.lax.neg(jax.lax.neg(p["w"])), arrays, jnp.ones(64))
    (last,) = (fate for op, fate in fates if op == "neg" and fate.by >= 0)
    assert (last.kind, ex.jaxpr.node(last.by).name) == ("simplified", "p['w']")


def test_an_argument_in_place_of_an_equation_has_the_name_that_a_library_took_from_it():
    equinox = pytest.importorskip("equinox")

    def undone(model):
        return jnp.sin(jax.lax.neg(jax.lax.neg(model.weight)))

    ex, fates = _fates(equinox.filter_jit(undone), equinox.nn.Linear(3, 4, key=jax.random.key(0)))
    assert [ex.jaxpr.node(fate.by).name for op, fate in fates if op == "neg" and fate.by >= 0] == ["model.weight"]


@pytest.mark.smoke
def test_a_callback_that_only_computes_is_dead_where_nothing_reads_it():
    def f(x):
        jax.pure_callback(lambda a: np.asarray(a), jax.ShapeDtypeStruct((8,), jnp.float32), jnp.sin(x))
        jax.debug.callback(lambda a: None, jnp.cos(x))
        return jnp.tanh(x)

    _, fates = _fates(f, jnp.ones(8))
    kinds = {op: fate.kind for op, fate in fates}
    assert (kinds["sin"], kinds["pure_callback"]) == ("dead", "dead")
    assert "dead" not in (kinds["cos"], kinds["tanh"], kinds["debug_callback"])


def test_a_running_sum_of_constants_is_folded_however_the_compiler_writes_it():
    explored = jv.explore(lambda x: x + jnp.cumsum(jnp.arange(8.0)), jnp.ones(8))
    fates = {explored.jaxpr.node(fate.node).op: fate for fate in explored.fates}
    assert fates["cumsum"].kind == "folded"
    assert "constant_folding" in fates["cumsum"].where
    moving = jv.explore(lambda x: jnp.cumsum(x), jnp.ones(8))
    assert all(fate.kind != "folded" for fate in moving.fates)


def test_a_barrier_that_goes_is_merged_with_nothing():
    explored = jv.explore(lambda x: jax.lax.optimization_barrier(jnp.sin(x)) * 2, jnp.ones(8))
    (fate,) = [fate for fate in explored.fates if explored.jaxpr.node(fate.node).op == "optimization_barrier"]
    assert fate.kind == "simplified"


def test_a_call_whose_body_lives_is_not_folded():
    _, fates = _fates(lambda a: jnp.linalg.cholesky(a @ a.T), jnp.eye(16))
    assert all(fate.alive for op, fate in fates if op == "jit")


def test_what_is_left_of_an_equation_is_not_the_equation():
    """A divisor in the shape of what it divided, an element of what was a loop, a constant."""
    text = """
  %a = f32[4]{0} broadcast(%s), dimensions={}, metadata={op_name="jit(f)/jvE1/div" stack_frame_id=1}
  %b = f32[4]{0} get-tuple-element(%t), index=0, metadata={op_name="jit(f)/jvE2/while" stack_frame_id=1}
  %c = f32[] constant(2), metadata={op_name="jit(f)/jvE3/mul" stack_frame_id=1}
  %d = f32[4]{0} broadcast(%s), dimensions={}, metadata={op_name="jit(f)/jvE4/broadcast_in_dim" stack_frame_id=1}
  ROOT %e = f32[4]{0} divide(%b, %a), metadata={op_name="jit(f)/jvE5/div" stack_frame_id=1}
"""
    assert working_names(text) == {"jit(f)/jvE4/broadcast_in_dim", "jit(f)/jvE5/div"}


def test_one_entry_by_which_a_row_is_divided_is_no_number_that_is_known_before():
    """XLA multiplies by one over the entry, and gives that one the shape, and the name, of what the entry is cut to."""
    ex, fates = _fates(lambda a, i: jax.lax.dynamic_slice(a, (i, 0), (1, 5)) / a[i, i], jnp.eye(5), 2)
    (cut,) = (fate for op, fate in fates if op == "squeeze")
    assert (cut.kind, ex.jaxpr.node(cut.by).op) in [("moved", "dynamic_slice"), ("simplified", "dynamic_slice")]


def test_a_call_whose_body_is_merged_with_a_part_of_that_of_another_is_not_that_other_one():
    @functools.partial(jax.jit, static_argnums=1)
    def turned(x, further):
        y = jnp.sin(x) * x
        return jnp.exp(y) if further else y

    ex, fates = _fates(lambda x: turned(x, True) + turned(x, False), jnp.ones(8))
    first, second = (fate for op, fate in fates if op in ("jit", "pjit"))
    assert second.by != first.node
    assert [(fate.kind, ex.jaxpr.node(fate.by).op) for op, fate in fates if fate.kind == "merged" and fate.by >= 0] == [
        ("merged", "sin"),
        ("merged", "mul"),
    ]


def test_of_two_absolute_values_of_which_one_goes_what_is_between_is_that_of_the_other():
    """It is replaced by what has its value, not by what that is taken of."""
    ex, fates = _fates(lambda a: jax.image.resize(a, (10, 9), "bilinear"), jnp.ones((5, 5)))
    quotients = [ex.jaxpr.node(fate.by).op for op, fate in fates if op == "div" and fate.kind == "simplified"]
    assert quotients
    assert "sub" not in quotients


def test_another_shape_of_a_value_that_is_needed_yet_is_not_dead_after_a_simplification():
    def f(h, q, s):
        return jnp.linalg.solve(s, h @ q).T @ h

    _, fates = _fates(f, jnp.ones((1, 2)), jnp.eye(2), jnp.eye(1))
    assert "consequence" not in {fate.kind for op, fate in fates if op == "transpose"}


def test_a_product_with_the_one_entry_of_a_unit_matrix_is_what_is_multiplied_by_it():
    """As in a derivative by a function of one argument, whose directions are such a matrix."""
    ex, fates = _fates(lambda x: jnp.exp(jnp.sin(x) * jnp.eye(1).reshape(())), jnp.ones(4))
    (product,) = (fate for op, fate in fates if op == "mul")
    assert not product.alive
    assert ex.jaxpr.node(product.by).op == "sin"


def test_of_two_products_that_are_written_anew_and_merged_then_one_is_there_and_the_other_merged_with_it():
    """XLA writes the product of a row and a matrix as one of two matrices, which has no name of either."""

    def f(h, q, s):
        return h @ q @ h.T + s, jnp.linalg.solve(s, h @ q)

    ex, fates = _fates(f, jnp.ones((1, 2)), jnp.eye(2), jnp.eye(1))
    first, again = (fate for op, fate in fates if op == "dot_general" and ex.jaxpr.node(fate.node).operands == (0, 1))
    assert first.alive
    assert (again.kind, again.by) == ("merged", first.node)
    linked = {*ex.links().source.tolist()}
    assert all(fate.node in linked for _, fate in fates if fate.alive and fate.kind != "context")


def test_what_a_loop_does_that_is_not_chosen_goes_with_the_loop():
    def f(x):
        turns = jax.lax.while_loop(lambda s: s[0] < jnp.sum(x), lambda s: (s[0] + 1.0, jnp.log(s[1])), (0.0, x))
        return jnp.where(jnp.float32(3) > 2.0, jnp.sin(x), turns[1])

    _, fates = _fates(f, jnp.ones(4))
    kinds = {op: fate.kind for op, fate in fates}
    assert kinds["while"] == kinds["log"] == kinds["lt"] == kinds["reduce_sum"] == "consequence"


def test_a_call_that_only_a_number_in_it_has_the_name_of_is_around_what_lives():
    ex, fates = _fates(lambda a: jnp.linalg.inv(jnp.eye(2) + a @ a) @ a, jnp.ones((4, 2, 2)))
    (call,) = (fate for _, fate in fates if ex.jaxpr.node(fate.node).name == "solve")
    assert call.kind == "context"


@pytest.mark.smoke
def test_a_number_in_a_shape_that_has_an_instruction_of_its_own_is_alive():
    """It has no name in optimized HLO, but nothing else there is filled with that number."""
    ex = jv.explore(lambda x, group: jax.ops.segment_max(x, group, 5), jnp.ones(50), jnp.zeros(50, int))
    (filled,) = (node for node in ex.jaxpr.find("broadcast_in_dim") if node.types == ("f32[5]",))
    assert "broadcast" in {ex.hlo.node(one).op for one in ex.links("hlo").targets(filled.index)}
    (fate,) = (fate for fate in ex.fates if fate.node == filled.index)
    assert fate.kind in ("fused", "alone", "both")
