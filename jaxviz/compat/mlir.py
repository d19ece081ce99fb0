"""The part of `compat` for MLIR, through the bindings of jaxlib."""

from __future__ import annotations

import importlib
import re
from contextlib import suppress
from typing import Any, NamedTuple


def location_name(location: Any) -> str:
    """The name of a location: the name stack of an operation, the name of an argument; empty where it has none."""
    # Until 0.9 all locations are of one class, and to ask one of another kind for its name ends the process.
    is_a_name = getattr(location, "is_a_name", None)
    if is_a_name is not None and not is_a_name():
        return ""
    try:
        name = location.name_str
    except (AttributeError, ValueError):
        return ""
    if not isinstance(name, str):
        return ""
    if name.endswith(":"):
        name = name[:-1]
        # What JAX lowers in a way of its own has its name alone, around the name stack that ends in it or leads on.
        inner = "" if "/" in name else location_name(getattr(location, "child_loc", None))
        return inner if "/" in inner else name
    return name


def symbol_text(attribute: Any) -> str:
    """The text of an attribute that is a string or a symbol."""
    value = getattr(attribute, "value", None)
    return value if isinstance(value, str) else str(attribute).strip('@"')


def attribute_of(row: Any, name: str) -> Any:
    """The attribute of this name, None where there is none, or none that the bindings can hand out."""
    if name not in row:
        return None
    try:
        return row[name]
    except TypeError:
        # A location, as of 0.10.
        return None


def operations_in(region: Any) -> list[Any]:
    """The operations right inside the first block of a region; of what branches to others, it alone is straight."""
    blocks = region.blocks
    # Text that is read by lines (`read/mlir_lines.py`) looks like the bindings, as far as it has to.
    owner = getattr(region, "owner", None)
    if owner is None or len(blocks) != 1 or len(owner.regions) != 1:
        return [operation.operation for operation in blocks[0].operations] if len(blocks) else []
    # A walk makes no object of the dialect's class for each operation, which takes three times as long.
    from jaxlib.mlir import ir

    found: list[Any] = []
    inside, skip = ir.WalkResult.ADVANCE, ir.WalkResult.SKIP

    def visit(operation: Any) -> Any:
        found.append(operation)
        return skip if len(found) > 1 else inside

    owner.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found[1:]


def results_of(operation: Any) -> list[Any]:
    """The values that an operation makes."""
    try:
        return [operation.result]
    except (AttributeError, ValueError):  # Of none, or of several.
        return list(operation.results)


def attributes_of(operation: Any) -> list[tuple[str, Any]]:
    """The attributes of an operation by name; as text where the bindings have no class for one."""
    attributes = operation.attributes
    try:
        return list(attributes.items())
    except (AttributeError, TypeError):
        pass
    # A list of named attributes until 0.9, then a dictionary whose iteration gives names.
    if _has_complex_constant(operation):
        # To ask for it ends the process on 0.6.
        return [("value", _constant_text(operation))]
    return [
        (item, _attribute(operation, item)) if isinstance(item, str) else (item.name, item.attr) for item in attributes
    ]


def _has_complex_constant(operation: Any) -> bool:
    return operation.name.endswith(".constant") and "complex<" in str(operation.results[0].type)


_DENSE = re.compile(r"dense<.*> : [^ ]+", re.DOTALL)


def _attribute(operation: Any, name: str) -> Any:
    try:
        return operation.attributes[name]
    except TypeError:
        # Constants of complex numbers, as of 0.10.
        return _constant_text(operation)


def _constant_text(operation: Any) -> str:
    found = _DENSE.search(operation.get_asm(large_elements_limit=16))
    return found[0] if found is not None else ""


# Of the bindings of jaxlib those for the dialects in which Pallas writes kernels.
_OF_KERNELS = ("_tpu_ext", "_triton_ext", "_mosaic_gpu_ext")


def mlir_context(*, kernels: bool = False) -> Any:
    """A context that knows JAX's dialects, also those of `kernels` if asked, and takes operations of others as they
    are."""
    from jaxlib.mlir import ir

    try:
        from jax._src.interpreters import mlir

        context = mlir.make_ir_context()
    except (ImportError, AttributeError):  # private; there from 0.6 to 0.12
        from jaxlib.mlir.dialects import stablehlo

        context = ir.Context()
        stablehlo.register_dialect(context)
    context.allow_unregistered_dialects = True
    for name in _OF_KERNELS if kernels else ():
        # Not every jaxlib has all.
        with suppress(ImportError, AttributeError):
            importlib.import_module(f"jaxlib.mlir._mlir_libs.{name}").register_dialect(context)
    return context


def portable_module(context: Any, data: bytes) -> Any | None:
    """The module of a StableHLO artifact of any version, as the newest; None where jaxlib cannot read it."""
    from jaxlib.mlir.dialects import stablehlo

    try:
        with context:
            return stablehlo.deserialize_portable_artifact(context, data)
    except ValueError:
        return None


def newest_artifact() -> str:
    """The version of the newest StableHLO that jaxlib reads: `1.17.0`."""
    from jaxlib.mlir.dialects import stablehlo

    return str(stablehlo.get_current_version())


class LocationPart(NamedTuple):
    """A location, one step into it: of a file (`text` its path), a name, a call (callee, caller), or several."""

    kind: str
    text: str = ""
    place: tuple[int, int, int, int] = (0, 0, 0, 0)
    inside: tuple[Any, ...] = ()


def location_part(location: Any) -> LocationPart:
    """What a location of MLIR says; an empty kind where that is nothing."""
    if _is_location(location, "name"):
        return LocationPart("name", location_name(location), inside=(location.child_loc,))
    if _is_location(location, "callsite"):
        return LocationPart("call", inside=(location.callee, location.caller))
    if _is_location(location, "file"):
        place = location.start_line, location.start_col, location.end_line, location.end_col
        return LocationPart("file", location.filename, place)
    if _is_location(location, "fused"):
        return LocationPart("several", inside=tuple(location.locations)[:1])
    return LocationPart("")


def location_key(location: Any) -> Any:
    """What equal locations have in common, as a key of a dictionary: they themselves are hashed by identity."""
    return getattr(location, "attr", location)


def is_file_location(location: Any) -> bool:
    """Whether a location is that of a file, which takes the name around it for that of a function."""
    return _is_location(location, "file")


_LOCATION_CLASSES = {"name": "NameLoc", "callsite": "CallSiteLoc", "file": "FileLineColLoc", "fused": "FusedLoc"}


def _is_location(location: Any, kind: str) -> bool:
    # Until 0.9 all locations are of one class, and to ask one of another kind ends the process.
    asked = getattr(location, f"is_a_{kind}", None)
    return bool(asked()) if asked is not None else type(location).__name__ == _LOCATION_CLASSES[kind]
