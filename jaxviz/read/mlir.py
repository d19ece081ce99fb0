"""From MLIR, as text or bytecode, to a module of jaxlib's own bindings, with which StableHLO is read."""

from __future__ import annotations

import re
from typing import Any

from jaxviz import compat

_ERROR = re.compile(r'error: (?:"[^"\n]*":(\d+):(\d+): )?(.*)')
_VERSIONED = "vhlo."


class MlirError(ValueError):
    """A module that cannot be read: where, and what was expected."""


def parse_mlir(source: str | bytes) -> Any:
    """The module that a text or bytecode holds; artifacts of StableHLO are brought up to the version of jaxlib.

    >>> module = parse_mlir("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }")
    >>> [operation.operation.name for operation in module.body.operations]
    ['func.func']
    """
    context = compat.mlir_context()
    module = _parse(source, context)
    if isinstance(source, bytes) and _is_versioned(module):
        module = compat.portable_module(context, source)
        if module is None:
            raise MlirError("byte 0: expected StableHLO of a version that this jaxlib knows")
    return module


def _parse(source: str | bytes, context: Any) -> Any:
    from jaxlib.mlir import ir

    try:
        with context:
            return ir.Module.parse(source, context)
    except ir.MLIRError as error:
        raise _error(str(error), source) from None
    except ValueError as error:
        raise _error(str(error), source) from None


def _is_versioned(module: Any) -> bool:
    operations = list(module.body.operations)
    return bool(operations) and str(operations[0].operation.name).startswith(_VERSIONED)


def _error(text: str, source: str | bytes) -> MlirError:
    """The first thing that the parser says, in one line with its place."""
    found = _ERROR.search(text)
    line, column, reason = found.groups() if found else (None, None, text)
    reason = " ".join(reason.split())[:200]
    if not reason.startswith("expected"):
        reason = f"expected MLIR, but: {reason}" if reason else "expected MLIR"
    if isinstance(source, bytes) or line is None:
        return MlirError(f"byte 0: {reason}" if isinstance(source, bytes) else f"line 1:1: {reason}")
    return MlirError(f"line {line}:{column}: {reason}")
