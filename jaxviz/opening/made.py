"""What JAX itself made of a function: traced, lowered, compiled, exported. It holds its program as a file would."""

from __future__ import annotations

from typing import Any

import jax

from jaxviz.program.program import MADE


def is_made(value: object) -> bool:
    """Whether JAX made something of a function that can be opened, as `jax.jit(f).lower(x)` does."""
    return isinstance(value, MADE)


def bytes_of_made(value: Any) -> bytes:
    """What a file of it would hold: StableHLO, or of what was compiled the optimized HLO. Nothing is compiled."""
    if isinstance(value, jax.stages.Traced):
        value = value.lower()
    if isinstance(value, jax.stages.Lowered):
        return value.as_text(debug_info=True).encode()
    if isinstance(value, jax.stages.Compiled):
        (module, *_) = value.runtime_executable().hlo_modules()
        proto: bytes = module.as_serialized_hlo_module_proto()
        return proto
    exported: bytes = value.mlir_module_serialized
    return exported
