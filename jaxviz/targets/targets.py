"""Devices that are there, and devices compiled for ahead of time that are not: what would an H100 make of this?

A target that is not there needs the plugin of JAX for its kind, and no device: the plugin compiles for a description of
the device, `gpus.toml` for GPUs, its own for TPUs. JAX's own devices, its default and its configuration
stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Literal

import jax

from jaxviz import compat
from jaxviz.arrays import is_array
from jaxviz.targets import plugins
from jaxviz.targets.gpu_specs import ASSUMED_VERSIONS, GpuSpec, gpu_specs

Kind = Literal["cpu", "cuda", "rocm", "tpu"]

#: For each kind of TPU the smallest slice that libtpu describes, of which one chip is compiled for.
_TPUS: Mapping[str, str] = {
    "v2": "v2:2x2",
    "v3": "v3:2x2",
    "v4": "v4:2x2x1",
    "v5e": "v5e:2x2",
    "v5p": "v5p:2x2x1",
    "v6e": "v6e:2x2",
    "v7x": "tpu7x:2x2x1",
}
_OTHER_TPU_NAMES: Mapping[str, str] = {"v5litepod": "v5e", "v5": "v5p", "v6": "v6e", "7x": "v7x", "tpu7x": "v7x"}

_KINDS: tuple[Kind, ...] = ("cpu", "cuda", "rocm", "tpu")

# In what JAX says where a program names devices by a mesh or a sharding, and its arguments are on another.
_DEVICES_DIFFER = ("incompatible devices", "memory kind")

_ONE_DEVICE = "It is compiled for one device: shardings of the arguments over several are left out."
_NOT_RUN = "Nothing runs: there is no measured time."


class TargetError(RuntimeError):
    """A target that is not known, or that cannot be compiled for here; the message says what to do."""


@dataclass(frozen=True)
class Target:
    """What a program is compiled for.

    >>> find_target("cpu").kind
    'cpu'
    """

    #: As it is asked for: `cuda:h100`.
    name: str
    #: For people: `NVIDIA H100 80GB HBM3`.
    label: str
    kind: Kind
    #: What only a device can decide, in words; empty where the device is there.
    limits: tuple[str, ...] = ()
    #: Where the arguments are put; None leaves them where they are.
    device: Any = None

    @property
    def sharding(self) -> jax.sharding.SingleDeviceSharding | None:
        """Puts an argument on the device; None leaves it where it is."""
        return None if self.device is None else jax.sharding.SingleDeviceSharding(self.device)

    def abstract(self, tree: Any) -> Any:
        """The same arguments with, in place of every array, its type on the device. Anything else stays as it is."""
        sharding = self.sharding
        if sharding is None:
            return tree

        def place(leaf: Any) -> Any:
            if not is_array(leaf):
                return leaf
            weak = bool(getattr(leaf, "weak_type", False))
            return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding, weak_type=weak)

        return jax.tree_util.tree_map(place, tree)

    def lower(self, lower: Callable[[], Any], program: str) -> Any:
        """What `lower()` gives, for the device even where no argument says so, as for a function of none."""
        if self.device is None:
            return lower()
        fixed = f"{program} says itself on which devices it runs, so it cannot be compiled for {self.name}"
        try:
            with jax.default_device(self.device):
                lowered = lower()
        except ValueError as error:
            if not any(word in str(error) for word in _DEVICES_DIFFER):
                raise
            raise TargetError(f"{fixed}: {_first_line(error)}") from None
        except RuntimeError as error:
            # What calls back into Python asks for the device itself.
            if "Unknown backend" not in str(error):
                raise
            raise TargetError(
                f"{program} asks for a {self.kind} device while it is lowered, as callbacks and prints do, so it cannot"
                f" be compiled for {self.name} without one; leave these out to see the rest"
            ) from None
        platforms = compat.platforms_of(lowered)
        if platforms and self.kind not in platforms:
            raise TargetError(f"{fixed}, but for {', '.join(platforms)}")
        return lowered


def target_names(kind: Kind | None = None) -> tuple[str, ...]:
    """The names that `find_target` knows, of one kind or of all.

    >>> target_names("tpu")
    ('tpu:v2', 'tpu:v3', 'tpu:v4', 'tpu:v5e', 'tpu:v5p', 'tpu:v6e', 'tpu:v7x')
    """
    names = ["cpu", *(f"{spec.kind}:{name}" for name, spec in gpu_specs().items()), *(f"tpu:{name}" for name in _TPUS)]
    return tuple(name for name in names if kind is None or name.split(":")[0] == kind)


def find_target(name: str | None) -> Target:
    """The target of a name: `cpu`, `cuda:h100`, `tpu:v5e`; None is the device that JAX uses anyway.

    A kind alone (`cuda`) is a device of that kind that is there. Raises `TargetError` for any other name, and where the
    plugin is missing that a target needs.
    """
    if name is None:
        return _default()
    if not isinstance(name, str):
        raise TypeError(f"expected the name of a target, such as 'cuda:h100', but got {type(name).__name__}")
    kind, _, model = name.strip().lower().replace("_", "-").partition(":")
    if kind == "gpu":
        kind = "cuda"
    if kind in _KINDS and not model:
        return _attached(kind)
    if kind == "tpu":
        model = _OTHER_TPU_NAMES.get(model, model)
        if model in _TPUS:
            return _tpu(model)
    for spec in gpu_specs().values():
        if kind == spec.kind and model in (spec.name, *spec.also):
            return _gpu(spec.name)
    raise TargetError(_unknown(name))


# Devices that are there.


def _default() -> Target:
    chosen = jax.config.jax_default_device
    device = chosen if chosen is not None and not isinstance(chosen, str) else jax.devices(chosen)[0]
    kind = _kind_of(device)
    return Target(kind, _label_of(device), kind)


def _attached(kind: Kind) -> Target:
    default = _default()
    if default.kind == kind:
        return default
    try:
        device = jax.devices(kind)[0]
    except RuntimeError as error:
        names = ", ".join(target_names(kind)[:6])
        ahead = f". Ahead of time, without the device, there is: {names}, ..." if kind != "cpu" else ""
        raise TargetError(f"JAX finds no {kind} device here ({_first_line(error)}){ahead}") from None
    return Target(kind, _label_of(device), kind, device=device)


def _kind_of(device: Any) -> Kind:
    if device.platform == "gpu":
        return "rocm" if "rocm" in device.client.platform_version.lower() else "cuda"
    return device.platform if device.platform in _KINDS else "cpu"


def _label_of(device: Any) -> str:
    return "CPU" if device.platform == "cpu" else str(device.device_kind)


# Devices that are not.


@lru_cache
def _gpu(name: str) -> Target:
    spec = gpu_specs()[name]
    kind: Kind = "cuda" if spec.kind == "cuda" else "rocm"
    if jax.__version_info__ < plugins.OLDEST_JAX_FOR_GPUS:
        oldest = ".".join(map(str, plugins.OLDEST_JAX_FOR_GPUS))
        raise TargetError(
            f"JAX {jax.__version__} cannot compile for a GPU that is not there; JAX {oldest} and later can"
        )
    if plugins.find_plugin(kind) is None:
        raise TargetError(_missing(f"{kind}:{name}", kind, f"its {kind} plugin,"))
    if kind == "cuda" and not plugins.has_assembler():
        raise TargetError(_missing(f"{kind}:{name}", kind, "ptxas, the assembler of CUDA,"))
    return Target(f"{kind}:{name}", spec.label, kind, _gpu_limits(spec), _gpu_device(spec, kind))


def _gpu_device(spec: GpuSpec, kind: Kind) -> Any:
    # The first text that the plugin can read; older ones know fewer fields.
    reason = ""
    for text in spec.texts():
        try:
            return plugins.gpu_device(kind, text)
        except Exception as error:
            reason = _first_line(error)
    raise TargetError(_unable(f"{kind}:{spec.name}", kind, reason))


def _gpu_limits(spec: GpuSpec) -> tuple[str, ...]:
    tuned = (
        "Autotuning needs the device: tile sizes, and what is left to libraries, are estimated, and may differ "
        f"on a real {spec.label}."
    )
    assumed = f"{ASSUMED_VERSIONS} are assumed." if spec.kind == "cuda" else ""
    return tuple(limit for limit in (tuned, assumed, _ONE_DEVICE, _NOT_RUN) if limit)


@lru_cache
def _tpu(name: str) -> Target:
    if plugins.find_plugin("tpu") is None:
        raise TargetError(_missing(f"tpu:{name}", "tpu", "libtpu,"))
    try:
        device = plugins.tpu_device(_TPUS[name])
    except Exception as error:
        raise TargetError(_unable(f"tpu:{name}", "tpu", _first_line(error))) from None
    version = plugins.version_of("libtpu")
    compiler = f"It is compiled by libtpu {version}; a machine with that TPU may have another version."
    return Target(f"tpu:{name}", f"TPU {name}", "tpu", (compiler, _ONE_DEVICE, _NOT_RUN), device)


# What to do.


def _missing(name: str, kind: Kind, what: str) -> str:
    return f"to compile for {name}, JAX {jax.__version__} needs {what} which is not installed. {_install(kind)}"


def _unable(name: str, kind: Kind, reason: str) -> str:
    wanted = " ".join(plugins.requirements(kind))
    fits = (
        "It starts only where there are ROCm and an AMD GPU" if kind == "rocm" else f"JAX {jax.__version__} goes with"
    )
    return f"the installed {kind} plugin cannot compile for {name} ({reason}). {fits}: {wanted}"


def _install(kind: Kind) -> str:
    command = f"pip install {' '.join(plugins.requirements(kind))}"
    if kind == "rocm":
        return f"It starts only where there are ROCm and an AMD GPU; install it with: {command}"
    return (
        f"Install it with: {command} (and set JAX_PLATFORMS=cpu, or JAX looks for a {kind} device whenever it starts)"
    )


def _unknown(name: str) -> str:
    model = name.lower().rpartition(":")[2]
    close = [known for known in target_names() if known.endswith(f":{model}")]
    close = close or get_close_matches(name.lower(), target_names(), 1, 0.85)
    models = {kind: [known.split(":")[1] for known in target_names(kind)] for kind in _KINDS[1:]}
    known = "; ".join(f"{kind}: {', '.join(names)}" for kind, names in models.items())
    hint = f" Did you mean {close[0]!r}?" if close else ""
    return f"no target is named {name!r}.{hint} There are cpu; {known}. Write them like 'cuda:h100'."


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
