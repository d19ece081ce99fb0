"""Shapes of HLO values as rows of types: one for an array, one for each element of a tuple."""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

from jaxviz.tables import Tables

_LEAF = re.compile(r"(b\()?([a-z]\w*)\[([^\[\]]*)\](\{[^{}]*\})?(?(1)\))|([()])|(, ?)|(\?)")
_DIMENSION = re.compile(r"(<=)?(\d{1,18}|\?)$")
_PACKED = re.compile(r"E\((\d+)\)")

_NAMES = {
    "pred": "bool",
    "bf16": "bfloat16",
    **{f"s{bits}": f"int{bits}" for bits in (1, 2, 4, 8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (1, 2, 4, 8, 16, 32, 64)},
    **{f"f{bits}": f"float{bits}" for bits in (16, 32, 64)},
    **{f"c{bits}": f"complex{bits}" for bits in (64, 128)},
    "f4e2m1fn": "float4_e2m1fn",
    **{f"f8{kind}": f"float8_{kind}" for kind in ("e5m2", "e4m3", "e4m3fn", "e4m3b11fnuz", "e3m4", "e5m2fnuz")},
    **{f"f8{kind}": f"float8_{kind}" for kind in ("e4m3fnuz", "e8m0fnu")},
}
# The last one stands for a type that the text leaves out.
_WITHOUT_SIZE = ("token", "opaque", "?")
_BITS = re.compile(r"\d+")


class Shape(NamedTuple):
    """The types of its values, and for a tuple where those of each element begin and where the last ends."""

    types: tuple[int, ...]
    elements: tuple[int, ...]


class Shapes:
    """Reads shapes into the tables."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        # Of what is no tuple: many are elements of large ones.
        self._known: dict[tuple[Any, ...], int | None] = {}

    def read(self, text: str) -> Shape | None:
        """The shape that a text says; None for a text that says none."""
        types: list[int] = []
        starts: list[int] = []
        depth = at = 0
        while at < len(text):
            found = _LEAF.match(text, at)
            if found is None:
                return None
            at = found.end()
            parts = found.groups()
            buffer, dtype, dims, layout, bracket, comma, unknown = parts
            if dtype or unknown:
                if depth == 1:
                    starts.append(len(types))
                try:
                    type_ = self._known[parts]
                except KeyError:
                    type_ = self._known[parts] = self._type(dtype or unknown, dims, layout or "", bool(buffer))
                if type_ is None or (depth == 0 and len(types)):
                    return None
                types.append(type_)
            elif bracket == "(":
                if depth == 1:
                    starts.append(len(types))
                depth += 1
            elif bracket == ")":
                depth -= 1
            elif comma and depth < 1:
                return None
            if depth == 0:
                break
        if at != len(text) or depth or not text:
            return None
        return Shape(tuple(types), (*starts, len(types)) if text[0] == "(" else ())

    def _type(self, dtype: str, dims: str, layout: str, buffer: bool) -> int | None:
        if dtype in _WITHOUT_SIZE:
            return self._tables.type(dtype, "", None, -1, False)
        sizes, bounds = [], []
        for dim in dims.split(",") if dims else ():
            found = _DIMENSION.match(dim.strip())
            if found is None:
                return None
            sizes.append(-1 if found[1] or found[2] == "?" else int(found[2]))
            bounds.append(-1 if found[2] == "?" else int(found[2]))
        text = f"{dtype}[{dims.replace(' ', '')}]"
        size = math.prod(bounds) * _bytes(dtype, layout) if -1 not in bounds else -1
        return self._tables.type(
            f"b({text})" if buffer else text, _NAMES.get(dtype, dtype), sizes, min(max(size, -1), 2.0**62), False
        )


def _bytes(dtype: str, layout: str) -> float:
    """The size of one element: whole bytes, unless the layout packs small ones."""
    packed = _PACKED.search(layout)
    bits = packed[1] if packed else next(iter(_BITS.findall(dtype)), "8")
    size = min(int(bits[:4]), 1024)
    return size / 8 if packed else max(size // 8, 1)
