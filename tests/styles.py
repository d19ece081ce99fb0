"""Ten programs, each written in another style than the corpus. Name -> () -> (function, arguments)."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from programs import Case


def tree_modules() -> Case:
    """Modules are dataclasses that are pytrees; the model is what the gradient is taken of."""

    @jax.tree_util.register_dataclass
    @dataclasses.dataclass
    class Linear:
        weight: jax.Array
        bias: jax.Array

        def __call__(self, x):
            return self.weight @ x + self.bias

    @jax.tree_util.register_dataclass
    @dataclasses.dataclass
    class Encoder:
        layers: list[Linear]
        scale: jax.Array

        def __call__(self, x):
            for layer in self.layers:
                x = jax.nn.gelu(layer(x))
            return self.scale * x / jnp.linalg.norm(x)

    @jax.tree_util.register_dataclass
    @dataclasses.dataclass
    class Classifier:
        encoder: Encoder
        head: Linear

        def __call__(self, x):
            return self.head(self.encoder(x))

    def loss_fn(model, xs, labels):
        logits = jax.vmap(model)(xs)
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], axis=1)
        return -picked.mean()

    def train_step(model, xs, labels):
        loss, grads = jax.value_and_grad(loss_fn)(model, xs, labels)
        model = jax.tree.map(lambda p, g: p - 1e-2 * g, model, grads)
        return model, loss

    def linear(rows, columns):
        return Linear(jnp.ones((rows, columns)) / columns, jnp.zeros(rows))

    encoder = Encoder([linear(64, 32), linear(64, 64), linear(64, 64)], jnp.ones(()))
    return train_step, (Classifier(encoder, linear(10, 64)), jnp.ones((16, 32)), jnp.zeros(16, jnp.int32))


def comprehensions() -> Case:
    """An ensemble and its statistics, all of it in comprehensions."""

    def predict(members, x):
        hidden = [jnp.tanh(x @ member["w"] + member["b"]) for member in members]
        pairs = enumerate(zip(hidden, members, strict=True))
        outputs = {f"member {i}": (h @ member["v"]).squeeze(-1) for i, (h, member) in pairs}
        stacked = jnp.stack([outputs[name] for name in sorted(outputs)])
        mean = stacked.mean(0)
        spread = sum((output - mean) ** 2 for output in outputs.values()) / len(outputs)
        return mean, jnp.sqrt(spread), {name: jnp.abs(output - mean).max() for name, output in outputs.items()}

    member = {"w": jnp.ones((8, 16)), "b": jnp.zeros(16), "v": jnp.ones((16, 1))}
    return predict, ([member] * 5, jnp.ones((32, 8)))


def decorators() -> Case:
    """Functions that are wrapped: by a decorator with arguments, by jit, by vmap, by a checkpoint."""

    def clipped(limit):
        def decorate(fn):
            @functools.wraps(fn)
            def wrapper(*args, **kwargs):
                return jax.tree.map(lambda t: jnp.clip(t, -limit, limit), fn(*args, **kwargs))

            return wrapper

        return decorate

    def residual(fn):
        @functools.wraps(fn)
        def wrapper(params, x):
            return x + fn(params, x)

        return wrapper

    @residual
    @jax.checkpoint
    def mix(params, x):
        return jnp.tanh(x @ params["mix"]) @ params["out"]

    @jax.jit
    def normalize(x):
        centered = x - x.mean(-1, keepdims=True)
        return centered / jnp.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)

    @functools.partial(jax.vmap, in_axes=(None, 0))
    def encode(params, x):
        return normalize(mix(params, normalize(x)))

    def energy(params, xs):
        return jnp.mean(encode(params, xs) ** 2)

    @clipped(1.0)
    def gradients(params, xs):
        return jax.grad(energy)(params, xs)

    @jax.jit
    def refine(params, xs):
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients(params, xs))

    return refine, ({"mix": jnp.eye(16), "out": jnp.eye(16)}, jnp.ones((4, 8, 16)))


def lambdas() -> Case:
    """A point-free pipeline: everything is a lambda, composed with reduce."""

    compose = lambda *fns: functools.reduce(lambda f, g: lambda x: g(f(x)), fns)  # noqa: E731
    dense = lambda w: lambda x: x @ w  # noqa: E731
    scale = lambda s: lambda x: x * s / (1 + jnp.abs(x))  # noqa: E731

    def pipeline(ws, x):
        network = compose(
            dense(ws[0]),
            jax.nn.silu,
            scale(2.0),
            dense(ws[1]),
            lambda x: x - x.max(-1, keepdims=True),
            lambda x: jnp.exp(x) / jnp.exp(x).sum(-1, keepdims=True),
        )
        entropy = lambda p: -(p * jnp.log(p + 1e-9)).sum(-1)  # noqa: E731
        return jax.vmap(lambda row: entropy(network(row)))(x)

    return pipeline, ([jnp.ones((8, 32)), jnp.ones((32, 4))], jnp.ones((16, 8)))


def nested_scans() -> Case:
    """Epochs around batches around the steps of a recurrent network."""

    def cell(params, state, x):
        update = jax.nn.sigmoid(x @ params["wu"] + state @ params["uu"])
        candidate = jnp.tanh(x @ params["wc"] + state @ params["uc"])
        state = update * state + (1 - update) * candidate
        return state, state @ params["out"]

    def loss(params, xs, ys):
        state = jnp.zeros((xs.shape[1], params["uu"].shape[0]))
        _, predicted = lax.scan(functools.partial(cell, params), state, xs)
        return jnp.mean((predicted - ys) ** 2)

    def batch_step(params, batch):
        xs, ys = batch
        value, grads = jax.value_and_grad(loss)(params, xs, ys)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), value

    def train(params, batches):
        def epoch(params, _):
            params, losses = lax.scan(batch_step, params, batches)
            return params, losses.mean()

        return lax.scan(epoch, params, None, length=10)

    sizes = {"wu": (4, 16), "uu": (16, 16), "wc": (4, 16), "uc": (16, 16), "out": (16, 2)}
    params = {name: jnp.ones(size) * 0.1 for name, size in sizes.items()}
    return train, (params, (jnp.ones((6, 12, 8, 4)), jnp.ones((6, 12, 8, 2))))


def two_models() -> Case:
    """A generator and a discriminator, trained in one step, each with its own optimizer."""
    import optax

    generator_optimizer, discriminator_optimizer = optax.adam(1e-4), optax.rmsprop(1e-4)

    def generator(params, z):
        h = jax.nn.leaky_relu(z @ params["w1"])
        return jnp.tanh(h @ params["w2"])

    def discriminator(params, x):
        h = jax.nn.leaky_relu(x @ params["w1"])
        return (h @ params["w2"])[:, 0]

    def generator_loss(g, d, z):
        return jnp.mean(jax.nn.softplus(-discriminator(d, generator(g, z))))

    def discriminator_loss(d, real, fake):
        return jnp.mean(jax.nn.softplus(-discriminator(d, real)) + jax.nn.softplus(discriminator(d, fake)))

    def train_step(g, d, g_state, d_state, key, real):
        z = jax.random.normal(key, (real.shape[0], 16))
        fake = generator(g, z)
        d_loss, d_grads = jax.value_and_grad(discriminator_loss)(d, real, fake)
        updates, d_state = discriminator_optimizer.update(d_grads, d_state)
        d = optax.apply_updates(d, updates)
        g_loss, g_grads = jax.value_and_grad(generator_loss)(g, d, z)
        updates, g_state = generator_optimizer.update(g_grads, g_state)
        g = optax.apply_updates(g, updates)
        return g, d, g_state, d_state, {"generator": g_loss, "discriminator": d_loss}

    g = {"w1": jnp.ones((16, 32)), "w2": jnp.ones((32, 64))}
    d = {"w1": jnp.ones((64, 32)), "w2": jnp.ones((32, 1))}
    states = generator_optimizer.init(g), discriminator_optimizer.init(d)
    return train_step, (g, d, *states, jax.random.key(0), jnp.ones((8, 64)))


def adaptive_ode() -> Case:
    """An ODE solver with a step size of its own: a while loop with an error estimate and a rejected step."""

    def predator_prey(y, t, rates):
        prey, predators = y
        grow, hunted, feed, die = rates
        return jnp.stack([grow * prey - hunted * prey * predators, feed * prey * predators - die * predators])

    def heun_step(field, y, t, h, rates):
        k1 = field(y, t, rates)
        k2 = field(y + h * k1, t + h, rates)
        return y + h * (k1 + k2) / 2, h * jnp.max(jnp.abs(k2 - k1)) / 2

    def solve(y0, t_end, rates, tolerance=1e-4):
        def unfinished(state):
            _, t, _, steps = state
            return (t < t_end) & (steps < 10_000)

        def advance(state):
            y, t, h, steps = state
            h = jnp.minimum(h, t_end - t)
            y_new, error = heun_step(predator_prey, y, t, h, rates)
            accept = error <= tolerance
            y, t = lax.cond(accept, lambda: (y_new, t + h), lambda: (y, t))
            h = h * jnp.clip(0.9 * jnp.sqrt(tolerance / (error + 1e-12)), 0.2, 5.0)
            return y, t, h, steps + 1

        return lax.while_loop(unfinished, advance, (y0, jnp.float32(0), jnp.float32(0.1), 0))

    return solve, (jnp.array([10.0, 5.0]), jnp.float32(20), jnp.array([1.1, 0.4, 0.1, 0.4]))


def metropolis() -> Case:
    """A Metropolis chain for many walkers, with its acceptance rate and a running mean."""

    def log_density(x):
        first, second = x[0], x[1]
        return -((1 - first) ** 2) - 20 * (second - first**2) ** 2

    def propose(key, x, width):
        return x + width * jax.random.normal(key, x.shape)

    def metropolis_step(carry, key):
        x, log_p, accepted = carry
        key_propose, key_accept = jax.random.split(key)
        candidate = propose(key_propose, x, 0.3)
        log_p_new = log_density(candidate)
        accept = jnp.log(jax.random.uniform(key_accept)) < log_p_new - log_p
        x = jnp.where(accept, candidate, x)
        log_p = jnp.where(accept, log_p_new, log_p)
        return (x, log_p, accepted + accept), x

    def chain(key, x0, steps):
        keys = jax.random.split(key, steps)
        (_, _, accepted), samples = lax.scan(metropolis_step, (x0, log_density(x0), 0), keys)
        return samples.mean(0), samples.std(0), accepted / steps

    def sample(key, starts):
        keys = jax.random.split(key, starts.shape[0])
        means, deviations, rates = jax.vmap(chain, in_axes=(0, 0, None))(keys, starts, 1000)
        between = starts.shape[0] * means.var(0)
        return means.mean(0), jnp.sqrt(between / (deviations**2).mean(0)), rates

    return sample, (jax.random.key(0), jnp.zeros((8, 2)))


def sharded_step() -> Case:
    """A training step with its data split over a mesh, and shardings that are asked for inside."""

    mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("data", "model"))

    def constrain(x, *axes):
        return lax.with_sharding_constraint(x, NamedSharding(mesh, PartitionSpec(*axes)))

    def attention(params, x):
        q, k, v = (constrain(x @ params[name], "data", None, "model") for name in ("q", "k", "v"))
        weights = jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k) / q.shape[-1] ** 0.5)
        return constrain(jnp.einsum("bqk,bkd->bqd", weights, v) @ params["o"], "data", None, None)

    def feed_forward(params, x):
        hidden = constrain(jax.nn.relu(x @ params["up"]), "data", None, "model")
        return constrain(hidden @ params["down"], "data", None, None)

    def forward(params, x):
        for block in params:
            x = x + attention(block, x)
            x = x + feed_forward(block, x)
        return x

    def loss_fn(params, batch):
        return jnp.mean((forward(params, batch["x"]) - batch["y"]) ** 2)

    def train_step(params, batch):
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        norm = jnp.sqrt(sum(jnp.sum(g**2) for g in jax.tree.leaves(grads)))
        scale = jnp.minimum(1.0, 1.0 / norm)
        return jax.tree.map(lambda p, g: p - 0.1 * scale * g, params, grads), {"loss": loss, "norm": norm}

    sizes = {"q": (32, 32), "k": (32, 32), "v": (32, 32), "o": (32, 32), "up": (32, 64), "down": (64, 32)}
    block = {name: jnp.ones(size) * 0.1 for name, size in sizes.items()}
    return train_step, ([block] * 3, {"x": jnp.ones((4, 8, 32)), "y": jnp.ones((4, 8, 32))})


def own_optimizer() -> Case:
    """Adam with warm-up, decay and clipping, written out by hand over a dictionary of parameters."""

    def model(params, x):
        h = jnp.tanh(x @ params["layer1"]["w"] + params["layer1"]["b"])
        h = jnp.tanh(h @ params["layer2"]["w"] + params["layer2"]["b"])
        return h @ params["head"]["w"] + params["head"]["b"]

    def loss_fn(params, x, y):
        return jnp.mean(jnp.square(model(params, x) - y))

    def learning_rate(step, warmup=100, total=10_000):
        warm = step / warmup
        decayed = 0.5 * (1 + jnp.cos(jnp.pi * (step - warmup) / (total - warmup)))
        return 1e-3 * jnp.where(step < warmup, warm, decayed)

    def clip_by_norm(grads, limit):
        norm = jnp.sqrt(sum(jnp.vdot(g, g) for g in jax.tree.leaves(grads)))
        return jax.tree.map(lambda g: g * jnp.minimum(1.0, limit / (norm + 1e-6)), grads)

    def adam(params, grads, m, v, step, b1=0.9, b2=0.999):
        m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, m, grads)
        v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g**2, v, grads)
        rate = learning_rate(step)

        def update(p, m, v):
            m_hat = m / (1 - b1**step)
            v_hat = v / (1 - b2**step)
            return p - rate * (m_hat / (jnp.sqrt(v_hat) + 1e-8) + 1e-2 * p)

        return jax.tree.map(update, params, m, v), m, v

    def train_step(params, m, v, step, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        grads = clip_by_norm(grads, 1.0)
        params, m, v = adam(params, grads, m, v, step)
        return params, m, v, step + 1, loss

    sizes = {"layer1": (8, 32), "layer2": (32, 32), "head": (32, 1)}
    params = {name: {"w": jnp.ones(size), "b": jnp.zeros(size[1])} for name, size in sizes.items()}
    zeros = jax.tree.map(jnp.zeros_like, params)
    return train_step, (params, zeros, zeros, jnp.float32(1), jnp.ones((16, 8)), jnp.ones((16, 1)))


STYLES: dict[str, Callable[[], Case]] = {
    "tree_modules": tree_modules,
    "comprehensions": comprehensions,
    "decorators": decorators,
    "lambdas": lambdas,
    "nested_scans": nested_scans,
    "two_models": two_models,
    "adaptive_ode": adaptive_ode,
    "metropolis": metropolis,
    "sharded_step": sharded_step,
    "own_optimizer": own_optimizer,
}
