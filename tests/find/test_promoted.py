"""Layers that compute in the type of their parameters: told where nobody asked for it, with the line."""

from __future__ import annotations

import flax.linen as nn
import jax
import jax.numpy as jnp
import pytest
from find.found import found, line_numbers, the
from flax import nnx

KEY, NARROW = jax.random.key(0), jnp.ones((8, 64), jnp.bfloat16)
WIDE = NARROW.astype(jnp.result_type(1.0))


class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(64)(x))
        return nn.Dense(10)(x)


class Narrow(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(64, dtype=jnp.bfloat16)(x)


def made(module, x=NARROW):
    return module, module.init(KEY, x)


NET, PARAMETERS = made(Net())
NARROW_NET, NARROW_PARAMETERS = made(Narrow())


def of_flax(variables, x):
    return NET.apply(variables, x)


def of_a_gradient(variables, x):
    return jax.grad(lambda v: (NET.apply(v, x) ** 2).mean())(variables)


def of_equinox(layer, x):
    return jax.vmap(layer)(x)


def of_nnx(layer, x):
    return layer(x)


def of_equinox_too():
    try:
        import equinox as eqx
    except ImportError:  # It is not in the environments of the oldest and the newest JAX.
        return []
    return [(of_equinox, (eqx.nn.Linear(64, 64, key=KEY), NARROW), of_equinox, 1)]


@pytest.mark.parametrize(
    ("fn", "arguments", "of", "line"),
    [
        (of_flax, (PARAMETERS, NARROW), Net.__call__, 2),
        (of_a_gradient, (PARAMETERS, NARROW), Net.__call__, 2),
        *of_equinox_too(),
        (of_nnx, (nnx.Linear(64, 64, rngs=nnx.Rngs(0)), NARROW), of_nnx, 1),
    ],
)
def test_a_layer_that_makes_wide_what_it_is_given_is_told(fn, arguments, of, line):
    finding = the("precision", fn, *arguments)
    assert finding.title.startswith("bfloat16 becomes float32 in a layer whose parameters are float32")
    assert finding.severity == "advice"
    assert finding.figures["bytes"] == 8 * 64 * 4
    assert line_numbers(finding, of) == [line]
    assert "dtype=jnp.bfloat16" in finding.remedy


def test_the_remedies_cure_it():
    assert found("precision", lambda v, x: NARROW_NET.apply(v, x), NARROW_PARAMETERS, NARROW) == []
    converted = jax.tree.map(lambda p: p.astype(jnp.bfloat16), PARAMETERS)
    assert found("precision", of_flax, converted, NARROW) == []


class Normed(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.LayerNorm()(x)


class Looked(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Embed(8, 64)(x)


class MadeNarrow(nn.Module):
    @nn.compact
    def __call__(self, x):
        return nn.Dense(64)(x).astype(jnp.bfloat16)


@pytest.mark.parametrize(
    ("module", "x"),
    [
        (Net(), WIDE),
        (Narrow(), NARROW),
        (Normed(), NARROW),
        (Looked(), jnp.arange(8)),
        (MadeNarrow(), NARROW),
    ],
)
def test_what_is_wide_already_or_asked_for_is_left_alone(module, x):
    module, variables = made(module, x)
    assert found("precision", lambda v, x: module.apply(v, x), variables, x) == []
