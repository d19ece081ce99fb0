"""What went because nothing needed it any more, what is left of an operation that is not the operation, and by what
the last of a program was replaced."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxviz as jv


def _fates(function, *arguments):
    ex = jv.explore(function, *arguments)
    return ex, [(ex.jaxpr.node(fate.node).op, fate) for fate in ex.fates]


@pytest.mark.smoke
def test_of_a_choice_that_is_known_the_other_value_is_dead_and_the_choice_is_replaced_by_the_value():
    """Though the choice is the last of the program, which nothing reads."""

    def f(x):
        return jnp.where(jnp.ones(16, bool), jnp.sin(x), jnp.cos(x))

    _, fates = _fates(f, jnp.ones(16))
    kinds = dict(fates)
    assert (kinds["cos"].kind, kinds["cos"].where) == ("consequence", "algsimp")
    assert kinds["sin"].alive
    assert (kinds["select_n"].kind, kinds["select_n"].by) == ("simplified", kinds["sin"].node)


@pytest.mark.smoke
def test_what_a_choice_between_equals_is_told_by_is_dead_and_what_is_undone_is_simplified():
    def f(x):
        same = jnp.sin(x)
        return jnp.where(x > 0, same, same), jnp.negative(-jnp.cos(x))

    _, fates = _fates(f, jnp.ones(16))
    assert {fate.kind for op, fate in fates if op == "gt"} == {"consequence"}
    assert {fate.kind for op, fate in fates if op == "neg"} == {"simplified"}
    last = [fate for op, fate in fates if op == "neg"][-1]
    assert last.by == next(fate.node for op, fate in fates if op == "cos")


@pytest.mark.smoke
def test_where_operands_are_regrouped_nothing_is_dead():
    """A factor goes from one operand into the other."""
    _, fates = _fates(lambda x: jnp.sin(x) * jnp.full(16, 3.0) * jnp.full(16, 2.0), jnp.ones(16))
    assert all(fate.kind != "consequence" for _, fate in fates)


@pytest.mark.smoke
def test_a_condition_of_which_the_compiler_takes_one_branch_is_alive_in_that_branch_alone():
    """A number of the branch has the name of the condition then, in the shape of what it meets."""

    def f(x):
        known = jnp.sum(jnp.ones(3, jnp.int32)) > 100
        return jax.lax.cond(known, lambda a: jnp.sin(a), lambda a: jnp.cos(a) * 3.0, x)

    _, fates = _fates(f, jnp.ones(16))
    kinds = dict(fates)
    assert kinds["cond"].kind == "context"
    assert kinds["cos"].alive
    assert (kinds["sin"].kind, kinds["sin"].where) == ("simplified", "simplify-conditional")


@pytest.mark.smoke
def test_a_shape_that_is_left_of_an_operation_is_not_the_operation():
    """Of a power of zero a constant is left, of a sum over one element a reshape, of equal elements a factor."""
    _, fates = _fates(lambda x: x + jnp.power(x, 0.0), jnp.ones(16))
    assert {(fate.kind, fate.where) for op, fate in fates if op == "pow"} == {("simplified", "algsimp")}
    _, fates = _fates(lambda x: jnp.sin(x).sum(axis=1) + 1, jnp.ones((8, 1, 8)))
    sine, total = (next(fate for op, fate in fates if op == name) for name in ("sin", "reduce_sum"))
    assert (total.kind, total.where, total.by) == ("simplified", "algsimp", sine.node)
    _, fates = _fates(lambda x: jnp.broadcast_to(jnp.sin(x)[:, None], (6, 4)).sum(1), jnp.ones(6))
    assert not any(fate.alive for op, fate in fates if op == "broadcast_in_dim")


@pytest.mark.smoke
def test_of_a_loop_that_is_merged_with_another_also_what_it_holds_says_with_which():
    def f(x):
        once, again = (jax.lax.fori_loop(0, 10, lambda i, c: jnp.sin(c), x) for _ in range(2))
        return once + again

    _, fates = _fates(f, jnp.ones(16))
    first, second = (fate for op, fate in fates if op == "sin")
    assert first.alive
    assert (second.kind, second.by) == ("merged", first.node)


@pytest.mark.smoke
def test_what_only_goes_round_a_while_loop_is_dead_whoever_removes_it():
    def f(x):
        def body(carry):
            i, kept, junk = carry
            return i + 1, kept * 1.5, jnp.cos(junk) + 2.0

        return jax.lax.while_loop(lambda c: c[0] < 7, body, (0, x, jnp.tanh(x)))[1]

    _, fates = _fates(f, jnp.ones(16))
    dead = [op for op, fate in fates if fate.kind == "dead"]
    assert dead == ["tanh", "cos", "add"]
    assert all(fate.alive for op, fate in fates if op in ("while", "lt", "mul"))


@pytest.mark.smoke
def test_of_two_equal_bounds_the_one_that_is_left_may_have_the_name_of_the_first():
    ex, fates = _fates(lambda x: jnp.maximum(jnp.maximum(jnp.exp(x), 0.0), 0.0), jnp.ones(16))
    gone = [fate for op, fate in fates if op == "max" and not fate.alive]
    assert len(gone) == 1
    assert ex.jaxpr.node(gone[0].by).op == "max"


@pytest.mark.smoke
def test_a_convolution_whose_axes_the_compiler_puts_in_order_is_alive():
    """The new one has no name; only the transpose that puts its result back has."""

    def f(w, x):
        axes = jax.lax.conv_dimension_numbers(x.shape, w.shape, ("NCHW", "OIHW", "NCHW"))
        out = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=axes)
        return jnp.sum(jnp.sin(out))

    _, fates = _fates(jax.grad(f), jnp.ones((4, 3, 3, 3)), jnp.ones((2, 3, 8, 8)))
    assert all(fate.alive for op, fate in fates if op == "conv_general_dilated")


@pytest.mark.smoke
def test_products_of_a_row_in_a_loop_are_alive_whoever_writes_them():
    def f(x, w):
        return jax.lax.scan(lambda carry, _: (jnp.sin(carry @ jnp.exp(w)), None), x, None, length=5)[0]

    _, fates = _fates(f, jnp.ones(16), jnp.ones((16, 16)))
    assert all(fate.alive for op, fate in fates if op == "dot_general")


@pytest.mark.smoke
def test_a_constraint_on_one_device_is_not_said_to_be_moved_by_a_remover():
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
    place = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    _, fates = _fates(lambda x: jax.lax.with_sharding_constraint(jnp.sin(x), place) * 2.0, jnp.ones(8))
    assert all(fate.kind != "moved" for op, fate in fates)


@pytest.mark.smoke
def test_what_a_second_call_of_a_function_computes_is_alive_and_what_nobody_needs_of_it_is_dead():
    @jax.jit
    def inner(x):
        return jnp.tanh(x) * 2.0

    def f(x, y):
        inner(x + y)
        return inner(x) + inner(y)

    _, fates = _fates(f, jnp.ones(16), jnp.ones(16))
    assert next(fate.kind for op, fate in fates if op == "tanh") == "dead"
    assert [fate.alive for op, fate in fates if op in ("tanh", "jit", "pjit")] == [False, False, *[True] * 4]
