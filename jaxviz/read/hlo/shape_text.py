"""Shapes in a protocol buffer, written as HLO prints them: `f32[8,4]{1,0}`."""

from __future__ import annotations

from jaxviz.read.hlo.module import HloError
from jaxviz.read.hlo.wire import Field, message, number, numbers

#: Names of element types by their number in `PrimitiveType`.
DTYPES = {
    1: "pred",
    2: "s8",
    3: "s16",
    4: "s32",
    5: "s64",
    6: "u8",
    7: "u16",
    8: "u32",
    9: "u64",
    10: "f16",
    11: "f32",
    12: "f64",
    14: "opaque",
    15: "c64",
    16: "bf16",
    17: "token",
    18: "c128",
    19: "f8e5m2",
    20: "f8e4m3fn",
    21: "s4",
    22: "u4",
    23: "f8e4m3b11fnuz",
    24: "f8e5m2fnuz",
    25: "f8e4m3fnuz",
    26: "s2",
    27: "u2",
    28: "f8e4m3",
    29: "f8e3m4",
    30: "s1",
    31: "u1",
    32: "f4e2m1fn",
    33: "f8e8m0fnu",
}
_TUPLE, _BUFFER = 13, 34
_DEEPEST = 50


def shape_text(data: bytes, field: Field, depth: int = 0) -> str:
    """A `ShapeProto` as text, with its layout."""
    if depth > _DEEPEST:
        raise HloError(f"byte {field.value}: expected tuples nested at most {_DEEPEST} deep")
    kind = 0
    dims: list[int] = []
    dynamic: list[int] = []
    inside: list[str] = []
    # The text of an element by its bytes: large tuples have few different ones.
    known: dict[bytes, str] = {}
    layout = ""
    for part in message(data, field):
        if part.number == 2:
            kind = number(part)
        elif part.number == 3:
            dims += numbers(data, part)
        elif part.number == 6:
            dynamic += numbers(data, part)
        elif part.number == 4:
            raw = data[part.value : part.end]
            element = known.get(raw)
            if element is None:
                element = known[raw] = shape_text(data, part, depth + 1)
            inside.append(element)
        elif part.number == 5:
            layout = _layout(data, part)
    if kind == _TUPLE:
        return f"({', '.join(inside)})"
    if kind == _BUFFER and len(inside) == 1:
        return f"b({inside[0]})"
    dtype = DTYPES.get(kind)
    if dtype is None:
        raise HloError(f"byte {field.value}: expected a known element type, not number {kind}")
    dynamic += [0] * (len(dims) - len(dynamic))
    sizes = [_size(size, open_) for size, open_ in zip(dims, dynamic, strict=False)]
    return f"{dtype}[{','.join(sizes)}]{layout if dims or ':' in layout else ''}"


def _size(size: int, dynamic: int) -> str:
    if size < 0:
        return "?"
    return f"<={size}" if dynamic else str(size)


def _layout(data: bytes, field: Field) -> str:
    order: list[int] = []
    tiles: list[str] = []
    rest = ""
    for part in message(data, field):
        if part.number == 1:
            order += numbers(data, part)
        elif part.number == 6:
            sizes = [size for tile in message(data, part) if tile.number == 1 for size in numbers(data, tile)]
            # The smallest number stands for "the dimensions are combined".
            tiles.append(f"({','.join('*' if size == -(2**63) else str(size) for size in sizes)})")
        elif part.number == 16 and number(part) > 1:
            rest += f"L({number(part)})"
        elif part.number == 7 and number(part):
            rest += f"E({number(part)})"
        elif part.number == 8 and number(part):
            rest += f"S({number(part)})"
    tiled = f"T{''.join(tiles)}" if tiles else ""
    after = f":{tiled}{rest}" if tiled or rest else ""
    return f"{{{','.join(map(str, order))}{after}}}"
