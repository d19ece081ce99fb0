"""Types and attributes of MLIR in the short words that a reader wants: `tensor<3x4xf32>` is f32[3,4].

So are vectors and pieces of memory, which kernels have in place of tensors.
"""

from __future__ import annotations

import math
import re
from typing import Any

from jaxviz.read.embedded import with_kernels_said
from jaxviz.read.shortest import shortened

#: The longest text of one attribute, in characters, and the most elements of a constant that are written out.
TEXT_LENGTH = 200
WRITTEN_ELEMENTS = 16

_ELEMENT = r"[^,<>\[*][^,<>]*(?:<(?:[^<>]|<[^<>]*>)*>)?"
_TENSOR = re.compile(
    rf"^(?:tensor|vector|memref)<(?P<dims>(?:[\d?]+x)*)(?P<element>{_ELEMENT})(?:, *(?P<encoding>.*))?>$"
)
_QUANTIZED = re.compile(r"^!quant\.\w+<([a-z]\w*(?:<[^<>]*>)?:[a-z]\w*).*>$")
_BITS = re.compile(r"(\d+)")
_SPELLED = {"i1": "bool", "i8": "i8", "index": "index", "!stablehlo.token": "token"}
_DTYPES = {"f": "float", "u": "uint", "i": "int", "bf": "bfloat"}


def type_row(text: str) -> tuple[str, str, tuple[int, ...] | None, float, bool]:
    """A type as a row of the tables: text, element type, dimensions, bytes, weak."""
    match = _TENSOR.match(text)
    if match is None:
        return (_SPELLED.get(text, text)[:100], "", None, -1, False)
    dims = tuple(-1 if dim == "?" else int(dim) for dim in match["dims"].split("x")[:-1])
    # What a number is stored as and what it stands for; the scales are in the operations that use them.
    element = _QUANTIZED.sub(r"quant<\1>", match["element"])
    if element.startswith("complex<"):
        short, dtype, bits = ("c64", "complex64", 64) if "f32" in element else ("c128", "complex128", 128)
    else:
        short = _SPELLED.get(element, "u" + element[2:] if element.startswith("ui") else element)
        digits = _BITS.search(element)
        bits = int(digits[1]) if digits else 8
        kind = short.rstrip("0123456789")
        dtype = _DTYPES.get(kind, kind) + short[len(kind) :] if short != "bool" else "bool"
    shape = ",".join("?" if dim < 0 else str(dim) for dim in dims)
    size = -1.0 if -1 in dims else float(math.prod(dims) * max(bits, 8) // 8)
    return (f"{short}[{shape}]", dtype, dims, size, False)


_ARRAY = re.compile(r"^array<\w+(?:: *(.*))?>$")
_DENSE = re.compile(r"^dense<(.*)> : (.*)$", re.DOTALL)
_ENUM = re.compile(r"#(?:stablehlo|mhlo|chlo)<\w+ ([^<>]*)>")
_STRUCT = re.compile(r"#(?:stablehlo|mhlo|chlo)\.(\w+)<(.*)>$", re.DOTALL)
_TYPED = re.compile(r"^(-?[\d.eE+-]+|true|false) : \w+$")


def attribute_text(attribute: Any) -> str:
    """An attribute of an operation; empty for one that says nothing."""
    text = str(attribute)
    for pattern in (_ARRAY, _DENSE, _TYPED):
        match = pattern.match(text)
        if match is not None:
            text = match[1] or "()"
    text = _ENUM.sub(r"\1", text)
    struct = _STRUCT.match(text)
    if struct is not None:
        text = struct[2]
    text = with_kernels_said(" ".join(text.strip('"').split()))
    # Quotes in what is quoted.
    text = text.replace(r"\22", '"')
    if text in ("[DEFAULT, DEFAULT]", "[]", "{}", "unit"):
        return ""
    return _cut(text)


def constant_text(attribute: Any) -> str:
    """The value of a constant: a splat as its element, a small one written out, of a large one that it is one."""
    try:
        count = 1
        # What is text already has no type to ask.
        for dim in attribute.type.shape:
            count *= dim
        if not attribute.is_splat and count > WRITTEN_ELEMENTS:
            return f"{count} elements"
    except AttributeError:
        pass
    text = str(attribute)
    if "dense_resource" in text[:20]:
        return "stored elsewhere"
    match = _DENSE.match(text)
    if match is None:
        return _cut(text)
    of_type = _TENSOR.match(match[2])
    return _cut(shortened(match[1], of_type["element"] if of_type is not None else ""))


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_LENGTH else text[: TEXT_LENGTH - 1] + "…"
