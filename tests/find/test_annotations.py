"""An exchange that an annotation of the program asks for is told as that, with its line; others are XLA's own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from jaxviz.link.links import INFERRED

PROGRAMS = """\
import json
import sys
import numpy as np
import jax, jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import jaxviz as jv

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
a = jax.device_put(jnp.ones((1024, 1024)), NamedSharding(mesh, P("x", "y")))

def whole(a):
    y = jnp.sin(a)
    return jax.lax.with_sharding_constraint(y, NamedSharding(mesh, P())) * 2

def turned(a):
    y = jax.lax.with_sharding_constraint(jnp.sin(a), NamedSharding(mesh, P("y", "x")))
    return y.sum()

def multiplied(a):
    return jnp.tanh(jax.lax.with_sharding_constraint(a @ a, NamedSharding(mesh, P("x", None))))

def transposed(a):
    return jnp.cos(a).T + a

def twice(a):
    y = jax.lax.with_sharding_constraint(jnp.sin(a), NamedSharding(mesh, P("x", "y")))
    y = jax.lax.with_sharding_constraint(y, NamedSharding(mesh, P(None, "y")))
    y = jax.lax.with_sharding_constraint(y, NamedSharding(mesh, P()))
    return y * 2

def summed(a):
    y = a * 2
    return jnp.cumsum(y, axis=0)

def rows(a):
    t = a.T
    return jnp.tanh(a) @ t

one_row = jax.device_put(jnp.ones((1024, 1024)), NamedSharding(mesh, P(("x", "y"), None)))
told = {}
for fn in (whole, turned, multiplied, transposed, twice, summed, rows):
    a = one_row if fn is rows else a
    first = fn.__code__.co_firstlineno
    found = [one for one in jv.explore(fn, a).findings if one.kind == "collective"]
    ex = jv.explore(fn, a)
    places = {line.line - first for one in found for line in one.lines}
    shown = [node for node in ex.hlo if "all-to-all" in node.op or "all-gather" in node.op]
    kinds = {ex.links("hlo").kind[ex.links("hlo").target == node.index].tolist()[0] for node in shown}
    lines = {frame.line - first for node in shown for frame in node.frames[-1:]}
    told[fn.__name__] = [(one.title.split(" of ")[0], one.text, one.remedy, first) for one in found]
    told[fn.__name__ + " lines"] = sorted(places), sorted(lines), sorted(kinds)
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    file = tmp_path_factory.mktemp("sharded") / "programs.py"
    file.write_text(PROGRAMS)
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=200, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("name", "line"), [("whole", 2), ("turned", 1)])
def test_the_annotation_that_asks_for_an_exchange_is_named(told, name, line):
    moved = [one for one in told[name] if "all-reduce" not in one[0]]
    assert moved
    for _, text, remedy, first in moved:
        assert f"for the sharding that `with_sharding_constraint` asks for (line {first + line})" in text
        assert "leave the annotation out" in remedy


@pytest.mark.smoke
@pytest.mark.parametrize(("name", "line"), [("whole", 2), ("turned", 1)])
def test_the_exchange_counts_to_the_line_of_the_annotation(told, name, line):
    places, lines, kinds = told[f"{name} lines"]
    # That it does is inferred, and said to be.
    assert (lines, kinds) == ([line], [INFERRED])
    assert line in places


@pytest.mark.smoke
def test_of_annotations_of_one_value_each_exchange_counts_to_the_one_that_asks_for_it(told):
    _, lines, kinds = told["twice lines"]
    assert (lines, kinds) == ([2, 3], [INFERRED])


@pytest.mark.smoke
@pytest.mark.parametrize("name", ["summed", "rows"])
def test_what_needs_a_value_whole_is_why_it_is_gathered_and_not_what_made_it(told, name):
    """Since JAX 0.12 exchanges are named by what made the value."""
    _, lines, _ = told[f"{name} lines"]
    assert lines == [2]


@pytest.mark.parametrize("name", ["multiplied", "transposed"])
def test_what_an_operation_needs_is_no_matter_of_annotations(told, name):
    assert told[name]
    assert all("XLA put it in, so that the shardings fit" in text for _, text, _, _ in told[name])
