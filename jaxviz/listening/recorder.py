"""`recording`: every function that JAX compiles while a block of code runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

# What looks at programs is imported with the first recording: `import jaxviz` must not wait for it.
if TYPE_CHECKING:
    from jaxviz.exploration import Exploration
    from jaxviz.find import Finding
    from jaxviz.find.differing import Reason
    from jaxviz.listening.listening import Compilation


class Recording:
    """What was compiled, in order. Each program can be explored; the person's functions are not called again for it::

    with jv.recording() as rec:
        train(params, batches)
    rec.programs        # a list of explorations; each shows itself in a notebook
    rec.reasons         # for each, why it was compiled
    rec.findings        # functions that were compiled again and again, and the remedy
    """

    def __init__(self) -> None:
        #: The person's functions.
        self.compilations: list[Compilation] = []
        #: Operations of JAX that ran outside of `jit` and were compiled each by itself.
        self.operations: list[Compilation] = []
        #: The file that it was written to, where it was.
        self.path: Path | None = None
        self._explored: dict[int, Exploration] = {}

    def hear(self, compilation: Compilation, whole: bool) -> None:
        """Called by what listens to JAX, a second time when the cost is known."""
        if not whole:
            (self.compilations if compilation.own else self.operations).append(compilation)

    @property
    def programs(self) -> list[Exploration]:
        """One for each function that was compiled, as it was compiled."""
        return [self._exploration(number) for number in range(len(self.compilations))]

    @property
    def reasons(self) -> list[tuple[Reason, ...]]:
        """Why each of the programs was compiled."""
        from jaxviz.find.recompiled import reasons

        history = [compilation.specialization for compilation in self.compilations]
        return [reasons(one, history[:number]) for number, one in enumerate(history)]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The functions that were compiled again for a reason that can be mended."""
        from jaxviz.find.recompiled import find_recompiled

        seconds = [sum(compilation.seconds.values()) for compilation in self.compilations]
        return find_recompiled([one.specialization for one in self.compilations], seconds=seconds)

    def __len__(self) -> int:
        return len(self.compilations)

    def __iter__(self) -> Iterator[Exploration]:
        return iter(self.programs)

    def __repr__(self) -> str:
        lines = [f"<jaxviz recording: {len(self)} compiled>"]
        for compilation, why in zip(self.compilations, self.reasons, strict=True):
            cost = sum(compilation.seconds.values())
            lines.append(f"{compilation.call}  {cost:.2f} s: {'; '.join(reason.text for reason in why)}")
        if self.operations:
            cost = sum(sum(one.seconds.values()) for one in self.operations)
            lines.append(f"and {len(self.operations)} operations of JAX outside of jit  {cost:.2f} s")
        return "\n".join(lines)

    def _exploration(self, number: int) -> Exploration:
        from jaxviz.exploration import Exploration

        if number not in self._explored:
            self._explored[number] = Exploration(self.compilations[number].program())
        return self._explored[number]


@contextmanager
def recording(directory: str | Path | None = None, *, seconds: float = 10.0) -> Iterator[Recording]:
    """Records every function that JAX compiles inside::

    with jv.recording() as rec:
        step(params, x)
    rec.programs

    With a `directory`, what runs is timed too, by the profiler and for at most so many `seconds` that are not spent
    compiling; it is written there as it goes, so that a process that is killed leaves what it had. In a program of
    several processes each records into one directory that all of them share, and `jv.open(directory)` joins what they
    wrote, and says which of them did not finish, and since when::

    with jv.recording("runs/today"):
        train(params, batches)
    """
    from jaxviz.listening.listening import ear

    found = Recording()
    if directory is None:
        ear.add(found.hear)
        try:
            yield found
        finally:
            ear.remove(found.hear)
        return
    from jaxviz.recorded.process import ProcessWriter, ProfiledBlock
    from jaxviz.recorded.process_file import ProcessFile

    folder = Path(directory).expanduser()
    # Before anything long is done for nothing.
    folder.mkdir(parents=True, exist_ok=True)
    block = ProfiledBlock(seconds)
    file = ProcessFile(ProcessWriter(found, block), folder)

    def hear(compilation: Compilation, whole: bool) -> None:
        found.hear(compilation, whole)
        if not whole:
            block.begins_to_compile()
            return
        start = perf_counter()
        if compilation.own:
            file.compiled()
        block.compiled(sum(compilation.seconds.values()) + perf_counter() - start)

    ear.add(hear)
    file.begins()
    block.start()
    try:
        yield found
    except BaseException:
        ear.remove(hear)
        # What went wrong in the block is what counts.
        with suppress(Exception):
            found.path = file.finish()
        raise
    ear.remove(hear)
    found.path = file.finish()
