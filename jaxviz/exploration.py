"""`explore`: a function and arguments in, an `Exploration` out, whose stages are made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from jaxviz.compat import traces as compat_traces
from jaxviz.document import STAGE_KINDS, Document, FindingEntry
from jaxviz.exported import Exported
from jaxviz.graph import OPERATION, Graph
from jaxviz.measurable import Measurable
from jaxviz.notebook.session import note_explored
from jaxviz.program.jit_options import JitOptions
from jaxviz.program.program import Program
from jaxviz.shown import ShownGrowing
from jaxviz.tracebacks import add_words, ending_at, without_our_frames
from jaxviz.units import plural

# What makes the stages is imported with the first exploration: `import jaxviz` must not wait for it.
if TYPE_CHECKING:
    from jaxviz.costs.between import Between
    from jaxviz.costs.residuals import Residuals
    from jaxviz.costs.traffic import Kernel
    from jaxviz.failed import FailedExploration
    from jaxviz.find import Finding, Subject
    from jaxviz.link.changes import Passes
    from jaxviz.link.fates import Fate
    from jaxviz.link.links import Links
    from jaxviz.loops.compare import Rebuilt
    from jaxviz.notebook.growing import Step


# With more equations the compiler may take a minute: for 2,500, stacked and summed, it was 20 s.
_MOST_COMPILED = 2_000


class Exploration(ShownGrowing, Measurable, Exported):
    """What JAX makes of one function with given arguments.

    Shows itself in a notebook. Every stage is made once, when it is first asked for, and timed::

        ex = jv.explore(step, params, x)
        ex.jaxpr                               # a Graph
        ex.document().save("step.jaxviz")
        ex.to_svg()
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        # How the call reads; the magic sets it to what was typed.
        self.call = program.call
        # What was typed of it, the function first, where it was typed.
        self.typed: tuple[str, ...] = ()
        # Height of the cell output in px; None lets the picture decide.
        self.height: int | None = None
        # The stage that is shown first.
        self.stage = "jaxpr"
        # Whether what is shown holds the passes of the compiler too.
        self.with_passes = False
        # Its place on the list of this Python process, by which a picture asks the kernel for more.
        self.listed = ""
        # Whether a person stopped what was asked for: then what is made until then is shown, once.
        self.stopped = False
        #: Where the function could not be traced, the error in words.
        self.failed: FailedExploration | None = None
        from jaxviz.capture import Capture
        from jaxviz.gather import Measured

        self._measured = Measured()
        self._capture = Capture(program, ahead=self._read_ahead)

    def trace(self) -> None:
        """Has JAX trace the function now; an error in it comes as JAX's own."""
        __tracebackhide__ = True
        try:
            with compat_traces.whole_tracebacks():
                self.program.jaxpr  # noqa: B018
                compat_traces.raise_leaked(self.program.traced)
        except Exception as error:
            # What explains an error may not hide it.
            with suppress(Exception):
                from jaxviz.failed import FailedExploration

                self.failed = FailedExploration(self.program, error, self.call, self.height)
            kept = without_our_frames(error.__traceback__, hidden=compat_traces.hides_frames())
            if without_our_frames(error.__traceback__, without_jax=True) is None:
                # Nothing of the person's was entered, and where JAX noticed says nothing.
                place = self.failed.place if self.failed is not None else None
                first = min(self.program.line, place.line) if place is not None else 0
                kept = ending_at(place.file, first, place.line, place.function) if place is not None else None
            raise error.with_traceback(kept) from error.__cause__
        except KeyboardInterrupt as interrupt:
            # JAX tidies the tracebacks of errors alone.
            kept = without_our_frames(interrupt.__traceback__, without_jax=True)
            raise interrupt.with_traceback(kept) from None
        self.jaxpr  # noqa: B018

    # The stages.

    @property
    def jaxpr(self) -> Graph:
        """The jaxpr that JAX traces the function to."""
        __tracebackhide__ = True
        return self._capture.jaxpr

    @property
    def stablehlo(self) -> Graph:
        """The StableHLO that JAX lowers it to."""
        __tracebackhide__ = True
        return self._capture.stablehlo.graph

    @property
    def hlo(self) -> Graph:
        """The HLO that the compiler makes of that, optimized, for the device that the function would run on."""
        __tracebackhide__ = True
        return self._capture.hlo.graph

    @property
    def passes(self) -> Passes:
        """The passes of the compiler that changed something, each with what it did and the graph that it left.

        Once they were asked for, they are in all that is shown and saved.
        """
        __tracebackhide__ = True
        made = self._capture.passes
        self.with_passes = True
        return made

    @cached_property
    def fates(self) -> tuple[Fate, ...]:
        """What became of each equation of the jaxpr, in order."""
        from jaxviz.link.fates import fates_of

        return fates_of(self.jaxpr, self._capture.fates)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is worth telling about the program, the most severe first; it is compiled for that, where it can be."""
        from jaxviz.find import COMPILED_FINDERS, Compiled, find_with, ordered

        __tracebackhide__ = True
        found = self.found_in_jaxpr
        capture = self._capture
        try:
            hlo, fates = capture.hlo, capture.fates
        except Exception:
            # What cannot be compiled here, nothing was found in; the error comes with the stage.
            return found
        compiled = Compiled(hlo.graph, hlo.links, hlo.order, fates, self._assigned_peak, lambda: self.stablehlo)
        return ordered(found + find_with(COMPILED_FINDERS, self._subject.with_compiled(compiled)))

    def _read_ahead(self) -> None:
        """What is told of the jaxpr alone, found while the compiler works."""
        self.found_in_jaxpr  # noqa: B018
        self.residuals.policies  # noqa: B018

    @cached_property
    def found_in_jaxpr(self) -> tuple[Finding, ...]:
        """What is worth telling about the program as it was traced, before anything is compiled."""
        from jaxviz.find import FINDERS, find_with, ordered

        __tracebackhide__ = True
        return ordered(find_with(FINDERS, self._subject))

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels of optimized HLO: what each reads and writes, and what fusion saved, in bytes."""
        from jaxviz.costs.traffic import traffic_of

        __tracebackhide__ = True
        return traffic_of(self.hlo)

    @cached_property
    def flops(self) -> float:
        """The floating-point operations of one run, by the shapes in optimized HLO."""
        from jaxviz.costs.cost import flops_of

        __tracebackhide__ = True
        return flops_of(self.hlo)

    @cached_property
    def between_kernels(self) -> tuple[Between, ...]:
        """The large values that kernels write to memory for other kernels, and the fact that kept these apart."""
        from jaxviz.costs.between import between_kernels

        __tracebackhide__ = True
        return between_kernels(self.hlo)

    @cached_property
    def residuals(self) -> Residuals:
        """What the forward pass keeps for the backward pass, and what each policy of `jax.checkpoint` would keep."""
        __tracebackhide__ = True
        return self._subject.residuals

    def rebuild(self, finding: Finding | None = None, *, progress: Callable[[str], None] | None = None) -> Rebuilt:
        """Writes the unrolled loop of a finding as a loop of JAX, and compiles and runs both to compare them.

        This runs the program. Without a finding it is the first unrolled loop. `progress` hears, in words, which step
        it is at; without it, that is printed where it takes long.
        """
        from jaxviz.loops.compare import rebuild
        from jaxviz.measure.progress import Steps
        from jaxviz.measure.told import print_line

        if finding is None:
            finding = next((one for one in self.found_in_jaxpr if one.kind == "unrolled"), None)
            if finding is None:
                raise ValueError(f"there is no unrolled loop in {self.call}")
        steps = Steps(self.call, print_line, progress)
        with steps.heard():
            return replace(rebuild(self.program, self._subject, finding, steps.begin), explored=self)

    @cached_property
    def _subject(self) -> Subject:
        from jaxviz.find import Subject
        from jaxviz.read.frames import add_excerpt, add_file

        seconds = self.program.seconds.get("trace", 0.0)
        for one in self.program.narrowed:
            # Of a line that asks for a type, no equation needs to be left.
            add_excerpt(self._capture.tables, add_file(self._capture.tables, one.file), one.line, one.line)
        program = self.program
        return Subject(
            self.jaxpr,
            self._capture.outline,
            program.seen,
            program.narrowed,
            seconds,
            numbers=program.numbers,
            cut=program.cut,
        )

    def links(self, stage: Literal["stablehlo", "hlo"] = "hlo") -> Links:
        """Which nodes of the jaxpr became which nodes of another stage; in HLO, what was merged became what is left."""
        return self._capture.stablehlo.links if stage == "stablehlo" else self._capture.links

    def document(self, *, stages: Sequence[str] = STAGE_KINDS, passes: bool | None = None) -> Document:
        """All of it as data: what is saved, sent to the browser and reopened; the passes where they were asked for.

        A stage that JAX cannot make here is left out, and the document says why.
        """
        from jaxviz.gather import gather

        __tracebackhide__ = True
        wanted = self.with_passes if passes is None else passes
        document = gather(self._capture, self.call, self._measured, stages=stages, passes=wanted)
        compiled = "hlo" in stages and not set(document.programs[0].missing) - {"passes"}
        return self._with_findings(document, self.findings if compiled else self.found_in_jaxpr)

    def part(self, stages: Sequence[str]) -> Document:
        """What of `document` is there first: without stages the jaxpr alone, with them all but the fates and passes."""
        from jaxviz.gather import gather

        __tracebackhide__ = True
        document = gather(self._capture, self.call, self._measured, stages=stages, passes=False, fates=False)
        return self._with_findings(document, self.found_in_jaxpr) if stages else document

    @property
    def _uncompiled(self) -> str:
        """A picture waits for the compiler only where that is soon done, or where it is done."""
        if self.complete:
            return ""
        equations = int((self.jaxpr.nodes.kind == OPERATION).sum())
        if equations <= _MOST_COMPILED:
            return ""
        return f"{plural(equations, 'equation')}, not compiled for this picture: what the compiler drops is not marked"

    def part_made(self) -> Document:
        """What of `document` is made already: nothing is compiled for it."""
        from jaxviz.gather import gather

        capture = self._capture
        document = gather(capture, self.call, self._measured, stages=capture.made, passes=False, fates=capture.complete)
        return self._with_findings(document, self.found_in_jaxpr) if "found_in_jaxpr" in vars(self) else document

    @property
    def complete(self) -> bool:
        """Whether all that `document` needs of the compiler is there."""
        return self._capture.complete

    def made_until_stopped(self) -> Step | None:
        """What is made by now, if a person has stopped what was asked for; once."""
        from jaxviz.notebook.growing import Step

        if not self.stopped:
            return None
        self.stopped = False
        return Step(self.part_made(), repr(self), self.stage)

    def growing_steps(self) -> Iterator[Step]:
        """What is shown one after the other while JAX and the compiler work."""
        from jaxviz.notebook.growing import Step

        passes = ("passes",) if self.with_passes else ()
        unfinished = () if self.complete else (((), STAGE_KINDS[1:]), (STAGE_KINDS, ("fates",)))
        for stages, coming in unfinished:
            yield Step(self.part(stages=stages), repr(self), self.stage, (*coming, *passes))
        yield Step(self.document(), repr(self), self.stage)

    def _with_findings(self, document: Document, findings: Sequence[Finding]) -> Document:
        from jaxviz.gather import residuals_entries

        return replace(
            document,
            findings=tuple(FindingEntry(0, finding, self._action(finding)) for finding in findings),
            residuals=residuals_entries(self.residuals),
        )

    def _action(self, finding: Finding) -> str:
        """A line of Python that goes on from a finding; empty where there is none."""
        if finding.kind != "unrolled" or not self.typed:
            return ""
        return f"import jaxviz as jv; jv.rebuild({', '.join(self.typed)})"

    def __repr__(self) -> str:
        equations = sum(node.kind == "operation" for node in self.jaxpr)
        regions = len(self.jaxpr.regions.owner) - 1
        inside = f", {plural(regions, 'region')}" if regions else ""
        run = f", {self.measured.lines()[0]}" if self.measured is not None else ""
        return f"<jaxviz {self.call}: {plural(equations, 'equation')}{inside}{run}>"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        from jaxviz.notebook.display import mime_bundle

        return mime_bundle(self.document(), repr(self), height=self.height, stage=self.stage, program=self.listed)


def explore(
    fn: Callable[..., Any],
    /,
    *args: Any,
    static_argnums: int | Sequence[int] | None = (),
    static_argnames: str | Iterable[str] | None = (),
    donate_argnums: int | Sequence[int] | None = (),
    donate_argnames: str | Iterable[str] | None = (),
    target: Any = None,
    passes: bool = False,
    **kwargs: Any,
) -> Exploration:
    """Explores what JAX makes of `fn(*args, **kwargs)`, without running it.

    Arguments may be arrays, pytrees of arrays, numbers, or `jax.ShapeDtypeStruct` where only the shape is known.
    `fn` may be any callable; a function that is already jitted is taken as it is, with all of its own options, such as
    shardings. For one that is not, static and donated arguments are named as for `jax.jit`: a number that is part of a
    shape, or decides an `if` of Python, is static. `target` names a device to compile for that need not be there, such
    as "cuda:h100" or "tpu:v5e"; what is no string is the argument of that name, as losses have one. With `passes`, what
    is shown can be stepped through the passes of the compiler.

    An error of `fn` comes as JAX's own, with a note that says in words why and what to do; `error.jaxviz` shows itself
    in a notebook, with what was traced until then.

    Example::

        jv.explore(lambda x: jnp.sin(x) * 2, jnp.ones(8))
        jv.explore(lambda x, size: jnp.resize(x, size), jnp.ones(8), size=20, static_argnames="size")
    """
    __tracebackhide__ = True
    if target is not None and not isinstance(target, str):
        kwargs["target"], target = target, None
    options = JitOptions.of(static_argnums, static_argnames, donate_argnums, donate_argnames)
    exploration = Exploration(Program(fn, args, kwargs, options, target))
    exploration.with_passes = passes
    try:
        exploration.trace()
    except Exception as error:
        if exploration.failed is not None:
            add_words(error, exploration.failed)
            with suppress(Exception):
                note_explored(exploration)
        raise
    note_explored(exploration)
    return exploration


def rebuild(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Rebuilt:
    """Writes the first unrolled loop of `fn` as a loop of JAX, and compiles and runs both to compare them.

    It takes what `explore` takes.

    Example::

        jv.rebuild(settle, jnp.ones(16))
    """
    __tracebackhide__ = True
    return explore(fn, *args, **kwargs).rebuild()
