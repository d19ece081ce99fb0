"""Programs with unrolled loops, and what is to be known of each when it is rebuilt."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp


def settle(x):
    for _ in range(200):
        x = x * 1.01 + 0.1
    return x


def layers(x, weights):
    for weight in weights:
        x = jnp.tanh(x @ weight) + x
    return x.sum()


def nested(x):
    for i in range(6):
        for _ in range(20):
            x = jnp.sin(x) * (i + 1)
        x = x / 2
    return x


def sliced(x):
    total = 0.0
    for i in range(16):
        total = total * 0.9 + jnp.tanh(x[i])
    return total


def two_back(x):
    older = x * 2
    for _ in range(40):
        x, older = jnp.sin(x) + older, x
    return x


def collected(x):
    found = []
    for _ in range(30):
        x = jnp.sin(x) * 1.1
        found.append(x * 2)
    return jnp.stack(found), x


def gated(params, xs):
    h = c = jnp.zeros(8)
    for t in range(12):
        z = xs[t] @ params["w"] + h @ params["u"] + params["b"]
        i, f, g, o = jnp.split(z, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * c
    return (h**2).sum()


def noisy(key, x):
    for _ in range(20):
        key, now = jax.random.split(key)
        x = x * 0.9 + jax.random.normal(now, x.shape)
    return x


def counted(x):
    """Whole numbers that are other in each turn."""
    for i in range(24):
        x = jnp.where(x > i, x - 1, x * 2) + i
    return x


def in_a_jit(x):
    return jax.jit(settle)(x) + 1


def in_a_scan(x):
    def body(carry, _):
        for i in range(32):
            carry = jnp.sin(carry) * i + carry
        return carry, None

    return jax.lax.scan(body, x, None, length=3)[0]


def in_a_branch(x):
    return jax.lax.cond(x.sum() > 0, settle, lambda x: x, x)


def over_rows(xs):
    total = jnp.zeros(xs.shape[1])
    for x in xs:
        total = jnp.tanh(total + x) * x + total * 0.5
    return total


class Network:
    """Loops in methods: over what the object holds, through a method of its own, and in a jitted method."""

    def __init__(self):
        self.weights = [jnp.eye(4) * 0.05 * (i + 1) for i in range(24)]

    def __call__(self, x):
        for weight in self.weights:
            x = jnp.tanh(x @ weight) + x
        return x.sum()

    def step(self, x, i):
        return jnp.sin(x * i) * 0.1 + x

    def settle(self, x):
        for i in range(40):
            x = self.step(x, i)
        return x

    @functools.partial(jax.jit, static_argnums=0)
    def jitted(self, x):
        return self.settle(x) * 2


def thrice(x):
    for i in range(3):
        for j in range(4):
            for k in range(10):
                x = jnp.sin(x) * k + j
            x = x * 2
        x = x - i
    return x


def checkpointed(x, weights):
    layer = jax.checkpoint(lambda x, weight: jnp.tanh(x @ weight) * 2 + x)
    for weight in weights:
        x = layer(x, weight)
    return x.sum()


def train(params, xs):
    def loss(params, x):
        for weight in params:
            x = jnp.tanh(x @ weight)
        return (x**2).sum()

    for x in xs:
        gradients = jax.grad(loss)(params, x)
        params = jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients)
    return params


@jax.custom_vjp
def floor_at(x, low):
    return jnp.maximum(x, low)


floor_at.defvjp(
    lambda x, low: (floor_at(x, low), (x, low)), lambda kept, g: (jnp.where(kept[0] > kept[1], g, 0.5 * g), None)
)


def own_derivative(weights, x):
    for weight in weights:
        x = floor_at(x @ weight, 0.0) + x
    return x.sum()


def gelu_layers(layers, x):
    """The last layer's five products stand right after one another on the way back."""
    for weight, bias in layers:
        x = jax.nn.gelu(x @ weight + bias) + x
    return (x**2).sum()


def bent(x):
    return jnp.tanh(x) * 2 + jnp.sin(x)


def recursive(x, depth=20):
    return x if depth == 0 else recursive(bent(x), depth - 1)


def reduced(x, weights):
    return functools.reduce(lambda total, weight: bent(total) @ weight, weights, x)


def mapped(xs):
    return jnp.stack(list(map(bent, xs)))


X = jnp.linspace(0.1, 1.0, 4)
WEIGHTS = [jnp.eye(4) * 0.05 * (i + 1) for i in range(24)]
PARAMS = {"w": jnp.ones((4, 32)) * 0.1, "u": jnp.ones((8, 32)) * 0.1, "b": jnp.zeros(32)}

NETWORK = Network()


#: Name -> function, arguments, equations of one turn at most.
def by_rows(weights, x):
    """Parameters of all layers in one array: on the way back each turn puts its own row of the gradient."""
    for number in range(10):
        x = jax.nn.gelu(weights[number] @ x + weights[number, 0])
    return (x**2).sum()


LOOPS = {
    "a carry": (settle, (X,)),
    "layers": (layers, (jnp.eye(4), WEIGHTS)),
    "layers, backward": (jax.grad(layers), (jnp.eye(4), WEIGHTS)),
    "layers and their weights, backward": (jax.value_and_grad(layers, argnums=(0, 1)), (jnp.eye(4), WEIGHTS)),
    "nested": (nested, (0.5,)),
    "nested, backward": (jax.grad(nested), (0.5,)),
    "slices": (sliced, (jnp.linspace(0, 1, 16),)),
    "two turns back": (two_back, (0.3,)),
    "results of each turn": (collected, (X,)),
    "a recurrent network": (gated, (PARAMS, jnp.ones((12, 4)))),
    "a recurrent network, backward": (jax.value_and_grad(gated), (PARAMS, jnp.linspace(0, 1, 48).reshape(12, 4))),
    "random keys": (noisy, (jax.random.key(0), X)),
    "numbers": (counted, (jnp.arange(4),)),
    "in a jitted function": (in_a_jit, (X,)),
    "in the body of a loop": (in_a_scan, (X,)),
    "in a branch": (in_a_branch, (X,)),
    "a method": (NETWORK, (jnp.eye(4),)),
    "a method, backward": (jax.grad(NETWORK), (jnp.eye(4),)),
    "a method that calls another": (NETWORK.settle, (X,)),
    "a jitted method": (NETWORK.jitted, (X,)),
    "three deep": (thrice, (X,)),
    "checkpoints, backward": (jax.grad(checkpointed, argnums=(0, 1)), (jnp.eye(4), WEIGHTS)),
    "steps of training": (train, (WEIGHTS[:8], jnp.ones((10, 4)))),
    "for each of several": (jax.vmap(nested), (X,)),
    "a forward derivative": (lambda x: jax.jvp(settle, (x,), (x,)), (X,)),
    "a derivative of its own, backward": (jax.grad(own_derivative), (WEIGHTS, jnp.eye(4))),
    "gelu, backward": (jax.grad(gelu_layers), ([(weight, X) for weight in WEIGHTS[:10]], jnp.eye(4))),
    "a function that calls itself": (recursive, (X,)),
    "a function that calls itself, backward": (jax.grad(lambda x: recursive(x).sum()), (X,)),
    "reduce": (reduced, (jnp.eye(4), WEIGHTS)),
    "map": (mapped, ([X * i for i in range(20)],)),
    "rows of parameters, backward": (jax.grad(by_rows), (jnp.linspace(0, 1, 160).reshape(10, 4, 4), jnp.ones(4))),
    "rows of an array": (over_rows, (jnp.linspace(0, 1, 120).reshape(30, 4),)),
}
