"""Targets: devices that are there, and devices that are not, for which programs are compiled all the same.

What needs a plugin of JAX is skipped where it is not installed; `make test-targets` installs it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxviz import compat
from jaxviz.capture import Capture
from jaxviz.link.links import PLUMBING, link_shares
from jaxviz.program.jit_options import JitOptions
from jaxviz.program.optimize import optimize
from jaxviz.program.program import Program
from jaxviz.targets import Target, TargetError, find_target, plugins, target_names, targets
from jaxviz.targets.gpu_specs import gpu_specs

from .programs import CORPUS

TAG = b"jvE"
X = jnp.ones((8, 8))


def needs(kind):
    if kind == "cuda" and jax.__version_info__ < plugins.OLDEST_JAX_FOR_GPUS:
        return pytest.mark.skip(reason=f"JAX {jax.__version__} cannot compile for a GPU that is not there")
    wheels = " ".join(plugins.requirements(kind))
    return pytest.mark.skipif(plugins.find_plugin(kind) is None, reason=f"not installed: {wheels} (make test-targets)")


# Without any plugin.


@pytest.mark.smoke
def test_every_gpu_of_the_table_has_all_that_xla_needs():
    specs = gpu_specs()
    known = {spec.kind: set(spec.info) for spec in specs.values()}
    for spec in specs.values():
        rates = {"core_count", "fpus_per_core", "memory_bandwidth", "l2_cache_size", "clock_rate_ghz"}
        limits = {"threads_per_warp", "shared_memory_per_block_optin", "device_memory_size", "block_dim_limit_z"}
        assert rates | limits <= set(spec.info), spec.name
        assert spec.kind == "rocm" or set(spec.info) == known["cuda"], spec.name
    assert len([spec for spec in specs.values() if spec.kind == "cuda"]) == 15
    assert specs["h100"].info["core_count"] == 132
    assert specs["mi300"].compute.startswith("gfx942")


def test_a_gpu_is_written_as_xla_reads_it():
    full, plain = gpu_specs()["h100"].texts()
    assert "  core_count: 132\n" in full
    assert "  cuda_compute_capability {\n    major: 9\n    minor: 0\n    feature_extension: ACCELERATED" in full
    assert full.endswith('device_description_str: "NVIDIA H100 80GB HBM3"\n')
    assert full.count("rate_infos") == 6 + 16
    assert set(plain.splitlines()) < set(full.splitlines())
    assert "feature_extension" not in plain
    assert "rate_infos" not in plain
    for spec in gpu_specs().values():
        for text in spec.texts():
            assert text.count("{") == text.count("}") > 1
            assert f'platform_name: "{spec.kind.upper()}"\n' in text


def test_the_table_says_where_its_figures_come_from():
    table = Path(plugins.__file__).parent / "gpus.toml"
    head = table.read_text()[:600]
    assert "NOTICE" in head
    assert "The OpenXLA Authors" in head
    assert "Apache License, Version 2.0" in head


@pytest.mark.smoke
def test_an_unknown_name_says_which_there_are():
    with pytest.raises(
        TargetError, match=r"no target is named 'h100'. Did you mean 'cuda:h100'\? There are cpu; cuda: "
    ):
        find_target("h100")
    with pytest.raises(TargetError) as raised:
        find_target("tpu:v99")
    for name in target_names():
        assert name.split(":")[-1] in str(raised.value)
    assert "Did you mean" not in str(raised.value)
    with pytest.raises(TypeError, match="expected the name of a target, such as 'cuda:h100', but got int"):
        find_target(5)


@pytest.mark.smoke
@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("cuda:h100", "pip install jax-cuda12-pjrt=={0} jax-cuda12-plugin=={0} nvidia-cuda-nvcc-cu12"),
        ("tpu:v5e", "pip install 'libtpu=="),
        ("rocm:mi300", "-pjrt=={0} jax-rocm"),
    ],
)
def test_a_missing_plugin_gives_the_command_that_installs_it(monkeypatch, name, command):
    monkeypatch.setattr(plugins, "find_plugin", lambda kind: None)
    monkeypatch.setattr(plugins, "OLDEST_JAX_FOR_GPUS", (0, 6))
    targets._gpu.cache_clear()
    targets._tpu.cache_clear()
    with pytest.raises(TargetError) as raised:
        find_target(name)
    assert command.format(jax.__version__) in str(raised.value)
    assert str(raised.value).startswith(f"to compile for {name}, JAX {jax.__version__} needs ")


def test_what_cannot_work_is_said_before_anything_is_compiled(monkeypatch):
    monkeypatch.setattr(plugins, "find_plugin", lambda kind: "installed")
    monkeypatch.setattr(plugins, "has_assembler", lambda: False)
    monkeypatch.setattr(plugins, "OLDEST_JAX_FOR_GPUS", (0, 6))
    targets._gpu.cache_clear()
    with pytest.raises(TargetError, match=r"needs ptxas, the assembler of CUDA, .* nvidia-cuda-nvcc-cu12"):
        find_target("cuda:a100")
    monkeypatch.setattr(plugins, "OLDEST_JAX_FOR_GPUS", (99,))
    with pytest.raises(TargetError, match="cannot compile for a GPU that is not there; JAX 99 and later can"):
        find_target("cuda:a100")


@pytest.mark.smoke
def test_the_device_that_is_there_leaves_arguments_where_they_are():
    for name in (None, jax.default_backend() if jax.default_backend() == "cpu" else "cuda"):
        target = find_target(name)
        assert target.device is None
        assert target.sharding is None
        assert target.limits == ()
        assert target.abstract((X, 2.0))[0] is X


@pytest.mark.skipif(jax.default_backend() == "gpu", reason="here is a GPU")
def test_a_device_that_is_not_there_is_named_with_those_for_which_to_compile():
    with pytest.raises(TargetError, match=r"JAX finds no cuda device here \(.*\). Ahead of time, .*cuda:a100"):
        find_target("cuda")


@pytest.mark.smoke
def test_only_arrays_become_types_on_the_device():
    device = jax.devices("cpu")[0]
    target = Target("there", "There", "cpu", device=device)
    weak, key = jnp.asarray(2.0), jax.random.key(0)
    tree = {"x": X, "n": np.ones(3, np.int32), "weak": weak, "key": key, "number": 2.0, "static": "mean", "none": None}
    found = target.abstract(tree)
    assert found["x"] == jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=target.sharding)
    assert found["x"].sharding.device_set == {device}
    assert found["n"].dtype == np.int32
    assert found["weak"].weak_type == weak.weak_type
    assert found["key"].dtype == key.dtype
    assert [found[name] for name in ("number", "static", "none")] == [2.0, "mean", None]


def test_what_asks_for_a_device_while_it_is_lowered_is_told():
    """Callbacks do, where the device is not there."""
    target = Target("cuda:h100", "There", "cuda", device=jax.devices("cpu")[0])

    def lower():
        raise RuntimeError("Unknown backend: 'gpu' requested, but no platforms that are instances of gpu are present.")

    with pytest.raises(TargetError, match=r"^step asks for a cuda device .* as callbacks and prints do"):
        target.lower(lower, "step")


@pytest.mark.smoke
def test_a_program_for_the_cpu_is_the_program_without_a_target():
    def lowered(target):
        program = Program(lambda x: jnp.tanh(x) @ x, (X,), target=target)
        return program.lower(program.jaxpr)

    assert lowered("cpu").as_text() == lowered(None).as_text()


def test_the_memory_of_a_program_that_is_compiled_to_the_end():
    program = Program(lambda x: x @ x + 1.0, (X,))
    memory = optimize(program.lower(program.jaxpr)).memory
    assert memory is not None
    assert memory.arguments == memory.results == 8 * 8 * 4


# With the plugins.


def captured(name, function, *arguments, **options):
    return Capture(Program(function, arguments, options=JitOptions.of(**options), target=name))


def report(name, target):
    capture = Capture(Program(*CORPUS[name](), target=target))
    graph = capture.hlo.graph
    shares = link_shares(graph, capture.hlo.links)
    optimized = capture._optimized
    tagged = shares["exact"] + shares["merged"]
    computing = sum(node.kind == "operation" and node.op not in PLUMBING for node in graph)
    line = f"{target} {name:20} {optimized.seconds:5.2f} s {computing:5} instructions, tagged {tagged:4.0%}"
    print(line, f"inferred {shares['inferred']:4.0%} none {shares['none']:4.0%}")
    assert TAG in optimized.proto
    assert optimized.complete
    assert optimized.memory is not None
    assert optimized.memory.arguments > 0
    assert shares["none"] == 0
    return tagged, computing


def tagged_share(names, target):
    shares, sizes = zip(*(report(name, target) for name in names), strict=True)
    total = float(np.average(shares, weights=sizes))
    print(f"{target} {len(names)} programs, tagged {total:.1%}")
    return shares, total


@needs("cuda")
@pytest.mark.slow
def test_the_corpus_compiles_for_an_h100_with_its_tags():
    shares, total = tagged_share(list(CORPUS), "cuda:h100")
    assert total > 0.85
    assert min(shares) > 0.4


@needs("tpu")
def test_programs_compile_for_a_tpu_with_their_tags():
    shares, total = tagged_share(["fori", "mlp_train", "scan_rnn", "flax_block_train"], "tpu:v5e")
    assert total > 0.65
    assert min(shares) > 0.4


@needs("cuda")
@pytest.mark.parametrize("name", target_names("cuda"))
def test_every_gpu_compiles(name):
    target = find_target(name)
    assert target.kind == "cuda"
    assert target.device.device_kind == target.label
    assert "Autotuning" in target.limits[0]
    assert TAG in captured(name, lambda x: jnp.tanh(x @ x).sum(), X)._optimized.proto


@needs("cuda")
def test_a_gpu_has_other_kernels_than_the_cpu():
    text = [
        captured(name, lambda x: jnp.tanh(x @ x), jnp.ones((512, 512)))._optimized.proto
        for name in ("cuda:h100", "cuda:p100")
    ]
    assert b"triton" in text[0]
    assert b"cublas" in text[1]


@needs("tpu")
@pytest.mark.parametrize("name", target_names("tpu"))
def test_every_tpu_compiles(name):
    if name == "tpu:v7x" and jax.__version_info__ < (0, 9):
        pytest.skip("libtpu for JAX before 0.9 does not know a v7x")
    target = find_target(name)
    assert target.device.platform == "tpu"
    assert "libtpu" in target.limits[0]
    assert TAG in captured(name, lambda x: jnp.tanh(x @ x).sum(), X)._optimized.proto


@needs("cuda")
def test_names_may_be_written_in_other_ways():
    assert find_target("cuda:h100-sxm") is find_target("CUDA:H100_SXM") is find_target("gpu:h100")


@needs("cuda")
@pytest.mark.parametrize(
    ("function", "arguments", "static"),
    [
        (lambda: jnp.arange(3.0) * 2, (), ()),
        (lambda x: jnp.sin(x), (2.0,), ()),
        (lambda x, n: x[:n] * 2, (X, 3), (1,)),
        (lambda n, x: x[:n] * 2, (3, X), (-2,)),
        (lambda x: x + X, (X,), ()),
        (lambda x: x + 1, (jax.device_put(np.ones(3), jax.devices("cpu")[0]),), ()),
        (jax.jit(lambda x: x * 2, donate_argnums=0), (X,), ()),
        (lambda key: jax.random.normal(key, (3,)), (jax.random.key(0),), ()),
    ],
    ids=["none", "number", "static", "static from behind", "captured", "committed", "donated", "key"],
)
def test_whatever_the_arguments_it_is_compiled_for_the_target(function, arguments, static):
    capture = captured("cuda:h100", function, *arguments, static_argnums=static)
    assert compat.platforms_of(capture._lowered) == ("cuda",)
    assert TAG in capture._optimized.proto
    # There is no hook that stops this compiler, so it has generated code.
    assert capture._optimized.complete


@needs("cuda")
def test_a_program_with_devices_of_its_own_is_refused():
    mesh = jax.sharding.Mesh(np.array(jax.devices("cpu")[:1]), ("x",))
    rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
    jitted = jax.jit(lambda x: x * 2, in_shardings=rows)
    with pytest.warns(DeprecationWarning, match="device argument"):
        pinned = jax.jit(lambda x: x * 2, device=jax.devices("cpu")[0])
    for function in (jitted, pinned, lambda x: jax.lax.with_sharding_constraint(x, rows)):
        program = Program(function, (X,), target="cuda:h100")
        with pytest.raises(TargetError, match=r"<lambda> says itself on which devices it runs, .* for cuda:h100"):
            program.lower(program.jaxpr)


@needs("cuda")
def test_passes_of_the_compiler_are_seen():
    snapshots = captured("cuda:h100", lambda x: jnp.tanh(x @ x), X).snapshots
    assert any("fusion" in snapshot.after for snapshot in snapshots)


UNDISTURBED = """
import os, sys
import jax, jax.numpy as jnp
if "first" in sys.argv:
    assert jax.devices()[0].platform == "cpu"
def options():
    return {name: value for name, value in jax.config.values.items()}
before, environment = options(), dict(os.environ)
from jaxviz.program.program import Program
program = Program(lambda x: x @ x, (jax.ShapeDtypeStruct((8, 8), jnp.float32),), target=sys.argv[1])
program.lower(program.jaxpr).compile()
assert options() == before
assert dict(os.environ) == environment
assert [device.platform for device in jax.devices()] == ["cpu"]
assert (jnp.ones(3) + 1).devices() == set(jax.devices())
"""


@pytest.mark.parametrize("platforms", [None, "cpu"])
@pytest.mark.parametrize("when", ["first", "afterwards"])
@pytest.mark.parametrize(
    "name", [pytest.param("cuda:h100", marks=needs("cuda")), pytest.param("tpu:v5e", marks=needs("tpu"))]
)
@pytest.mark.skipif(jax.default_backend() != "cpu", reason="here is another device than the CPU")
def test_the_persons_own_devices_and_settings_stay(name, when, platforms):
    environment = {key: value for key, value in os.environ.items() if key != "JAX_PLATFORMS"}
    environment["PYTHONPATH"] = str(Path(targets.__file__).parents[1])
    if platforms:
        environment["JAX_PLATFORMS"] = platforms
    command = [sys.executable, "-c", UNDISTURBED, name, when]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
