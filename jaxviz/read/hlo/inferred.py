"""Types that a person left out of HLO text, where they follow from the operands, as XLA infers them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from jaxviz.read.hlo.module import HloComputation, HloModule
from jaxviz.read.hlo.relined import UNKNOWN
from jaxviz.read.hlo.text_elements import element_shape

_ARRAY = re.compile(r"(\w+)\[([\d,<=]*)\]")
# What has the type of its first operand, besides what computes element by element.
_OF_SECOND = frozenset({"select", "clamp", "triangular-solve"})
_OF_WINDOW = re.compile(r"(\w+)=([\d_x-]+)")
_LABELS = re.compile(r"([\dbf]+)_([\dio]+)->([\dbf]+)")
_NUMBERED = re.compile(r"-?\d+")
_OF_FIRST = frozenset(
    {"abs", "add", "add-dependency", "all-reduce", "all-reduce-done", "all-reduce-start", "and", "atan2"}
    | {"cbrt", "ceil", "cholesky", "collective-permute", "copy", "cosine", "count-leading-zeros", "divide"}
    | {"domain", "dynamic-update-slice", "erf", "exponential", "exponential-minus-one", "floor", "log", "log-plus-one"}
    | {"logistic", "maximum", "minimum", "multiply", "negate", "not", "optimization-barrier", "or", "popcnt"}
    | {"power", "reduce-precision", "remainder", "reverse", "round-nearest-afz", "round-nearest-even", "rsqrt"}
    | {
        "scatter",
        "select-and-scatter",
        "set-dimension-size",
        "shift-left",
        "shift-right-arithmetic",
        "shift-right-logical",
    }
    | {"sign", "sine", "sort", "sqrt", "stochastic-convert", "subtract", "tan", "tanh", "while", "xor"}
)
_OF_CALLED = frozenset({"call", "fusion", "conditional"})
_PARTS = {"c64": "f32", "c128": "f64"}

# What calls computations with its own operands.
_HANDING_ON = _OF_CALLED | {"while", "async-start"}
# Of more, many instructions would fill the memory.
_MOST_ELEMENTS = 2_000
_UNKNOWN_PART = re.compile(rf"[( ]{re.escape(UNKNOWN)}(?=[,)])")

_Sizes = list[int]


class _Caller(NamedTuple):
    """What calls a computation: where, with which operands, and in which row it takes the result, -1 in none."""

    computation: HloComputation
    operands: tuple[int, ...]
    row: int


def fill_in_shapes(module: HloModule) -> None:
    """Give every instruction its type, as far as it follows; those of which it does not are `untyped`."""
    callers = _callers(module)
    _infer(module, callers)
    # Of what is not known as a whole, it may be known of how many values it is.
    for with_parts in (_with_operands, _with_elements):
        for computation in module.computations:
            with_parts(computation)
        _infer(module, callers)
    for computation in module.computations:
        rows = [row for row, shape in enumerate(computation.shapes) if shape == UNKNOWN or _UNKNOWN_PART.search(shape)]
        module.untyped += [f"{computation.names[row]} ({computation.opcodes[row]})" for row in rows]


def _infer(module: HloModule, callers: dict[int, list[_Caller]]) -> None:
    """Give types to instructions until none follows any more: what is called may stand behind what calls it."""
    before = -1
    while (unknown := sum(computation.shapes.count(UNKNOWN) for computation in module.computations)) != before:
        before = unknown
        for number, computation in enumerate(module.computations):
            for row in _unknown(computation):
                shape = _inferred(module, computation, row)
                if not shape and computation.opcodes[row] == "parameter":
                    shape = _given(callers.get(number, ()), computation.numbers[row])
                if not shape and row == computation.root:
                    shape = _taken(callers.get(number, ()))
                computation.shapes[row] = shape or UNKNOWN


def _unknown(computation: HloComputation) -> list[int]:
    return [row for row, shape in enumerate(computation.shapes) if shape == UNKNOWN]


def _callers(module: HloModule) -> dict[int, list[_Caller]]:
    """For each computation what calls it with the operands that it has itself."""
    found: dict[int, list[_Caller]] = {}
    for computation in module.computations:
        for row, calls in enumerate(computation.calls):
            opcode = computation.opcodes[row]
            for place, (role, number) in enumerate(calls if opcode in _HANDING_ON else ()):
                first = place + 1 if opcode == "conditional" else 0
                taken = -1 if opcode == "async-start" or role == "condition" else row
                found.setdefault(number, []).append(_Caller(computation, computation.operands[row][first:], taken))
    return found


def _given(callers: Sequence[_Caller], number: int) -> str:
    """The type of what a computation gets as its argument of this number."""
    shapes = (one.computation.shapes[one.operands[number]] for one in callers if number < len(one.operands))
    return next((shape for shape in shapes if shape != UNKNOWN), "")


def _taken(callers: Sequence[_Caller]) -> str:
    """The type of what its callers take from a computation."""
    shapes = (one.computation.shapes[one.row] for one in callers if one.row >= 0)
    return next((shape for shape in shapes if shape != UNKNOWN), "")


def _with_operands(computation: HloComputation) -> None:
    """Give tuples their types, also those of values of which some are not known."""
    for row in _unknown(computation):
        if computation.opcodes[row] == "tuple":
            read = [computation.shapes[operand] for operand in computation.operands[row]]
            computation.shapes[row] = f"({', '.join(read)})"


def _with_elements(computation: HloComputation) -> None:
    """Give as many unknown elements as are read to what is read as a tuple."""
    last: dict[int, int] = {}
    for row, opcode in enumerate(computation.opcodes):
        if opcode == "get-tuple-element":
            for operand in computation.operands[row]:
                last[operand] = max(last.get(operand, 0), computation.numbers[row])
    for row in _unknown(computation):
        if row in last and last[row] < _MOST_ELEMENTS:
            computation.shapes[row] = f"({', '.join([UNKNOWN] * (1 + last[row]))})"


def _inferred(module: HloModule, computation: HloComputation, row: int) -> str:
    """The type of an instruction, empty where it is not known."""
    opcode = computation.opcodes[row]
    read = [computation.shapes[operand] for operand in computation.operands[row]]
    if UNKNOWN in read:
        return ""
    if opcode in _OF_CALLED:
        return _of_called(module, computation, row)
    if opcode == "tuple":
        return f"({', '.join(read)})"
    if opcode in ("after-all", "partition-id", "replica-id"):
        return "token[]" if opcode == "after-all" else "u32[]"
    if not read:
        return ""
    if opcode in _OF_FIRST:
        # One for several values gives all of them.
        several = opcode in ("sort", "all-reduce", "scatter") and len(read) > (3 if opcode == "scatter" else 1)
        return "" if several else read[0]
    if opcode in _OF_SECOND:
        return read[1] if len(read) > 1 else ""
    if opcode == "get-tuple-element":
        return element_shape(read[0], max(computation.numbers[row], 0))
    arrays = [_ARRAY.match(shape) for shape in read]
    sizes = [_sizes(array[2]) for array in arrays if array is not None]
    if arrays[0] is None or len(sizes) < len(read):
        return ""
    dtype = arrays[0][1]
    if opcode in ("compare", "is-finite"):
        return f"pred[{arrays[0][2]}]"
    if opcode in ("real", "imag"):
        return f"{_PARTS.get(dtype, dtype)}[{arrays[0][2]}]"
    if opcode in ("reduce", "reduce-window"):
        # What it begins with may be of another precision.
        dtype = arrays[-1][1] if arrays[-1] else dtype
    found = _sizes_of(opcode, sizes, dict(computation.attributes[row]))
    return "" if found is None else _array(dtype, found)


def _sizes_of(opcode: str, sizes: list[_Sizes], said: dict[str, str]) -> _Sizes | None:
    """How many elements the result has along each dimension, by those of the operands and by what is said."""
    first = sizes[0]
    dimensions = _numbers(said.get("dimensions", ""))
    if any(not 0 <= dimension < len(first) for dimension in dimensions):
        return None
    if opcode == "transpose" and len(dimensions) == len(first):
        return [first[dimension] for dimension in dimensions]
    if opcode == "reduce" and len(sizes) == 2:
        return [size for dimension, size in enumerate(first) if dimension not in dimensions]
    if opcode == "concatenate" and len(dimensions) == 1 and all(len(each) == len(first) for each in sizes):
        (along,) = dimensions
        return [sum(each[along] for each in sizes) if at == along else size for at, size in enumerate(first)]
    if opcode == "map":
        return first
    if opcode == "dot" and len(sizes) == 2:
        return _product(first, sizes[1], said)
    if opcode == "reduce-window" and len(sizes) == 2:
        return _windows(first, said.get("window", ""))
    if opcode == "convolution" and len(sizes) == 2:
        return _convolved(first, sizes[1], said)
    if opcode == "pad":
        padding = [[int(number) for number in part.split("_")] for part in said.get("padding", "").split("x") if part]
        if len(padding) == len(first) and all(len(each) in (2, 3) for each in padding):
            return [
                size + low + high + max(size - 1, 0) * sum(inner)
                for size, (low, high, *inner) in zip(first, padding, strict=True)
            ]
    return None


def _product(left: _Sizes, right: _Sizes, said: dict[str, str]) -> _Sizes | None:
    along = [
        _numbers(said.get(f"{side}_{kind}_dims", "")) for kind in ("batch", "contracting") for side in ("lhs", "rhs")
    ]
    left_batch, right_batch, left_inner, right_inner = along
    if any(not 0 <= one < len(left) for one in left_batch):
        return None
    own = [size for at, size in enumerate(left) if at not in (*left_batch, *left_inner)]
    return [
        *(left[one] for one in left_batch),
        *own,
        *(size for at, size in enumerate(right) if at not in (*right_batch, *right_inner)),
    ]


def _windows(sizes: _Sizes, window: str) -> _Sizes | None:
    """How often a window fits along each dimension, as `size=3x3 pad=1_1x0_0 stride=2x2` says."""
    said = {key: value.split("x") for key, value in _OF_WINDOW.findall(window)}
    rank = len(sizes)

    def each(key: str, default: str) -> list[_Sizes]:
        return [[int(number[:9]) for number in part.split("_")] for part in said.get(key, [default] * rank)]

    size, stride, base, inner = (each(key, "1") for key in ("size", "stride", "lhs_dilate", "rhs_dilate"))
    padding = each("pad", "0_0")
    if any(len(column) != rank for column in (size, stride, base, inner, padding)):
        return None
    found = []
    for whole, (window_size,), (step,), (apart,), (spread,), pad in zip(
        sizes, size, stride, base, inner, padding, strict=True
    ):
        room = max((whole - 1) * apart + 1, 0) + sum(pad) - ((window_size - 1) * spread + 1)
        found.append(room // max(step, 1) + 1 if whole and room >= 0 else 0)
    return found


def _convolved(image: _Sizes, kernel: _Sizes, said: dict[str, str]) -> _Sizes | None:
    """By labels of dimensions such as `b01f_01io->b01f`: where batch, features and each dimension of space stand."""
    labels = _LABELS.fullmatch(said.get("dim_labels", ""))
    if labels is None or len(labels[1]) != len(image) or len(labels[2]) != len(kernel) or len(labels[3]) != len(image):
        return None
    of_image, of_kernel = dict(zip(labels[1], image, strict=True)), dict(zip(labels[2], kernel, strict=True))
    space = sorted(set(labels[1]) - {"b", "f"})
    if set(labels[3]) != set(labels[1]) or set(labels[2]) != {*space, "i", "o"}:
        return None
    found = _windows([of_image[one] for one in space], said.get("window", ""))
    if found is None:
        return None
    batches = _numbers(said.get("batch_group_count", "1"))[0]
    of_result = {"b": of_image["b"] // max(batches, 1), "f": of_kernel["o"], **dict(zip(space, found, strict=True))}
    return [of_result[one] for one in labels[3]]


def _of_called(module: HloModule, computation: HloComputation, row: int) -> str:
    """The type that a computation gives which an instruction calls."""
    for _, number in computation.calls[row]:
        called = module.computations[number]
        shape = called.shapes[called.root]
        if shape != UNKNOWN:
            return shape
    return ""


def _sizes(text: str) -> _Sizes:
    return [int(size.strip("<=")[:9]) for size in text.split(",") if size.strip("<=")]


def _numbers(text: str) -> _Sizes:
    return [int(number[:9]) for number in _NUMBERED.findall(text)]


def _array(dtype: str, sizes: _Sizes) -> str:
    return f"{dtype}[{','.join(map(str, sizes))}]"
