"""Programs whose first views are too large for a space by little: what is in them is wide, or nested, or low."""

from __future__ import annotations

import itertools
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from bench.models import KEY, Case


def _layers(*sizes: int) -> list[dict[str, Any]]:
    return [{"w": jnp.ones((rows, columns)), "b": jnp.zeros(columns)} for rows, columns in itertools.pairwise(sizes)]


def _network(layers: list[dict[str, Any]], x: Any) -> Any:
    for layer in layers[:-1]:
        x = jax.nn.relu(x @ layer["w"] + layer["b"])
    return x @ layers[-1]["w"] + layers[-1]["b"]


def autoencoder_with_own_adam() -> Case:
    def evidence(params: Any, x: Any, key: Any) -> Any:
        mean, spread = jnp.split(_network(params["encoder"], x), 2, axis=-1)
        z = mean + jnp.exp(spread / 2) * jax.random.normal(key, mean.shape)
        logits = _network(params["decoder"], z)
        likelihood = jnp.sum(jnp.maximum(logits, 0) - logits * x + jnp.log1p(jnp.exp(-jnp.abs(logits))), axis=-1)
        divergence = -0.5 * jnp.sum(1 + spread - mean**2 - jnp.exp(spread), axis=-1)
        return jnp.mean(likelihood + divergence)

    def step(params: Any, first: Any, second: Any, count: Any, x: Any, key: Any) -> Any:
        value, slopes = jax.value_and_grad(evidence)(params, x, key)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, slopes)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g**2, second, slopes)

        def moved(p: Any, m: Any, v: Any) -> Any:
            return p - 1e-3 * m / (1 - 0.9**count) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8)

        return jax.tree.map(moved, params, first, second), first, second, count + 1, value

    params = {"encoder": _layers(784, 64, 16), "decoder": _layers(8, 64, 784)}
    return jax.jit(step), (params, params, params, 1.0, jnp.ones((16, 784)), KEY)


def message_passing() -> Case:
    def passed(layer: Any, nodes: Any, edges: Any, senders: Any, receivers: Any) -> Any:
        messages = _network(layer["edge"], jnp.concatenate([edges, nodes[senders], nodes[receivers]], axis=-1))
        gathered = jax.ops.segment_sum(messages, receivers, nodes.shape[0])
        degree = jax.ops.segment_sum(jnp.ones(len(receivers)), receivers, nodes.shape[0])
        gathered = gathered / jnp.maximum(degree, 1.0)[:, None]
        return nodes + _network(layer["node"], jnp.concatenate([nodes, gathered], axis=-1)), edges + messages

    def loss(params: Any, graph: Any, target: Any) -> Any:
        nodes, edges = graph["nodes"], graph["edges"]
        for layer in params["layers"]:
            nodes, edges = passed(layer, nodes, edges, graph["senders"], graph["receivers"])
        return jnp.mean((_network(params["readout"], nodes.mean(axis=0)) - target) ** 2)

    layer = {"edge": _layers(24, 16, 8), "node": _layers(16, 16, 8)}
    graph = {"nodes": jnp.ones((10, 8)), "edges": jnp.ones((30, 8))}
    ends = {"senders": jnp.zeros(30, jnp.int32), "receivers": jnp.ones(30, jnp.int32)}
    params = {"layers": [layer] * 3, "readout": _layers(8, 16, 1)}
    return jax.value_and_grad(loss), (params, {**graph, **ends}, jnp.ones(1))


def newton_with_halving() -> Case:
    def residual(x: Any) -> Any:
        return jnp.array([x[0] ** 2 + x[1] ** 2 - 4.0, jnp.exp(x[0]) + x[1] - 1.0])

    def solve(start: Any, tolerance: float = 1e-8) -> Any:
        def far(state: Any) -> Any:
            _, value, turn = state
            return jnp.logical_and(jnp.linalg.norm(value) > tolerance, turn < 50)

        def step(state: Any) -> Any:
            x, value, turn = state
            towards = jnp.linalg.solve(jax.jacfwd(residual)(x), value)

            def worse(part: Any) -> Any:
                return jnp.linalg.norm(residual(x - part * towards)) > jnp.linalg.norm(value)

            x = x - lax.while_loop(worse, lambda part: part / 2, 1.0) * towards
            return x, residual(x), turn + 1

        return lax.while_loop(far, step, (start, residual(start), 0))

    return solve, (jnp.array([1.0, -1.0]),)


PROGRAMS = {
    "autoencoder by hand": autoencoder_with_own_adam,
    "message passing": message_passing,
    "newton": newton_with_halving,
}
