"""What a function does only while it is traced is found, with its name and line."""

from __future__ import annotations

import random
import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found, line_numbers, the

rate = 0.125
size = 7
calls = 0
RATE = 0.125


def of_the_module(x):
    y = jnp.sin(x)
    return y * rate


def called(x):
    return of_the_module(x) + 1


def printing(x):
    y = x * 2
    print("y is", y)
    return y


def rolling(x):
    return x + np.random.normal(size=x.shape)


def dicing(x):
    y = x * 2
    return y + random.random()


def timing(x):
    start = time.time()
    return x + start


def counting(x):
    global calls
    calls += 1
    return x * 2


@pytest.mark.parametrize(
    ("fn", "of", "line", "severity", "said"),
    [
        (of_the_module, of_the_module, 2, "note", "`rate` = 0.125 is baked in"),
        (called, of_the_module, 2, "note", "`rate` = 0.125 is baked in"),
        (jax.grad(of_the_module), of_the_module, 2, "note", "`rate` = 0.125 is baked in"),
        (jax.jit(of_the_module), of_the_module, 2, "note", "`rate` = 0.125 is baked in"),
        (printing, printing, 2, "note", "`print` prints only while JAX traces"),
        (rolling, rolling, 1, "warning", "`np.random.normal` gives the same numbers"),
        (dicing, dicing, 2, "warning", "`random.random` gives the same numbers"),
        (timing, timing, 1, "warning", "`time.time` is read once"),
        (counting, counting, 2, "warning", "`calls` is assigned only while"),
    ],
)
@pytest.mark.usefixtures("capsys")
def test_what_happens_only_while_tracing(fn, of, line, severity, said):
    finding = the("impure", fn, 1.0 if fn is not rolling else jnp.ones(3))
    assert finding.title.startswith(said)
    assert finding.severity == severity
    assert line_numbers(finding, of) == [line]


def with_capitals(x):
    return x * RATE


def with_a_size(x):
    return x[:size].sum() + jnp.zeros(size).sum()


def with_keys(x, key):
    return x + jax.random.normal(key, x.shape)


def with_a_debug_print(x):
    jax.debug.print("{}", x)
    return x * 2


def not_called(x):
    return printing


def refers_but_does_not_call(x):
    callback = not_called
    return x * 2 if callback is not None else x


def local(x):
    rate = 0.125
    return x * rate


INNOCENT = {
    "in capitals": (with_capitals, (1.0,)),
    "a size": (with_a_size, (jnp.ones(9),)),
    "keys": (with_keys, (jnp.ones(3), jax.random.key(0))),
    "a print of each run": (with_a_debug_print, (1.0,)),
    "not called": (refers_but_does_not_call, (1.0,)),
    "a variable of its own": (local, (1.0,)),
    "of NumPy": (lambda x: x * np.float32(2), (1.0,)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_is_pure_is_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert found("impure", fn, *arguments) == []
