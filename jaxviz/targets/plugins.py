"""The plugins of JAX that compile for other devices: which is installed, which one pip is to install, and how a device
that is not there is had from one.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from typing import Any

import jax

# The modules of the plugins, by kind of device; the first that is installed counts.
_MODULES: Mapping[str, tuple[str, ...]] = {
    "cuda": ("jax_plugins.xla_cuda12", "jax_plugins.xla_cuda13"),
    "rocm": ("jax_plugins.xla_rocm7", "jax_plugins.xla_rocm60"),
    "tpu": ("libtpu",),
}

#: Plugins before that one cannot do without the device: they look for the results of autotuning.
OLDEST_JAX_FOR_GPUS = (0, 9)

# Where XLA looks for the assembler of CUDA: in packages, and where CUDA is usually installed.
_CUDA_PACKAGES = ("nvidia.cuda_nvcc", "nvidia.cu13")
_CUDA_FOLDERS = ("/usr/local/cuda", "/opt/cuda")


def find_plugin(kind: str) -> str | None:
    """The module of the plugin for a kind of device; None where it is not installed."""
    return next(filter(_installed, _MODULES[kind]), None)


def has_assembler() -> bool:
    """Whether CUDA's assembler is here, which compiling for a GPU ends with."""
    if any(map(_installed, _CUDA_PACKAGES)) or shutil.which("ptxas") is not None:
        return True
    return any(os.path.exists(os.path.join(folder, "bin", "ptxas")) for folder in _CUDA_FOLDERS)


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it
        return False


def version_of(distribution: str) -> str:
    """The installed version of a distribution; empty where that is not known."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def requirements(kind: str) -> tuple[str, ...]:
    """What pip is to install so that the installed JAX compiles for a kind of device."""
    version = jax.__version__
    if kind == "cuda":
        return f"jax-cuda12-pjrt=={version}", f"jax-cuda12-plugin=={version}", "nvidia-cuda-nvcc-cu12"
    try:
        wanted = metadata.requires("jax") or []
    except metadata.PackageNotFoundError:
        wanted = []
    if kind == "rocm":
        plugin = next((name for line in wanted if (name := _name(line)).startswith("jax-rocm")), "jax-rocm7-plugin")
        return f"{plugin.replace('plugin', 'pjrt')}=={version}", f"{plugin}=={version}"
    line = next((line for line in wanted if _name(line) == "libtpu"), "libtpu")
    return (shlex.quote(line.partition(";")[0].replace(" ", "")),)


def _name(requirement: str) -> str:
    match = re.match(r"[\w.-]+", requirement)
    return match[0] if match else ""


def tpu_device(topology: str) -> Any:
    """The first chip of a slice of TPUs (`v5e:2x2`) that is not there.

    JAX compiles for such a device as for any other, but cannot run on it.
    """
    try:
        return _first_device("tpu", topology_name=topology)
    except RuntimeError as error:
        if "lockfile" not in str(error):
            raise
        # One process at a time may use the TPUs of a machine. Where they are not used any number may compile.
        with _environment("ALLOW_MULTIPLE_LIBTPU_LOAD"):
            return _first_device("tpu", topology_name=topology)


def gpu_device(kind: str, config: str) -> Any:
    """A GPU that is not there, of which XLA knows what the text of a `GpuTargetConfigProto` says."""
    # The shape: one machine, one process, one device.
    options = {"target_config": config, "topology": "1x1x1"}
    try:
        return _first_device(kind, **options)
    except NotImplementedError:
        # JAX left the plugin out when it started, because no such device is there.
        # It checks the libraries of CUDA, which only running needs.
        with _environment("JAX_SKIP_CUDA_CONSTRAINTS_CHECK"):
            _register(kind)
        return _first_device(kind, **options)


def _first_device(kind: str, **options: str) -> Any:
    from jax.experimental import topologies

    return topologies.get_topology_desc(platform=kind, **options).devices[0]


def _register(kind: str) -> None:
    """Lets JAX know the plugin, for topologies only: JAX is not to look for devices that it has not looked for before.

    The table of backends is private to JAX, 0.6 to 0.12.
    """
    from jax._src import xla_bridge

    module = find_plugin(kind)
    if module is None:
        return
    known = set(xla_bridge._backend_factories)
    try:
        importlib.import_module(module).initialize()
    finally:
        for added in set(xla_bridge._backend_factories) - known:
            del xla_bridge._backend_factories[added]


@contextmanager
def _environment(name: str) -> Iterator[None]:
    """With a variable of the environment set to 1."""
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
