"""What JAX moves out of a loop, as a mask that is the same in every turn, stands beside the loop in its function."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from outline.outlines import check, names_inside, outline_of, row_named, rows_named, shown

X = jnp.ones((4, 4))
WEIGHTS = jnp.stack([X] * 3)


def masked(w, x):
    mask = jnp.tril(jnp.ones((4, 4)))
    return jnp.tanh((x @ w) * mask)


def block(x, w):
    return masked(w, jnp.sin(x)) + x, None


def network(ws, x):
    x = jnp.cos(x)
    x, _ = lax.scan(block, x, ws)
    return jnp.exp(x)


kept = jax.checkpoint(block)


def checkpointed(ws, x):
    x = jnp.cos(x)
    x, _ = lax.scan(kept, x, ws)
    return jnp.exp(x)


def net(ws, x):
    x = jnp.cos(x)
    x, _ = lax.scan(block, x, ws)
    return jnp.exp(x)


def summed(model):
    def slopes(ws, x):
        return jax.grad(lambda ws: jnp.sum(model(ws, x)))(ws)

    return slopes


def in_a_scan(model):
    def total(ws, xs):
        def body(total, x):
            slopes = jax.grad(lambda ws: jnp.sum(model(ws, x)))(ws)
            return total + slopes, None

        return lax.scan(body, jnp.zeros_like(ws), xs)[0]

    return total


@pytest.mark.smoke
@pytest.mark.parametrize("model", [network, checkpointed, net])
@pytest.mark.parametrize(("taking", "x"), [(summed, X), (in_a_scan, jnp.stack([X, X]))])
def test_a_function_whose_loop_JAX_moved_something_out_of_is_one(model, taking, x):
    # JAX 0.6 hands out the body of a loop again with the callers that it had first.
    jax.clear_caches()
    outline = outline_of(taking(model), WEIGHTS, x)
    names = [row.name for row in outline if row.kind == "call"]
    forward, backward = rows_named(outline, names[0], "call")
    assert forward.twin == backward.index
    loop, back = (row for row in outline if row.kind == "loop" and row.name in ("scan(block)", "scan(kept)"))
    assert names_inside(outline, forward.index) == ["cos", "masked", loop.name, "exp"]
    assert loop.twin == back.index
    twins = {outline.row(row.twin).name for row in outline if loop.first <= row.first < loop.end and row.twin >= 0}
    assert {"tanh", "matmul", "sin"} <= twins


def energy(w, x):
    return jnp.sum(jnp.tanh(x @ w + w[0]) @ w)


def adapted(w, x):
    return lax.scan(lambda x, _: (x - 0.1 * jax.grad(energy, 1)(w, x), None), x, length=3)[0]


def descended(w, x):
    slope = jax.grad(lambda w: jnp.sum(adapted(w, x) ** 2))(w)
    return w - 0.1 * slope


@pytest.mark.smoke
def test_what_JAX_moved_of_a_gradient_out_of_a_loop_is_in_the_phase_of_the_loop():
    jax.clear_caches()
    outline = outline_of(descended, X, X)
    assert names_inside(outline, 0)[:2] == ["forward", "backward"]
    assert len([row for row in outline if row.kind == "phase" and row.name == "forward" and row.depth == 1]) == 1
    forward = outline.row(outline.children[0][0])
    loop = next(row for row in outline if row.kind == "loop")
    assert forward.first < loop.first
    before = [row for row in outline if forward.first <= row.first and row.end <= loop.first]
    assert any("grad(energy" in row.name for row in before)
    assert not [row for row in before if row.kind == "phase"]


def waves(x):
    return jnp.sin(x) * 2


def test_what_the_body_of_a_loop_chooses_is_not_taken_for_moved():
    def body(x, _):
        return jnp.tanh(lax.cond(x.sum() > 0, waves, lambda x: waves(jnp.cos(x)), x)), None

    outline = outline_of(lambda x: lax.scan(body, x, length=3)[0], X)
    assert names_inside(outline, row_named(outline, "if false").index) == ["cos", "waves"]
    assert names_inside(outline, row_named(outline, "if true").index) == ["sin", "multiply"]


def test_what_a_library_does_in_a_loop_and_JAX_moves_out_of_it_is_of_the_call_of_the_loop():
    nnx = pytest.importorskip("flax.nnx", reason="it is not in the environments of the oldest and the newest JAX")

    class Model(nnx.Module):
        def __init__(self):
            self.rnn = nnx.RNN(nnx.GRUCell(4, 8, rngs=nnx.Rngs(0)))

        def __call__(self, x):
            return jnp.tanh(self.rnn(jnp.sin(x)))

    def loss(model, x):
        y = model(x * 2)
        return (y**2).sum()

    outline = outline_of(nnx.grad(loss), Model(), jnp.ones((2, 3, 4)))
    assert names_inside(outline, row_named(outline, "forward").index) == ["multiply", "Model", "power", "sum"]
    model = next(row for row in outline if row.name == "Model")
    assert names_inside(outline, model.index) == ["sin", "rnn", "tanh"]


def test_what_JAX_moved_out_of_a_loop_is_in_no_function_that_the_loop_calls():
    def gaussian(stats):
        mean, deviation = jnp.split(stats, 2)
        return mean + jax.nn.softplus(deviation)

    def layer(w, x):
        return jax.vmap(jax.nn.relu)(w @ x)

    def observe(w, xs):
        def step(h, x):
            z = gaussian(layer(w, h + x))
            reward = layer(w, jnp.concatenate([z, z]))
            return reward, jnp.sum(reward)

        return lax.scan(step, jnp.zeros(4), xs)[1]

    def train(w, xs):
        return jax.grad(lambda w: jnp.sum(jax.vmap(observe, (None, 0))(w, xs)))(w)

    outline = outline_of(train, X, jnp.ones((3, 5, 4)))
    forward = min(rows_named(outline, "vmap(observe)"), key=lambda row: row.first)
    assert names_inside(outline, forward.index) == ["gaussian", "scan(step)"]


def gates(w, h, x):
    z = jax.nn.sigmoid(x @ w)
    n = jnp.tanh(h @ w)
    return (1 - z) * n + z * h


def trained(cell):
    def loss(w, xs):
        def step(h, x):
            h = cell(w, h, x)
            return h, jnp.sum(h**2)

        return jnp.sum(lax.scan(step, X, xs)[1])

    return lambda w, xs: jax.grad(loss)(w, xs)


def test_a_checkpointed_function_has_its_call_in_a_loop_forward_too():
    # Forward, JAX says nothing of the call of a checkpoint in the function that the loop repeats.
    outline = outline_of(trained(jax.checkpoint(gates)), X, WEIGHTS)
    forward, backward = rows_named(outline, "scan(step)")
    assert names_inside(outline, forward.index)[0] == "cell"
    assert names_inside(outline, backward.index)[-1] == "cell"
    [call, mirrored] = (row for row in rows_named(outline, "cell") if row.twin >= 0)
    assert call.twin == mirrored.index
    assert {"z", "n"} <= {row.variable for row in shown(outline, call.index)}


def layers(ws, x):
    x, _ = lax.scan(lambda x, w: (jax.checkpoint(step)(w, x), None), x, ws)
    return jnp.exp(x)


def step(w, x):
    return masked(w, x) + x


def compared(ws, x, y):
    one = layers(ws, x)
    other = layers(ws, y)
    return jnp.sum(one * other)


@pytest.mark.smoke
def test_what_JAX_moved_out_of_the_loop_of_a_second_call_is_in_that_call():
    # It is handed out with the callers that it had when the function was traced, in the first call.
    jax.clear_caches()
    outline = outline_of(jax.grad(compared), WEIGHTS, X, X)
    assert names_inside(outline, 0) == ["forward", "backward"]
    forward, backward = outline.children[0]
    assert names_inside(outline, forward)[:2] == ["layers", "layers"]
    assert names_inside(outline, backward).count("layers") == 2


def test_what_JAX_moved_out_of_the_loop_over_layers_stands_in_the_module_that_loops():
    from flax import linen as nn

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x, _):
            mask = nn.make_causal_mask(jnp.ones(x.shape[:2]))
            x = x + nn.MultiHeadDotProductAttention(2)(x, x, mask=mask)
            return x + nn.Dense(8)(nn.gelu(nn.Dense(16)(x))), None

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x):
            layers = nn.scan(nn.remat(Layer), variable_axes={"params": 0}, split_rngs={"params": True}, length=3)
            return nn.Dense(4)(layers()(nn.Dense(8)(x), None)[0])

    network, x = Network(), jnp.ones((2, 4, 8))
    params = network.init(jax.random.key(0), x)
    outline = outline_of(jax.grad(lambda params, x: network.apply(params, x).var()), params, x)
    check(outline)
    forward = row_named(outline, "forward", "phase")
    inside = [outline.row(child) for child in outline.children[forward.index]]
    assert [row.name for row in inside if row.kind == "module"] == ["Network"]
