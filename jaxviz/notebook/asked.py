"""What a person asks the kernel to do from a picture: to run the program, to write an unrolled loop as a loop of JAX.

Both take their time, so each tells how far it is, and an interrupt of the kernel ends it.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxviz.exploration import Exploration
    from jaxviz.notebook.session import Session

# Seconds between two words of how far it is: more often nobody reads them.
_BETWEEN = 0.2
# Seconds after which a person asks what holds a run up.
_LATE = 4.0
# Of what a program prints, so many characters and lines are kept.
_FIRST, _LINES = 400, 3

Told = Callable[[str], None]


def run(session: Session, id: str, told: Told) -> dict[str, Any]:
    """Runs a program of the session; gives its document, which has the measures from now on.

    What it does besides computing is said before it is repeated, and all the time.
    """
    from jaxviz.measure.effects import effects_of
    from jaxviz.measure.progress import Progress, held_up

    exploration: Exploration = session[id].exploration
    effects = effects_of(exploration.jaxpr)
    each = f"; each run {effects}" if effects else ""
    if effects:
        told(f"about 30 runs; each of them {effects}")
    last = 0.0

    def hear(progress: Progress) -> None:
        nonlocal last
        now = perf_counter()
        if now - last >= _BETWEEN:
            last = now
            late = held_up() if progress.seconds > _LATE else ""
            told(f"{progress.words}{each}{late and '.' + late}")

    printed = _Printed()
    with redirect_stdout(printed):
        measured = exploration.run(progress=hear)
    if printed.lines:
        exploration.add_note(measured, printed.words)
    if measured.nan:
        told("a result holds a NaN: looking for where it begins")
        # Who does not wait for that has the run all the same.
        with suppress(KeyboardInterrupt), redirect_stdout(_Printed()):
            exploration.follow_nan(measured)
    told("reading what was measured")
    return {"type": "document", "id": id, "document": session.document(id).to_json()}


class _Printed(io.TextIOBase):
    """What is printed meanwhile: no cell shows it, because none runs."""

    def __init__(self) -> None:
        self.lines = 0
        self._first = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self.lines += text.count("\n")
        self._first += text[: _FIRST - len(self._first)]
        return len(text)

    @property
    def words(self) -> str:
        """How much it was, and how it begins."""
        shown = [line.strip() for line in self._first.splitlines() if line.strip()][:_LINES]
        more = ", and so on" if self.lines > len(shown) else ""
        return f"it printed {self.lines:,} line{'s' * (self.lines != 1)} in all runs: {'; '.join(shown)}{more}"


def rebuild(session: Session, id: str, number: int, told: Told) -> dict[str, Any]:
    """Writes an unrolled loop as a loop of JAX: what both cost, in words.

    `number` counts the findings of unrolled loops in the order in which the document has them.
    """
    exploration: Exploration = session[id].exploration
    loops = [finding for finding in exploration.found_in_jaxpr if finding.kind == "unrolled"]
    if not 0 <= number < len(loops):
        raise ValueError(f"{exploration.call} has {len(loops)} unrolled loops, and this is number {number + 1}")
    rebuilt = session[id].rebuilt[number] = exploration.rebuild(loops[number], progress=told)
    both = rebuilt.function is not None
    return {"type": "rebuilt", "id": id, "rows": rebuilt.table, "said": rebuilt.said, "both": both}


def beside(session: Session, id: str, number: int, told: Told) -> dict[str, Any]:
    """A program whose loop was rebuilt, beside the same with a loop of JAX: the picture of both, as one document."""
    from jaxviz.measure.progress import Steps

    entry = session[id]
    steps = Steps(entry.call, told, told)
    rebuilt = entry.rebuilt[number]
    with steps.heard():
        for name, exploration in (("it unrolled", rebuilt.explored), ("the loop", rebuilt.exploration)):
            steps.begin(f"following {name} through the compiler")
            assert exploration.fates is not None
        steps.begin("putting both side by side")
        document = rebuilt.comparison.document().to_json()
    return {"type": "document", "id": id, "document": document}
