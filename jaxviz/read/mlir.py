"""From MLIR, as text or bytecode, to a module of jaxlib's own bindings, with which StableHLO is read.

Damaged bytecode can end the process that reads it, so another one does (`bytecode.py`) and gives it as text. So can
checks of operations that JAX does not write, as those of kernels: a text with such is tried by that process first.
"""

from __future__ import annotations

import re
from typing import Any

from jaxviz.compat import mlir as compat_mlir
from jaxviz.read.bytecode import BytecodeError, text_of_bytecode, try_text
from jaxviz.read.nesting import DEEPEST, too_deep

_ERROR = re.compile(r'error: (?:"[^"\n]*":(\d+):(\d+): )?(.*)')
_UNKNOWN = re.compile(
    r"not found for custom op '\w+\.|^custom op '\w+\.[\w.]+' is unknown|unregistered operation '\w+\.[\w.]+' found"
    r"|^unknown (?:\w+ )?(?:attribute|type)\b|expected ::mlir::\w+::\w+ to be one of: "
)
# A type that an operation may not have.
_TYPE = re.compile(r"but got '[^']*!(\w+)\.")
# What a parser stops at that is written as it should be: an attribute, or a type of numbers, that it does not know.
_NEW_WORD = re.compile(r"\s*(?:[a-z_]\w*\s*[=<]|(?:b?f|[su]?i)\d\w*)")
# How MLIR prints a place that is not known, for people: it cannot read that itself.
_PRETTY = re.compile(r"^(?:#loc\d* =|[^\S\n]*\}) \[unknown\]$", re.MULTILINE)
# Operations by their dialects, where they can stand; what an equals sign follows is the name of an attribute.
_OPERATION = re.compile(r'(?:^|[={}(])[^\S\n]*+"?([a-zA-Z_]\w*)\.[a-zA-Z_][\w.]*+"?(?=[ (\n])(?! =)', re.MULTILINE)
# In which JAX writes programs, and those of which jaxlib knows all operations.
_WRITTEN = frozenset({"builtin", "chlo", "func", "sdy", "stablehlo"})
_KNOWN = _WRITTEN | {"mhlo"}
_ESCAPES = re.compile(r"\\\\|(?:\\[0-9A-Fa-f]{2})+")


class MlirError(ValueError):
    """A module that cannot be read: where, and what was expected."""


class UnknownDialectError(MlirError):
    """A module in which jaxlib does not know how all operations, attributes and types are written."""


# What begins with the version that wrote it.
_ARTIFACT = re.compile(rb"StableHLO_v(\d{1,6}\.\d{1,6}\.\d{1,6})")


def parse_mlir(source: str | bytes) -> Any:
    """The module that a text or bytecode holds; artifacts of StableHLO are brought up to the version of jaxlib.

    >>> module = parse_mlir("func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }")
    >>> [operation.operation.name for operation in module.body.operations]
    ['func.func']
    """
    from jaxlib.mlir import ir

    source = mlir_text(source)
    place = too_deep(source)
    if place is not None:
        raise MlirError(f"line {place[0]}:{place[1]}: expected at most {DEEPEST:,} brackets within one another")
    dialects = {found[1] for found in _OPERATION.finditer(source)}
    if not dialects <= _WRITTEN:
        try:
            try_text(source)
        except BytecodeError as error:
            raise UnknownDialectError(f"line 1:1: {error}") from None
    context = compat_mlir.mlir_context(kernels=not dialects <= _WRITTEN)
    source = _ESCAPES.sub(_as_text, source)
    try:
        with context:
            return ir.Module.parse(source, context)
    except (ir.MLIRError, ValueError) as error:
        found = _ERROR.search(str(error))
        line, column, reason = found.groups() if found else (None, None, str(error))
        stopped = source.split("\n")[int(line) - 1][int(column) - 1 :] if line and column else ""
        is_new = _UNKNOWN.search(reason) or _NEW_WORD.match(stopped) or _is_unknown_type(reason, context)
        kind = MlirError if dialects <= _KNOWN and not is_new else UnknownDialectError
        if _PRETTY.search(source):
            kind = MlirError
            reason = "expected locations as loc(...), but they are printed for people (pretty_debug_info)"
        raise kind(f"line {line or 1}:{column or 1}: {_expected(reason)}") from None


def mlir_text(source: str | bytes) -> str:
    """The text of MLIR that is there as text or as bytecode."""
    if isinstance(source, str):
        return source
    try:
        return text_of_bytecode(source)
    except BytecodeError as error:
        written, newest = _ARTIFACT.search(source[:64]), compat_mlir.newest_artifact()
        if written is not None and _numbers(written[1].decode()) > _numbers(newest):
            later = f"StableHLO of at most version {newest}, which this jaxlib reads, not {written[1].decode()}"
            raise MlirError(f"byte 0: expected {later}: pip install -U jax jaxlib") from None
        raise MlirError(f"byte 0: {_expected(_ERROR.sub(lambda found: found[3], str(error)))}") from None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _is_unknown_type(reason: str, context: Any) -> bool:
    """Whether an operation is only wrong because of a type of which jaxlib has no dialect: a quantized one."""
    found = _TYPE.search(reason)
    if found is None:
        return False
    try:
        context.get_dialect_descriptor(found[1])
    except (ValueError, RuntimeError):
        return True
    return False


def _expected(reason: str) -> str:
    """What the parser says, on one line."""
    reason = " ".join(reason.split())[:200]
    return reason if reason.startswith("expected") else f"expected MLIR, but {reason}"


def _as_text(found: re.Match[str]) -> str:
    """Escaped bytes as they are, if they are UTF-8: of a name that is none the bindings make no string of Python."""
    if found[0] == r"\\":
        return found[0]
    data = bytes.fromhex(found[0].replace("\\", ""))
    try:
        data.decode()
    except UnicodeDecodeError:
        return "?" * len(data)
    return found[0]
