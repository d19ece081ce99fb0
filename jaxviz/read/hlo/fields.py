"""Attributes of an instruction in a protocol buffer, written as HLO prints them, in the order in which it does."""

from __future__ import annotations

from collections.abc import Callable

from jaxviz.read.hlo.dimensions import dot, gather, labels, padding, precision, scatter, slices, window
from jaxviz.read.hlo.module import Pairs
from jaxviz.read.hlo.pairs import braces, quoted
from jaxviz.read.hlo.shape_text import shape_text
from jaxviz.read.hlo.sharding import device_list_text, iota_list_text, mesh_axes_text, sharding_text
from jaxviz.read.hlo.wire import Field, first, message, number, numbers, real, row_of, text

Fields = dict[int, list[Field]]

# Operations that print their dimensions even where there are none.
_ALWAYS_DIMENSIONS = {"broadcast", "transpose", "reduce", "concatenate", "reverse", "sort", "map", "all-gather"}


def pairs_of(data: bytes, opcode: str, found: Fields, names: dict[int, str], operand: str) -> Pairs:
    """The attributes among the fields of an instruction.

    `names` are those of instructions by their ids, `operand` is the shape of the first operand.
    """
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
    for kind in _OTHER_ORDERS.get(opcode, _ORDER):
        if kind in found:
            pairs += _READERS[kind](data, found[kind], opcode)
    # From JAX 0.12 on. Numbers that are no reals have no other order.
    if 102 in found and operand.startswith(("f", "bf")) and text(data, found[102][-1]) == "TOTAL":
        pairs.insert(1, ("order", "TOTAL"))
    if 37 in found:
        before = [names.get(id_, "?") for field in found[37] for id_ in numbers(data, field)]
        pairs.append(("control-predecessors", braces(f"%{name}" for name in before).replace(",", ", ")))
    if 43 in found:
        config = text(data, found[43][-1])
        pairs.append(("backend_config", config if config.startswith("{") else quoted(config)))
    return tuple(pair for pair in pairs if pair[1])


Texts = list[tuple[str, str]]
Reader = Callable[[bytes, list[Field], str], Texts]


def _all(data: bytes, found: list[Field]) -> list[int]:
    return [value for field in found for value in numbers(data, field)]


def _list(key: str) -> Reader:
    return lambda data, found, opcode: [(key, braces(_all(data, found)))]


def _count(key: str, default: int = 0) -> Reader:
    def read(data: bytes, found: list[Field], opcode: str) -> Texts:
        value = number(found[-1])
        return [(key, str(value))] if value not in (0, default) else []

    return read


def _flag(key: str) -> Reader:
    return lambda data, found, opcode: [(key, "true")] if number(found[-1]) else []


def _text(key: str, quotes: bool = False) -> Reader:
    def read(data: bytes, found: list[Field], opcode: str) -> Texts:
        value = text(data, found[-1])
        return [(key, quoted(value) if quotes else value)] if value else []

    return read


def _choice(key: str, names: tuple[str, ...]) -> Reader:
    def read(data: bytes, found: list[Field], opcode: str) -> Texts:
        value = number(found[-1])
        return [(key, names[value] if 0 <= value < len(names) else str(value))]

    return read


def _dimensions(data: bytes, found: list[Field], opcode: str) -> Texts:
    values = _all(data, found)
    return (
        [("iota_dimension", str(values[0] if values else 0))] if opcode == "iota" else [("dimensions", braces(values))]
    )


def _comparison_type(data: bytes, found: list[Field], opcode: str) -> Texts:
    value = text(data, found[-1])
    return [("type", value)] if value == "TOTALORDER" else []


def _targets(data: bytes, found: list[Field], opcode: str) -> Texts:
    rows = [row_of(data, field) for field in found]
    return [("source_target_pairs", braces(f"{{{first(row, 1)},{first(row, 2)}}}" for row in rows))]


def _groups(data: bytes, found: list[Field], opcode: str) -> Texts:
    groups = [braces(row_of(data, field).get(1, [])) for field in found]
    return [("replica_groups", braces(groups))]


def _devices(data: bytes, found: list[Field], opcode: str) -> Texts:
    return [("replica_groups", device_list_text(data, found[-1]))]


def _iota_devices(data: bytes, found: list[Field], opcode: str) -> Texts:
    return [("replica_groups", iota_list_text(data, found[-1]))]


def _mesh_devices(data: bytes, found: list[Field], opcode: str) -> Texts:
    return [("replica_groups", mesh_axes_text(data, found[-1]))]


def _prefetch(data: bytes, found: list[Field], opcode: str) -> Texts:
    return [("cross_program_prefetch_index", str(number(found[-1])))]


def _aliases(data: bytes, found: list[Field], opcode: str) -> Texts:
    texts = []
    for field in found:
        row = row_of(data, field)
        output, operand = (", ".join(map(str, row.get(kind, []))) for kind in (1, 3))
        texts.append(f"{{{output}}}: ({first(row, 2)}, {{{operand}}})")
    return [("output_to_operand_aliasing", "{" + ", ".join(texts) + "}")]


def _frontend(data: bytes, found: list[Field], opcode: str) -> Texts:
    texts = []
    for entry in message(data, found[-1]):
        parts = {part.number: text(data, part) for part in message(data, entry)}
        value = parts.get(2, "")
        texts.append(f"{parts.get(1, '')}={value if value.startswith('{') else quoted(value)}")
    return [("frontend_attributes", braces(sorted(texts)))] if texts else []


def _sharding(data: bytes, found: list[Field], opcode: str) -> Texts:
    return [("sharding", sharding_text(data, found[-1]))]


def _accuracy(data: bytes, found: list[Field], opcode: str) -> Texts:
    modes = [number(part) for part in message(data, found[-1]) if part.number == 1]
    return [("result_accuracy", "{mode=highest}")] if modes == [1] else []


def _outfeed_shape(data: bytes, found: list[Field], opcode: str) -> Texts:
    return [("outfeed_shape", shape_text(data, found[-1]))]


def _epsilon(data: bytes, found: list[Field], opcode: str) -> Texts:
    return [("epsilon", f"{real(found[-1]):g}")]


_TRANSPOSES = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


def _options(data: bytes, found: list[Field], opcode: str) -> Texts:
    """Of triangular-solve and cholesky."""
    row = row_of(data, found[-1])
    if opcode == "cholesky":
        return [("lower", "true")] if first(row, 1) else []
    pairs = [(key, "true") for key, kind in (("left_side", 1), ("lower", 2), ("unit_diagonal", 3)) if first(row, kind)]
    transpose = first(row, 4)
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


def _api_version(data: bytes, found: list[Field], opcode: str) -> Texts:
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
    15: window,
    16: labels,
    50: _count("feature_group_count", 1),
    58: _count("batch_group_count", 1),
    30: dot,
    51: precision,
    17: slices,
    20: _list("dynamic_slice_sizes"),
    21: padding,
    31: _choice("fft_type", ("FFT", "IFFT", "RFFT", "IRFFT")),
    32: _list("fft_length"),
    63: _text("direction"),
    72: _comparison_type,
    33: gather,
    34: _list("slice_sizes"),
    48: scatter,
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


def _first_of(*kinds: int) -> tuple[int, ...]:
    return (*kinds, *(kind for kind in _ORDER if kind not in kinds))


_OTHER_ORDERS = {
    "reduce-scatter": _first_of(26, 49, 87, 92, 93, 71, 14),
    "topk": _first_of(81, 85, 60),
}
