"""Real models and solvers, each as it is commonly written: name -> () -> (function, arguments).

They need the libraries of the extra `bench`: flax, equinox, optax, diffrax, numpyro.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

Case = tuple[Callable[..., Any], tuple[Any, ...]]

KEY = jax.random.key(0)


# flax.linen


def _flax(model: Any, *inputs: Any) -> tuple[Any, Any]:
    return model, model.init(KEY, *inputs)


def _loss_of(model: Any) -> Callable[..., Any]:
    def loss(params: Any, x: Any, labels: Any) -> Any:
        logits = model.apply(params, x)
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], axis=-1)
        return -picked.mean()

    return loss


def flax_mlp() -> Any:
    from flax import linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for width in (64, 64, 32):
                x = nn.relu(nn.Dense(width)(x))
            return nn.Dense(10)(x)

    return _flax(Network(), jnp.ones((8, 32)))


def flax_convolutions() -> Any:
    from flax import linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            for features in (16, 32):
                x = nn.Conv(features, (3, 3))(x)
                x = nn.relu(nn.GroupNorm(num_groups=4)(x))
                x = nn.avg_pool(x, (2, 2), strides=(2, 2))
            x = x.reshape(x.shape[0], -1)
            return nn.Dense(10)(x)

    return _flax(Network(), jnp.ones((4, 28, 28, 1)))


def flax_transformer() -> Any:
    from flax import linen as nn

    class Block(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            y = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=4)(y, y)
            y = nn.LayerNorm()(x)
            return x + nn.Dense(64)(nn.gelu(nn.Dense(256)(y)))

    class Network(nn.Module):
        @nn.compact
        def __call__(self, tokens: Any) -> Any:
            x = nn.Embed(100, 64)(tokens) + nn.Embed(16, 64)(jnp.arange(tokens.shape[-1]))
            for _ in range(3):
                x = Block()(x)
            return nn.Dense(100)(nn.LayerNorm()(x))

    return _flax(Network(), jnp.zeros((4, 16), jnp.int32))


def flax_recurrent() -> Any:
    from flax import linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            x = nn.RNN(nn.LSTMCell(32))(x)
            return nn.Dense(5)(x)

    return _flax(Network(), jnp.ones((4, 20, 8)))


def flax_half_precision() -> Any:
    from flax import linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            x = nn.relu(nn.Dense(64, dtype=jnp.bfloat16)(x))
            return nn.Dense(10, dtype=jnp.float32)(x)

    return _flax(Network(), jnp.ones((8, 32)))


def flax_autoencoder() -> Any:
    from flax import linen as nn

    class Network(nn.Module):
        @nn.compact
        def __call__(self, x: Any) -> Any:
            code = nn.Dense(8)(nn.relu(nn.Dense(64)(x)))
            return nn.sigmoid(nn.Dense(32)(nn.relu(nn.Dense(64)(code))))

    return _flax(Network(), jnp.ones((8, 32)))


def nnx_mlp() -> Case:
    from flax import nnx

    class Network(nnx.Module):
        def __init__(self, rngs: Any) -> None:
            self.first = nnx.Linear(32, 64, rngs=rngs)
            self.second = nnx.Linear(64, 10, rngs=rngs)

        def __call__(self, x: Any) -> Any:
            return self.second(nnx.relu(self.first(x)))

    graphdef, state = nnx.split(Network(nnx.Rngs(0)))

    def apply(state: Any, x: Any) -> Any:
        return nnx.merge(graphdef, state)(x)

    return apply, (state, jnp.ones((8, 32)))


# equinox


def _equinox(model: Any) -> tuple[Callable[..., Any], Any]:
    import equinox as eqx

    params, static = eqx.partition(model, eqx.is_inexact_array)

    def apply(params: Any, x: Any) -> Any:
        return jax.vmap(eqx.combine(params, static))(x)

    return apply, params


def equinox_mlp() -> Case:
    import equinox as eqx

    apply, params = _equinox(eqx.nn.MLP(32, 10, 64, 3, key=KEY))
    return apply, (params, jnp.ones((8, 32)))


def equinox_mlp_gradient() -> Case:
    import equinox as eqx

    apply, params = _equinox(eqx.nn.MLP(32, 10, 64, 3, key=KEY))
    return jax.grad(lambda params, x: jnp.mean(apply(params, x) ** 2)), (params, jnp.ones((8, 32)))


def equinox_convolutions() -> Case:
    import equinox as eqx

    first, second, last = jax.random.split(KEY, 3)
    model = eqx.nn.Sequential(
        [
            eqx.nn.Conv2d(1, 8, 3, key=first),
            eqx.nn.Lambda(jax.nn.relu),
            eqx.nn.MaxPool2d(2, 2),
            eqx.nn.Conv2d(8, 16, 3, key=second),
            eqx.nn.Lambda(jax.nn.relu),
            eqx.nn.Lambda(jnp.ravel),
            eqx.nn.Linear(16 * 11 * 11, 10, key=last),
        ]
    )
    apply, params = _equinox(model)
    return apply, (params, jnp.ones((4, 1, 28, 28)))


def equinox_recurrent() -> Case:
    import equinox as eqx

    cell = eqx.nn.GRUCell(8, 32, key=KEY)
    params, static = eqx.partition(cell, eqx.is_inexact_array)

    def run(params: Any, xs: Any) -> Any:
        cell = eqx.combine(params, static)
        return jax.lax.scan(lambda h, x: (cell(x, h), None), jnp.zeros(32), xs)[0]

    return run, (params, jnp.ones((20, 8)))


def equinox_attention() -> Case:
    import equinox as eqx

    model = eqx.nn.MultiheadAttention(4, 32, key=KEY)
    params, static = eqx.partition(model, eqx.is_inexact_array)

    def attend(params: Any, x: Any) -> Any:
        return eqx.combine(params, static)(x, x, x)

    return attend, (params, jnp.ones((16, 32)))


# optax: a step of each optimizer on the same network


def _optimizer(make: str, **options: Any) -> Callable[[], Case]:
    def case() -> Case:
        import optax

        optimizer = getattr(optax, make)(**options)
        params = [{"w": jnp.ones((32, 32)), "b": jnp.ones(32)} for _ in range(3)]

        def loss(params: Any, x: Any) -> Any:
            for layer in params:
                x = jnp.tanh(x @ layer["w"] + layer["b"])
            return jnp.mean(x**2)

        def step(params: Any, state: Any, x: Any) -> Any:
            value, gradients = jax.value_and_grad(loss)(params, x)
            updates, state = optimizer.update(gradients, state, params)
            return optax.apply_updates(params, updates), state, value

        return step, (params, optimizer.init(params), jnp.ones((8, 32)))

    return case


def optax_schedule() -> Case:
    import optax

    schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-3, 10, 100)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))
    params = {"w": jnp.ones((16, 4))}

    def step(params: Any, state: Any, x: Any) -> Any:
        gradients = jax.grad(lambda params: jnp.mean((x @ params["w"]) ** 2))(params)
        updates, state = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state

    return step, (params, optimizer.init(params), jnp.ones((8, 16)))


# diffrax


def _solve(solver: str, gradient: bool = False) -> Callable[[], Case]:
    def case() -> Case:
        import diffrax

        def field(t: Any, y: Any, rate: Any) -> Any:
            prey, predator = y
            return rate * prey - prey * predator, prey * predator - predator

        def solve(y0: Any, rate: Any) -> Any:
            solution = diffrax.diffeqsolve(
                diffrax.ODETerm(field),
                getattr(diffrax, solver)(),
                t0=0.0,
                t1=5.0,
                dt0=0.1,
                y0=y0,
                args=rate,
                saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, 5.0, 20)),
                stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-6)
                if solver not in ("Euler",)
                else diffrax.ConstantStepSize(),
                max_steps=256,
            )
            return solution.ys

        y0 = (jnp.array(2.0), jnp.array(1.0))
        if not gradient:
            return solve, (y0, jnp.array(1.5))
        return jax.grad(lambda y0, rate: solve(y0, rate)[0].sum()), (y0, jnp.array(1.5))

    return case


def diffrax_network() -> Case:
    import diffrax
    import equinox as eqx

    params, static = eqx.partition(eqx.nn.MLP(2, 2, 32, 2, activation=jax.nn.softplus, key=KEY), eqx.is_inexact_array)

    def solve(params: Any, y0: Any) -> Any:
        network = eqx.combine(params, static)
        term = diffrax.ODETerm(lambda t, y, args: network(y))
        return diffrax.diffeqsolve(term, diffrax.Tsit5(), t0=0.0, t1=1.0, dt0=0.1, y0=y0, max_steps=64).ys

    return solve, (params, jnp.ones(2))


# numpyro


def _numpyro(model: Callable[..., Any], *arguments: Any) -> Case:
    from numpyro.infer.util import initialize_model

    found = initialize_model(jax.random.PRNGKey(0), model, model_args=arguments)
    return jax.value_and_grad(found.potential_fn), (found.param_info.z,)


def numpyro_regression() -> Case:
    import numpyro
    import numpyro.distributions as dist

    x, y = jnp.linspace(0, 1, 50), jnp.linspace(0, 2, 50)

    def model(x: Any, y: Any) -> None:
        slope = numpyro.sample("slope", dist.Normal(0.0, 1.0))
        intercept = numpyro.sample("intercept", dist.Normal(0.0, 1.0))
        noise = numpyro.sample("noise", dist.Exponential(1.0))
        numpyro.sample("y", dist.Normal(slope * x + intercept, noise), obs=y)

    return _numpyro(model, x, y)


def numpyro_schools() -> Case:
    import numpyro
    import numpyro.distributions as dist

    y = jnp.array([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
    sigma = jnp.array([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])

    def model(sigma: Any, y: Any) -> None:
        mean = numpyro.sample("mean", dist.Normal(0, 5))
        spread = numpyro.sample("spread", dist.HalfCauchy(5))
        with numpyro.plate("schools", 8):
            effect = numpyro.sample("effect", dist.Normal(mean, spread))
            numpyro.sample("y", dist.Normal(effect, sigma), obs=y)

    return _numpyro(model, sigma, y)


def numpyro_logistic() -> Case:
    import numpyro
    import numpyro.distributions as dist

    x = jnp.ones((100, 5))
    y = jnp.zeros(100, jnp.int32)

    def model(x: Any, y: Any) -> None:
        weights = numpyro.sample("weights", dist.Normal(jnp.zeros(5), 1.0).to_event(1))
        numpyro.sample("y", dist.Bernoulli(logits=x @ weights), obs=y)

    return _numpyro(model, x, y)


def _forward(make: Callable[[], Any], x: Any) -> Callable[[], Case]:
    def case() -> Case:
        model, params = make()
        return model.apply, (params, x)

    return case


def _train(make: Callable[[], Any], x: Any, labels: Any) -> Callable[[], Case]:
    def case() -> Case:
        model, params = make()
        loss = _loss_of(model)

        def step(params: Any, x: Any, labels: Any) -> Any:
            value, gradients = jax.value_and_grad(loss)(params, x, labels)
            return jax.tree.map(lambda p, g: p - 1e-2 * g, params, gradients), value

        return step, (params, x, labels)

    return case


_ROWS, _IMAGES = jnp.ones((8, 32)), jnp.ones((4, 28, 28, 1))
_TOKENS = jnp.zeros((4, 16), jnp.int32)

MODELS: dict[str, Callable[[], Case]] = {
    "flax mlp": _forward(flax_mlp, _ROWS),
    "flax mlp, step": _train(flax_mlp, _ROWS, jnp.zeros(8, jnp.int32)),
    "flax convolutions": _forward(flax_convolutions, _IMAGES),
    "flax convolutions, step": _train(flax_convolutions, _IMAGES, jnp.zeros(4, jnp.int32)),
    "flax transformer": _forward(flax_transformer, _TOKENS),
    "flax transformer, step": _train(flax_transformer, _TOKENS, _TOKENS),
    "flax lstm": _forward(flax_recurrent, jnp.ones((4, 20, 8))),
    "flax lstm, step": _train(flax_recurrent, jnp.ones((4, 20, 8)), jnp.zeros((4, 20), jnp.int32)),
    "flax half precision": _forward(flax_half_precision, _ROWS),
    "flax half precision, step": _train(flax_half_precision, _ROWS, jnp.zeros(8, jnp.int32)),
    "flax autoencoder": _forward(flax_autoencoder, _ROWS),
    "nnx mlp": nnx_mlp,
    "equinox mlp": equinox_mlp,
    "equinox mlp, gradient": equinox_mlp_gradient,
    "equinox convolutions": equinox_convolutions,
    "equinox gru": equinox_recurrent,
    "equinox attention": equinox_attention,
    **{
        f"optax {name}": _optimizer(name, learning_rate=1e-3)
        for name in ("adam", "adamw", "sgd", "rmsprop", "adagrad", "lamb", "lion", "nadam", "adabelief", "radam")
    },
    **{
        f"optax {name}": _optimizer(name, learning_rate=1e-3)
        for name in ("adafactor", "adamax", "amsgrad", "fromage", "lars", "noisy_sgd", "novograd", "sm3", "yogi")
        if name != "noisy_sgd"
    },
    "optax schedule": optax_schedule,
    **{f"diffrax {name}": _solve(name) for name in ("Euler", "Tsit5", "Dopri5", "Heun", "Kvaerno5")},
    "diffrax Tsit5, gradient": _solve("Tsit5", gradient=True),
    "diffrax network": diffrax_network,
    "numpyro regression": numpyro_regression,
    "numpyro schools": numpyro_schools,
    "numpyro logistic": numpyro_logistic,
}
