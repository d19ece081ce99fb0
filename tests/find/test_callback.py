"""Calls back into Python and moves are found, in loops as worse; prints of each run are not."""

from __future__ import annotations

import sysconfig

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found, line_numbers, the
from jax import lax

SCALAR = jax.ShapeDtypeStruct((), jnp.float32)


def asking(x):
    y = x * 2
    return jax.pure_callback(np.sin, SCALAR, y)


def in_a_loop(x):
    def body(i, x):
        return jax.pure_callback(np.sin, SCALAR, x)

    return lax.fori_loop(0, 4, body, x)


def printing_in_a_loop(x):
    def body(i, x):
        jax.debug.print("{}", x)
        return x * 2

    return lax.fori_loop(0, 4, body, x)


def test_a_call_into_python():
    finding = the("callback", asking, 1.0)
    assert finding.severity == "note"
    assert line_numbers(finding, asking) == [2]
    # One number goes to the host, and one comes back.
    assert finding.figures == {"calls": 1, "bytes": 8}
    assert "moves 4 B to it and 4 B back" in finding.text


@pytest.mark.parametrize(("fn", "line"), [(in_a_loop, 2), (printing_in_a_loop, 2)])
def test_one_in_each_turn_is_worse(fn, line):
    finding = the("callback", fn, 1.0)
    assert finding.severity == "advice"
    assert finding.title.startswith("1 call into Python in each turn of a loop")
    assert line_numbers(finding, fn) == [line]


def checked(path):
    """A loop whose turns ask Python to raise an error, in a file of its own."""
    source = """
def check(x):
    def raise_it(x):
        raise ValueError("not below 100")
    return lax.cond(x < 100, lambda x: x, lambda x: jax.pure_callback(raise_it, SCALAR, x), x)

def turns(x):
    return lax.fori_loop(0, 4, lambda i, x: check(x * 2), x)
"""
    names = {"lax": lax, "jax": jax, "SCALAR": SCALAR}
    exec(compile(source, path, "exec"), names)
    return names["turns"]


def test_the_check_of_a_library_that_calls_python_to_raise_an_error_is_left_alone(tmp_path):
    assert found("callback", checked(f"{sysconfig.get_path('purelib')}/somewhere/checks.py"), 1.0) == []
    assert the("callback", checked(str(tmp_path / "own.py")), 1.0).severity == "advice"


def printing(x):
    jax.debug.print("{}", x)
    return x * 2


INNOCENT = {
    "a print of each run": printing,
    "a loop": lambda x: lax.fori_loop(0, 4, lambda i, x: x * 2, x),
    "a condition": lambda x: lax.cond(x > 0, jnp.sin, jnp.cos, x),
    "a jitted function": lambda x: jax.jit(jnp.sin)(x),
    "a custom derivative": jax.grad(jax.nn.relu),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_what_stays_on_the_device_is_left_alone(name):
    assert found("callback", INNOCENT[name], 1.0) == []


def moving(x):
    y = jax.device_put(x * 2, jax.memory.Space.Host)
    return jax.device_put(y, jax.memory.Space.Device) + 1


@pytest.mark.skipif(not hasattr(jax, "memory"), reason="JAX 0.6.2 has no names for memories")
def test_values_that_are_moved_while_the_function_runs():
    finding = the("transfer", moving, jnp.ones(1000))
    assert line_numbers(finding, moving) == [1, 2]
    assert finding.figures == {"bytes": 8000, "values": 2}


def put(x):
    y = x * 2
    return jax.device_put(y, jax.devices()[0]) + 1


@pytest.mark.smoke
def test_a_device_has_no_effect_inside_of_a_compiled_function():
    finding = the("transfer", put, jnp.ones(1000))
    assert line_numbers(finding, put) == [2]
    assert "moves nothing" in finding.title


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: jax.device_put(x) + 1,
        lambda x: jax.device_put(x, jax.sharding.SingleDeviceSharding(jax.devices()[0])) + 1,
        lambda x: jnp.asarray(x) + jnp.array([1.0]),
        lambda x: jnp.asarray(np.ones(3)).sum() + x,
        lambda x: x.astype(jnp.int32),
        lambda x: jax.lax.stop_gradient(x),
    ],
)
def test_what_stays_where_it_is_is_not_moved(fn):
    assert found("transfer", fn, 1.0) == []


def test_what_is_printed_in_each_run_is_told_where_it_is_large():
    def printed(x):
        jax.debug.callback(lambda x: None, x)
        return x * 2

    large = the("callback", printed, jax.ShapeDtypeStruct((1024, 1024), jnp.float32))
    assert large.figures["bytes"] == 4 * 1024 * 1024
    assert found("callback", printed, jnp.ones(1024)) == []
