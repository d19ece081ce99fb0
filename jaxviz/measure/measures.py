"""What was measured, as data for a document: a run in words and numbers, and the figures of the nodes of stages."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from jaxviz.graph import Column

if TYPE_CHECKING:
    from jaxviz.link.links import Links
    from jaxviz.measure.run import Run

Amounts = NDArray[np.float64]

#: The figures of a node, each by itself and in one run: seconds, what of them is a share of a kernel, how often it was
#: executed, floating-point operations, bytes read and written.
FIGURES = ("seconds", "shared", "count", "flops", "bytes")

# Digits of a figure that mean something.
_DIGITS = 4


@dataclass(frozen=True, eq=False)
class NodeFigures:
    """The figures of those nodes of one graph that have any; a column for each of `FIGURES`."""

    node: Column
    columns: Mapping[str, Amounts]

    @classmethod
    def of(cls, **columns: Amounts) -> NodeFigures:
        """From columns with a row for each node of the graph; a figure that is not given is 0."""
        any_ = np.zeros(len(next(iter(columns.values()))), bool)
        for column in columns.values():
            any_ |= column > 0
        node = np.flatnonzero(any_).astype(np.int32)
        return cls(node, {name: _rounded(columns[name][node]) for name in columns})


@dataclass(frozen=True, eq=False)
class Measures:
    """One run of a program. `seconds` are by name: compile, first, median, low, high (quarters), dispatch, and, with a
    profile: wall, operations (their sum), busy, unlinked; `figures` are by the kind of the stage."""

    device: str
    devices: int
    runs: int
    words: tuple[str, ...]
    seconds: Mapping[str, float]
    #: The share of what is executed that the profiler saw; None without a profile.
    coverage: float | None = None
    #: What the device can do at most in a second, with a profile: `flops` and `bytes`.
    ceilings: Mapping[str, float] = field(default_factory=dict)
    figures: Mapping[str, NodeFigures] = field(default_factory=dict)
    #: Of several devices: the number of each, and the seconds of a run that it computes and that it waits for others.
    by_device: tuple[tuple[int, float, float], ...] = ()


def measures_of(run: Run, stablehlo: Links | None = None, stablehlo_nodes: int = 0) -> Measures:
    """The measures of a run; `stablehlo` are the links from the jaxpr, where that stage is to have figures too."""
    low, high = run.spread
    seconds = {
        "compile": run.compile,
        "first": run.first,
        "median": run.median,
        "low": low,
        "high": high,
        "dispatch": run.dispatch,
    }
    if run.eager:
        seconds["eager"] = statistics.median(run.eager)
    figures: dict[str, NodeFigures] = {}
    coverage = None
    ceilings: dict[str, float] = {}
    by_device: tuple[tuple[int, float, float], ...] = ()
    if run.profile is not None:
        profile = run.profile
        rolled = profile.rolled
        seconds |= {
            "wall": profile.wall,
            "operations": profile.times.total,
            "busy": profile.times.busy,
            "unlinked": rolled.unlinked,
        }
        coverage = profile.coverage
        times = profile.times
        if len(times.devices) > 1:
            by_device = tuple(
                (number, *_rounded(np.array([total - waiting, waiting])).tolist())
                for (number, total), waiting in zip(times.devices, times.waiting, strict=True)
            )
        ceilings = {"flops": profile.ceilings.flops, "bytes": profile.ceilings.bytes}
        flops = rolled.cost.kernel_work * rolled.count
        moved = rolled.cost.kernel_bytes * rolled.count
        shares = rolled.shares
        jaxpr = {
            "seconds": rolled.equation_seconds,
            "shared": rolled.equation_shared,
            "flops": shares.to_equations(flops),
            "bytes": shares.to_equations(moved),
        }
        figures["jaxpr"] = NodeFigures.of(**jaxpr)
        if stablehlo is not None:
            figures["stablehlo"] = NodeFigures.of(**_handed_on(jaxpr, stablehlo, stablehlo_nodes))
        figures["hlo"] = NodeFigures.of(seconds=rolled.seconds, count=rolled.count, flops=flops, bytes=moved)
    return Measures(
        device=run.device,
        devices=run.devices,
        runs=len(run.seconds),
        words=run.lines(),
        seconds=_few_digits(seconds),
        coverage=coverage,
        ceilings=_few_digits(ceilings),
        figures=figures,
        by_device=by_device,
    )


def _few_digits(numbers: Mapping[str, float]) -> dict[str, float]:
    return {name: float(_rounded(np.array([value]))[0]) for name, value in numbers.items()}


def _handed_on(columns: Mapping[str, Amounts], links: Links, nodes: int) -> dict[str, Amounts]:
    """The figures of equations, in equal parts, for what each became in StableHLO."""
    parts = np.bincount(links.source, minlength=len(columns["seconds"]))
    handed = {
        name: np.bincount(links.target, column[links.source] / parts[links.source], nodes).astype(np.float64)
        for name, column in columns.items()
    }
    several = parts[links.source] > 1
    whole = columns["seconds"][links.source] / parts[links.source]
    part = np.where(several, whole, columns["shared"][links.source] / parts[links.source])
    return {**handed, "shared": np.bincount(links.target, part, nodes).astype(np.float64)}


def _rounded(column: Amounts) -> Amounts:
    """To a few digits, because all others are noise, and make a document large."""
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(column > 0, np.floor(np.log10(np.where(column > 0, column, 1.0))), 0.0)
    factor = 10.0 ** (_DIGITS - 1 - size)
    return np.round(column * factor) / factor
