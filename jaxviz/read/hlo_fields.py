"""Attributes of an instruction in a protocol buffer, written as HLO prints them, in the order in which it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from jaxviz.read.hlo_module import Pairs
from jaxviz.read.hlo_pairs import quoted
from jaxviz.read.hlo_shape_text import shape_text
from jaxviz.read.hlo_sharding import device_list_text, iota_list_text, mesh_axes_text, sharding_text
from jaxviz.read.hlo_wire import Field, message, number, numbers, real, text

Fields = dict[int, list[Field]]

# Operations that print their dimensions even where there are none.
_ALWAYS_DIMENSIONS = {"broadcast", "transpose", "reduce", "concatenate", "reverse", "sort", "map", "all-gather"}


def pairs_of(data: bytes, opcode: str, found: Fields, names: dict[int, str]) -> Pairs:
    """The attributes among the fields of an instruction; `names` are those of instructions by their ids."""
    pairs: list[tuple[str, str]] = []
    if opcode in _ALWAYS_DIMENSIONS and 14 not in found:
        pairs.append(("dimensions", "{}"))
    if opcode == "iota" and 14 not in found:
        pairs.append(("iota_dimension", "0"))
    # What is the first of its kind is not written.
    if opcode == "fft" and 31 not in found:
        pairs.append(("fft_type", "FFT"))
    if opcode == "rng-bit-generator" and 70 not in found:
        pairs.append(("algorithm", "rng_default"))
    for kind in _REDUCE_SCATTER_ORDER if opcode == "reduce-scatter" else _ORDER:
        if kind in found:
            pairs += _READERS[kind](data, found[kind], opcode)
    if 37 in found:
        before = [names.get(id_, "?") for field in found[37] for id_ in numbers(data, field)]
        pairs.append(("control-predecessors", braces(f"%{name}" for name in before).replace(",", ", ")))
    if 43 in found:
        config = text(data, found[43][-1])
        pairs.append(("backend_config", config if config.startswith("{") else quoted(config)))
    return tuple(pair for pair in pairs if pair[1])


def braces(items: Iterable[object]) -> str:
    """`{1,2}`"""
    return "{" + ",".join(map(str, items)) + "}"


Pairs_ = list[tuple[str, str]]
Reader = Callable[[bytes, list[Field], str], Pairs_]


def _all(data: bytes, found: list[Field]) -> list[int]:
    return [value for field in found for value in numbers(data, field)]


def _row(data: bytes, field: Field) -> dict[int, list[int]]:
    """The numbers of a message, by field."""
    row: dict[int, list[int]] = {}
    for part in message(data, field):
        row.setdefault(part.number, []).extend(numbers(data, part))
    return row


def _first(row: dict[int, list[int]], kind: int) -> int:
    return row.get(kind, [0])[-1]


def _list(key: str) -> Reader:
    return lambda data, found, opcode: [(key, braces(_all(data, found)))]


def _count(key: str, default: int = 0) -> Reader:
    def read(data: bytes, found: list[Field], opcode: str) -> Pairs_:
        value = number(found[-1])
        return [(key, str(value))] if value not in (0, default) else []

    return read


def _flag(key: str) -> Reader:
    return lambda data, found, opcode: [(key, "true")] if number(found[-1]) else []


def _text(key: str, quotes: bool = False) -> Reader:
    def read(data: bytes, found: list[Field], opcode: str) -> Pairs_:
        value = text(data, found[-1])
        return [(key, quoted(value) if quotes else value)] if value else []

    return read


def _choice(key: str, names: tuple[str, ...]) -> Reader:
    def read(data: bytes, found: list[Field], opcode: str) -> Pairs_:
        value = number(found[-1])
        return [(key, names[value] if 0 <= value < len(names) else str(value))]

    return read


def _dimensions(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    values = _all(data, found)
    return (
        [("iota_dimension", str(values[0] if values else 0))] if opcode == "iota" else [("dimensions", braces(values))]
    )


def _window(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    rows = [_row(data, part) for part in message(data, found[-1]) if part.number == 1]
    if not rows:
        return []
    parts = ["size=" + "x".join(str(_first(row, 1)) for row in rows)]
    for name, kind in (("stride", 2), ("pad", 3), ("lhs_dilate", 6), ("rhs_dilate", 5)):
        if kind == 3:
            if any(_first(row, 3) or _first(row, 4) for row in rows):
                parts.append("pad=" + "x".join(f"{_first(row, 3)}_{_first(row, 4)}" for row in rows))
        elif any(_first(row, kind) != 1 for row in rows):
            parts.append(f"{name}=" + "x".join(str(_first(row, kind)) for row in rows))
    if any(_first(row, 7) for row in rows):
        parts.append("rhs_reversal=" + "x".join(str(_first(row, 7)) for row in rows))
    return [("window", "{" + " ".join(parts) + "}")]


def _labels(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    row = _row(data, found[-1])

    def label(first: str, first_kind: int, second: str, second_kind: int, spatial: int) -> str:
        places = {_first(row, first_kind): first, _first(row, second_kind): second}
        for place, dimension in enumerate(row.get(spatial, [])):
            places[dimension] = str(place)
        return "".join(places.get(place, "?") for place in range(2 + len(row.get(spatial, []))))

    operand, kernel = label("b", 7, "f", 8, 11), label("i", 3, "o", 4, 6)
    return [("dim_labels", f"{operand}_{kernel}->{label('b', 9, 'f', 10, 12)}")]


def _slices(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    rows = [_row(data, field) for field in found]
    strided = any(_first(row, 3) != 1 for row in rows)
    texts = [f"[{_first(row, 1)}:{_first(row, 2)}{f':{_first(row, 3)}' if strided else ''}]" for row in rows]
    return [("slice", "{" + ", ".join(texts) + "}")]


def _padding(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    rows = [_row(data, part) for part in message(data, found[-1]) if part.number == 1]
    inner = any(_first(row, 3) for row in rows)
    texts = [f"{_first(row, 1)}_{_first(row, 2)}{f'_{_first(row, 3)}' if inner else ''}" for row in rows]
    return [("padding", "x".join(texts))]


def _dot(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    row = _row(data, found[-1])
    pairs = []
    for key, kind in (("lhs_batch_dims", 3), ("lhs_contracting_dims", 1), ("rhs_batch_dims", 4)):
        if kind == 1 or row.get(kind):
            pairs.append((key, braces(row.get(kind, []))))
    return [*pairs, ("rhs_contracting_dims", braces(row.get(2, [])))]


def _gather(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    row = _row(data, found[-1])
    pairs = [
        ("offset_dims", braces(row.get(1, []))),
        ("collapsed_slice_dims", braces(row.get(2, []))),
        ("start_index_map", braces(row.get(3, []))),
    ]
    if row.get(5):
        pairs.append(("operand_batching_dims", braces(row[5])))
    if row.get(6):
        pairs.append(("start_indices_batching_dims", braces(row[6])))
    return [*pairs, ("index_vector_dim", str(_first(row, 4)))]


def _scatter(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    row = _row(data, found[-1])
    pairs = [
        ("update_window_dims", braces(row.get(1, []))),
        ("inserted_window_dims", braces(row.get(2, []))),
        ("scatter_dims_to_operand_dims", braces(row.get(3, []))),
    ]
    if row.get(5):
        pairs.append(("input_batching_dims", braces(row[5])))
    if row.get(6):
        pairs.append(("scatter_indices_batching_dims", braces(row[6])))
    return [*pairs, ("index_vector_dim", str(_first(row, 4)))]


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


def _precision(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    row = _row(data, found[-1])
    pairs = []
    if any(row.get(1, [])):
        names = [_PRECISIONS[value] if 0 <= value < 3 else str(value) for value in row[1]]
        pairs.append(("operand_precision", braces(names)))
    algorithm = _first(row, 2)
    if algorithm:
        known = 0 <= algorithm < len(_ALGORITHMS)
        pairs.append(("algorithm", _ALGORITHMS[algorithm] if known else str(algorithm)))
    return pairs


def _comparison_type(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    value = text(data, found[-1])
    return [("type", value)] if value == "TOTALORDER" else []


def _targets(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    rows = [_row(data, field) for field in found]
    return [("source_target_pairs", braces(f"{{{_first(row, 1)},{_first(row, 2)}}}" for row in rows))]


def _groups(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    groups = [braces(_row(data, field).get(1, [])) for field in found]
    return [("replica_groups", braces(groups))]


def _devices(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    return [("replica_groups", device_list_text(data, found[-1]))]


def _iota_devices(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    return [("replica_groups", iota_list_text(data, found[-1]))]


def _mesh_devices(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    return [("replica_groups", mesh_axes_text(data, found[-1]))]


def _prefetch(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    return [("cross_program_prefetch_index", str(number(found[-1])))]


def _aliases(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    texts = []
    for field in found:
        row = _row(data, field)
        output, operand = (", ".join(map(str, row.get(kind, []))) for kind in (1, 3))
        texts.append(f"{{{output}}}: ({_first(row, 2)}, {{{operand}}})")
    return [("output_to_operand_aliasing", "{" + ", ".join(texts) + "}")]


def _frontend(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    texts = []
    for entry in message(data, found[-1]):
        parts = {part.number: text(data, part) for part in message(data, entry)}
        value = parts.get(2, "")
        texts.append(f"{parts.get(1, '')}={value if value.startswith('{') else quoted(value)}")
    return [("frontend_attributes", braces(sorted(texts)))] if texts else []


def _sharding(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    return [("sharding", sharding_text(data, found[-1]))]


def _accuracy(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    modes = [number(part) for part in message(data, found[-1]) if part.number == 1]
    return [("result_accuracy", "{mode=highest}")] if modes == [1] else []


def _outfeed_shape(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    return [("outfeed_shape", shape_text(data, found[-1]))]


def _epsilon(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    return [("epsilon", f"{real(found[-1]):g}")]


_TRANSPOSES = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


def _options(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    """Of triangular-solve and cholesky."""
    row = _row(data, found[-1])
    if opcode == "cholesky":
        return [("lower", "true")] if _first(row, 1) else []
    pairs = [(key, "true") for key, kind in (("left_side", 1), ("lower", 2), ("unit_diagonal", 3)) if _first(row, kind)]
    transpose = _first(row, 4)
    if 0 < transpose < len(_TRANSPOSES):
        pairs.append(("transpose_a", _TRANSPOSES[transpose]))
    return pairs


_API_VERSIONS = (
    "API_VERSION_UNSPECIFIED",
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
)


def _api_version(data: bytes, found: list[Field], opcode: str) -> Pairs_:
    value = number(found[-1])
    # The first version is the one that is not said.
    return [("api_version", _API_VERSIONS[value])] if 1 < value < len(_API_VERSIONS) else []


#: By field number of HloInstructionProto.
_READERS: dict[int, Reader] = {
    26: _count("channel_id"),
    49: _groups,
    87: _devices,
    92: _iota_devices,
    93: _mesh_devices,
    52: _targets,
    14: _dimensions,
    71: _flag("use_global_device_ids"),
    60: _flag("is_stable"),
    15: _window,
    16: _labels,
    50: _count("feature_group_count", 1),
    58: _count("batch_group_count", 1),
    30: _dot,
    51: _precision,
    17: _slices,
    20: _list("dynamic_slice_sizes"),
    21: _padding,
    31: _choice("fft_type", ("FFT", "IFFT", "RFFT", "IRFFT")),
    32: _list("fft_length"),
    63: _text("direction"),
    72: _comparison_type,
    33: _gather,
    34: _list("slice_sizes"),
    48: _scatter,
    67: _flag("indices_are_sorted"),
    69: _flag("unique_indices"),
    18: _count("exponent_bits"),
    19: _count("mantissa_bits"),
    23: _choice("distribution", ("rng_invalid", "rng_uniform", "rng_normal")),
    70: _choice("algorithm", ("rng_default", "rng_three_fry", "rng_philox")),
    66: _count("delta"),
    24: _epsilon,
    25: _count("feature_index"),
    59: _options,
    62: _options,
    11: _text("kind"),
    81: _count("k"),
    85: _flag("largest"),
    28: _text("custom_call_target", quotes=True),
    65: _flag("custom_call_has_side_effect"),
    74: _aliases,
    76: _choice("schedule", ("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST")),
    77: _api_version,
    80: _prefetch,
    47: _flag("is_host_transfer"),
    91: _accuracy,
    29: _outfeed_shape,
    22: _text("outfeed_config", quotes=True),
    27: _text("infeed_config", quotes=True),
    89: _flag("is_composite"),
    40: _sharding,
    68: _frontend,
}
_ORDER = tuple(_READERS)
_REDUCE_SCATTER_ORDER = (
    26,
    49,
    87,
    92,
    93,
    71,
    14,
    *(kind for kind in _ORDER if kind not in (26, 49, 87, 92, 93, 71, 14)),
)
