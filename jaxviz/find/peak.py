"""Memory: what is alive when most is, by line, and what would lower the peak."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxviz.costs.lifetimes import Peak, peak_of
from jaxviz.find.finding import ADVICE, NOTE, Finding, Subject
from jaxviz.graph import CONSTANT
from jaxviz.units import bytes_text, plural

if TYPE_CHECKING:
    from jaxviz.costs.residuals import Residuals

# Bytes of a peak from which it is worth a word, and a look; less is no concern on any device.
_LARGE, _HUGE = 100_000_000, 4_000_000_000
# What is computed on the way must be so much of it: of arguments, one knows.
_SHARE = 0.3
# Of the bytes at the peak, what need not be looked at.
_LITTLE = 0.05
_LINES = 3
# What is computed and alive beside the products must be so much of it for a checkpoint to lower the peak.
_BESIDE = 0.3


def find(subject: Subject) -> Iterator[Finding]:
    compiled = subject.compiled
    if compiled is None:
        return
    peak = compiled.peak or peak_of(compiled.graph, compiled.order)
    if peak is None or peak.bytes < _LARGE or peak.bytes - peak.arguments < _SHARE * peak.bytes:
        return
    if len(peak.alive) < 2 and peak.bytes - peak.arguments - peak.results < _LITTLE * peak.bytes:
        # What goes in and what comes out of one kernel: there is nothing to be done about it.
        return
    by_line: dict[int, float] = {}
    values = 0
    for node, size in peak.alive:
        if compiled.graph.nodes.kind[node] == CONSTANT:
            continue
        values += 1
        lines = subject.lines(compiled.sources([node]))
        number = lines[-1].line if lines else 0
        by_line[number] = by_line.get(number, 0.0) + size
    largest = sorted(by_line.items(), key=lambda one: -one[1])[:_LINES]
    told = ", ".join(
        f"{bytes_text(size)} made on line {line}" if line else f"{bytes_text(size)} made by the compiler"
        for line, size in largest
    )
    nodes = compiled.sources(node for node, _ in peak.alive)
    yield Finding(
        kind="peak",
        severity=ADVICE if peak.bytes >= _HUGE else NOTE,
        title=f"{bytes_text(peak.bytes)} are alive at the peak, {bytes_text(peak.arguments)} of them arguments",
        text=_text(peak, plural(values, "value"), told, bytes_text(peak.results)),
        remedy=_remedy(subject, peak),
        nodes=nodes,
        lines=subject.lines(compiled.sources(node for node, _ in peak.alive[:_LINES])),
        figures={"bytes": peak.bytes, "arguments": peak.arguments, "values": values},
    )


def _text(peak: Peak, values: str, told: str, results: str) -> str:
    """What lies there, and where that is known from."""
    made = f": {told}" if told else ""
    if peak.assigned:
        return f"By XLA's buffer assignment: {results} of results, and {values} of those in between{made}."
    lie = "lies" if values.startswith("1 ") else "lie"
    return (
        f"In the order in which the compiled program runs, {values} {lie} in memory there{made}. That is counted from "
        "the order alone; ex.memory() asks XLA where it puts each."
    )


def _remedy(subject: Subject, peak: Peak) -> str:
    """What would lower the peak, by what most of it is."""
    computed = peak.bytes - peak.arguments
    if subject.has_gradient and subject.residuals.bytes >= _SHARE * computed and _is_saved(subject.residuals, computed):
        return "jax.checkpoint computes values of the forward pass again in place of keeping them."
    if peak.results > computed / 2 and peak.arguments:
        return (
            "Most of it is results: where they take the place of arguments, as new parameters do, "
            "jax.jit(f, donate_argnums=...) writes them there."
        )
    return "Work in pieces, with jax.lax.map over parts of a batch; give narrower types to what is kept long."


def _is_saved(residuals: Residuals, computed: float) -> bool:
    """Whether a checkpoint around each layer keeps less than the computed bytes that are alive at the peak.

    Of a layer such as `tanh(x @ w)`, XLA keeps no more than what it gives to the next. A checkpoint keeps as much, and
    what it computes again lies beside that.
    """
    if residuals.checkpoints:
        return False
    products = next((policy.bytes for policy in residuals.policies if policy.name == "dots_saveable"), 0)
    return products <= (1 - _BESIDE) * computed
