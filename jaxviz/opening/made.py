"""What JAX itself made of a function: traced, lowered, compiled, exported, and what these give.

That is modules of MLIR and HLO, their text and their bytes: each holds its program as a file would.
"""

from __future__ import annotations

import os
from typing import Any

import jax

from jaxviz.program.program import MADE

# What gives HLO as a protocol buffer: an `HloModule`, and an `XlaComputation`.
_AS_PROTO = "as_serialized_hlo_module_proto"


def is_made(value: object) -> bool:
    """Whether JAX made something of a function that can be opened, as `jax.jit(f).lower(x)` does."""
    return isinstance(value, (*MADE, bytes)) or hasattr(value, _AS_PROTO) or _is_mlir(value) or is_text(value)


def is_text(value: object) -> bool:
    """Whether this is the text of a program, not the path of a file."""
    return isinstance(value, str) and "\n" in value and not os.path.exists(value)


def bytes_of_made(value: Any) -> bytes:
    """What a file of it would hold: StableHLO, or of what was compiled the optimized HLO. Nothing is compiled."""
    if isinstance(value, (str, bytes)):
        return value if isinstance(value, bytes) else value.encode(errors="replace")
    if isinstance(value, jax.stages.Traced):
        value = value.lower()
    if isinstance(value, jax.stages.Lowered):
        return value.as_text(debug_info=True).encode()
    if isinstance(value, jax.stages.Compiled):
        (value, *_) = value.runtime_executable().hlo_modules()
    if hasattr(value, _AS_PROTO):
        proto: bytes = getattr(value, _AS_PROTO)()
        return proto
    if _is_mlir(value):
        text: str = value.operation.get_asm(enable_debug_info=True)
        return text.encode(errors="replace")
    exported: bytes = value.mlir_module_serialized
    return exported


def name_of_made(value: object) -> str:
    """What it is, where a file has its path."""
    return "text" if isinstance(value, str) else type(value).__name__


def _is_mlir(value: object) -> bool:
    return hasattr(getattr(value, "operation", None), "get_asm")
