"""Dimension numbers and windows in a protocol buffer, written as HLO prints them.

Each function takes the fields of one number of an instruction, and gives keys and texts.
"""

from __future__ import annotations

from jaxviz.read.hlo.pairs import braces
from jaxviz.read.hlo.wire import Field, first, message, row_of

Texts = list[tuple[str, str]]


def window(data: bytes, found: list[Field], opcode: str) -> Texts:
    """Such as `{size=2x2 stride=2x2 pad=0_1x0_1}`."""
    rows = [row_of(data, part) for part in message(data, found[-1]) if part.number == 1]
    if not rows:
        return []
    parts = ["size=" + "x".join(str(first(row, 1)) for row in rows)]
    for name, kind in (("stride", 2), ("pad", 3), ("lhs_dilate", 6), ("rhs_dilate", 5)):
        if kind == 3:
            if any(first(row, 3) or first(row, 4) for row in rows):
                parts.append("pad=" + "x".join(f"{first(row, 3)}_{first(row, 4)}" for row in rows))
        elif any(first(row, kind) != 1 for row in rows):
            parts.append(f"{name}=" + "x".join(str(first(row, kind)) for row in rows))
    if any(first(row, 7) for row in rows):
        parts.append("rhs_reversal=" + "x".join(str(first(row, 7)) for row in rows))
    return [("window", "{" + " ".join(parts) + "}")]


def labels(data: bytes, found: list[Field], opcode: str) -> Texts:
    """Which dimension of a convolution is what: `b01f_01io->b01f`."""
    row = row_of(data, found[-1])

    def label(one: str, one_kind: int, other: str, other_kind: int, spatial: int) -> str:
        places = {first(row, one_kind): one, first(row, other_kind): other}
        for place, dimension in enumerate(row.get(spatial, [])):
            places[dimension] = str(place)
        return "".join(places.get(place, "?") for place in range(2 + len(row.get(spatial, []))))

    operand, kernel = label("b", 7, "f", 8, 11), label("i", 3, "o", 4, 6)
    return [("dim_labels", f"{operand}_{kernel}->{label('b', 9, 'f', 10, 12)}")]


def slices(data: bytes, found: list[Field], opcode: str) -> Texts:
    """Such as `{[0:4], [1:8:2]}`."""
    rows = [row_of(data, field) for field in found]
    strided = any(first(row, 3) != 1 for row in rows)
    texts = [f"[{first(row, 1)}:{first(row, 2)}{f':{first(row, 3)}' if strided else ''}]" for row in rows]
    return [("slice", "{" + ", ".join(texts) + "}")]


def padding(data: bytes, found: list[Field], opcode: str) -> Texts:
    """Low, high and, where there is any, inner: `0_0x1_2`."""
    rows = [row_of(data, part) for part in message(data, found[-1]) if part.number == 1]
    inner = any(first(row, 3) for row in rows)
    texts = [f"{first(row, 1)}_{first(row, 2)}{f'_{first(row, 3)}' if inner else ''}" for row in rows]
    return [("padding", "x".join(texts))]


def dot(data: bytes, found: list[Field], opcode: str) -> Texts:
    """Batch and contracting dimensions of both sides."""
    row = row_of(data, found[-1])
    pairs = []
    for key, kind in (("lhs_batch_dims", 3), ("lhs_contracting_dims", 1), ("rhs_batch_dims", 4)):
        if kind == 1 or row.get(kind):
            pairs.append((key, braces(row.get(kind, []))))
    return [*pairs, ("rhs_contracting_dims", braces(row.get(2, [])))]


def gather(data: bytes, found: list[Field], opcode: str) -> Texts:
    """Its dimension numbers."""
    row = row_of(data, found[-1])
    pairs = [
        ("offset_dims", braces(row.get(1, []))),
        ("collapsed_slice_dims", braces(row.get(2, []))),
        ("start_index_map", braces(row.get(3, []))),
    ]
    if row.get(5):
        pairs.append(("operand_batching_dims", braces(row[5])))
    if row.get(6):
        pairs.append(("start_indices_batching_dims", braces(row[6])))
    return [*pairs, ("index_vector_dim", str(first(row, 4)))]


def scatter(data: bytes, found: list[Field], opcode: str) -> Texts:
    """Its dimension numbers."""
    row = row_of(data, found[-1])
    pairs = [
        ("update_window_dims", braces(row.get(1, []))),
        ("inserted_window_dims", braces(row.get(2, []))),
        ("scatter_dims_to_operand_dims", braces(row.get(3, []))),
    ]
    if row.get(5):
        pairs.append(("input_batching_dims", braces(row[5])))
    if row.get(6):
        pairs.append(("scatter_indices_batching_dims", braces(row[6])))
    return [*pairs, ("index_vector_dim", str(first(row, 4)))]


_PRECISIONS = ("default", "high", "highest")
_ALGORITHMS = (
    "unset",
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
    "dot_bf16_bf16_f32_x9",
)


def precision(data: bytes, found: list[Field], opcode: str) -> Texts:
    """Of operands and of the algorithm, where they are not the default."""
    row = row_of(data, found[-1])
    pairs = []
    if any(row.get(1, [])):
        names = [_PRECISIONS[value] if 0 <= value < 3 else str(value) for value in row[1]]
        pairs.append(("operand_precision", braces(names)))
    algorithm = first(row, 2)
    if algorithm:
        known = 0 <= algorithm < len(_ALGORITHMS)
        pairs.append(("algorithm", _ALGORITHMS[algorithm] if known else str(algorithm)))
    return pairs
