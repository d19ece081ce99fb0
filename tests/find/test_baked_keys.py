"""Numbers that are the same in each call, because their key is a part of the program, are found."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from find.found import found, line_numbers, the
from jax import lax, random

ROWS = jnp.ones((4, 3))
SQUARE = jnp.ones((3, 3))
TYPED, RAW = random.key(5), random.PRNGKey(5)


def noisy(x):
    key = random.key(0)
    return x + random.normal(key, x.shape)


def dropped(key, x):
    return jnp.where(random.bernoulli(key, 0.5, x.shape), x / 0.5, 0)


def of_gradients(w, x):
    def loss(w):
        return (dropped(random.PRNGKey(0), jnp.tanh(x @ w)) ** 2).sum()

    return jax.value_and_grad(loss)(w)


def disturbed_again_and_again(x):
    def turn(carry, _):
        x, key = carry
        key, sub = random.split(key)
        return (x + random.normal(sub, x.shape), key), None

    return lax.scan(turn, (x, random.key(0)), length=3)[0][0]


def chosen(logits):
    return random.categorical(random.key(0), logits)


def brightened(x):
    return x * random.uniform(random.key(1))


@pytest.mark.parametrize(
    ("fn", "arguments", "lines"),
    [
        (noisy, (ROWS,), [1, 2]),
        (disturbed_again_and_again, (ROWS,), [4, 6]),
        (chosen, (ROWS,), [1]),
        (brightened, (ROWS,), [1]),
    ],
)
def test_noise_of_a_key_that_is_made_inside_is_told_with_its_lines(fn, arguments, lines):
    finding = the("key", fn, *arguments)
    assert finding.title.startswith("each call draws the same random numbers (line")
    assert "made inside of the function" in finding.text
    assert line_numbers(finding, fn) == lines
    assert finding.figures == {"uses": 1}


def test_a_mask_under_a_gradient_is_told_once():
    finding = the("key", of_gradients, SQUARE, ROWS)
    assert finding.title.startswith("each call draws the same random numbers (line")
    assert line_numbers(finding, of_gradients) == [-3, 2]


@pytest.mark.parametrize("name", ["TYPED", "RAW"])
def test_a_key_from_around_the_function_is_told_by_its_name(name):
    fn = {"TYPED": lambda x: dropped(TYPED, x), "RAW": lambda x: dropped(RAW, x)}[name]
    finding = the("key", fn, ROWS)
    assert finding.text.startswith(f"`{name}` comes from around the function and is baked in")


def first_layer(x):
    of_weights, of_bias = random.split(random.key(0))
    return jnp.tanh(x @ random.normal(of_weights, (3, 8)) + random.normal(of_bias, (8,)))


def trained(x):
    w = random.normal(random.key(0), (3,))
    for _ in range(2):
        w = w - 0.1 * jax.grad(lambda w: ((x @ w) ** 2).mean())(w)
    return w


def largest(a):
    v = random.normal(random.key(0), (3,))
    for _ in range(2):
        v = a @ v
        v = v / jnp.linalg.norm(v)
    return v


def estimated_trace(a):
    v = random.rademacher(random.key(0), (3,), jnp.float32)
    return v * (a @ v)


INNOCENT = {
    "a key for each call": (dropped, TYPED, ROWS),
    "a key of the step": (lambda step, x: dropped(random.fold_in(random.key(0), step), x), 3, ROWS),
    "a seed for each call": (lambda seed, x: dropped(random.key(seed), x), 3, ROWS),
    "first weights": (first_layer, ROWS),
    "first weights of what is trained": (trained, ROWS),
    "fixed features": (lambda x: jnp.cos(x @ jnp.ones((3, 8)) + random.uniform(random.key(0), (8,))), ROWS),
    "a first vector": (largest, SQUARE),
    "a vector to estimate with": (estimated_trace, SQUARE),
    "nothing but draws": (lambda x: random.normal(random.key(0), x.shape), ROWS),
    "no more than other draws": (lambda key: random.normal(random.key(0)) + random.normal(key), TYPED),
    "a fixed order": (lambda x: x[:, random.permutation(random.key(0), 3)], ROWS),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_to_be_the_same_in_each_call_is_left_alone(name):
    fn, *arguments = INNOCENT[name]
    assert found("key", fn, *arguments) == []
