"""Programs on several devices: eight forced ones of the CPU, in a process of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

SHARDED = """
import json
import jax, jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import jaxviz as jv

mesh = Mesh(jax.devices(), ("rows",))
rows = NamedSharding(mesh, P("rows"))
x = jax.device_put(jnp.ones((1024, 256)), rows)
w = jax.device_put(jnp.ones((256, 256)), NamedSharding(mesh, P()))

def step(w, x):
    y = jnp.tanh(x @ w)
    return y / y.sum()

ex = jv.explore(step, w, x)
run = ex.run(repeat=3)
profile = run.profile
kinds = {node.op for node in ex.hlo}
reduce = [node.index for node in ex.hlo if node.op.startswith("all-reduce")]
print(json.dumps({
    "devices": run.devices,
    "seen": profile.coverage if profile else None,
    "notes": run.notes,
    "by_device": [number for number, _ in profile.times.devices] if profile else [],
    "positive": all(seconds > 0 for _, seconds in profile.times.devices) if profile else False,
    "reduced": [float(profile.times.count[node]) for node in reduce] if profile else [],
    "collective": float(sum(profile.times.seconds[node] for node in reduce)) if profile else 0.0,
    "sum": sum(each.seconds for each in profile.source_lines()) / profile.times.total if profile else 0.0,
    "text": repr(run),
    "waiting": list(profile.times.waiting) if profile else [],
    "document": ex.document().to_json(packed=False)["measures"][0].get("byDevice"),
    "values": [value.name for value in ex.values()],
    "memory": run.memory.arguments if run.memory else None,
}))
"""


@pytest.fixture(scope="module")
def sharded():
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", SHARDED], capture_output=True, text=True, timeout=200, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_every_device_has_its_time(sharded):
    assert sharded["devices"] == 8
    assert "8 x CPU" in sharded["text"]
    if sharded["seen"] is None:
        assert any("no time for each operation" in note for note in sharded["notes"])
        return
    assert sharded["seen"] >= 0.99
    assert sharded["by_device"] == list(range(8))
    assert sharded["positive"]
    assert "which had most" in sharded["text"]


def test_collectives_have_time_and_count_once_a_run(sharded):
    if sharded["seen"] is not None:
        assert sharded["reduced"] == [1.0]
        assert sharded["collective"] > 0
        assert sharded["sum"] == pytest.approx(1.0, rel=1e-6)


def test_each_device_says_what_it_computes_and_what_it_waits(sharded):
    if sharded["seen"] is None:
        assert sharded["document"] is None
        return
    assert len(sharded["waiting"]) == 8
    assert sum(sharded["waiting"]) == pytest.approx(8 * sharded["collective"], rel=0.9)
    assert sharded["document"]["device"] == list(range(8))
    assert all(seconds > 0 for seconds in sharded["document"]["computing"])
    assert any(seconds > 0 for seconds in sharded["document"]["waiting"])


def test_what_each_device_writes_a_part_of_has_values(sharded):
    # The sum over all of them is no part, and the quotient is the result.
    assert {"w", "x", "dot_general", "div"} <= set(sharded["values"])


def test_memory_is_that_of_one_device(sharded):
    assert sharded["memory"] == 1024 * 256 * 4 // 8 + 256 * 256 * 4
