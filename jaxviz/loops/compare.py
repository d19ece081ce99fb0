"""An unrolled loop beside the same body as a loop of JAX: both compiled and run, and what each costs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from math import inf
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxviz import compat
from jaxviz.find.finding import Finding, Subject
from jaxviz.find.unrolled import Unrolled, unrolled_loops
from jaxviz.loops.cost import Cost, Measured, measured_cost, random_value
from jaxviz.loops.rounding import difference, is_rounding
from jaxviz.loops.run import Rebuilding
from jaxviz.loops.where import copies_of
from jaxviz.measure.told import display_in_place
from jaxviz.program.program import Program
from jaxviz.units import plural

if TYPE_CHECKING:
    from jaxviz.loops.curve import Curve

# What is slower by less is not slower: a share, and seconds.
_SHARE, _NOTHING = 0.15, 5e-6
# Seconds until a program is ready that make no difference.
_READY = 0.02
# After so many runs, what compiling cost more is not won back in one session.
_MANY_RUNS = 10_000


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """A program whose unrolled loop was written as a loop of JAX.

    `why` says why that cannot be, and is empty where it was done; then `function` is the program with the loop, to be
    called as the person's own. `difference` is by how much their results differ, as a share of the largest number;
    `equal` is None where rounding alone makes as much of these arguments.
    """

    program: Program
    finding: Finding
    why: str
    loop: str = ""
    function: Callable[..., Any] | None = None
    unrolled: Cost | None = None
    rebuilt: Cost | None = None
    difference: float | None = None
    equal: bool | None = None
    #: Parts of the loop that stay unrolled, and why.
    left: tuple[str, ...] = ()
    #: The exploration that the finding is of.
    explored: Any = None
    #: How many arguments were measured as rows of one array for each turn's, as one would keep them for a loop.
    together: int = 0

    @cached_property
    def exploration(self) -> Any:
        """What JAX makes of the rebuilt program."""
        from jaxviz.exploration import explore

        if self.function is None:
            raise ValueError(f"the loop was not rebuilt: {self.why}")
        program = self.program
        given = program.accepted
        return explore(self.function, *given.args, **program.jit_options.given, **given.kwargs)

    def curve(self, seconds: float = 20.0) -> Curve:
        """What the loop costs over its number of turns, as a loop and unrolled; tried for about so many seconds."""
        from jaxviz.loops.curve import curve_of

        if self.function is None:
            raise ValueError(f"the loop was not rebuilt: {self.why}")
        name = next((f"the loop in line {line.line}" for line in self.finding.lines), "")
        return curve_of(self.exploration.program.jaxpr, seconds=seconds, name=name)

    @cached_property
    def comparison(self) -> Any:
        """Both programs side by side."""
        from jaxviz.comparison import compare

        return compare(self.explored, self.exploration)

    @property
    def better(self) -> str:
        """Which is the better choice: "loop", "unrolled" or "either"; empty where that is not known."""
        return self._judged[0]

    @property
    def verdict(self) -> str:
        """What is better, and by how much, in a sentence."""
        return self._judged[1]

    @cached_property
    def _judged(self) -> tuple[str, str]:
        before, after = self.unrolled, self.rebuilt
        if before is None or after is None:
            return "", f"It cannot be rebuilt: {self.why}."
        judged, text = self._measured(before, after)
        if self.left and judged == "unrolled":
            # What stays unrolled costs what it did, so this says nothing of a loop that the person writes.
            return "", "What could be rebuilt is no better as a loop; that does not say what all of it is."
        return judged, text

    def _measured(self, before: Cost, after: Cost) -> tuple[str, str]:
        """Which is better by what was measured, and the sentence on it."""
        if self.equal is False:
            return "", f"{self._differing}, so the loop is not the same."
        if before.compile is None or after.compile is None:
            text = f"jax.lax.{self.loop} is {plural(after.equations, 'equation')} in place of {before.equations:,}"
            return "loop", f"{text}, which are too many to be compiled for a comparison."
        saved = before.ready - after.ready
        slower = 0.0 if before.run is None or after.run is None else after.run - before.run
        if before.run is not None and slower > max(_SHARE * before.run, _NOTHING):
            runs = max(saved, 0) / slower
            more = f"each run takes {_time(after.run)} as a loop and {_time(before.run)} unrolled"
            if runs < _MANY_RUNS:
                return "unrolled", f"Unrolled is the better choice: {more}; compiling it costs " + (
                    f"{_time(saved)} more, won back after {max(1, round(runs)):,} runs." if saved > 0 else "no more."
                )
            return "loop", (
                f"jax.lax.{self.loop} is ready {_time(saved)} sooner; {more}, so unrolling pays after {round(runs):,} "
                "runs."
            )
        faster = 0.0 if before.run is None or after.run is None else before.run - after.run
        if before.run is not None and faster > max(_SHARE * before.run, _NOTHING):
            more = f"each run takes {_time(after.run)} as a loop and {_time(before.run)} unrolled"
            runs = max(-saved, 0) / faster
            if runs < _MANY_RUNS:
                return "loop", f"jax.lax.{self.loop} is the better choice: {more}; " + (
                    f"it is ready {_time(saved)} sooner."
                    if saved > _READY
                    else f"compiling it costs {_time(-saved)} more, won back after {max(1, round(runs)):,} runs."
                    if saved < -_READY
                    else "both are ready in about the same time."
                )
        if saved < -max(_READY, _SHARE * before.ready):
            return "unrolled", f"Unrolled is the better choice: it is ready {_time(-saved)} sooner and runs as fast."
        if saved <= max(_READY, _SHARE * before.ready):
            return "either", "Both are ready and run in about the same time: take the one that reads better."
        return "loop", f"jax.lax.{self.loop} is the better choice: it is ready {_time(saved)} sooner and runs as fast."

    def __repr__(self) -> str:
        if self.unrolled is None:
            return f"{self.finding.title}\n{self.verdict}"
        rows = [("", "unrolled", self.loop), *self._rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        lines = [f"{name:<{widths[0]}}  {one:>{widths[1]}}  {other:>{widths[2]}}".rstrip() for name, one, other in rows]
        return "\n".join([self.finding.title, *lines, *self._said()])

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display_in_place({"text/plain": repr(self), "text/html": self._repr_html_()})
        if self.function is not None and self.explored is not None:
            display(self.comparison)

    def _repr_html_(self) -> str:
        head = f"<p>{escape(self.finding.title)}</p>"
        if self.unrolled is None:
            return f"{head}<p>{escape(self.verdict)}</p>"
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(one)}</td><td>{escape(other)}</td></tr>"
            for name, one, other in self._rows()
        )
        table = f"<table><tr><th></th><th>unrolled</th><th>{escape(self.loop)}</th></tr>{rows}</table>"
        return head + table + "".join(f"<p>{escape(text)}</p>" for text in self._said())

    @property
    def table(self) -> list[list[str]]:
        """What each way costs, as rows of text with a head; empty where it was not rebuilt."""
        return [] if self.unrolled is None else [["", "unrolled", self.loop], *map(list, self._rows())]

    @property
    def said(self) -> list[str]:
        """What follows from it, in sentences."""
        return self._said() if self.unrolled is not None else [self.verdict]

    def _rows(self) -> list[tuple[str, str, str]]:
        before, after = self.unrolled, self.rebuilt
        # It was rebuilt.
        assert before is not None
        assert after is not None
        return [
            ("equations", f"{before.equations:,}", f"{after.equations:,}"),
            ("trace", _time(before.trace), _time(after.trace)),
            ("compile", _time(before.compile), _time(after.compile)),
            ("run", _time(before.run), _time(after.run)),
        ]

    @property
    def _differing(self) -> str:
        """By how much the results differ."""
        if self.difference == inf:
            return "One has NaN or infinity where the other has a number"
        return f"The results differ by {self.difference:.1g} of the largest number"

    def _said(self) -> list[str]:
        said = []
        if self.equal:
            amount = "" if not self.difference else f" but for {self.difference:.1g} of the largest number"
            said.append(f"The results are equal{amount}.")
        elif self.equal is None and self.difference is not None:
            said.append(
                f"{self._differing}. The unrolled program alone makes as much of the last bits of its arguments: "
                "rounding decides what comes out, so these arguments do not tell whether the loop is the same."
            )
        if self.unrolled is not None and self.unrolled.compile is not None and self.unrolled.run is None:
            said.append("Neither was run, because the program acts on the world, as by printing.")
        said.append(self.verdict)
        if self.together:
            said.append(f"{self.together:,} arguments that the turns read were measured stacked, as a loop has them.")
        said += [f"A part stays unrolled: {reason}." for reason in dict.fromkeys(self.left)]
        return said


def rebuild(
    program: Program, subject: Subject, finding: Finding, begin: Callable[[str], None] = lambda step: None
) -> Rebuilt:
    """Writes the loop of a finding as a loop of JAX; both are compiled and run, on the arguments or on random ones.

    `begin` hears of each step as it begins.
    """
    begin("writing the loop")
    found = next((one for one in unrolled_loops(subject) if _is_of(one, finding)), None)
    if found is None:
        raise ValueError(f"there is nothing to rebuild for {finding!r}: it is no unrolled loop of this program")
    rebuilding = Rebuilding(program.jaxpr, copies_of(subject, found.stacks, found.loop.lines))
    avals = [variable.aval for variable in compat.open_jaxpr(program.jaxpr).invars]
    shapes = [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]
    try:
        jaxpr = jax.make_jaxpr(rebuilding)(*shapes)
    except Exception as error:
        # Whatever a loop of JAX refuses of this body, it says itself.
        return Rebuilt(program, finding, _first_line(error))
    if not rebuilding.turns:
        return Rebuilt(program, finding, next(iter(rebuilding.left), "its copies lie in several bodies"))
    loop = "scan" if any(turns.given or turns.every for turns in rebuilding.turns) else "fori_loop"
    arguments = _arguments(program, shapes)
    acts = bool(compat.open_jaxpr(program.jaxpr).effects)
    measured_before = measured_cost(program.jaxpr, shapes, None if acts else arguments, begin, "it unrolled")
    # JAX remembers the bodies of jitted functions that it traced before.
    before = replace(measured_before.cost, trace=max(measured_before.cost.trace, program.seconds["trace"]))
    measured = partial(measured_cost, begin=begin, name=f"it as jax.lax.{loop}")
    given = None if acts or before.run is None else arguments
    after, others = _as_kept(program, rebuilding, jaxpr, shapes, given, measured)
    share, equal = _compared(measured_before, others, arguments)
    return Rebuilt(
        program,
        finding,
        "",
        loop,
        _as_called(program, jaxpr),
        before,
        after,
        share,
        equal,
        tuple(rebuilding.left),
        together=len({place for group in rebuilding.groups for place in group}),
    )


def _compared(
    unrolled: Measured, others: Sequence[np.ndarray] | None, arguments: Sequence[Any]
) -> tuple[float | None, bool | None]:
    """By how much the results differ, and whether they are equal; None where that is not known."""
    if not unrolled.results or not others:
        return None, None
    share, equal = difference(unrolled.results, others)
    if not equal and is_rounding(share, unrolled.results, arguments, unrolled.again):
        return share, None
    return share, equal


def _as_kept(
    program: Program,
    rebuilding: Rebuilding,
    jaxpr: Any,
    shapes: Sequence[Any],
    arguments: Sequence[Any] | None,
    measured: Callable[..., Measured],
) -> tuple[Cost, Sequence[np.ndarray] | None]:
    """What the rebuilt program costs, with what its turns read and make in one array each, as one would keep it."""
    if not rebuilding.groups:
        found = measured(jaxpr, shapes, arguments)
        return found.cost, found.results
    kept = Rebuilding(program.jaxpr, rebuilding.loops, tuple(rebuilding.groups))
    wide = [
        jax.ShapeDtypeStruct((len(group), *shapes[group[0]].shape), shapes[group[0]].dtype)
        for group in rebuilding.groups
    ]
    jaxpr = jax.make_jaxpr(kept.apart)(*shapes, *wide)
    given = None
    if arguments is not None:
        stacked = [jax.numpy.stack([arguments[place] for place in group]) for group in rebuilding.groups]
        given = [*arguments, *stacked]
    found = measured(jaxpr, [*shapes, *wide], given)
    results = found.results
    if results is None:
        return found.cost, None
    return found.cost, [results[place] if turn < 0 else results[place][turn] for place, turn in kept.rows]


def _is_of(found: Unrolled, finding: Finding) -> bool:
    first = found.stacks[0].first[0]
    return bool(finding.lines == (found.loop.line,) and len(finding.nodes) and finding.nodes[0] == first)


def _arguments(program: Program, shapes: Sequence[Any]) -> list[Any]:
    """The person's arguments; where they gave shapes alone, random numbers."""
    leaves = jax.tree_util.tree_leaves(program.dynamic_arguments)
    if len(leaves) != len(shapes):
        leaves = list(shapes)
    random = np.random.default_rng(0)
    return [
        random_value(shape, random) if isinstance(leaf, jax.ShapeDtypeStruct) or not _fits(leaf, shape) else leaf
        for leaf, shape in zip(leaves, shapes, strict=True)
    ]


def _fits(leaf: Any, shape: Any) -> bool:
    return np.shape(leaf) == shape.shape and (hasattr(leaf, "dtype") or isinstance(leaf, (bool, int, float, complex)))


def _as_called(program: Program, jaxpr: Any) -> Callable[..., Any]:
    """The rebuilt program as a function of the person's arguments, with the structure of the person's results."""
    run = compat.jaxpr_as_fun(jaxpr)
    tree = jax.tree_util.tree_structure(program.traced.out_info)

    def rebuilt(*args: Any, **kwargs: Any) -> Any:
        dynamic = program.without_static(args, kwargs)
        return jax.tree_util.tree_unflatten(tree, run(*jax.tree_util.tree_leaves(dynamic)))

    rebuilt.__name__ = f"{program.name}_rebuilt"
    if not program.is_filtered:
        with suppress(TypeError, ValueError):
            # By it JAX names the arguments.
            rebuilt.__signature__ = inspect.signature(program.fn)  # type: ignore[attr-defined]
    return rebuilt


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")[:200]


def _time(seconds: float | None) -> str:
    """A duration as people read it."""
    if seconds is None:
        return "not measured"
    # What rounds to a whole second is one.
    seconds = float(f"{seconds:.3g}")
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
