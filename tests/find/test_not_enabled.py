"""Types of 64 bits that are asked for where they are not enabled are told with their lines, each once."""

from __future__ import annotations

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from find.found import found, line_numbers, the

try:
    from jax import enable_x64
except ImportError:  # until 0.7
    from jax.experimental import enable_x64

SAID = "ignore:Explicitly requested dtype"


def wide(x):
    y = x.astype(jnp.float64) * 2
    return y + jnp.zeros(3, dtype="float64")


def nothing_left(x):
    return x.astype(jnp.float64)


def by_a_variable(x):
    wanted = np.dtype("float64")
    y = jnp.sin(x)
    return jnp.full(3, 2.0, wanted) * y


def in_a_sum(x):
    y = x * 2
    return jnp.sum(y, dtype=jnp.float64)


@jax.jit
def jitted(x):
    return jnp.cos(x.astype(jnp.float64))


def in_a_loop(x):
    def turn(carry, _):
        return carry * jnp.ones((), jnp.float64), None

    return jax.lax.scan(turn, x[0], None, 3)[0]


def by_a_number(x):
    return jnp.float64(2.5) * x


ASKING = [
    (wide, [1, 2]),
    (nothing_left, [1]),
    (by_a_variable, [3]),
    (in_a_sum, [2]),
    (jitted, [2]),
    (in_a_loop, [2]),
    (by_a_number, [1]),
]


@pytest.mark.filterwarnings(SAID)
@pytest.mark.parametrize(("fn", "lines"), ASKING)
def test_float64_that_is_not_enabled(fn, lines):
    # The second time, JAX knows some of its own functions already, and warns of those no more.
    for _ in range(2):
        finding = the("precision", fn, jnp.ones(3))
        assert finding.title.startswith("float64 is asked for, and is not there (line")
        assert line_numbers(finding, fn) == lines
        assert finding.severity == "advice"
        assert "jax_enable_x64" in finding.remedy


def whole(x):
    return x[jnp.arange(3, dtype=jnp.int64)]


def complex_and_unsigned(x):
    return x.astype(jnp.complex128), x.astype("uint64")


@pytest.mark.filterwarnings(SAID)
def test_other_types():
    assert the("precision", whole, jnp.ones(3)).severity == "note"
    finding = the("precision", complex_and_unsigned, jnp.ones(3))
    assert finding.title.startswith("complex128 and uint64 is asked for")
    assert line_numbers(finding, complex_and_unsigned) == [1]


def from_numpy(x):
    table = np.linspace(0, 1, 3, dtype=np.float64)
    return x + jnp.asarray(table, dtype=jnp.float32) * np.float64(0.5)


def the_default(x):
    return jnp.array([1, 2, 3], dtype=float) + x.astype(float) + jnp.arange(3, dtype=int)


def called_back(x):
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct((3,), jnp.float32), x)


def as_it_can_be(x):
    return x.astype(jax.dtypes.canonicalize_dtype(jnp.float64)) * jnp.finfo(jnp.float64).eps


def by_the_mode(x):
    return x.astype(jnp.float64 if jax.config.read("jax_enable_x64") else jnp.float32) * 2


@pytest.mark.parametrize("fn", [from_numpy, the_default, called_back, as_it_can_be, by_the_mode])
def test_what_does_not_ask_is_left_alone(fn):
    assert found("precision", fn, jnp.ones(3)) == []


def test_float64_that_is_enabled_is_left_alone():
    with enable_x64(True):
        assert found("precision", wide, np.ones(3)) == []


@pytest.mark.parametrize("action", ["default", "once", "ignore"])
def test_warnings_are_what_the_person_made_of_them(action):
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter(action)
        before = list(warnings.filters)
        assert the("precision", nothing_left, jnp.ones(3)).nodes.tolist() == []
        assert list(warnings.filters) == before
    assert len(shown) == (action != "ignore")


def test_a_warning_that_is_an_error_stays_one():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="Explicitly requested dtype"):
            found("precision", nothing_left, jnp.ones(3))
