"""Numbers that are drawn once for all elements of a vmap, or on all devices alike, are found."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from find.found import found, line_numbers, the
from jax import lax, random
from jax.sharding import AbstractMesh, AxisType, PartitionSpec

KEYS = {"typed": random.key(0), "raw": random.PRNGKey(0)}
ROWS = jnp.ones((3, 4))
PARTS = PartitionSpec("data")
WHOLE = PartitionSpec()


def dropped(key, x):
    kept = random.bernoulli(key, 0.5, x.shape)
    return jnp.where(kept, x / 0.5, 0)


def noisy(key, x):
    return jax.vmap(lambda x: x + random.normal(key, x.shape))(x)


def of_numbers(key, x):
    return jax.vmap(lambda x: x * random.uniform(key))(x[:, 0])


def of_gradients(key, x):
    def loss(w, x):
        return dropped(key, jnp.tanh(x * w)).sum()

    return jax.vmap(jax.grad(loss), in_axes=(None, 0))(jnp.ones(4), x)


def of_a_split(key, x):
    return jax.vmap(lambda x: dropped(random.split(key)[0], x))(x)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize(
    ("fn", "of", "line"),
    [
        (noisy, noisy, 1),
        (of_numbers, of_numbers, 1),
        (of_gradients, dropped, 1),
        (of_a_split, dropped, 1),
        (jax.vmap(jax.jit(dropped), in_axes=(None, 0)), dropped, 1),
    ],
)
def test_a_key_that_is_not_mapped_draws_the_same_for_all_elements(fn, of, line, key):
    finding = the("key", fn, KEYS[key], ROWS)
    assert finding.title.startswith("all elements of a vmap get the same random numbers (line ")
    assert line_numbers(finding, of) == [line]
    assert "jax.random.split" in finding.remedy


# Tracing asks for no devices.
MESH = AbstractMesh((3,), ("data",), axis_types=(AxisType.Auto,))


def _on_devices(fn, key_spec=WHOLE):
    return lambda key, x: jax.shard_map(fn, mesh=MESH, in_specs=(key_spec, PARTS), out_specs=PARTS)(key, x)


def taken(key, x):
    return jax.shard_map(lambda x: dropped(key, x), mesh=MESH, in_specs=PARTS, out_specs=PARTS)(x)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("fn", [_on_devices(dropped), taken])
def test_a_key_that_all_devices_have_draws_the_same_on_each(fn, key):
    finding = the("key", fn, KEYS[key], ROWS)
    assert finding.title.startswith("all devices draw the same random numbers (line ")
    assert line_numbers(finding, dropped) == [1]
    assert "jax.lax.axis_index('data')" in finding.remedy


INNOCENT = {
    "a key for each": lambda key, x: jax.vmap(dropped)(random.split(key, 3), x),
    "a key for each, of its number": lambda key, x: jax.vmap(lambda i, x: dropped(random.fold_in(key, i), x))(
        jnp.arange(3), x
    ),
    "one matrix for all": lambda key, x: jax.vmap(lambda x: x @ random.normal(key, (4, 4)))(x),
    "drawn outside": lambda key, x: jax.vmap(jnp.add)(x, random.normal(key, x.shape)),
    "one number for a row of each": lambda key, x: jax.vmap(lambda key, x: x * random.normal(key))(
        random.split(key, 3), x
    ),
    "drawn by a library": lambda key, x: random.gamma(key, 2.0, (3,)) + random.dirichlet(random.key(1), jnp.ones(3)),
    "no vmap": lambda key, x: dropped(key, x),
    "a number of the device": _on_devices(lambda key, x: dropped(random.fold_in(key, lax.axis_index("data")), x)),
    "a key for each device": lambda key, x: _on_devices(lambda key, x: dropped(key[0], x), PARTS)(
        random.split(key, 3), x
    ),
    "one matrix for all devices": _on_devices(lambda key, x: x @ random.normal(key, (4, 4))),
}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_drawn_for_each_or_is_meant_for_all_is_left_alone(name, key):
    assert found("key", INNOCENT[name], KEYS[key], ROWS) == []
