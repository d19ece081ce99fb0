"""From abstract values and constants to rows of types and short texts."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from jaxviz.read.shortest import shortest
from jaxviz.tables import Tables

_SHORT = (
    (re.compile(r"^bfloat"), "bf"),
    (re.compile(r"^float"), "f"),
    (re.compile(r"^uint"), "u"),
    (re.compile(r"^int"), "i"),
    (re.compile(r"^complex"), "c"),
)


def add_type(tables: Tables, aval: Any) -> int:
    """The row of the type of a value: an array, a key, a reference, a token or what else JAX has."""
    inner = getattr(aval, "inner_aval", None)
    if inner is not None and hasattr(inner, "shape"):
        row = _array_row(inner)
        return tables.type(f"Ref{{{row[0]}}}", *row[1:])
    if hasattr(aval, "shape") and hasattr(aval, "dtype"):
        return tables.type(*_array_row(aval))
    text = aval.str_short(short_dtypes=True) if hasattr(aval, "str_short") else str(aval)
    if text in ("Tok", "token") or "Token" in type(aval).__name__:
        text = "token"
    return tables.type(text[:100], "", None, -1, False)


def _array_row(aval: Any) -> tuple[str, str, tuple[int, ...], float, bool]:
    dims = tuple(dim if isinstance(dim, int) else -1 for dim in aval.shape)
    size = math.prod(dims) * getattr(aval.dtype, "itemsize", -1) if -1 not in dims else -1
    text = f"{short_dtype(aval.dtype)}[{','.join(map(str, aval.shape))}]"
    return text, str(aval.dtype), dims, max(size, -1), bool(getattr(aval, "weak_type", False))


def short_dtype(dtype: Any) -> str:
    """How JAX spells an element type in a jaxpr: f32, bf16, key<fry>."""
    if getattr(dtype, "names", None) == ("float0",):
        return "float0"
    name = str(dtype)
    for pattern, short in _SHORT:
        if pattern.match(name):
            return pattern.sub(short, name)
    return name


def scalar_text(value: Any) -> str | None:
    """A scalar as people write it; None for what is no scalar, or is not at hand."""
    if getattr(value, "shape", ()) != () or not getattr(value, "is_fully_addressable", True):
        return None
    try:
        array = np.asarray(value)
    except Exception:  # A key, a tracer of an outer trace, a deleted buffer: any array type may refuse.
        return None
    if array.shape != () or array.dtype.kind not in "biufcV":
        return None
    if array.dtype.names:
        # The gradient of an integer holds nothing: its type says so.
        return short_dtype(array.dtype)
    if "float" in array.dtype.name:
        return shortest(array[()])
    return str(array.item() if array.dtype.kind != "V" else array)


# The most entries that are shown, and that are looked at for their range.
_SHOWN, _RANGED = 48, 100_000
# Bytes of the largest arrays of which it is known whether all entries are the same.
_COMPARED = 32_000_000


def entries_text(value: Any) -> tuple[str, str] | None:
    """What numbers and truth values an array holds: all of a few, the one that fills more, and of whole numbers from
    which to which."""
    shape, dtype = getattr(value, "shape", ()), getattr(value, "dtype", None)
    # Keys have a type of their own.
    kind = getattr(dtype, "kind", "")
    if not shape or kind not in ("b", "i", "u", "f") or not getattr(value, "is_fully_addressable", True):
        return None
    size = math.prod(shape)
    if not size or (size > (_SHOWN if kind == "f" else _RANGED) and value.nbytes > _COMPARED):
        return None
    try:
        array = np.asarray(value)
    except Exception:  # As above.
        return None
    if array.size <= _SHOWN:
        return "values", ", ".join(map(shortest if kind == "f" else str, array.ravel()))
    first = array.ravel()[0]
    if (array == first).all():
        return "fill", shortest(first) if kind == "f" else str(first.item())
    return ("range", f"{array.min()} to {array.max()}") if kind != "f" and size <= _RANGED else None
