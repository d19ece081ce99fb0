"""Sums over devices of what is the same on all of them are found, and sums that could be one."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from find.found import line_numbers
from jax import lax
from jax.sharding import AbstractMesh, AxisType, PartitionSpec

from jaxviz.exploration import explore

# Tracing asks for no devices.
LINE = AbstractMesh((4,), ("data",), axis_types=(AxisType.Auto,))
GRID = AbstractMesh((2, 4), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
ALONE = AbstractMesh((1,), ("data",), axis_types=(AxisType.Auto,))
ROWS, WEIGHTS = jnp.ones((8, 4)), jnp.ones((4, 3))
WHOLE, PARTS = PartitionSpec(), PartitionSpec("data")
BOTH = PartitionSpec("data", "model")


def told(fn, *arguments):
    return [one for one in explore(fn, *arguments).found_in_jaxpr if one.kind == "collective"]


def on_devices(fn, given=PARTS, made=PARTS, mesh=LINE, check=True):
    return jax.shard_map(fn, mesh=mesh, in_specs=given, out_specs=made, check_vma=check)


def again(x):
    y = lax.pmean(x, "data")
    return x + lax.pmean(y * 2, "data")


def counted_twice(x):
    total = lax.psum(jnp.sin(x), "data")
    return x * lax.psum(total, "data")


def largest(x):
    y = lax.pmax(x, "data")
    return x - lax.pmax(jnp.exp(y), "data")


def step(w, x):
    gradient = jax.grad(lambda w, x: ((x @ w) ** 2).sum())(w, x)
    return w - 0.1 * lax.pmean(gradient, "data")


def of_the_whole(w, x):
    return x @ (w * lax.psum(w.sum(), "data"))


@pytest.mark.parametrize(
    ("fn", "of", "arguments", "line", "severity", "title", "said"),
    [
        (on_devices(again), again, (ROWS,), 2, "advice", "pmean of what", "have the same since line"),
        (
            on_devices(counted_twice),
            counted_twice,
            (ROWS,),
            2,
            "warning",
            "psum of what",
            "times the number of devices",
        ),
        (on_devices(largest), largest, (ROWS,), 2, "advice", "pmax of what", "have the same since line"),
        (
            on_devices(step, (WHOLE, PARTS), WHOLE),
            step,
            (WEIGHTS, ROWS),
            2,
            "warning",
            "pmean of what",
            "JAX sums such a gradient over `data` on the way back by itself",
        ),
        (
            on_devices(of_the_whole, (WHOLE, PARTS)),
            of_the_whole,
            (WEIGHTS, ROWS),
            1,
            "warning",
            "psum of what",
            "Nothing that it is made of differs along the axis `data`",
        ),
        (
            on_devices(again, BOTH, BOTH, GRID),
            again,
            (ROWS,),
            2,
            "advice",
            "pmean of what",
            "All devices along `data` have the same since line",
        ),
    ],
)
def test_a_sum_of_what_all_devices_have_is_told(fn, of, arguments, line, severity, title, said):
    (finding,) = told(fn, *arguments)
    assert finding.severity == severity
    assert finding.title.startswith(title)
    assert said in finding.text
    assert line_numbers(finding, of) == [line]


def two(x):
    return x * (lax.psum(jnp.sin(x), "data") + 3 * lax.psum(jnp.cos(x), "data"))


def test_two_sums_of_which_only_the_sum_is_read_could_be_one():
    (finding,) = told(on_devices(two), ROWS)
    assert finding.title.startswith("two sums over devices could be one (line ")
    assert "jax.lax.psum(a + b, 'data')" in finding.remedy
    assert finding.figures["bytes"] == 2 * 4 * 4


def carried(x):
    return lax.fori_loop(0, 10, lambda i, c: c + lax.psum(c, "data"), x)


def along_the_other(x):
    return lax.pmean(lax.psum(x, "model"), "data")


def read_twice(x):
    y, z = lax.psum(x, "data"), lax.psum(jnp.sin(x), "data")
    return x * (y + z) * y


def trained(w, x):
    loss, gradient = jax.value_and_grad(lambda w, x: ((x @ w) ** 2).sum())(w, x)
    return lax.pmean(loss, "data"), w - 0.1 * lax.pmean(gradient, "data")


INNOCENT = {
    "a sum": (on_devices(lambda x: x * lax.psum(x, "data")), (ROWS,)),
    "what a loop carries": (on_devices(carried), (ROWS,)),
    "a mesh of one device": (
        on_devices(lambda x: x - lax.pmean(x, "data"), mesh=ALONE, check=False),
        (ROWS,),
    ),
    "along another axis": (on_devices(along_the_other, BOTH, WHOLE, GRID), (ROWS,)),
    "sums that are read": (on_devices(read_twice), (ROWS,)),
    "a step that takes its own means": (
        on_devices(trained, (WHOLE, PARTS), (WHOLE, WHOLE), check=False),
        (WEIGHTS, ROWS),
    ),
    "of the number of the device": (
        on_devices(lambda x: x * lax.psum(lax.axis_index("data"), "data")),
        (ROWS,),
    ),
    "how many devices there are": (on_devices(lambda x: x / lax.psum(1, "data")), (ROWS,)),
}


@pytest.mark.parametrize("name", INNOCENT)
def test_sums_of_what_differs_are_left_alone(name):
    fn, arguments = INNOCENT[name]
    assert told(fn, *arguments) == []
