"""What the forward pass keeps for the backward pass, by line, and what checkpoints would keep instead."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from jaxviz.costs.residuals import Residuals
from jaxviz.find.finding import NOTE, Finding, Subject
from jaxviz.units import bytes_text, plural

# Bytes that are worth a word.
_LARGE = 20_000_000
_LINES = 3
# The part of the whole from which it is worth a sentence.
_LEAST = 0.01
# A policy is worth its name from what it saves of the whole.
_SAVED = 0.1
_REMEDY = "jax.checkpoint(f, policy=jax.checkpoint_policies.{}), best around each layer."
_MORE = (
    "Its checkpoints keep that: policies that save less would lower it, and so would one checkpoint around more of it."
)


def find(subject: Subject) -> Iterator[Finding]:
    if not subject.has_gradient:
        return
    residuals = subject.residuals
    if residuals.bytes < _LARGE:
        return
    by_line: dict[int, float] = {}
    for value in residuals.values:
        lines = subject.lines(np.array([value.node]))
        number = lines[-1].line if lines else 0
        by_line[number] = by_line.get(number, 0.0) + value.bytes
    largest = sorted(((line, size) for line, size in by_line.items() if line), key=lambda one: -one[1])[:_LINES]
    told = ", ".join(f"{bytes_text(size)} by line {line}" for line, size in largest)
    alike: dict[tuple[float, int], list[str]] = {}
    for policy in residuals.policies:
        if policy.equations and not policy.host:
            alike.setdefault((policy.bytes, policy.equations), []).append(policy.name)
    kept = "; ".join(
        f"{' or '.join(names)} keeps {bytes_text(size)} and computes {plural(equations, 'equation')} again"
        for (size, equations), names in alike.items()
    )
    free = (
        f"print_saved_residuals lists {bytes_text(residuals.free)} more, of arrays of one number and of arguments in "
        "another shape, which take no memory. "
        if residuals.free >= _LEAST * residuals.bytes
        else ""
    )
    around = f"Around all of it, jax.checkpoint with the policy {kept}." if kept else ""
    yield Finding(
        kind="residuals",
        severity=NOTE,
        title=f"JAX keeps {bytes_text(residuals.bytes)} for the backward pass",
        text=(
            f"{plural(len(residuals.sizes), 'value')} of the forward pass are read again on the way back"
            f"{': ' + told if told else ''}. XLA may compute some of it again instead, or "
            "keep it inside of a kernel: what is alive at the peak says what it really holds. "
            f"{free}{around}"
        ),
        remedy=_MORE if residuals.checkpoints else _REMEDY.format(_worth_naming(residuals)),
        nodes=residuals.nodes,
        lines=subject.lines(residuals.nodes),
        figures={
            "bytes": residuals.bytes,
            "values": len(residuals.sizes),
            **{policy.name: policy.bytes for policy in residuals.policies},
        },
    )


def _worth_naming(residuals: Residuals) -> str:
    """The policy that keeps the products, which are the most to compute again, unless next to nothing is saved so."""
    kept = {policy.name: policy.bytes for policy in residuals.policies}
    saves = kept.get("dots_saveable", 0) <= (1 - _SAVED) * residuals.bytes
    return "dots_saveable" if saves else "nothing_saveable"
