"""What XLA removed: what two lines compute alike, and large constants that are computed while compiling."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxviz.costs.traffic import value_bytes
from jaxviz.find.finding import ADVICE, NOTE, Compiled, Finding, Line, Subject, lines_text
from jaxviz.graph import CONSTANT, OPERATION
from jaxviz.link.fates import FOLDED, MERGED, Fates
from jaxviz.units import bytes_text, plural

# Operations that cost something whatever their size.
_COSTLY = frozenset(
    {"dot_general", "conv_general_dilated", "exp", "log", "tanh", "sin", "cos", "logistic", "erf", "pow"}
)
_COSTLY |= {
    "sort",
    "cumsum",
    "cumprod",
    "reduce_sum",
    "reduce_max",
    "cholesky",
    "eigh",
    "svd",
    "lu",
    "qr",
    "fft",
    "rsqrt",
}
# Bytes from which any operation is worth a word, and from which a constant is.
_LARGE, _LARGE_CONSTANT = 1_000_000, 1_000_000


def find(subject: Subject) -> Iterator[Finding]:
    compiled = subject.compiled
    if compiled is not None and compiled.fates is not None:
        yield from _twice(subject, compiled.fates)
        yield from _folded(subject, compiled, compiled.fates)


def _twice(subject: Subject, fates: Fates) -> Iterator[Finding]:
    """One finding for each two lines on which the same is computed."""
    graph = subject.graph
    pairs: dict[tuple[Line, Line], list[tuple[int, int]]] = {}
    for node, other in _alike(subject, fates):
        if not (subject.is_own(node) and subject.is_own(other)) or subject.is_backward(node):
            continue
        # What two calls have in common inside them, such as a mean and a variance, the person did not write twice.
        text = subject.expression(node)[1]
        if not text or text != subject.expression(other)[1]:
            continue
        one, two = subject.lines(np.array([other])), subject.lines(np.array([node]))
        # On one line, it is a loop or one function that is called twice.
        if one and two and one != two:
            first, second = sorted((one[0], two[0]), key=_place)
            pairs.setdefault((first, second), []).append((node, other))
    for (first, second), found in pairs.items():
        nodes = [node for node, _ in found]
        # Of two that are alike, XLA may have removed either.
        passes = [graph.tables.strings[fates.where[node]] for pair in found for node in pair]
        pass_name = next(filter(None, passes), "")
        by_pass = f" (pass {pass_name})" if pass_name else ""
        size = sum(_bytes(subject, node) for node in nodes)
        costly = sorted({subject.flow.op(node) for node in nodes} & _COSTLY)
        if not costly and size < _LARGE:
            continue
        yield Finding(
            kind="twice",
            severity=NOTE,
            title=f"{lines_text((second,))} computes again what {lines_text((first,))} computes",
            text=(
                f"{plural(len(nodes), 'equation')} ({bytes_text(size)} of results) of the one have the same operands "
                f"as of the other. XLA computes them once{by_pass}, so this costs nothing when it runs; "
                "each is traced and lowered."
            ),
            remedy="Keep the first result in a variable and use it again.",
            nodes=np.array(sorted({node for pair in found for node in pair}), np.int32),
            lines=(first, second),
            figures={"equations": len(nodes), "bytes": size},
        )


def is_costly(subject: Subject, node: int) -> bool:
    """Whether it costs something to compute: by what it does, or by how much it makes."""
    return subject.flow.op(node) in _COSTLY or _bytes(subject, node) >= _LARGE


def _alike(subject: Subject, fates: Fates) -> Iterator[tuple[int, int]]:
    """The equations that XLA merged into others, with the first that computes the same of the same operands."""
    merged = fates.kind == MERGED
    if not merged.any():
        return
    graph, flow = subject.graph, subject.flow
    attributes = graph.attributes
    # What stands for a value: that of the first equation that computes the same.
    same: dict[int, int] = {}
    first_of: dict[tuple[object, ...], int] = {}
    operations = np.flatnonzero((graph.nodes.kind == OPERATION) & (graph.nodes.outputs == 1)).tolist()
    for node in operations:
        sources = [flow.back(source) for source in flow.operands(node)]
        texts = [
            same.get(source, source) if source >= 0 else graph.tables.strings[graph.literals.text[-1 - source]]
            for source in sources
        ]
        rows = slice(graph.first_attribute[node], graph.first_attribute[node + 1])
        params = tuple(zip(attributes.key[rows].tolist(), attributes.value[rows].tolist(), strict=True))
        value = int(graph.first_value[node])
        key = int(graph.nodes.op[node]), int(graph.values.type[value]), tuple(texts), params
        other = first_of.setdefault(key, node)
        # A body is another one in each call.
        if other != node and node not in graph.owned_regions:
            same[value] = int(graph.first_value[other])
            if merged[node] or merged[other]:
                yield node, other


def _folded(subject: Subject, compiled: Compiled, fates: Fates) -> Iterator[Finding]:
    """Large arrays that XLA computed while compiling; they are part of what was compiled."""
    nodes = [
        node
        for node in np.flatnonzero(fates.kind == FOLDED).tolist()
        if _bytes(subject, node) >= _LARGE_CONSTANT
        and not _is_filled(subject, node)
        and node not in subject.graph.owned_regions
    ]
    size = _largest_computed(subject, compiled) if nodes else 0.0
    if size < _LARGE_CONSTANT:
        return
    yield subject.told(
        kind="folded",
        severity=ADVICE,
        title=f"an array of {bytes_text(size)} is computed while compiling",
        text=(
            "It depends on no argument, so XLA computes it once and keeps it in the compiled program. That makes each "
            "compilation slower, and each program larger."
        ),
        remedy="Compute it once outside and pass it as an argument.",
        nodes=nodes,
        figures={"bytes": size, "equations": len(nodes)},
    )


def _largest_computed(subject: Subject, compiled: Compiled) -> float:
    """The bytes of the largest constant of the compiled program that the program itself has no array for."""
    graph = compiled.graph
    constants = np.flatnonzero(graph.nodes.kind == CONSTANT)
    computed = (
        constant
        for constant in constants.tolist()
        if (subject.graph.nodes.kind[compiled.sources([constant])] == OPERATION).any()
    )
    return max((value_bytes(graph, int(graph.first_value[constant])) for constant in computed), default=0.0)


def _is_filled(subject: Subject, node: int) -> bool:
    """Whether it is one number again and again, which is kept as that."""
    return subject.flow.number(int(subject.graph.first_value[node])) is not None


def _bytes(subject: Subject, node: int) -> float:
    graph = subject.graph
    types = graph.values.type[graph.first_value[node] : graph.first_value[node + 1]].tolist()
    return sum(max(graph.tables.types.bytes[type_], 0) for type_ in types)


def _place(line: Line) -> tuple[int, int]:
    return line.file, line.line
