"""What each operation of optimized HLO costs by its shapes: floating-point operations, and bytes read and written.

Counted for one execution, as XLA counts: a multiplication with its addition is two operations, a transcendental
function is counted apart, and what only moves, reads or names values computes nothing. The bytes of a kernel are
those of its operands and results, because what is inside it does not reach memory.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jaxviz.costs.kernels import trip_counts
from jaxviz.graph import OPERATION, Column, Graph
from jaxviz.read.communication import is_collective

Amounts = NDArray[np.float64]

_WORD = re.compile(r"\S+")
_TRANSCENDENTAL = frozenset(
    _WORD.findall("""
        atan2 acos acosh asin asinh atanh cbrt cosine cosh erf exponential exponential-minus-one log log-plus-one
        logistic power rsqrt sine sinh sqrt tan tanh
    """)
)
_ELEMENTWISE = frozenset(
    _WORD.findall("""
        abs add and ceil clamp clz compare complex convert count-leading-zeros divide floor imag is-finite maximum
        minimum multiply negate not or popcnt real reduce-precision remainder round-nearest-afz round-nearest-even
        select shift-left shift-right-arithmetic shift-right-logical sign stochastic-convert subtract xor
    """)
)
#: What takes no time by itself: names, packs and places of values, and the borders of bodies.
_NOTHING = frozenset(
    _WORD.findall("""
        add-dependency after-all bitcast conditional call constant domain get-tuple-element opt-barrier
        optimization-barrier parameter partition-id replica-id tuple while
    """)
)
_MATMUL_TYPES = {"f32": "float32", "bf16": "bfloat16", "f16": "float16", "f64": "float64"}
# How many times as long as an addition a transcendental function takes, roughly: for sharing out the time of a kernel.
_TRANSCENDENTAL_WEIGHT = 12.0

# The libraries of a GPU: matmuls, whose result may come with working memory, and convolutions, whose operands and
# result are by turns image, kernel and result of the convolution that is meant.
_LIBRARY_MATMUL = re.compile(r"__(?:cublas|triton|onednn)\$\S*(?:gemm|matmul)")
_LIBRARY_CONVOLUTION = re.compile(r"__(?:cudnn|onednn)\$conv(olution)?(?P<role>BackwardInput|BackwardFilter)?")
_CONTRACTED = re.compile(r"lhs_contracting_dimensions: \[([\d, ]*)\]")

_LIST = re.compile(r"-?\d+")
_WINDOW = re.compile(r"(\w+)=(\S+?)(?=[ }])")


@dataclass(frozen=True, eq=False)
class Cost:
    """What each node of a graph costs in one execution; what is inside of a node is not in its figures.

    >>> from jaxviz.read.hlo.graph import read_hlo
    >>> from jaxviz.read.hlo.text import parse_hlo_text
    >>> text = "HloModule m\\nENTRY e {\\n  p = f32[8] parameter(0)\\n  ROOT n = f32[8] add(p, p)\\n}"
    >>> cost = cost_of(read_hlo(parse_hlo_text(text)).graph)
    >>> cost.flops.tolist(), cost.bytes.tolist()
    ([0.0, 8.0, 0.0], [0.0, 96.0, 0.0])
    """

    graph: Graph
    flops: Amounts
    transcendentals: Amounts
    #: Read and written, as if nothing were fused.
    bytes: Amounts

    @cached_property
    def fused(self) -> NDArray[np.bool_]:
        """Which nodes are inside of a kernel."""
        graph = self.graph
        inside = np.zeros(len(graph.regions.owner), bool)
        op = _words(graph)
        for region in range(1, len(inside)):
            owner = int(graph.regions.owner[region])
            inside[region] = not _runs_bodies(op[owner]) or inside[graph.nodes.region[owner]]
        return inside[graph.nodes.region]

    @cached_property
    def kernel_flops(self) -> Amounts:
        """For each node that is not inside of a kernel what it and all inside of it computes; 0 for others."""
        return self._kernel(self.flops)

    @cached_property
    def kernel_transcendentals(self) -> Amounts:
        return self._kernel(self.transcendentals)

    @cached_property
    def kernel_work(self) -> Amounts:
        """All that a kernel computes, a transcendental function as one operation."""
        return self.kernel_flops + self.kernel_transcendentals

    @cached_property
    def limited(self) -> NDArray[np.bool_]:
        """Which nodes a device limits as far as is known: not what waits for other devices, calls back into Python or
        leaves its work to a library of which nothing is known."""
        words = _words(self.graph)
        return np.array(
            [
                not is_collective(word) and (word != "custom-call" or bool(flops))
                for word, flops in zip(words, self.flops.tolist(), strict=True)
            ],
            bool,
        )

    @property
    def matmul_type(self) -> str:
        """The type of the matmuls and convolutions that compute most, for numpy; float32 where there are none."""
        graph, words = self.graph, _words(self.graph)
        work: dict[str, float] = {}
        for node, word in enumerate(words):
            if word in ("dot", "convolution", "custom-call") and self.flops[node] and graph.nodes.operands[node]:
                value = int(graph.operands.source[int(graph.first_operand[node])])
                kind = graph.tables.strings[graph.tables.types.dtype[graph.values.type[value]]] if value >= 0 else ""
                work[kind] = work.get(kind, 0.0) + float(self.flops[node])
        return _MATMUL_TYPES.get(max(work, key=work.__getitem__, default=""), "float32")

    @cached_property
    def kernel_bytes(self) -> Amounts:
        return np.where(self.fused, 0.0, self.bytes)

    @cached_property
    def weights(self) -> Amounts:
        """How the time of a kernel is shared out among what is inside of it."""
        elements = np.zeros(len(self.graph))
        np.add.at(elements, self.graph.value_node, _elements(self.graph))
        moving = np.where(self.graph.nodes.kind == OPERATION, elements, 0.0)
        return np.maximum(self.flops + _TRANSCENDENTAL_WEIGHT * self.transcendentals, 0.25 * moving)

    def _kernel(self, amounts: Amounts) -> Amounts:
        graph = self.graph
        total = np.where(self.fused, 0.0, amounts)
        if self.fused.any():
            holder = self.kernel_of
            inside = np.flatnonzero(self.fused)
            np.add.at(total, holder[inside], amounts[inside])
        return np.where(graph.nodes.kind == OPERATION, total, 0.0)

    @cached_property
    def kernel_of(self) -> Column:
        """The kernel that each node is inside of; itself where it is in none."""
        graph = self.graph
        outer = np.full(len(graph.regions.owner), -1, np.int32)
        fused = self.fused
        for region in range(1, len(outer)):
            owner = int(graph.regions.owner[region])
            outer[region] = outer[graph.nodes.region[owner]] if fused[owner] else owner
        nodes = np.arange(len(graph), dtype=np.int32)
        return np.where(fused, outer[graph.nodes.region], nodes).astype(np.int32)


def _runs_bodies(op: str) -> bool:
    """Whether an operation runs its bodies one operation after the other; of others, they are part of one kernel: what
    a fusion does, how a sort compares, what a reduction adds up with."""
    return op in ("call", "conditional", "while") or op.startswith("async-")


def flops_of(graph: Graph) -> float:
    """What all kernels of optimized HLO compute in one run: loops as often as they say that they turn, else once, and
    each branch of a condition.

    >>> from jaxviz.read.hlo.graph import read_hlo
    >>> from jaxviz.read.hlo.text import parse_hlo_text
    >>> text = "HloModule m\\nENTRY e {\\n  p = f32[8] parameter(0)\\n  ROOT n = f32[8] add(p, p)\\n}"
    >>> flops_of(read_hlo(parse_hlo_text(text)).graph)
    8.0
    """
    return float((cost_of(graph).kernel_work * trip_counts(graph)).sum())


def cost_of(graph: Graph) -> Cost:
    """What each node of a graph of HLO costs."""
    flops, transcendentals = np.zeros(len(graph)), np.zeros(len(graph))
    op = _words(graph)
    elements = _elements(graph)
    first = graph.first_value
    reader = _Reader(graph)
    for node in np.flatnonzero(graph.nodes.kind == OPERATION).tolist():
        word = op[node]
        made = float(elements[first[node]]) if first[node] < first[node + 1] else 0.0
        if word in _ELEMENTWISE:
            flops[node] = made
        elif word in _TRANSCENDENTAL or word == "rng":
            transcendentals[node] = made
        elif word in _RULES:
            flops[node] = _RULES[word](reader, node, made)
    # What applies a body to each of many values counts the body as often, and not by itself.
    _apply_bodies(graph, op, reader, flops, transcendentals)
    return Cost(graph, flops, transcendentals, _bytes(graph, op, reader))


class _Reader:
    """Shapes and attributes of nodes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.dims = graph.tables.types.dims
        self.sources = graph.operands.source
        self.types = graph.values.type

    def operand(self, node: int, number: int) -> tuple[int, ...]:
        """The shape of an operand; () where there is none."""
        at = int(self.graph.first_operand[node]) + number
        if at >= self.graph.first_operand[node + 1] or self.sources[at] < 0:
            return ()
        return self.dims[self.types[self.sources[at]]]

    def result(self, node: int) -> tuple[int, ...]:
        first = int(self.graph.first_value[node])
        return self.dims[self.types[first]] if first < self.graph.first_value[node + 1] else ()

    def attribute(self, node: int, key: str) -> str:
        strings, attributes = self.graph.tables.strings, self.graph.attributes
        for row in range(int(self.graph.first_attribute[node]), int(self.graph.first_attribute[node + 1])):
            if strings[attributes.key[row]] == key:
                return strings[attributes.value[row]]
        return ""

    def numbers(self, node: int, key: str) -> list[int]:
        return [int(text) for text in _LIST.findall(self.attribute(node, key))]

    def window(self, node: int) -> dict[str, list[str]]:
        return {key: text.split("x") for key, text in _WINDOW.findall(self.attribute(node, "window"))}


# Rules: reader, node, elements of its first result -> operations.


def _dot(reader: _Reader, node: int, made: float) -> float:
    left = reader.operand(node, 0)
    contracted = math.prod(
        left[number] for number in reader.numbers(node, "lhs_contracting_dims") if number < len(left)
    )
    return 2.0 * made * contracted


def _convolution(reader: _Reader, node: int, made: float) -> float:
    """Two for each pair that meets: what the window reads of padding is not counted."""
    return _convolved(reader, node, made, reader.operand(node, 0), reader.operand(node, 1), reader.result(node))


def _convolved(
    reader: _Reader, node: int, made: float, image: tuple[int, ...], kernel: tuple[int, ...], result: tuple[int, ...]
) -> float:
    labels = re.split(r"_|->", reader.attribute(node, "dim_labels"))
    if len(labels) != 3 or [len(shape) for shape in (image, kernel, result)] != [len(label) for label in labels]:
        return 2.0 * made * math.prod(kernel)
    window = reader.window(node)
    pairs = 1.0
    for number, label in enumerate(sorted(filter(str.isdigit, labels[0]))):
        size = kernel[labels[1].index(label)]
        places = _meeting(image[labels[0].index(label)], size, result[labels[2].index(label)], window, number)
        pairs *= places
    batches = max(int(reader.attribute(node, "batch_group_count") or 1), 1)
    # Of one group alone, where there are several.
    features = kernel[labels[1].index("i")]
    outputs = result[labels[2].index("f")]
    batch = image[labels[0].index("b")] // batches
    return 2.0 * pairs * features * outputs * batch


def _meeting(image: int, size: int, result: int, window: dict[str, list[str]], number: int) -> int:
    """How many pairs of a place of the result and a place of the window lie on the image, in one dimension."""

    def of(key: str, default: str) -> str:
        texts = window.get(key, [])
        return texts[number] if number < len(texts) else default

    stride, window_dilation, image_dilation = (
        int(of("stride", "1")),
        int(of("rhs_dilate", "1")),
        int(of("lhs_dilate", "1")),
    )
    before = int(of("pad", "0_0").split("_")[0])
    place = np.arange(result)[:, None] * stride + np.arange(size)[None, :] * window_dilation - before
    extent = (image - 1) * image_dilation + 1 if image else 0
    return int(np.count_nonzero((place >= 0) & (place < extent) & (place % image_dilation == 0)))


def _library(reader: _Reader, node: int, made: float) -> float:
    """What is known of libraries: matmuls and convolutions; 0 for all others."""
    target = reader.attribute(node, "custom_call_target")
    if _LIBRARY_MATMUL.match(target):
        left = reader.operand(node, 0)
        found = _CONTRACTED.search(reader.attribute(node, "backend_config"))
        # Of matrices in rows and columns, it is the last, if nothing says it.
        contracted = [int(text) for text in _LIST.findall(found[1])] if found else [len(left) - 1]
        return 2.0 * made * math.prod(left[number] for number in contracted if 0 <= number < len(left))
    convolution = _LIBRARY_CONVOLUTION.match(target)
    if convolution is None:
        return 0.0
    first, second, result = reader.operand(node, 0), reader.operand(node, 1), reader.result(node)
    if convolution["role"] == "BackwardInput":
        return _convolved(reader, node, float(math.prod(first)), result, second, first)
    if convolution["role"] == "BackwardFilter":
        return _convolved(reader, node, float(math.prod(second)), first, result, second)
    return _convolved(reader, node, made, first, second, result)


def _sort(reader: _Reader, node: int, made: float) -> float:
    return made * max(math.ceil(math.log2(made)), 0) if made > 1 else 0.0


def _fft(reader: _Reader, node: int, made: float) -> float:
    lengths = reader.numbers(node, "fft_length") or [1]
    return 8.0 * made * math.log2(max(math.prod(lengths), 2))


def _cholesky(reader: _Reader, node: int, made: float) -> float:
    size = reader.result(node)[-1] if reader.result(node) else 1
    return made * size / 3.0


def _triangular_solve(reader: _Reader, node: int, made: float) -> float:
    size = reader.operand(node, 0)[-1] if reader.operand(node, 0) else 1
    return made * size


def _applications(reader: _Reader, node: int, word: str, made: float) -> float:
    """How often an operation that applies a body applies it."""
    read = float(math.prod(reader.operand(node, 0)))
    if word == "reduce":
        return max(read - made, 0.0)
    if word == "reduce-window":
        size = math.prod(int(text) for text in reader.window(node).get("size", ["1"]))
        return made * max(size - 1, 0)
    if word == "scatter":
        inputs = max((int(reader.graph.nodes.operands[node]) - 1) // 2, 1)
        return float(math.prod(reader.operand(node, inputs + 1)))
    if word == "select-and-scatter":
        size = math.prod(int(text) for text in reader.window(node).get("size", ["1"]))
        return float(math.prod(reader.operand(node, 1))) * size
    if word in ("all-reduce", "all-reduce-start", "reduce-scatter", "map"):
        return made
    return 0.0


_APPLYING = frozenset(
    _WORD.findall("reduce reduce-window scatter select-and-scatter all-reduce all-reduce-start reduce-scatter map")
)
_RULES: dict[str, Callable[[_Reader, int, float], float]] = {
    "dot": _dot,
    "convolution": _convolution,
    "custom-call": _library,
    "sort": _sort,
    "fft": _fft,
    "cholesky": _cholesky,
    "triangular-solve": _triangular_solve,
}


def _apply_bodies(graph: Graph, op: list[str], reader: _Reader, flops: Amounts, transcendentals: Amounts) -> None:
    elements = _elements(graph)
    start, end = graph.region_intervals
    # From the innermost out: a body may apply one itself.
    for node in reversed(np.flatnonzero(graph.nodes.kind == OPERATION).tolist()):
        if op[node] == "sort":
            # How often it compares is what its own rule says.
            for body in graph.owned_regions.get(node, ()):
                inside = slice(int(start[body]), int(end[body]))
                flops[inside] = transcendentals[inside] = 0.0
        if op[node] not in _APPLYING:
            continue
        first = int(graph.first_value[node])
        times = _applications(
            reader, node, op[node], float(elements[first]) if first < graph.first_value[node + 1] else 0
        )
        bodies = graph.owned_regions.get(node, ())
        if not bodies:
            # The body of a single operation is told by its name.
            word = reader.attribute(node, "to_apply").split(" ")[0]
            into = transcendentals if word in _TRANSCENDENTAL else flops
            into[node] += times * (word in _TRANSCENDENTAL or word in _ELEMENTWISE)
        for body in bodies:
            inside = slice(int(start[body]), int(end[body]))
            flops[node] += times * flops[inside].sum()
            transcendentals[node] += times * transcendentals[inside].sum()
            flops[inside] = 0.0
            transcendentals[inside] = 0.0


# Bytes.


def _bytes(graph: Graph, op: list[str], reader: _Reader) -> Amounts:
    size = _value_bytes(graph)
    made = np.zeros(len(graph))
    np.add.at(made, graph.value_node, size)
    read = np.zeros(len(graph))
    source = graph.operands.source
    known = source >= 0
    np.add.at(read, graph.operand_node[known], size[source[known]])
    total = made + read
    idle = np.array([word in _NOTHING for word in op], bool) | (graph.nodes.kind != OPERATION)
    total[idle] = 0.0
    for node in np.flatnonzero(~idle).tolist():
        word = op[node]
        if word in ("dynamic-slice", "slice", "gather"):
            indices = _operand_bytes(graph, size, node)[1:]
            total[node] = 2 * made[node] + (0.0 if word == "slice" else float(sum(indices)))
        elif word == "dynamic-update-slice":
            operands = _operand_bytes(graph, size, node)
            total[node] = 2 * operands[1] + sum(operands[2:]) if len(operands) > 1 else total[node]
        elif word == "fusion":
            total[node] -= _unread(graph, op, size, node)
        elif word == "iota":
            total[node] = made[node]
        elif word == "custom-call" and _works_in_memory(reader, node):
            total[node] -= sum(size[graph.first_value[node] + 1 : graph.first_value[node + 1]])
    return np.maximum(total, 0.0)


def _works_in_memory(reader: _Reader, node: int) -> bool:
    """Whether the results after the first are memory that a library works in: how much it touches is not known."""
    target = reader.attribute(node, "custom_call_target")
    return bool(_LIBRARY_MATMUL.match(target) or _LIBRARY_CONVOLUTION.match(target))


def _unread(graph: Graph, op: list[str], size: Amounts, node: int) -> float:
    """The bytes of the operands and results of a kernel that it does not touch: it slices them, or updates a slice."""
    spared = 0.0
    for region in graph.owned_regions.get(node, ()):
        start, end = (int(side[region]) for side in graph.region_intervals)
        readers: dict[int, list[tuple[int, int]]] = {}
        for inner in range(start, end):
            for place, at in enumerate(range(int(graph.first_operand[inner]), int(graph.first_operand[inner + 1]))):
                readers.setdefault(int(graph.operands.source[at]), []).append((inner, place))
        for argument in range(start, end):
            if graph.nodes.kind[argument] != 1:
                continue
            value = int(graph.first_value[argument])
            users = readers.get(value, [])
            if users and all(op[user] in ("dynamic-slice", "slice", "gather") and not place for user, place in users):
                touched = sum(float(size[graph.first_value[user]]) for user, _ in users)
                spared += max(float(size[value]) - touched, 0.0)
            elif len(users) == 1 and op[users[0][0]] == "dynamic-update-slice" and not users[0][1]:
                user = users[0][0]
                update = int(graph.operands.source[int(graph.first_operand[user]) + 1])
                whole = float(size[value])
                # Neither is the rest of the operand read, nor that of the result written.
                spared += whole
                leaves = readers.get(int(graph.first_value[user]), [])
                if leaves and all(graph.nodes.kind[inner] == 2 for inner, _ in leaves):
                    spared += whole - float(size[update])
    return spared


def _operand_bytes(graph: Graph, size: Amounts, node: int) -> list[float]:
    sources = graph.operands.source[int(graph.first_operand[node]) : int(graph.first_operand[node + 1])].tolist()
    return [float(size[source]) if source >= 0 else 0.0 for source in sources]


def _value_bytes(graph: Graph) -> Amounts:
    by_type = np.maximum(np.array([*graph.tables.types.bytes, 0.0], np.float64), 0.0)
    return by_type[graph.values.type]


def _elements(graph: Graph) -> Amounts:
    by_type = np.array([*(math.prod(dims) for dims in graph.tables.types.dims), 0.0], np.float64)
    return by_type[graph.values.type]


def _words(graph: Graph) -> list[str]:
    strings = graph.tables.strings
    return [strings[number] for number in graph.nodes.op.tolist()]
