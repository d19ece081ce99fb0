"""A first view does not leave closed what most of the program is in."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxviz as jv


def scored(layers, x):
    for layer in layers[:-1]:
        x = jnp.tanh(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


def clipped(params, batch):
    chosen = jax.nn.log_softmax(scored(params["policy"], batch["seen"]))
    ratio = jnp.exp(chosen.max(-1) - batch["before"])
    gain = (batch["gain"] - batch["gain"].mean()) / batch["gain"].std()
    surrogate = jnp.minimum(ratio * gain, jnp.clip(ratio, 0.8, 1.2) * gain).mean()
    value = ((scored(params["value"], batch["seen"])[:, 0] - gain) ** 2).mean()
    entropy = -(jnp.exp(chosen) * chosen).sum(-1).mean()
    return 0.5 * value - surrogate - 0.01 * entropy


def better(carry, batch):
    params, momentum = carry
    loss, slope = jax.value_and_grad(clipped)(params, batch)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, slope)
    return (jax.tree.map(lambda p, m: p - 0.01 * m, params, momentum), momentum), loss


def epoch(params, momentum, seen, reward):
    gain = lax.associative_scan(lambda a, b: 0.9 * a + b, reward[::-1])[::-1]
    batches = {"seen": seen, "before": jnp.log1p(jnp.abs(reward)), "gain": gain}
    return lax.scan(better, (params, momentum), batches)


@pytest.fixture(scope="module")
def explored():
    def layers(*sizes):
        return [{"w": jnp.ones((ins, outs)), "b": jnp.ones(outs)} for ins, outs in itertools.pairwise(sizes)]

    params = {"policy": layers(8, 64, 4), "value": layers(8, 64, 1)}
    return jv.explore(epoch, params, params, jnp.ones((4, 32, 8)), jnp.ones((4, 32)))


def test_a_loop_that_most_is_in_opens_with_forward_alone_where_both_have_no_room(explored):
    view = explored.view(width=760, height=560)
    assert {"scan(better)", "forward"} <= {box.name for box in view.boxes if box.open}
    assert "backward" in {box.name for box in view.closed}
    assert view.zoom >= 0.75
    assert len(view.closed) <= 25


def test_a_loop_that_most_is_in_opens_though_its_phases_stay_closed(explored):
    view = explored.view(width=700, height=300)
    assert "scan(better)" in {box.name for box in view.boxes if box.open}
    assert {"forward", "backward"} <= {box.name for box in view.closed}
    assert view.zoom >= 0.75
