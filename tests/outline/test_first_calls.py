"""What JAX traces once stands wherever it is called, also where it has the call stack of its first call."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import check, names_inside, outline_of, row_named


def encode(w, x):
    return jax.nn.relu(x @ w) * 2.0


def decode(w, x):
    return jax.nn.relu(x @ w) + 1.0


def inside(outline, row):
    return [one for one in outline if row.first <= one.first and one.end <= row.end and one.index > row.index]


def test_a_function_of_JAX_in_a_loop_says_nothing_of_where_else_it_is_called():
    def network(w, x):
        return jax.lax.scan(lambda x, _: (decode(w, encode(w, x)), None), x, None, length=3)[0].sum()

    outline = outline_of(jax.grad(network), jnp.eye(9), jnp.ones((2, 9)))
    check(outline)
    found = next(row for row in outline if row.name == "decode")
    assert [row.name for row in inside(outline, found) if row.name == "encode"] == []
    assert {"matmul", "relu", "add"} <= {row.name for row in inside(outline, found)}


def test_modules_that_call_one_function_of_JAX_name_it_alike():
    eqx = pytest.importorskip("equinox", reason="it is not in the environments of the oldest and the newest JAX")
    first, second = (eqx.nn.MLP(9, 9, 9, 1, key=key) for key in jax.random.split(jax.random.key(0)))

    def loss(x):
        return jax.lax.scan(lambda x, _: (second(jnp.sin(first(x))), None), x, None, length=3)[0].sum()

    outline = outline_of(jax.grad(loss), jnp.ones(9))
    for name in ("first", "second"):
        row = next(row for row in outline if row.name == name)
        assert [one.name for one in map(outline.row, outline.children[row.index])] == ["Linear", "relu", "Linear"]


def test_a_function_of_JAX_that_another_program_called_before_is_none_of_its_modules():
    eqx = pytest.importorskip("equinox", reason="it is not in the environments of the oldest and the newest JAX")
    first, other = (eqx.nn.MLP(9, 9, 9, 1, key=key) for key in jax.random.split(jax.random.key(0)))

    def earlier(network, xs):
        return jax.lax.scan(lambda carried, x: (network(carried) + x, None), xs[0], xs)[0].sum()

    def loss(x):
        return jax.lax.scan(lambda x, _: (jnp.sin(first(x)), None), x, None, length=3)[0].sum()

    jax.clear_caches()
    assert outline_of(eqx.filter_grad(lambda network, xs: earlier(network, xs)), other, jnp.ones((3, 9)))
    outline = outline_of(jax.grad(loss), jnp.ones(9))
    row = next(row for row in outline if row.name == "first")
    assert [one.name for one in map(outline.row, outline.children[row.index])] == ["Linear", "relu", "Linear"]


@pytest.mark.smoke
def test_a_function_with_a_derivative_of_its_own_is_no_module_in_its_module():
    from flax import linen as nn

    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            hidden = nn.relu(nn.Dense(9)(x))
            return nn.Dense(9)(hidden)

    net, x = Net(), jnp.ones(9)
    variables = jax.eval_shape(net.init, jax.random.key(0), x)

    def loss(variables, x):
        return jax.lax.scan(lambda x, _: (net.apply(variables, x), None), x, None, length=3)[0].sum()

    outline = outline_of(jax.grad(loss), variables, x)
    row = next(row for row in outline if row.name == "Net")
    # From 0.12 on what it does repeats the scopes around its call.
    assert [one.name for one in map(outline.row, outline.children[row.index])] == ["Dense_0", "relu", "Dense_1"]
    relu = outline.row(outline.children[row.index][1])
    assert "module" not in {outline.row(child).kind for child in outline.children[relu.index]}


@pytest.mark.smoke
def test_a_call_through_a_wrapper_in_what_that_wrapper_calls_is_not_lost():
    def jitted(fn):
        def passed(*args):
            return fn(*args)

        passed.__name__ = fn.__name__
        compiled = jax.jit(passed)
        return lambda *args: compiled(*args)

    @jitted
    def guard(x):
        return jnp.sin(jnp.cos(x))

    def checked(x):
        return guard(jnp.exp(x)) + 1

    @jitted
    def solve(x):
        return checked(jnp.tanh(x))

    outline = outline_of(lambda x: solve(x) * 2, jnp.ones(3))
    check(outline)
    row = row_named(outline, "checked")
    assert names_inside(outline, row.index) == ["exp", "guard", "add"]
