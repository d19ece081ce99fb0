"""Random numbers that NumPy is to draw, with traced values or seeds, and keys that are made of keys."""

from __future__ import annotations

import jax
import numpy as np
from errors.failing.registry import KEY, X, failing

GENERATOR = np.random.default_rng(0)


@failing(
    X,
    KEY,
    case="numpy",
    place="np.random.normal",
    words=["x + (x.mean() + 0.1 * jax.random.normal(key, x.shape))"],
    mends=[0],
    gives=X + X.mean() + 0.1 * jax.random.normal(KEY, X.shape),
)
def noise_around_the_mean(x, key):
    return x + np.random.normal(x.mean(), 0.1, size=x.shape)


@failing(X, case="numpy", place="uniform(-x, x)", words=["minval=-x, maxval=x"], mends=[0])
def noise_as_wide_as_what_it_is_added_to(x):
    return x + np.random.uniform(-x, x)


@failing(X, KEY, case="numpy", place="np.random.choice", words=["jax.random.choice(key, 3, (), True, p)"], mends=[0])
def one_of_three_by_its_weight(p, key):
    return np.random.choice(3, p=p)


@failing(X, case="numpy", place="GENERATOR.poisson", words=["jax.random.poisson(jax.random.key(0), x)"], mends=[0])
def counts_of_a_generator(x):
    return GENERATOR.poisson(x)


@failing(3, case="seed", place="np.random.default_rng", words=["jax.random.key(seed)", "Make `seed` static"], mends=[0])
def a_generator_of_a_traced_seed(seed):
    return np.random.default_rng(seed)


@failing(KEY, case="seed", place="PRNGKey", words=["is a key already"], mends=[0], gives=jax.random.normal(KEY))
def a_key_of_a_key(key):
    return jax.random.normal(jax.random.PRNGKey(key))


@failing(X, case="no key", place="jax.random.normal", words=["jax.random.key(0), shape="], mends=[0])
def noise_without_a_key(x):
    return x + jax.random.normal(shape=x.shape)
