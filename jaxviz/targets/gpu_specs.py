"""What XLA must know of a GPU to compile for it where there is none, from the table in `gpus.toml`.

XLA reads it as the text of a `GpuTargetConfigProto`. Which fields that message has depends on the version of the
plugin, and an unknown field is refused, so there is a full text and a plain one that older plugins read too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

_TABLE = Path(__file__).parent / "gpus.toml"

# What a machine with a current plugin has; not a property of the device.
_CUDA = (12, 8)
_CUDNN = (9, 10)
ASSUMED_VERSIONS = f"CUDA {_CUDA[0]}.{_CUDA[1]} and cuDNN {_CUDNN[0]}.{_CUDNN[1]}"

_INDENT = "  "


@dataclass(frozen=True)
class GpuSpec:
    """A device as the table has it, with what it shares with its family."""

    name: str
    #: "cuda" or "rocm".
    kind: str
    #: As its driver names it.
    label: str
    #: The compute capability (`9.0a`), or the name of the architecture (`gfx942:...`).
    compute: str
    also: tuple[str, ...]
    info: Mapping[str, float]
    entry: Mapping[str, Any]

    def texts(self) -> Iterator[str]:
        """The `GpuTargetConfigProto` as text: first with all that is known, then with what every plugin reads."""
        for full in (True, False):
            yield self._text(full)

    def _text(self, full: bool) -> str:
        device: list[Any] = [*self.info.items(), self._capability(full)]
        if full and self.kind == "cuda":
            device += [("thread_dim_limit_x", 1024), ("thread_dim_limit_y", 1024), ("thread_dim_limit_z", 64)]
            device += self._rates()
        config: list[Any] = [("gpu_device_info", device), ("platform_name", self.kind.upper())]
        if self.kind == "cuda":
            config.append(("dnn_version_info", [("major", _CUDNN[0]), ("minor", _CUDNN[1])]))
            config.append(("runtime_version", [("major", _CUDA[0]), ("minor", _CUDA[1])]))
        config.append(("device_description_str", self.label))
        return "\n".join(_lines(config, "")) + "\n"

    def _capability(self, full: bool) -> tuple[str, Any]:
        if self.kind == "rocm":
            return "rocm_compute_capability", [("gcn_arch_name", self.compute)]
        major, minor = self.compute.rstrip("a").split(".")
        capability: list[Any] = [("major", int(major)), ("minor", int(minor))]
        if full and self.compute.endswith("a"):
            capability.append(("feature_extension", _Word("ACCELERATED_FEATURES")))
        return "cuda_compute_capability", capability

    def _rates(self) -> Iterator[tuple[str, Any]]:
        clock = self.info["clock_rate_ghz"]
        units = {
            "scalar_unit_description": (("scalar", clock),),
            "matrix_unit_description": (("matrix", self.entry.get("matrix_clock_ghz")), ("matrix_double", clock)),
        }
        for field, groups in units.items():
            rates = {
                key: [("clock_rate_ghz", ghz), ("units_per_core", count), ("ops_per_clock", operations)]
                for group, ghz in groups
                for keys, count, operations in self.entry.get(group, ())
                for key in keys
            }
            if rates:
                yield field, [("rate_infos", [("key", key), ("value", rates[key])]) for key in sorted(rates)]


class _Word(str):
    """A name that is written without quotes."""


def _lines(fields: list[Any], indent: str) -> Iterator[str]:
    for name, value in fields:
        if isinstance(value, list):
            yield f"{indent}{name} {{"
            yield from _lines(value, indent + _INDENT)
            yield f"{indent}}}"
        elif isinstance(value, str) and not isinstance(value, _Word):
            yield f'{indent}{name}: "{value}"'
        else:
            yield f"{indent}{name}: {value}"


@lru_cache(maxsize=1)
def gpu_specs() -> dict[str, GpuSpec]:
    """Every device of the table, by name."""
    import tomllib

    table = tomllib.loads(_TABLE.read_text(encoding="utf-8"))
    families, specs = table["family"], {}
    for name, device in table["device"].items():
        kind, entry, info = device["like"], dict(device), dict(device["info"])
        while kind in families:
            family = families[kind]
            entry = {**family, **entry}
            info = {**family["info"], **info}
            if "like" not in family:
                break
            kind = family["like"]
        specs[name] = GpuSpec(name, kind, entry["label"], entry["compute"], tuple(entry.get("also", ())), info, entry)
    return specs
