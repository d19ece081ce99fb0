"""Puts together the document of a program: the stages that are asked for, their links, and what was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from jaxviz.document import (
    STAGE_KINDS,
    CompilingEntry,
    Document,
    FatesEntry,
    LinksEntry,
    MeasuresEntry,
    MemoryEntry,
    OutlineEntry,
    PassesEntry,
    ProgramEntry,
    ResidualsEntry,
    StageEntry,
    TargetEntry,
    ValuesEntry,
)
from jaxviz.link.links import link_shares

if TYPE_CHECKING:
    from jaxviz.capture import Capture, Linked
    from jaxviz.costs.residuals import Residuals
    from jaxviz.measure.compiling import CompileCost
    from jaxviz.measure.memory import Memory
    from jaxviz.measure.run import Run
    from jaxviz.measure.values import Values
    from jaxviz.targets import Target


@dataclass
class Measured:
    """What was measured of a program so far: its last run, its memory, its values, its compilation."""

    run: Run | None = None
    memory: Memory | None = None
    values: Values | None = None
    compiling: CompileCost | None = None


def gather(
    capture: Capture, call: str, measured: Measured, *, stages: Sequence[str], passes: bool, fates: bool = True
) -> Document:
    """The document of a program, without findings. A stage that JAX cannot make here is left out, and it says why."""
    __tracebackhide__ = True
    program = capture.program
    made, missing = _made(capture, stages)
    graphs = [capture.jaxpr]
    outlines = [OutlineEntry(0, capture.outline)]
    entries = [StageEntry("jaxpr", 0, capture.costs("jaxpr"))]
    links = {stage: linked.links for stage, linked in made.items()}
    for stage, linked in made.items():
        entries.append(StageEntry(stage, len(graphs), capture.costs(stage)))
        outlines.append(OutlineEntry(len(graphs), linked.outline))
        graphs.append(linked.graph)
    told: tuple[FatesEntry, ...] = ()
    if fates and "hlo" in stages and not missing:
        try:
            told = (FatesEntry(0, capture.fates),)
            links["hlo"] = capture.links
        except Exception as error:
            # Fates need StableHLO, which may not have been asked for.
            missing["stablehlo"] = _reason(error)
    between: tuple[PassesEntry, ...] = ()
    if "hlo" in stages and passes:
        try:
            between = (PassesEntry(0, capture.passes),)
        except Exception as error:
            missing["passes"] = _reason(error)
    entry = ProgramEntry(
        name=program.name,
        call=call,
        file=capture.tables.file(program.file),
        line=program.line,
        stages=tuple(entries),
        missing=missing,
        target=_target_entry(program.target),
    )
    return Document(
        capture.tables,
        tuple(graphs),
        (entry,),
        links=tuple(
            LinksEntry(0, number, found, link_shares(graph, found))
            for (number, graph), found in zip(enumerate(graphs[1:], 1), links.values(), strict=True)
        ),
        fates=told,
        outlines=tuple(outlines),
        passes=between,
        measures=_measures(measured.run, made),
        memory=(MemoryEntry(0, measured.memory),) if measured.memory is not None and "hlo" in made else (),
        values=() if measured.values is None else (ValuesEntry(0, measured.values),),
        compiling=() if measured.compiling is None else (CompilingEntry(0, measured.compiling),),
    )


def residuals_entries(residuals: Residuals) -> tuple[ResidualsEntry, ...]:
    """What the forward pass of the jaxpr keeps, where there is a backward pass: that it keeps nothing is told too."""
    if not residuals.has_way_back:
        return ()
    return (ResidualsEntry(0, residuals.values, residuals.policies if residuals.values else ()),)


def _made(capture: Capture, stages: Sequence[str]) -> tuple[dict[str, Linked], dict[str, str]]:
    """The stages after the jaxpr, and why those that are not there are missing."""
    __tracebackhide__ = True
    made: dict[str, Linked] = {}
    missing: dict[str, str] = {}
    makers: dict[str, Callable[[], Linked]] = {"stablehlo": lambda: capture.stablehlo, "hlo": lambda: capture.hlo}
    # An error of the person's function comes through.
    capture.program.jaxpr  # noqa: B018
    # The last stage first: what the others need is read while the compiler works on it.
    for stage in reversed([stage for stage in STAGE_KINDS[1:] if stage in stages]):
        try:
            made[stage] = makers[stage]()
        except Exception as error:
            missing[stage] = _reason(error)
    return dict(reversed(made.items())), missing


def _measures(run: Run | None, made: dict[str, Linked]) -> tuple[MeasuresEntry, ...]:
    if run is None:
        return ()
    from jaxviz.measure.measures import measures_of

    lowered = made.get("stablehlo")
    found = measures_of(run, None if lowered is None else lowered.links, 0 if lowered is None else len(lowered.graph))
    kept = {kind: figures for kind, figures in found.figures.items() if kind in ("jaxpr", *made)}
    return (MeasuresEntry(0, replace(found, figures=kept)),)


def _target_entry(target: Target | None) -> TargetEntry | None:
    return None if target is None else TargetEntry(target.name, target.label, target.limits)


def _reason(error: Exception) -> str:
    """Why a stage could not be made, in one line."""
    from jaxviz.passes import NoSnapshots
    from jaxviz.program.program import OpenLengthsError

    if isinstance(error, (NoSnapshots, OpenLengthsError)):
        return str(error)
    first = str(error).strip().splitlines()[0] if str(error).strip() else "no reason given"
    return f"{type(error).__name__}: {first}"[:300]
