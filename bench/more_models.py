"""More models as their authors write them: other shapes of programs than those of `bench.models`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from bench.models import KEY, Case


def variational_autoencoder() -> Case:
    from flax import linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any, key: Any) -> Any:
            hidden = nn.relu(nn.Dense(64)(x))
            mean, spread = nn.Dense(8)(hidden), nn.Dense(8)(hidden)
            z = mean + jnp.exp(0.5 * spread) * jax.random.normal(key, mean.shape)
            return nn.Dense(x.shape[-1])(nn.relu(nn.Dense(64)(z))), mean, spread

    model, x = Network(), jnp.ones((8, 32))
    params = model.init(KEY, x, KEY)

    def loss(params: Any, x: Any, key: Any) -> Any:
        out, mean, spread = model.apply(params, x, key)
        divergence = -0.5 * jnp.sum(1 + spread - mean**2 - jnp.exp(spread), axis=-1)
        return jnp.mean(jnp.sum((out - x) ** 2, axis=-1) + divergence)

    return jax.value_and_grad(loss), (params, x, KEY)


def residual_network() -> Case:
    from flax import linen as nn

    class Block(nn.Module):
        features: int
        stride: int

        @nn.compact
        def __call__(self, x: Any) -> Any:
            y = nn.Conv(self.features, (3, 3), (self.stride, self.stride), use_bias=False)(x)
            y = nn.Conv(self.features, (3, 3), use_bias=False)(nn.relu(nn.GroupNorm(4)(y)))
            if x.shape != y.shape:
                x = nn.Conv(self.features, (1, 1), (self.stride, self.stride))(x)
            return nn.relu(x + nn.GroupNorm(4)(y))

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for features, stride in ((16, 1), (32, 2), (64, 2)):
                x = Block(features, stride)(x)
            return nn.Dense(10)(x.mean(axis=(1, 2)))

    model, x = Network(), jnp.ones((2, 32, 32, 3))
    return jax.grad(lambda params, x: model.apply(params, x).std()), (model.init(KEY, x), x)


def scanned_layers() -> Case:
    from flax import linen as nn

    class Layer(nn.Module):
        @nn.compact
        def __call__(self, x: Any, _: Any) -> Any:
            return x + nn.Dense(16)(nn.gelu(nn.Dense(64)(nn.LayerNorm()(x)))), None

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            layers = nn.scan(nn.remat(Layer), variable_axes={"params": 0}, split_rngs={"params": True}, length=12)
            return layers()(x, None)[0]

    model, x = Network(), jnp.ones((4, 16))
    return jax.grad(lambda params, x: (model.apply(params, x) ** 2).mean()), (model.init(KEY, x), x)


def mixture_of_experts() -> Case:
    def apply(params: Any, x: Any) -> Any:
        weights = jax.nn.softmax(x @ params["router"])
        best, which = jax.lax.top_k(weights, 2)
        mask = jax.nn.one_hot(which, weights.shape[-1]) * best[..., None]
        hidden = jax.nn.silu(jnp.einsum("bd,edh->beh", x, params["up"]))
        return jnp.einsum("beh,ehd,bke->bd", hidden, params["down"], mask)

    params = {"router": jnp.ones((16, 4)), "up": jnp.ones((4, 16, 32)), "down": jnp.ones((4, 32, 16))}
    return jax.grad(lambda params, x: apply(params, x).var()), (params, jnp.ones((8, 16)))


def graph_network() -> Case:
    def apply(params: Any, nodes: Any, senders: Any, receivers: Any) -> Any:
        messages = jnp.tanh(nodes[senders] @ params["message"])
        gathered = jax.ops.segment_sum(messages, receivers, num_segments=nodes.shape[0])
        return jax.nn.relu(jnp.concatenate([nodes, gathered], axis=-1) @ params["update"])

    params = {"message": jnp.ones((8, 16)), "update": jnp.ones((24, 8))}
    edges = jnp.arange(30, dtype=jnp.int32) % 10
    return jax.jit(apply), (params, jnp.ones((10, 8)), edges, edges[::-1])


def deep_q_learning() -> Case:
    import optax

    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))

    def values(params: Any, state: Any) -> Any:
        return jax.nn.relu(state @ params["w"] + params["b"]) @ params["out"]

    def step(params: Any, target: Any, state: Any, batch: Any) -> Any:
        def loss(params: Any) -> Any:
            chosen = jnp.take_along_axis(values(params, batch["now"]), batch["action"][:, None], axis=1)[:, 0]
            future = jax.lax.stop_gradient(values(target, batch["next"]).max(axis=1))
            return optax.huber_loss(chosen, batch["reward"] + 0.99 * (1 - batch["done"]) * future).mean()

        value, gradients = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(gradients, state, params)
        params = optax.apply_updates(params, updates)
        return params, optax.incremental_update(params, target, 0.005), state, value

    params = {"w": jnp.ones((4, 32)), "b": jnp.zeros(32), "out": jnp.ones((32, 2))}
    batch = {
        "now": jnp.ones((16, 4)),
        "next": jnp.ones((16, 4)),
        "action": jnp.zeros(16, jnp.int32),
        "reward": jnp.ones(16),
        "done": jnp.zeros(16),
    }
    return step, (params, params, optimizer.init(params), batch)


def noise_prediction() -> Case:
    import equinox as eqx

    network = eqx.nn.MLP(9, 8, 64, 3, activation=jax.nn.silu, key=KEY)

    def loss(network: Any, x: Any, key: Any) -> Any:
        time_key, noise_key = jax.random.split(key)
        time = jax.random.uniform(time_key, (x.shape[0], 1))
        noise = jax.random.normal(noise_key, x.shape)
        kept = jnp.cos(0.5 * jnp.pi * time)
        noisy = kept * x + jnp.sqrt(1 - kept**2) * noise
        return jnp.mean((jax.vmap(network)(jnp.concatenate([noisy, time], axis=1)) - noise) ** 2)

    return eqx.filter_value_and_grad(loss), (network, jnp.ones((8, 8)), KEY)


def natural_gradient() -> Case:
    """A Newton step with products of the Hessian and conjugate gradients."""

    def loss(w: Any, x: Any, y: Any) -> Any:
        return jnp.mean(jnp.logaddexp(0.0, -y * (x @ w))) + 0.5e-2 * w @ w

    def step(w: Any, x: Any, y: Any) -> Any:
        gradient = jax.grad(loss)(w, x, y)

        def product(v: Any) -> Any:
            return jax.jvp(lambda w: jax.grad(loss)(w, x, y), (w,), (v,))[1]

        return w - jax.scipy.sparse.linalg.cg(product, gradient, maxiter=10)[0]

    return step, (jnp.ones(16), jnp.ones((64, 16)), jnp.ones(64))


def sampled_tokens() -> Case:
    """Sampling from a decoder, with a cache that is written in place."""

    def decode(params: Any, token: Any, key: Any) -> Any:
        def turn(carry: Any, key: Any) -> Any:
            token, cache, place = carry
            x = params["embed"][token]
            cache = jax.lax.dynamic_update_slice(cache, (x @ params["kv"])[None], (place, 0))
            scores = jnp.where(jnp.arange(cache.shape[0]) <= place, cache @ (x @ params["q"]), -jnp.inf)
            x = x + jax.nn.softmax(scores) @ cache
            token = jax.random.categorical(key, x @ params["embed"].T)
            return (token, cache, place + 1), token

        return jax.lax.scan(turn, (token, jnp.zeros((32, 16)), 0), jax.random.split(key, 32))[1]

    params = {"embed": jnp.ones((50, 16)), "kv": jnp.eye(16), "q": jnp.eye(16)}
    return decode, (params, jnp.int32(1), KEY)


def two_losses() -> Case:
    from flax import nnx

    class Critic(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.hidden = nnx.Linear(8, 32, rngs=rngs)
            self.out = nnx.Linear(32, 1, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.out(nnx.leaky_relu(self.hidden(x)))[..., 0]

    graph, state = nnx.split(Critic(nnx.Rngs(0)))

    def loss(state: Any, real: Any, fake: Any) -> Any:
        critic = nnx.merge(graph, state)
        mixed = 0.5 * (real + fake)
        slopes = jax.vmap(jax.grad(lambda x: critic(x)))(mixed)
        penalty = jnp.mean((jnp.sqrt(jnp.sum(slopes**2, axis=-1) + 1e-12) - 1.0) ** 2)
        return critic(fake).mean() - critic(real).mean() + 10.0 * penalty

    return jax.value_and_grad(loss), (state, jnp.ones((4, 8)), jnp.zeros((4, 8)))


def stochastic_equation() -> Case:
    import diffrax

    def solve(key: Any, y: Any) -> Any:
        path = diffrax.VirtualBrownianTree(0.0, 1.0, 1e-2, (), key)
        drift = diffrax.ODETerm(lambda t, y, args: -y)
        noise = diffrax.ControlTerm(lambda t, y, args: 0.1 * y, path)
        return diffrax.diffeqsolve(diffrax.MultiTerm(drift, noise), diffrax.Euler(), 0.0, 1.0, 0.05, y).ys

    return solve, (KEY, jnp.float32(1.0))


def kalman_filter() -> Case:
    def filtered(seen: Any, moves: Any, shows: Any, noise: Any) -> Any:
        def step(state: Any, one: Any) -> Any:
            mean, spread = moves @ state[0], moves @ state[1] @ moves.T + noise
            gain = jnp.linalg.solve(shows @ spread @ shows.T + jnp.eye(2), shows @ spread).T
            mean = mean + gain @ (one - shows @ mean)
            return (mean, spread - gain @ shows @ spread), mean

        return jax.lax.scan(step, (jnp.zeros(4), jnp.eye(4)), seen)[1]

    return filtered, (jnp.ones((20, 2)), jnp.eye(4), jnp.ones((2, 4)), jnp.eye(4))


def random_features() -> Case:
    """The features are the same in each call, as they are meant to be."""

    def features(x: Any) -> Any:
        of_weights, of_phases = jax.random.split(jax.random.key(42))
        weights = jax.random.normal(of_weights, (x.shape[-1], 64))
        phases = jax.random.uniform(of_phases, (64,), maxval=2 * jnp.pi)
        return jnp.sqrt(2 / 64) * jnp.cos(x @ weights + phases)

    return features, (jnp.ones((10, 3)),)


def hamiltonian_step() -> Case:
    def energy(place: Any) -> Any:
        return 0.5 * jnp.sum(place**2)

    def step(key: Any, place: Any, size: Any) -> Any:
        of_speed, of_choice = jax.random.split(key)
        speed = jax.random.normal(of_speed, place.shape)

        def leap(state: Any, _: None) -> Any:
            place, speed = state
            speed = speed - 0.5 * size * jax.grad(energy)(place)
            place = place + size * speed
            return (place, speed - 0.5 * size * jax.grad(energy)(place)), None

        (end, fast), _ = jax.lax.scan(leap, (place, speed), None, length=10)
        gain = energy(place) + 0.5 * jnp.sum(speed**2) - energy(end) - 0.5 * jnp.sum(fast**2)
        return jnp.where(jnp.log(jax.random.uniform(of_choice)) < gain, end, place)

    return step, (KEY, jnp.ones(5), jnp.float32(0.1))


def minimized() -> Case:
    from jax.scipy.optimize import minimize

    def valley(x: Any) -> Any:
        return jnp.sum((x[1:] - x[:-1] ** 2) ** 2) + jnp.sum((1 - x) ** 2)

    return lambda x: minimize(valley, x, method="BFGS").x, (jnp.full(4, 0.5),)


MORE_MODELS = {
    "variational autoencoder": variational_autoencoder,
    "residual network": residual_network,
    "scanned layers": scanned_layers,
    "mixture of experts": mixture_of_experts,
    "graph network": graph_network,
    "deep q learning": deep_q_learning,
    "noise prediction": noise_prediction,
    "natural gradient": natural_gradient,
    "sampled tokens": sampled_tokens,
    "critic with a penalty": two_losses,
    "stochastic equation": stochastic_equation,
    "kalman filter": kalman_filter,
    "random features": random_features,
    "hamiltonian step": hamiltonian_step,
    "minimized": minimized,
}
