"""Constants in a protocol buffer, written as HLO prints them: all of up to ten elements, `{...}` for more."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np

from jaxviz.read.hlo.module import HloError
from jaxviz.read.hlo.shape_text import DTYPES
from jaxviz.read.hlo.wire import FIXED32, FIXED64, SPAN, Field, message, number, numbers

#: Elements up to which a constant is written out.
WRITTEN_ELEMENTS = 10

# Fields of a LiteralProto with numbers, and with elements as they lie in memory.
_VARINTS = {2: "pred", 4: "s32", 5: "s64", 6: "u32", 7: "u64"}
_REALS = {8: "<f4", 9: "<f8", 12: "<f4", 18: "<f8"}
_BYTES = {
    15: "<i1",
    3: "<u1",
    16: "<u2",
    17: "<i2",
    11: "<f2",
    13: ml_dtypes.bfloat16,
    19: ml_dtypes.float8_e5m2,
    20: ml_dtypes.float8_e4m3fn,
    23: ml_dtypes.float8_e4m3b11fnuz,
    24: ml_dtypes.float8_e5m2fnuz,
    25: ml_dtypes.float8_e4m3fnuz,
    28: ml_dtypes.float8_e4m3,
    29: ml_dtypes.float8_e3m4,
    32: ml_dtypes.float4_e2m1fn,
    33: ml_dtypes.float8_e8m0fnu,
}


def literal_text(data: bytes, field: Field, shape: str) -> str:
    """A `LiteralProto` as text."""
    dims: list[int] = []
    dtype = ""
    for part in message(data, field):
        if part.number == 1:
            for inner in message(data, part):
                if inner.number == 3:
                    dims += numbers(data, inner)
                elif inner.number == 2:
                    dtype = DTYPES.get(number(inner), "")
    count = math.prod(dims)
    if count > WRITTEN_ELEMENTS or shape.startswith("("):
        return "{...}"
    if count < 0 or not dtype:
        raise HloError(f"byte {field.value}: expected a constant of a known shape")
    if count == 0:
        return _nested([], dims)
    texts = _elements(data, field, dtype, bool(dims))
    if len(texts) != count:
        # A type whose elements are not written out here.
        return "{...}"
    return _nested(texts, dims)


def _elements(data: bytes, field: Field, dtype: str, in_array: bool) -> list[str]:
    texts: list[str] = []
    for part in message(data, field):
        kind = part.number
        if kind in _VARINTS:
            values = numbers(data, part)
            if dtype == "pred":
                texts += [str(value) if in_array else ("true" if value else "false") for value in values]
            elif dtype in ("u32", "u64"):
                texts += [str(value % 2**64) for value in values]
            else:
                texts += map(str, values)
        elif kind in _REALS:
            reals = np.frombuffer(_reals(data, part), _REALS[kind]).tolist()
            if dtype.startswith("c"):
                base = "f32" if dtype == "c64" else "f64"
                written = [_real(value, base) for value in reals]
                texts += [f"({one}, {other})" for one, other in zip(written[::2], written[1::2], strict=False)]
            else:
                texts += [_real(value, dtype) for value in reals]
        elif kind in _BYTES and part.wire == SPAN:
            element = np.dtype(_BYTES[kind])
            raw = data[part.value : part.end]
            array = np.frombuffer(raw[: len(raw) // element.itemsize * element.itemsize], element)
            if dtype.startswith(("f", "bf")):
                texts += [_real(float(value), dtype) for value in array]
            else:
                texts += map(str, array.tolist())
        elif kind in _NARROW and part.wire == SPAN:
            bits = _NARROW[kind]
            values = [byte & (1 << bits) - 1 for byte in data[part.value : part.end]]
            sign = 1 << bits - 1 if dtype.startswith("s") else 1 << bits
            texts += [str(value - (1 << bits) if value >= sign else value) for value in values]
    return texts


def _reals(data: bytes, part: Field) -> bytes:
    """The bytes of a repeated float or double, packed or not."""
    size = 8 if part.number in (9, 18) else 4
    if part.wire == SPAN:
        raw = data[part.value : part.end]
        return raw[: len(raw) // size * size]
    if part.wire == (FIXED64 if size == 8 else FIXED32):
        return part.value.to_bytes(size, "little")
    raise HloError(f"byte {part.end}: expected real numbers")


# Integers of so many bits, each in a byte of its own.
_NARROW = {21: 4, 22: 4, 26: 2, 27: 2, 30: 1, 31: 1}

# Decimal digits that tell any two values apart.
_DIGITS = {"f16": 5, "bf16": 4, "f8e5m2": 2, "f8e5m2fnuz": 2, "f8e8m0fnu": 2}
_DIGITS_OF_BYTES = 3


def _real(value: float, dtype: str) -> str:
    """As XLA prints it: for float and double as few digits as one of two counts needs, for smaller types all."""
    if value != value:
        return "-nan" if math.copysign(1, value) < 0 else "nan"
    if dtype == "f64":
        text = f"{value:.15g}"
        return text if float(text) == value else f"{value:.17g}"
    if dtype == "f32":
        text = f"{value:.6g}"
        with np.errstate(over="ignore"):
            return text if float(np.float32(text)) == value else f"{value:.9g}"
    return f"{value:.{_DIGITS.get(dtype, _DIGITS_OF_BYTES)}g}"


def _nested(texts: list[str], dims: list[int]) -> str:
    """In braces, one pair for each dimension."""
    if not dims:
        return texts[0] if texts else ""
    if len(dims) == 1:
        return "{" + ", ".join(texts) + "}"

    def rows(texts: list[str], dims: list[int]) -> str:
        if not dims:
            return texts[0]
        # No dimension is longer than what is written, but for one of a constant without elements.
        count = min(dims[0], WRITTEN_ELEMENTS)
        step = len(texts) // count if count else 0
        inside = ", ".join(rows(texts[row * step : (row + 1) * step], dims[1:]) for row in range(count))
        # A row of one number, or of none, is written without spaces.
        return f"{{{inside}}}" if len(dims) == 1 and count <= 1 else f"{{ {inside} }}"

    return rows(texts, dims)
