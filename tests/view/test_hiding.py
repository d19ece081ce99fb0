"""A first view does not leave closed what most of the program is in."""

from __future__ import annotations

import itertools
import re

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


def selected(layer, x):
    """A layer that reads itself which parts of what it has seen to keep."""
    inner, gate = jnp.split(x @ layer["in"], 2, -1)
    inner = sum(layer["mix"][i] * jnp.pad(inner, ((i, 0), (0, 0)))[: len(inner)] for i in range(4))
    inner = jax.nn.silu(inner)
    read = inner @ layer["read"]
    step = jax.nn.softplus(read[..., :1] @ layer["step"])
    kept = jnp.exp(-step[..., None] * jnp.exp(layer["forget"]))
    new = (step * inner)[..., None] * read[:, None, 1:9]
    _, state = lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (kept, new))
    seen = jnp.einsum("ldn,ln->ld", state, read[:, 9:]) + inner * layer["skip"]
    return x + (seen * jax.nn.silu(gate)) @ layer["out"]


def read_through(params, tokens):
    x, _ = lax.scan(lambda x, layer: (selected(layer, x), None), params["words"][tokens], params["layers"])
    return x @ params["words"].T


def surprise(params, tokens):
    likely = jax.nn.log_softmax(read_through(params, tokens[:-1]))
    return -jnp.take_along_axis(likely, tokens[1:, None], -1).mean()


def test_forward_alone_tells_more_than_both_sides_of_one_closed_call():
    """What both sides have no room for opens on the one, and what that keeps for the other is one line."""
    sizes = {"in": (16, 64), "mix": (4, 32), "read": (32, 17), "step": (1, 32), "forget": (32, 8), "skip": (32,)}
    layers = {name: jnp.ones((4, *size)) for name, size in (*sizes.items(), ("out", (32, 16)))}
    explored = jv.explore(
        jax.value_and_grad(surprise), {"words": jnp.ones((50, 16)), "layers": layers}, jnp.zeros(17, int)
    )
    view = explored.view(stage="jaxpr", width=600, height=560)
    assert {"forward", "read_through", "scan(selected)"} <= {box.name for box in view.boxes if box.open}
    assert "backward" in {box.name for box in view.closed}
    assert view.zoom >= 0.75
    text = explored.to_svg(stage="jaxpr", width=600, height=560)
    assert re.search(r">\d\d residuals [\d.]+ [kM]B<", text)
