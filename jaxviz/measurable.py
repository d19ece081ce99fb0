"""What a program costs: it is run, or compiled, to measure time and memory and to look at its values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from threading import Event

    from jaxviz.capture import Capture
    from jaxviz.costs.lifetimes import Peak
    from jaxviz.find import Finding
    from jaxviz.gather import Measured
    from jaxviz.loops.compare import Rebuilt
    from jaxviz.loops.curve import Curve
    from jaxviz.measure.arguments import Fill
    from jaxviz.measure.compiling import CompileCost
    from jaxviz.measure.memory import Memory
    from jaxviz.measure.progress import Progress
    from jaxviz.measure.run import Run
    from jaxviz.measure.values import Values
    from jaxviz.program.program import Program


class Measurable(ABC):
    """A program with its stages, of which one can be run; what was measured last is in all that is shown of it."""

    program: Program
    _capture: Capture
    _measured: Measured

    @property
    @abstractmethod
    def found_in_jaxpr(self) -> tuple[Finding, ...]:
        """What is worth telling about the program as it was traced."""

    @abstractmethod
    def rebuild(self, finding: Finding | None = None, *, progress: Callable[[str], None] | None = None) -> Rebuilt:
        """Writes an unrolled loop as a loop of JAX, and compares them."""

    @property
    def measured(self) -> Run | None:
        """The last run, if there was one."""
        return self._measured.run

    def run(
        self,
        repeat: int = 20,
        *,
        seconds: float = 60.0,
        fill: Fill = "normal",
        eager: bool = False,
        profile: bool = True,
        memory_profile: str | Path | None = None,
        progress: Callable[[Progress], None] | None = None,
        stop: Event | None = None,
    ) -> Run:
        """Runs the program on its device, and times it: once to warm up, then `repeat` times within about `seconds`.

        Arguments of which only the shape is known are filled with `normal`, `uniform`, `zeros` or `ones`, or by a
        function that is given the shape. With `eager`, the function is timed without `jit` too; with `profile`, a few
        more runs say how long each operation takes. `memory_profile` is a file for what is on the device while the
        arguments and results are, in the format of pprof. What is shown from then on has the measures::

            ex = jv.explore(step, params, x)
            ex.run(repeat=20).median

        `progress` is told several times a second how far it is. An interrupt ends it within a second, and so does
        another thread that sets the event `stop`, with `RunStopped`.
        """
        from jaxviz.measure.run import run_program

        __tracebackhide__ = True
        with self._capture.program.surroundings():
            measured = run_program(
                self._capture,
                repeat=repeat,
                seconds=seconds,
                fill=fill,
                eager=eager,
                profile=profile,
                memory_profile=memory_profile,
                progress=progress,
                stop=stop,
            )
        self._measured.run = measured
        self._measured.memory = measured.memory or self._measured.memory
        return measured

    def add_note(self, measured: Run, note: str) -> None:
        """Says something more of a run, where it is the last."""
        if self._measured.run is measured:
            self._measured.run = replace(measured, notes=(*measured.notes, note))

    def values(
        self,
        *,
        every: bool = False,
        inside: int | str | None = None,
        most_bytes: int = 1_000_000_000,
        fill: Fill = "normal",
    ) -> Values:
        """Runs the program once for the statistics of its values: range, mean, NaN, infinity and zero, a histogram.

        Looked at are the values that kernels leave in memory, or those of `every` equation outside of bodies; they may
        take `most_bytes`. The first that is bad is found exactly, also in a loop or a function that is called::

            ex.values().first_bad

        `inside` names an operation that has a body, by its node or its name: looked at is what happens there, in all
        turns of a loop. What is shown keeps what was seen before::

            ex.values(inside="scan")
        """
        from jaxviz.measure.told import print_line
        from jaxviz.measure.values import values_of

        __tracebackhide__ = True
        with self._capture.program.surroundings():
            found = values_of(
                self._capture, every=every, inside=inside, most_bytes=most_bytes, fill=fill, tell=print_line
            )
        before = self._measured.values
        self._measured.values = found if inside is None or before is None else before.with_others(found)
        return found

    def follow_nan(self, measured: Run) -> None:
        """Where results of a run hold a NaN, looks at the values for the first that does; why not, where it cannot."""
        from jaxviz.measure.errors import RunError

        known = self._measured.values
        if not measured.nan or (known is not None and known.first_bad is not None):
            return
        try:
            self.values()
        except RunError as reason:
            self.add_note(measured, f"where the NaN begins is not known: {reason}")

    def memory(self) -> Memory:
        """What the program needs of memory over its schedule, and what is alive at the peak. It is compiled, not run.

        What is shown from then on has the chart of it::

            ex.memory().total, ex.memory().alive
        """
        from jaxviz.measure.memory import program_memory

        __tracebackhide__ = True
        if self._measured.memory is None:
            with self._capture.program.surroundings():
                self._measured.memory = program_memory(self._capture)
            # The peak is told by it from now on.
            vars(self).pop("findings", None)
        return self._measured.memory

    def compile_cost(self, *, curve: bool = False) -> CompileCost:
        """What it costs to get to code that runs: tracing, lowering, the passes of the compiler, jitted functions.

        The program is compiled once more for that. With `curve`, its largest loop is also compiled for other numbers of
        turns, as a loop and unrolled. What is shown from then on has the timeline of it::

            ex.compile_cost().passes
        """
        from jaxviz.loops.curve import curve_of
        from jaxviz.measure.compiling import compile_cost
        from jaxviz.measure.told import print_line

        __tracebackhide__ = True

        def measured() -> Curve:
            unrolled = any(one.kind == "unrolled" for one in self.found_in_jaxpr)
            rebuilt = self.rebuild() if unrolled else None
            return curve_of(self.program.jaxpr) if rebuilt is None or rebuilt.why else rebuilt.curve()

        with self._capture.program.surroundings():
            cost = compile_cost(self._capture, curve=measured if curve else None, tell=print_line)
        self._measured.compiling = cost
        return cost

    @property
    def _assigned_peak(self) -> Peak | None:
        """The peak by XLA's own buffer assignment, where somebody asked for that."""
        memory = self._measured.memory
        if memory is None or not len(memory.steps):
            return None
        from jaxviz.costs.lifetimes import Peak

        alive = tuple((value.node, float(value.size)) for value in memory.alive)
        node, results = int(memory.steps[memory.peak_step]), float(memory.results - memory.aliased)
        return Peak(node, float(memory.peak), float(memory.arguments), alive, results, assigned=True)
