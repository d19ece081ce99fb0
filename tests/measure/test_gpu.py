"""A run on a GPU: command buffers, which hide the operations, are left out of the profile, and that is said."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest
from programs import CORPUS

import jaxviz as jv

pytestmark = pytest.mark.gpu


def test_operations_have_time_though_the_program_runs_in_command_buffers():
    function, arguments = CORPUS["mlp_grad"]()
    run = jv.explore(function, *arguments).run(repeat=5)
    assert run.device != "CPU"
    if run.profile is None:
        assert any("no time for each operation" in note for note in run.notes)
        return
    assert any("command buffers" in line for line in run.profile.notes)
    assert run.profile.times.total > 0
    lines = run.profile.source_lines()
    assert sum(each.seconds for each in lines) == pytest.approx(run.profile.times.total, rel=1e-6)


def test_a_large_matmul_is_limited_by_computing():
    matrix = jnp.ones((4096, 4096), jnp.bfloat16)
    run = jv.explore(lambda x: x @ x, matrix).run(repeat=5)
    if run.profile is not None:
        most = max(run.profile.kernels(), key=lambda kernel: kernel.flops)
        assert most.bound == "compute"


def test_compiling_is_taken_apart_into_passes():
    function, arguments = CORPUS["mlp_grad"]()
    cost = jv.explore(function, *arguments).compile_cost()
    assert cost.seconds("compile") > 0
    assert {"cse", "dce"} <= {one.name for one in cost.passes} or cost.notes


def test_a_recording_tells_what_ran_on_the_device(tmp_path):
    step = jax.jit(lambda x: jnp.tanh(x @ x))
    x = jnp.ones((512, 512))
    with jv.recording(tmp_path):
        for _ in range(4):
            step(x).block_until_ready()
    (process,) = jv.open(tmp_path).processes
    assert process.device != "CPU"
    assert process.compiled
    assert any(run.computing > 0 for run in process.runs) or process.notes


def test_memory_is_that_of_the_device():
    ex = jv.explore(lambda x: jnp.sort(x @ x), jnp.ones((1024, 1024)))
    stats = jax.jit(lambda x: jnp.sort(x @ x)).lower(jnp.ones((1024, 1024))).compile().memory_analysis()
    assert ex.memory().arguments == stats.argument_size_in_bytes
    assert ex.memory().temporary == stats.temp_size_in_bytes
