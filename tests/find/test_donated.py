"""Donation that is possible and not asked for, and donation that was asked for in vain, are found."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import optax
import pytest
from find.found import found, the

PARAMS = {"w": jnp.ones((500, 1000)), "b": jnp.ones(1000)}
X = jnp.ones((8, 500))


def loss(params, x):
    return jnp.mean((x @ params["w"] + params["b"]) ** 2)


def step(params, x):
    gradients = jax.grad(loss)(params, x)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)


def momentum(params, speed, x):
    gradients = jax.grad(loss)(params, x)
    speed = jax.tree.map(lambda v, g: 0.9 * v + g, speed, gradients)
    return jax.tree.map(lambda p, v: p - 0.1 * v, params, speed), speed


def test_a_step_that_gives_new_parameters():
    finding = the("donated", step, PARAMS, X)
    assert finding.title == "`params` (2 MB) could be donated"
    assert finding.severity == "note"
    assert finding.figures == {"arguments": 2, "bytes": 2_004_000}
    assert 'donate_argnames=("params",)' in finding.remedy


def test_state_of_an_optimizer_too():
    finding = the("donated", momentum, PARAMS, PARAMS, X)
    assert finding.title == "`params` and `speed` (4.01 MB) could be donated"
    assert 'donate_argnames=("params", "speed",)' in finding.remedy


def squares(w, x):
    return jnp.mean((x @ w) ** 2)


def descend(w, x):
    return w - 0.1 * jax.grad(squares)(w, x)


def decayed(w, x, rate):
    value, gradient = jax.value_and_grad(squares)(w, x)
    return (1 - 1e-4) * w - rate * gradient, value


def by_hand(w, x, y):
    wrong = x @ w - y
    return w - 0.01 * (x.T @ wrong) / len(x)


def walk(w, x, noise):
    return w + 0.1 * jnp.clip(jax.grad(squares)(w, x), -1, 1) + noise


W = PARAMS["w"]


@pytest.mark.parametrize(
    ("fn", "others"),
    [
        (descend, (X,)),
        (jax.jit(descend), (X,)),
        (decayed, (X, 0.1)),
        (by_hand, (X, jnp.ones((8, 1000)))),
        (walk, (X, jnp.float32(0.1))),
    ],
)
def test_one_array_after_a_step_down_a_gradient(fn, others):
    finding = the("donated", fn, W, *others)
    assert finding.title == "`w` (2 MB) could be donated"
    assert 'donate_argnames=("w",)' in finding.remedy


def decay(state):
    return state * 0.99 + 0.1


def diffuse(u):
    return u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) - 2 * u)


def simulate(u):
    return jax.lax.fori_loop(0, 10, lambda i, u: jnp.tanh(jnp.roll(u, 1, 0)), u)


def driven(u, force):
    return jax.lax.scan(lambda u, f: (jnp.sin(u) * f, f), u, force)[0]


def relax(u):
    return jax.lax.while_loop(lambda u: jnp.max(u) > 1, lambda u: u / 2, u)


@pytest.mark.parametrize(
    ("fn", "others"), [(decay, ()), (diffuse, ()), (simulate, ()), (driven, (jnp.ones(5),)), (relax, ())]
)
def test_one_array_that_is_stepped_in_time(fn, others):
    assert the("donated", fn, W, *others).title.endswith("` (2 MB) could be donated")


def test_what_is_donated_in_vain():
    finding = the("donated", jax.jit(lambda x, y: (x @ y).sum(), donate_argnums=(0, 1)), X, PARAMS["w"])
    assert finding.severity == "advice"
    assert "are donated, but no result can use that" in finding.title
    assert finding.figures["arguments"] == 2


def test_donated_arguments_say_so_in_the_graph():
    import jaxviz as jv

    graph = jv.explore(jax.jit(lambda x, y: x + y, donate_argnums=1), X, X).jaxpr
    assert [node.attributes.get("donated") for node in graph if node.kind == "argument"] == [None, "True"]


INNOCENT = {
    "donated": (jax.jit(step, donate_argnums=0), (PARAMS, X)),
    "a small state": (step, ({"w": jnp.ones((500, 2)), "b": jnp.ones(2)}, X)),
    "no new state": (loss, (PARAMS, X)),
    "gradients, which are no state": (jax.grad(loss), (PARAMS, X)),
    "one array": (lambda x: x * 2, (jnp.ones((1000, 1000)),)),
    "one array by itself": (lambda x: jnp.tanh(x) / (1 + x), (W,)),
    "rows of which each is brought to a scale": (lambda x: (x - x.mean()) / x.std(), (W,)),
    "rows without their mean": (lambda x: x - x.mean(0), (W,)),
    "logarithms of shares": (jax.nn.log_softmax, (W,)),
    "an array that a loop reads": (
        lambda x: jax.lax.fori_loop(0, 3, lambda i, y: y + x, jnp.zeros_like(x)),
        (W,),
    ),
    "one array and a product": (lambda x, w: x + jnp.tanh(x @ w), (jnp.ones((500, 1000)), jnp.ones((1000, 1000)))),
    "what is wrong of an array": (
        lambda y, x, w: y - x @ w,
        (jnp.ones((8000, 100)), jnp.ones((8000, 9)), jnp.ones((9, 100))),
    ),
    "what is left of a projection": (
        lambda x, v: x - 0.5 * ((x @ v)[:, None] * v),
        (jnp.ones((500, 1000)), jnp.ones(1000)),
    ),
    "a sum with a gradient": (lambda w, x: jax.grad(squares)(w, x).sum() + w, (W, X)),
    "half of the state": (lambda p, x: p["w"] - x.sum(), (PARAMS, X)),
    "an array that is only rolled": (lambda x: jnp.roll(x, 1, axis=0), (W,)),
    "neighbours that are averaged": (lambda x: 0.5 * (x + jnp.roll(x, 1, axis=0)), (W,)),
    "a donated array that is used": (jax.jit(lambda x: x + 1, donate_argnums=0), (jnp.ones((1000, 1000)),)),
    "a partial": (functools.partial(loss, PARAMS), (X,)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_donated_or_no_state_is_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert found("donated", fn, *arguments) == []


def test_the_state_of_adam_though_its_count_is_one_number():
    optimizer = optax.adam(1e-3)

    def step(params, state, x):
        updates, state = optimizer.update(jax.grad(loss)(params, x), state, params)
        return optax.apply_updates(params, updates), state

    finding = the("donated", step, PARAMS, optimizer.init(PARAMS), X)
    assert finding.title == "`params` and `state` (6.01 MB) could be donated"


def test_one_array_that_something_is_written_into():
    def remember(cache, row, place):
        return jax.lax.dynamic_update_slice(cache, row[None], (place, 0)), row.sum()

    finding = the("donated", remember, jnp.zeros((1000, 500)), jnp.ones(500), 3)
    assert finding.title == "`cache` (2 MB) could be donated"


def test_one_array_that_is_rolled_and_written_into():
    def remember(recent, row):
        return jnp.roll(recent, -1, axis=0).at[-1].set(row)

    finding = the("donated", remember, jnp.zeros((1000, 500)), jnp.ones(500))
    assert finding.title == "`recent` (2 MB) could be donated"
