"""What a function does that calls a module on each of its lines is told by these lines."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from outline.outlines import check, names_inside, outline_of, row_named, rows_named

eqx = pytest.importorskip("equinox", reason="it is not in the environments of the oldest and the newest JAX")


class World(eqx.Module):
    memory: eqx.nn.GRUCell
    prior_net: eqx.nn.MLP
    encoder: eqx.nn.MLP
    posterior_net: eqx.nn.MLP
    decoder: eqx.nn.MLP
    reward: eqx.nn.MLP

    def __init__(self):
        keys = jax.random.split(jax.random.key(0), 6)
        self.memory = eqx.nn.GRUCell(4, 8, key=keys[0])
        self.prior_net = eqx.nn.MLP(8, 8, 8, 1, key=keys[1])
        self.encoder = eqx.nn.MLP(6, 8, 8, 1, key=keys[2])
        self.posterior_net = eqx.nn.MLP(16, 8, 8, 1, key=keys[3])
        self.decoder = eqx.nn.MLP(12, 6, 8, 1, key=keys[4])
        self.reward = eqx.nn.MLP(12, 1, 8, 1, key=keys[5])


def gaussian(stats):
    mean, spread = jnp.split(stats, 2)
    return mean, jax.nn.softplus(spread)


def divergence(p, q):
    return jnp.sum(jnp.log(q[1] / p[1]) + (p[0] - q[0]) ** 2)


def observe(model, frames):
    def step(carry, frame):
        h, z = carry
        h = model.memory(jnp.tanh(z), h)
        prior = gaussian(model.prior_net(h))
        posterior = gaussian(model.posterior_net(jnp.concatenate([h, model.encoder(frame)])))
        z = posterior[0] * jnp.sin(posterior[1])
        features = jnp.concatenate([h, z])
        error = jnp.sum((model.decoder(features) - frame) ** 2)
        return (h, z), error + divergence(posterior, prior) - model.reward(features)[0]

    return jax.lax.scan(step, (jnp.zeros(8), jnp.zeros(4)), frames)[1].sum()


def of_world(fn):
    model = World()
    outline = outline_of(lambda frames: fn(model, frames), jnp.ones((5, 6)))
    check(outline)
    return outline


def test_the_body_of_a_loop_that_calls_a_module_on_each_line_is_its_lines():
    outline = of_world(observe)
    inside = [row.name for row in map(outline.row, outline.children[row_named(outline, "scan(step)").index])]
    assert inside == [
        "h = model.memory(jnp.tanh(z), h)",
        "prior = gaussian(model.prior_net(h))",
        "posterior = gaussian(model.posterior_net(jnp.concatenate([h, model.encoder(fram…",
        "z = posterior[0] * jnp.sin(posterior[1])",
        "concatenate",
        "error = jnp.sum((model.decoder(features) - frame) ** 2)",
        "error + divergence(posterior, prior) - model.reward(features)[0]",
    ]
    # A piece of a statement stands in the whole of it.
    assert names_inside(outline, row_named(outline, inside[-2]).index) == ["decoder", "subtract", "power", "sum"]


def test_lines_backward_are_tied_to_those_forward():
    outline = of_world(eqx.filter_grad(observe))
    for name in ("prior = gaussian(model.prior_net(h))", "h = model.memory(jnp.tanh(z), h)"):
        forward, backward = rows_named(outline, name, "statement")
        assert forward.twin == backward.index


def test_a_module_that_is_known_by_its_class_is_called_as_the_person_calls_it():
    outline = of_world(observe)
    assert {row.name for row in outline if row.kind == "module"} == {
        *("memory", "prior_net", "encoder", "posterior_net", "decoder", "reward"),
        # What is in a module of a library is the library's own.
        "Linear",
    }


def test_a_variable_that_says_less_than_the_class_of_a_module_is_not_its_name():
    linear = eqx.nn.Linear(6, 6, key=jax.random.key(0))

    def network(layers, x):
        for layer in layers:
            x = jnp.tanh(layer(x)) * 2.0
        head = layers[0]
        return jax.vmap(head)(x[None])

    outline = outline_of(network, [linear, linear], jnp.ones(6))
    assert [row.name for row in outline if row.kind == "module"] == ["Linear", "Linear", "head"]


def test_statements_that_share_a_line_are_several():
    # fmt: off
    def slope(x):
        spread = jnp.roll(x, 1) - 2 * x
        return spread * jnp.cos(x) - x**3

    def runge_kutta(x, h):
        k1 = slope(x); k2 = slope(x + h / 2 * k1); k3 = slope(x + h / 2 * k2)  # noqa: E702
        return x + h / 4 * (k1 + 2 * k2 + k3)
    # fmt: on

    outline = outline_of(lambda x: runge_kutta(jnp.sin(x), 0.1) * 2, jnp.ones(8))
    whole = [row for row in outline if row.kind == "statement" and row.name.startswith(("k2 = ", "k3 = "))]
    assert [row.name for row in whole] == ["k2 = slope(x + h / 2 * k1)", "k3 = slope(x + h / 2 * k2)"]
    assert whole[0].equations == whole[1].equations
