"""Real numbers with as few digits as tell them from all others of their type: 0.01 for a float32 of 0.00999999977.

JAX writes its literals so; XLA and MLIR write as many digits as any number of a type may need.
"""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np

# By the words of HLO and MLIR for element types, in small letters; a complex number is two of its parts.
_TYPES: dict[str, Any] = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.float32,
    "c128": np.float64,
    "complex<f32>": np.float32,
    "complex<f64>": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e8m0fnu": ml_dtypes.float8_e8m0fnu,
    "f4e2m1fn": ml_dtypes.float4_e2m1fn,
}
# Decimal digits that tell any two numbers of the narrow types apart.
_MOST_DIGITS = 5

_REAL = re.compile(r"(?<![\w.])(0x[0-9A-Fa-f]+|-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)(?![\w.])")


def is_real(element: str) -> bool:
    """Whether the numbers of an element type, as HLO and MLIR call it, are real or complex."""
    return element.lower() in _TYPES


def shortened(text: str, element: str) -> str:
    """A constant of this element type as HLO or MLIR write it, each of its numbers as short as it can be.

    >>> shortened("{0.00999999977, 1}", "f32")
    '{0.01, 1.0}'
    """
    dtype = _TYPES.get(element.lower())
    return text if dtype is None else _REAL.sub(lambda found: _written(found[0], np.dtype(dtype)), text)


def _written(text: str, dtype: np.dtype[Any]) -> str:
    if text.startswith("0x"):
        # So MLIR writes what is infinite or no number: by its bits.
        bits = int(text, 16).to_bytes(max(dtype.itemsize, (len(text) - 1) // 2), "little")
        return shortest(np.frombuffer(bits[: dtype.itemsize], dtype)[0])
    with np.errstate(over="ignore"):
        return shortest(np.float64(text).astype(dtype))


def shortest(number: Any) -> str:
    """A scalar of NumPy, of any real type, with the fewest digits that give it again."""
    if isinstance(number, np.floating):
        return str(number)
    value = float(number)
    if value != value or value in (float("inf"), -float("inf")):
        return str(value)
    for digits in range(1, _MOST_DIGITS):
        text = f"{value:.{digits}g}"
        if number.dtype.type(float(text)) == number:
            return str(float(text))
    return str(float(f"{value:.{_MOST_DIGITS}g}"))
