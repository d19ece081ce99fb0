"""What XLA dumps of one program, for tests."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp


def program(x, w):
    return jnp.tanh(x @ w).sum()


def dump_into(folder: Path) -> Path:
    """Compiles the program, with what each pass left in the folder."""
    options = {"xla_dump_to": str(folder), "xla_dump_hlo_pass_re": ".*", "xla_dump_hlo_as_text": True}
    jax.jit(program).lower(jnp.ones((4, 3)), jnp.ones((3, 2))).compile(compiler_options=options)
    return folder
